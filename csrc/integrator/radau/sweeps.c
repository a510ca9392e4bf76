/* The sweeps over the stages of a step: when they end, and when they form new matrices; see step.h.

   Matrices are kept, from step to step as well, while that takes less work (solve/renewal.h): a matrix costs as many
   sweeps as follows from its plan, and an older one takes more of them. They are formed in the first sweep of a step if
   those of earlier steps are due for replacement; later in place of older ones if the sweeps still expected cost more
   than new ones with their sweeps; and in place of this step's own after two sweeps that left too much of the
   correction before. A step that fails with older matrices is solved again with its own.

   The sweeps have converged when the corrections still expected are below their bound, or when corrections are
   round-off and no longer fall. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/cause.h"

#include <float.h>
#include <math.h>

static const double slow_rate = 0.5; /* a sweep that leaves more of the correction is slow */
static const double usual_rate = 0.15; /* what a sweep leaves of it, where nothing is known */
static const double least_bound = 1e-60; /* of a change of a velocity: there may be none to compare with yet */
static const double tolerated = 0.001; /* part of the tolerances that is the bound on changes */
static const double noisy = 1e-6; /* part of the terms of the forces that may be round-off */
enum { SLOW_SWEEPS = 2 }; /* in a row, after which new matrices are due */
enum { MOST_GROWTHS = 3 }; /* sweeps of a step whose corrections may grow */

typedef struct sweeps {
    double change, last, before; /* root mean square of mu x over its bound in the last three sweeps */
    double first; /* the same in the first sweep */
    double displacement; /* the largest x in the last sweep */
    int count, growths;
    int slow; /* sweeps in a row that left too much of the correction before */
    int formed; /* sweeps that formed matrices */
    lg_renewal matrix;
} sweeps;

/* How the stages of a step are solved in one of both ways. */
typedef struct way_type {
    lg_status (*solve)(lg_radau_stepper *r, int with_matrices, int keeps, sweeps *it); /* a sweep over all stages */
    void (*look)(lg_radau_stepper *r); /* comes before `look_at` of all stages, one after the other */
    lg_status (*look_at)(lg_radau_stepper *r, int i); /* evaluates a stage as it stands, without a correction */
    /* From forces of a stage, with zeros behind them, to the correction by them. */
    lg_status (*respond)(lg_radau_stepper *r, int i, double *u);
    void (*finish)(lg_radau_stepper *r); /* moves to the end of the step */
    int together; /* by matrices of one state; a step that fails is solved again stage by stage */
} way_type;

static const way_type *way_of(const lg_radau_stepper *r);

/* ---- one sweep ---- */

/* What K and A of the last sweep contribute to theta and V - v_n. */
static void set_known(lg_radau_stepper *r)
{
    const lg_radau_numbers *n = &r->numbers;
    int nv = r->base.system->space->nv;
    for (int i = 0; i < lg_radau_stages(n); i++) {
        lg_radau_stage *s = &r->stage[i];
        lg_zero(nv, s->theta_known);
        lg_zero(nv, s->v_known);
        for (int j = 1; j < lg_radau_stages(n); j++) { // the first column of A is that of L
            double old = n->A[i][j] - n->L[i][j];
            if (old == 0)
                continue;
            lg_axpy(nv, old, r->stage[j].K, s->theta_known);
            lg_axpy(nv, r->h * old, r->stage[j].a, s->v_known);
        }
    }
}

/* What a corrected stage contributes to the later ones. */
static void pass_on(lg_radau_stepper *r, int i)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int later = stages - 1; later > i; later--) {
        double weight = r->numbers.L[later][i];
        lg_axpy(nv, weight, r->stage[i].K, r->stage[later].theta_known);
        lg_axpy(nv, r->h * weight, r->stage[i].a, r->stage[later].v_known);
    }
}

/* One over the bound on a change of each velocity, which is relative to its size, and to a thousandth of the largest
   one; with tolerances it is a part of them, but not less than round-off. */
static void set_weights(lg_radau_stepper *r)
{
    const double others = 1e-3, relative = r->rtol ? 64 * DBL_EPSILON : r->newton_rtol;
    const lg_radau_stage *end = &r->stage[lg_radau_stages(&r->numbers) - 1];
    int nv = r->base.system->space->nv;
    double largest = lg_larger(lg_max_abs(nv, r->start->v), lg_max_abs(nv, end->v));
    for (int k = 0; k < nv; k++) {
        double v = lg_larger(fabs(r->start->v[k]), fabs(end->v[k])), bound = relative * (v + others * largest);
        if (r->rtol) {
            double of_q = r->atol[k] + r->rtol[k] * fabs(end->theta[k]), of_v = r->atol[nv + k] + r->rtol[nv + k] * v;
            bound = fmax(bound, tolerated * fmin(of_v, of_q / r->h));
        }
        r->weight[k] = 1 / lg_larger(bound, least_bound);
    }
}

