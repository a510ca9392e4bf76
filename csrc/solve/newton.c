/* Newton's method; see newton.h. */
#include "solve/newton.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

/* One solution under way. */
typedef struct iteration {
    const lg_newton_settings *settings;
    lg_newton_memory *memory;
    lg_norms first; /* reference of rtol: of the first residual, or of its terms */
    double force_bound; /* of the force rows */
    double error, first_error, last_error; /* now, at the first evaluation, before the last correction */
    double contraction, first_contraction; /* of the last and the first correction; 0: not measured yet */
    int worst_set; /* the set of constraint rows that has the largest error; -1: the force rows */
    int tested; /* the step may only end with an evaluation after the last correction */
    int by_new_matrix; /* the last correction was */
    int negligible; /* it was, and it was round-off of the coordinates */
    double expected; /* the error after the last correction; 0: unknown */
    int halvings; /* how often a half of it has been taken back */
    int assembled; /* the dynamic part of the matrix has been formed at the present unknowns */
    lg_renewal matrix;
} iteration;

/* ---- norms ---- */

static lg_norms larger_norms(const lg_norms *a, const lg_norms *b)
{
    return (lg_norms){lg_larger(a->force, b->force),
                      {lg_larger(a->rows[0], b->rows[0]), lg_larger(a->rows[1], b->rows[1])}};
}

static int finite_norms(const lg_norms *a)
{
    return isfinite(a->force + a->rows[0] + a->rows[1]) ||
           (isfinite(a->force) && isfinite(a->rows[0]) && isfinite(a->rows[1]));
}

static double error_of(double now, double bound)
{
    return now > 0 ? now / bound : 0;
}

static const double near_noise = 1e3; /* rows up to this multiple of their noise may be round-off */

/* The largest error of constraint rows by their tolerance alone, if they may be round-off; otherwise 0. */
static double error_within_noise(const iteration *it, int sets, const lg_norms *now, const lg_norms *noise)
{
    double tolerance = lg_larger(it->settings->rtol, DBL_EPSILON), largest = 0;
    for (int set = 0; set < sets; set++) {
        if (now->rows[set] > near_noise * noise->rows[set])
            return 0;
        largest = lg_larger(largest, error_of(now->rows[set], tolerance * it->first.rows[set]));
    }
    return largest;
}

/* Finds the error, by bounds that are not below round-off, and the set of constraint rows that has the largest ratio of
   a residual to its bound (-1: the force rows). */
static void find_error(iteration *it, int sets, const lg_norms *now, const lg_norms *noise)
{
    double rtol = it->settings->rtol, atol = it->settings->atol, relative = rtol * it->first.force;
    it->force_bound = lg_larger(it->settings->together ? lg_larger(relative, atol) : relative + atol, noise->force);
    double largest = it->error = error_of(now->force, it->force_bound);
    it->worst_set = -1;
    for (int set = 0; set < sets; set++) {
        double error = error_of(now->rows[set], lg_larger(rtol * it->first.rows[set], noise->rows[set]));
        if (error > largest) {
            largest = error;
            it->worst_set = set;
        }
    }
    if (!it->settings->together)
        it->error = largest;
}

/* The first row that is not finite; if all are finite, the largest row of a set. */
static int worst_row(const lg_newton_problem *problem, const double *r, int set)
{
    int begin = set < 0 ? 0 : problem->nforce + set * problem->nrows;
    int end = set < 0 ? problem->nforce : begin + problem->nrows, worst = begin;
    for (int i = 0; i < problem->nforce + problem->sets * problem->nrows; i++)
        if (!isfinite(r[i]))
            return i;
    for (int i = begin; i < end; i++)
        if (fabs(r[i]) > fabs(r[worst]))
            worst = i;
    return worst;
}

/* ---- when to end ---- */

static const double surprise = 4; /* a first error is surprising beyond this multiple of the previous step's */
static const double ordinary = 4; /* a first contraction is as expected up to this multiple of the tested step's */
static const double far_off = 0.1; /* a first guess is poor if the residual exceeds this fraction of its terms */
enum { UNTESTED_STEPS = 7, STEPS_AFTER_SURPRISE = 32 };

/* Measures the contraction of the last correction. */
static void measure(iteration *it)
{
    lg_newton_memory *m = it->memory;
    it->contraction = it->last_error > 0 ? lg_larger(it->error / it->last_error, DBL_EPSILON) : 1;
    if (it->matrix.count == 1)
        it->first_contraction = it->contraction;
    if (it->matrix.reuses == 1 && it->matrix.renewed) {
        m->new_contraction = it->contraction;
        m->new_error = it->last_error;
    }
}

/* Remembers the contractions of a reused matrix: after a step whose corrections have all been measured, or after the
   first step in which a contraction of that matrix is known. */
static void note_contractions(iteration *it)
{
    lg_newton_memory *m = it->memory;
    if (it->matrix.renewed || it->matrix.count == 0)
        return;
    m->first_contraction = it->first_contraction;
    m->last_contraction = it->contraction;
    m->tested_age = m->renewal.matrix_age;
}