/* Measures the correction u of a stage. */
static void measure(const lg_radau_stepper *r, int i, sweeps *it)
{
    double scale = 1 / lg_radau_rate(r, i), sum = 0, most = 0;
    const double *u = r->residual, *weight = r->weight;
    for (int k = 0; k < r->base.system->space->nv; k++) {
        double part = u[k] * weight[k];
        sum += part * part;
        most = lg_larger(most, fabs(u[k]));
    }
    it->change += scale * scale * sum;
    it->displacement = lg_larger(it->displacement, scale * scale * most);
}

/* The number of sweeps that reduce a change to its bound. */
static double sweeps_for(double change, double rate)
{
    return rate < 1 ? log(change) / -log(rate) : INFINITY;
}

static double known_rate(const lg_radau_stepper *r)
{
    return r->memory.new_rate > 0 ? r->memory.new_rate : usual_rate;
}

/* Whether the next sweep forms matrices. */
static int is_due(const lg_radau_stepper *r, const sweeps *it)
{
    if (it->count == 0)
        return lg_renewal_is_likely(&it->matrix);
    if (it->matrix.renewed)
        return it->slow >= SLOW_SWEEPS;
    if (it->count < 3)
        return it->count == 2 && it->change > it->last;
    double left = sweeps_for(it->change, sqrt(it->change / it->before));
    return left > r->renewal[lg_radau_way_of(r)].matrix_cost + sweeps_for(it->change, known_rate(r));
}

static lg_status solve_stage(lg_radau_stepper *r, int i, int with_matrix, int keeps, sweeps *it)
{
    lg_radau_follow(r, i);
    if (keeps)
        lg_radau_note_stage(r, i);
    lg_point point = lg_radau_point(r, i);
    LG_TRY(lg_radau_evaluate(r, i, &point, with_matrix));
    LG_TRY(lg_radau_solve_stage(r, i, r->residual));
    measure(r, i, it);
    lg_radau_correct(r, i);
    pass_on(r, i);
    return LG_OK;
}

static lg_status solve_by_stage(lg_radau_stepper *r, int with_matrices, int keeps, sweeps *it)
{
    set_known(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        LG_TRY(solve_stage(r, i, with_matrices, keeps, it));
    return LG_OK;
}

static lg_status solve_together(lg_radau_stepper *r, int with_matrices, int keeps, sweeps *it)
{
    lg_radau_follow_all(r);
    if (keeps)
        lg_radau_note_stage(r, lg_radau_eigen_stage(r));
    LG_TRY(lg_radau_solve_all(r, with_matrices));
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_radau_take_correction(r, i);
        measure(r, i, it);
        lg_radau_turn(r, i);
    }
    return LG_OK;
}

static lg_status sweep(lg_radau_stepper *r, sweeps *it)
{
    int stages = lg_radau_stages(&r->numbers), nv = r->base.system->space->nv;
    int with_matrix = is_due(r, it), keeps = with_matrix && lg_renewal_keeps(&it->matrix);
    if (with_matrix)
        r->formed[0] = 0, r->renewed = 1;
    it->before = it->last;
    it->last = it->change;
    it->change = it->displacement = 0;
    if (it->count < 2)
        set_weights(r);
    LG_TRY(way_of(r)->solve(r, with_matrix, keeps, it));
    it->formed += with_matrix;
    it->change = nv ? sqrt(it->change / (stages * nv)) : 0;
    if (keeps)
        lg_radau_note_step(r);
    if (with_matrix)
        lg_renewal_form(&it->matrix);
    lg_renewal_correct(&it->matrix);
    it->count++;
    r->base.stats.newton_iterations++;
    return isfinite(it->change) ? LG_OK : LG_NOT_FINITE;
}

/* ---- all sweeps of a step ---- */

static void look_together(lg_radau_stepper *r)
{
    lg_radau_follow_all(r);
    lg_radau_set_accelerations(r);
}

static lg_status look_at_known(lg_radau_stepper *r, int i)
{
    lg_point point = lg_radau_point(r, i);
    return lg_radau_evaluate(r, i, &point, 0);
}

static lg_status look_at_stage(lg_radau_stepper *r, int i)
{
    lg_radau_follow(r, i);
    LG_TRY(look_at_known(r, i));
    pass_on(r, i);
    return LG_OK;
}

/* Work of forces, in place, along the correction by them. */
static lg_status add_work(lg_radau_stepper *r, int i, double *forces, double *work)
{
    int nv = r->base.system->space->nv;
    double *u = r->residual;
    lg_copy(nv, forces, u);
    lg_zero(r->base.system->pattern->nrows, u + nv);
    LG_TRY(way_of(r)->respond(r, i, u));
    *work += fabs(lg_dot(nv, forces, u));
    return LG_OK;
}

/* The work of the force rows of a stage along the correction by them, and the same of their terms, among which is the
   momentum over h; neither depends on units. */
static lg_status add_works(lg_radau_stepper *r, int i, double *work, double *terms)
{
    int nv = r->base.system->space->nv, constrained = r->base.system->pattern->nrows > 0;
    double *row = r->turn, *size = r->a_end;
    LG_TRY(way_of(r)->look_at(r, i));
    lg_copy(nv, r->residual, row);
    lg_zero(nv, r->v_end);
    lg_axpy(nv, lg_radau_rate(r, i), r->stage[i].v, r->v_end);
    lg_point point = lg_radau_point(r, i);
    point.a = r->v_end;
    LG_TRY(lg_accel_eval(&r->base.accel, &point, &(lg_wanted){.Ma = size}, &r->base.report));
    for (int k = 0; k < nv; k++) {
        double lam = constrained ? r->Btlam[k] : 0, inertia = row[k] - r->gyro[k] + r->force[k] - lam;
        size[k] = fabs(size[k]) + fabs(inertia) + fabs(r->gyro[k]) + fabs(r->force[k]) + fabs(lam);
    }
    LG_TRY(add_work(r, i, row, work));
    return add_work(r, i, size, terms);
}

/* Whether corrections that do not fall are round-off: displacements of the size of that of the coordinates, which stiff
   forces multiply, while the forces balance but for a small part of their terms. */