/* Whether the first guess is much worse than that of the previous step, or poor in itself. */
static int is_surprise(const iteration *it)
{
    double before = it->memory->first_error;
    return (before > 0 && it->error > surprise * before) || it->error * it->settings->rtol > far_off;
}

static void assess(iteration *it, int sets, const lg_residual_norms *norms)
{
    if (it->matrix.count == 0)
        it->first = it->settings->good_guess ? larger_norms(&norms->now, &norms->size) : norms->now;
    find_error(it, sets, &norms->now, &norms->noise);
    if (it->matrix.count > 0) {
        measure(it);
        return;
    }
    it->first_error = it->error;
    if (lg_renewal_begins_old(&it->matrix) && it->error > 0 && !it->settings->together)
        it->matrix.hidden = error_within_noise(it, sets, &norms->now, &norms->noise) / it->error;
    if (!it->settings->measures && is_surprise(it))
        it->memory->steps_to_test = STEPS_AFTER_SURPRISE;
    it->tested = it->settings->plain || it->memory->untested_steps >= UNTESTED_STEPS || it->memory->steps_to_test > 0 ||
                 it->memory->first_error == 0;
}

/* Whether each constraint row may be round-off of its own terms. */
static int has_round_off_rows(const lg_newton_problem *problem, const double *residual, const lg_residual_norms *norms)
{
    if (norms->now.rows[0] <= near_noise * norms->noise.rows[0] &&
        norms->now.rows[1] <= near_noise * norms->noise.rows[1])
        return 1;
    const double *size = problem->row_sizes ? problem->row_sizes(problem->self) : NULL,
                 *rows = residual + problem->nforce;
    int within = size != NULL;
    for (int set = 0; set < problem->sets && within; set++, rows += problem->nrows)
        for (int i = 0; i < problem->nrows; i++)
            within &= fabs(rows[i]) <= near_noise * norms->noise.rows[set] * size[i];
    return within;
}

/* Whether a correction by a new matrix did not help, at rows that are round-off. */
static int is_stuck(const iteration *it, const lg_newton_problem *problem, const double *residual,
                    const lg_residual_norms *norms)
{
    return it->by_new_matrix && it->contraction > lg_slow_contraction && has_round_off_rows(problem, residual, norms);
}

/* Whether the force rows are round-off, unless they have converged anyway. */
static lg_status compare_with_noise(iteration *it, const lg_newton_problem *problem, const lg_residual_norms *norms,
                                    int of_rows, int *converged)
{
    double noise;
    if (*converged || !problem->measure_noise)
        return LG_OK;
    it->assembled = 0;
    LG_TRY(problem->measure_noise(problem->self, of_rows, &noise));
    *converged = norms->now.force <= noise;
    return LG_OK;
}

static lg_status find_end(iteration *it, const lg_newton_problem *problem, const double *residual,
                          const lg_residual_norms *norms, int *converged)
{
    int corrected = it->settings->plain || it->matrix.count > 0;
    *converged = corrected && it->error <= 1;
    if (*converged || !is_stuck(it, problem, residual, norms))
        return LG_OK;
    if (it->negligible) {
        *converged = norms->now.force <= it->force_bound || !problem->measure_noise;
        LG_TRY(compare_with_noise(it, problem, norms, 0, converged));
    }
    return problem->nrows ? compare_with_noise(it, problem, norms, 1, converged) : LG_OK;
}

/* The expected contraction of a correction by a matrix that has just been formed; 0: unknown. */
static double new_matrix_contraction(const iteration *it)
{
    const lg_newton_memory *m = it->memory;
    double before = m->new_contraction > 0 ? m->new_contraction * lg_larger(1, it->error / m->new_error) : 0;
    double here = it->matrix.full && it->matrix.count > 0 ? it->contraction * it->error / it->last_error : 0;
    return m->new_contraction > 0 ? lg_larger(before, here) : 0;
}

/* The expected contraction of a correction by an older matrix. That of the last tested step holds if the first
   correction of this step contracted about as well. */
static double old_matrix_contraction(const iteration *it)
{
    const lg_newton_memory *m = it->memory;
    double here = it->matrix.reuses > 0 ? it->contraction : 0;
    double wear = m->tested_age > 0 ? m->renewal.matrix_age / m->tested_age : 0;
    if (m->last_contraction == 0 || it->matrix.renewed)
        return here;
    if (it->matrix.count == 0)
        return wear * lg_larger(m->first_contraction, m->last_contraction);
    int as_expected = it->first_contraction <= ordinary * wear * m->first_contraction;
    return as_expected ? wear * m->last_contraction : lg_larger(wear * m->last_contraction, here);
}

/* The error that is expected after the next correction, by a new or an old matrix; 0: unknown. */
static double expected_error(const iteration *it, int is_new)
{
    return it->error * (is_new ? new_matrix_contraction(it) : old_matrix_contraction(it));
}

/* Whether that correction ends the step without a test. */
static int ends_untested(const iteration *it)
{
    int known = it->matrix.count > 0 || !it->settings->measures;
    return !it->tested && known && it->expected > 0 && it->expected <= lg_safe_error;
}

/* What the next step needs to know. */
static void remember(iteration *it)
{
    lg_newton_memory *m = it->memory;
    m->first_error = it->first_error;
    m->steps_to_test = lg_larger(0, m->steps_to_test - 1);
    if (it->matrix.renewed)
        m->last_contraction = 0;
    lg_renewal_end(&it->matrix, it->matrix.count);
}

/* ---- corrections that go too far ---- */

enum { WHOLE_CORRECTIONS = 8, MOST_HALVINGS = 8 };

static int rows_of(const lg_newton_problem *problem)
{
    return problem->nforce + problem->sets * problem->nrows;
}

/* Whether the correction after so many others may be shortened. */
static int may_shorten(const iteration *it, const lg_newton_problem *problem, int others)
{
    return others >= WHOLE_CORRECTIONS && problem->correction && !it->settings->plain;
}

/* Takes back half of the last correction if it has not made the error smaller. */
static int takes_back(iteration *it, const lg_newton_problem *problem)
{
    double *half = problem->correction;
    if (!may_shorten(it, problem, it->matrix.count - 1) || !it->by_new_matrix || it->error < it->last_error ||
        it->halvings == MOST_HALVINGS)
        return 0;
    for (int i = 0; i < rows_of(problem); i++)
        half[i] *= -0.5;
    problem->update(problem->self, half);
    for (int i = 0; i < rows_of(problem); i++)
        half[i] = -half[i];
    it->halvings++;
    return 1;
}

/* ---- the method ---- */

/* Forms a new matrix if one is due and makes a correction; *ends: the correction ends the step. */
static lg_status newton_correct(iteration *it, const lg_newton_problem *problem, double *residual, int *ends)
{
    lg_renewal *matrix = &it->matrix;
    int is_new = lg_renewal_is_due(matrix, it->error, it->contraction);
    if (is_new) {
        matrix->matrix_valid = 0;
        LG_TRY(problem->factor(problem->self, it->assembled, lg_renewal_keeps(matrix)));
        lg_renewal_form(matrix);
    }
    it->expected = expected_error(it, is_new);
    *ends = ends_untested(it);
    LG_TRY(problem->solve(problem->self, residual));
    problem->update(problem->self, residual);
    it->halvings = 0;
    if (may_shorten(it, problem, matrix->count))
        lg_copy(rows_of(problem), residual, problem->correction);
    it->by_new_matrix = matrix->full && !*ends;
    it->negligible = it->by_new_matrix && problem->is_negligible(problem->self, residual);
    it->last_error = it->error;
    lg_renewal_correct(matrix);
    return LG_OK;
}

static lg_status iterate(iteration *it, const lg_newton_problem *problem, double *residual, lg_newton_result *result)
{
    for (int ends = 0;;) {
        int converged;
        it->assembled = lg_renewal_is_likely(&it->matrix);
        lg_residual_norms norms = {.first = it->matrix.count == 0,
                                   .together = it->settings->together != 0,
                                   .last = !it->assembled && it->expected > 0 && it->expected <= 1};
        LG_TRY(problem->evaluate(problem->self, it->assembled, residual, &norms));
        result->residual = norms.now.force;
        if (!finite_norms(&norms.now)) {
            result->worst = worst_row(problem, residual, -1);
            return LG_NOT_FINITE;
        }

        assess(it, problem->sets, &norms);
        result->evaluated = 1;
        LG_TRY(find_end(it, problem, residual, &norms, &converged));
        if (converged) {
            it->memory->untested_steps = 0;
            note_contractions(it);
            return LG_OK;
        }
        if (takes_back(it, problem))
            continue;
        if (it->matrix.count >= it->settings->max_iter) {
            result->worst = worst_row(problem, residual, it->worst_set);
            return LG_NO_CONVERGENCE;
        }

        LG_TRY(newton_correct(it, problem, residual, &ends));
        if (ends) {
            result->evaluated = 0;
            it->memory->untested_steps++;
            if (it->memory->last_contraction == 0 && it->contraction > 0)
                note_contractions(it);
            return LG_OK;
        }
    }
}

lg_status lg_newton(const lg_newton_problem *problem, const lg_newton_settings *settings, double *residual,
                    lg_newton_memory *memory, lg_newton_result *result)
{
    iteration it = {.settings = settings,
                    .memory = memory,
                    .matrix =
                        lg_renewal_begin(&settings->renewal, &memory->renewal, result->matrix_valid, result->full)};
    result->worst = -1;
    lg_status status = iterate(&it, problem, residual, result);
    result->iterations = it.matrix.count;
    result->matrix_valid = it.matrix.matrix_valid;
    if (status == LG_OK)
        remember(&it);
    return status;
}