static lg_status find_noise(lg_radau_stepper *r, const sweeps *it, int *is_noise)
{
    double work = 0, terms = 0, round_off = 64 * DBL_EPSILON;
    int falls = it->count < 2 || it->change <= slow_rate * it->last;
    *is_noise = 0;
    if (falls || it->displacement > round_off * (1 + lg_max_abs(r->base.system->space->nq, r->start->q)))
        return LG_OK;
    way_of(r)->look(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        LG_TRY(add_works(r, i, &work, &terms));
    *is_noise = work <= noisy * noisy * terms;
    return LG_OK;
}

/* Whether the corrections that are still expected are below their bound. */
static int is_converged(const lg_radau_stepper *r, const sweeps *it)
{
    if (it->count == 1)
        return it->change <= 1;
    double rate = lg_larger(it->change / it->last, it->count > 2 ? it->last / it->before : known_rate(r));
    return rate < 1 && rate * it->change <= 1 - rate;
}

static void note_progress(sweeps *it)
{
    int later = it->count > 1;
    it->first = later ? it->first : it->change;
    it->growths += later && it->change > it->last && it->matrix.renewed;
    it->slow = later && it->change > slow_rate * it->last ? it->slow + 1 : 0;
}

/* Whether the sweeps have failed: in the eigenbasis as soon as new matrices make slow progress. */
static int has_failed(const lg_radau_stepper *r, const sweeps *it)
{
    int slow = way_of(r)->together && it->matrix.renewed && it->slow >= SLOW_SWEEPS;
    return slow || it->count >= r->max_iter || it->growths > MOST_GROWTHS;
}

static lg_status iterate(lg_radau_stepper *r, sweeps *it)
{
    for (int ends = 0; !ends;) {
        LG_TRY(sweep(r, it));
        note_progress(it);
        ends = is_converged(r, it);
        if (!ends)
            LG_TRY(find_noise(r, it, &ends));
        if (!ends && has_failed(r, it))
            return LG_NO_CONVERGENCE;
    }
    return LG_OK;
}

/* Whether a step shows that new matrices leave less than was known: in the eigenbasis they change little with age. */
static int shows_more(const lg_radau_stepper *r, const sweeps *it, double rate)
{
    return way_of(r)->together && it->count > 2 && rate < known_rate(r);
}

/* Remembers what the next step needs to know. Sweeps count as far as they were needed, as a real number, so that costs
   are compared by how well matrices do rather than by chance. The age at which matrices are due for replacement, which
   renewal.h raises by a sixteenth for each one replaced at that age, rises faster if it has seldom been right. */
static void remember(lg_radau_stepper *r, sweeps *it)
{
    lg_renewal_memory *m = &r->memory.renewal;
    int all_new = it->matrix.renewed && it->matrix.reuses == it->count;
    double rate = it->count > 1 ? fmin(pow(it->change / it->first, 1.0 / (it->count - 1)), slow_rate) : 0;
    double needed = rate > 0 ? 1 + sweeps_for(it->first, rate) : it->count;
    if (rate > 0 && (all_new || shows_more(r, it, rate)))
        r->memory.new_rate = rate;
    lg_renewal_end(&it->matrix, needed);
    if (it->matrix.renewed && !all_new)
        r->memory.failures = fmin(r->memory.failures + 1, 3);
    else if (!it->matrix.renewed)
        r->memory.failures = fmax(r->memory.failures - 1, 0);
    m->costly_age += all_new && m->costly_age > 0 ? ldexp(0.5, -(int)r->memory.failures) - 0.0625 : 0;
    lg_radau_choose(r, needed, it->formed);
}

/* Names the largest residual, as it stands. */
static void report_failure(lg_radau_stepper *r, const sweeps *it)
{
    int nv = r->base.system->space->nv, n = nv + r->base.system->pattern->nrows, worst = 0;
    double largest = 0, squares = 0;
    way_of(r)->look(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        if (way_of(r)->look_at(r, i) != LG_OK)
            return;
        squares += lg_dot(nv, r->residual, r->residual);
        for (int k = 0; k < n; k++) {
            worst = fabs(r->residual[k]) > largest ? k : worst;
            largest = lg_larger(largest, fabs(r->residual[k]));
        }
    }
    lg_newton_result result = {.iterations = it->count, .worst = worst};
    result.residual = sqrt(squares / (nv * lg_radau_stages(&r->numbers)));
    lg_report_newton(r->base.system, NULL, LG_NO_CONVERGENCE, &result, &r->base.report);
    lg_report_advise(&r->base.report, "try a smaller h or a larger max_iter");
}

static lg_status attempt(lg_radau_stepper *r, int has_matrices, sweeps *it)
{
    const lg_renewal_settings *renewal = &r->renewal[lg_radau_way_of(r)];
    *it = (sweeps){.matrix = lg_renewal_begin(renewal, &r->memory.renewal, has_matrices, 0)};
    lg_radau_predict(r);
    return iterate(r, it);
}

/* Whether another attempt may succeed. */
static int may_recover(const lg_radau_stepper *r, lg_status status)
{
    int singular = status == LG_SINGULAR && way_of(r)->together;
    return status == LG_NO_CONVERGENCE || status == LG_NOT_FINITE || singular;
}

/* With the matrices of earlier steps, then with new ones, then by the splitting. */
static lg_status attempt_all(lg_radau_stepper *r, sweeps *it)
{
    lg_status status = attempt(r, r->has_matrices, it);
    if (may_recover(r, status) && r->has_matrices)
        status = attempt(r, 0, it);
    if (!may_recover(r, status) || !way_of(r)->together)
        return status;
    lg_radau_give_up(r);
    return attempt(r, 0, it);
}

/* ---- both ways ---- */

static lg_status respond_together(lg_radau_stepper *r, int i, double *u)
{
    (void)i;
    return lg_radau_solve_forces(r, u);
}

static void finish_by_stage(lg_radau_stepper *r)
{
    const lg_radau_stage *end = &r->stage[lg_radau_stages(&r->numbers) - 1];
    lg_space_move(r->base.system->space, r->start->q, end->theta, NULL, end->q, NULL);
}

static const way_type *way_of(const lg_radau_stepper *r)
{
    static const way_type ways[] = {
        [LG_RADAU_SPLITTING] = {.solve = solve_by_stage,
                                .look = set_known,
                                .look_at = look_at_stage,
                                .respond = lg_radau_solve_stage,
                                .finish = finish_by_stage},
        [LG_RADAU_EIGENBASIS] = {.solve = solve_together,
                                 .look = look_together,
                                 .look_at = look_at_known,
                                 .respond = respond_together,
                                 .finish = lg_radau_follow_all,
                                 .together = 1},
    };
    return &ways[lg_radau_way_of(r)];
}

lg_status lg_radau_solve(lg_radau_stepper *r)
{
    sweeps it;
    r->renewed = 0;
    lg_status status = attempt_all(r, &it);
    if (status == LG_NO_CONVERGENCE || status == LG_NOT_FINITE) {
        LG_TRY(lg_radau_check_turns(r, LG_PI));
        if (status == LG_NO_CONVERGENCE)
            report_failure(r, &it);
    }
    LG_TRY(status);
    r->matrices = lg_radau_way_of(r);
    way_of(r)->finish(r);
    remember(r, &it);
    return LG_OK;
}
