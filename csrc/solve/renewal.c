/* When Newton's method forms a new matrix; see renewal.h. */
#include "solve/renewal.h"

#include "core/small.h"
#include "solve/renewal_as_printed.h"

#include <math.h>

enum { MOST_SOLE_STEPS = 16 };

/* ---- at the beginning of a step ---- */

/* Whether a step that takes so many iterations with the matrix of earlier steps costs at least as much as the mean over
   those. */
static int is_dear(const lg_renewal_memory *m, double iterations, double cost)
{
    return iterations * m->matrix_age >= cost + m->iterations;
}

/* The number of iterations that the next step is expected to take with the matrix of earlier steps: as many as the last
   one, or in the second step of a matrix as many as in that of an earlier matrix, which is tried again now and then. */
static double next_iterations(const lg_renewal_memory *m)
{
    if (m->matrix_age > 1)
        return m->last_iterations;
    return m->sole_steps < MOST_SOLE_STEPS ? m->second_iterations : 0;
}

/* Whether the matrix of earlier steps should be replaced at the beginning of this step. */
static int is_worn(const lg_renewal_memory *m, double cost)
{
    int as_before = m->costly_age > 0 && m->matrix_age > m->costly_age - 1; /* ages are whole */
    return m->matrix_age > 0 && (as_before || is_dear(m, next_iterations(m), cost));
}

lg_renewal lg_renewal_begin(const lg_renewal_settings *settings, lg_renewal_memory *memory, int matrix_valid, int full)
{
    int as_printed = settings->rule == LG_RENEW_AS_PRINTED;
    full = full || settings->rule == LG_RENEW_ALWAYS;
    matrix_valid = matrix_valid && !full;
    return (lg_renewal){.settings = settings,
                        .memory = memory,
                        .full = full,
                        .begins_new = !matrix_valid || (!as_printed && is_worn(memory, settings->matrix_cost)),
                        .matrix_valid = matrix_valid};
}

/* Not if the next step would replace it, after as many iterations as in the last step. A matrix that is formed later in
   a step is always kept. */
int lg_renewal_keeps(const lg_renewal *r)
{
    const lg_renewal_memory *m = r->memory;
    if (r->settings->rule != LG_RENEW_BY_COST || r->count > 0)
        return r->settings->rule != LG_RENEW_ALWAYS;
    lg_renewal_memory next = *m;
    next.matrix_age = 1;
    next.iterations = fmax(1, m->last_iterations);
    next.sole_steps++;
    next.costly_age += m->costly_age > 0 ? 0.0625 : 0;
    return !is_worn(&next, r->settings->matrix_cost);
}

/* ---- within a step ---- */

/* The contraction of the last correction. The first one by an old matrix also removes errors of constraint rows below
   their round-off, which is large where coordinates are large or steps are small. */
static double whole_contraction(const lg_renewal *r, double contraction)
{
    return r->count == 1 && !r->renewed && r->hidden > 1 ? contraction / r->hidden : contraction;
}

/* The number of iterations after which an error is safe, as a real number. */
static double iterations_for(double error, double contraction)
{
    return contraction < 1 ? log(error / lg_safe_error) / -log(contraction) : INFINITY;
}

/* Whether an error is safe after so many iterations, in whole halves. */
static int is_safe_after(double iterations, double error, double contraction)
{
    double left = error / lg_safe_error, squared = left * left;
    for (; squared > 1 && iterations >= 0.5; iterations -= 0.5)
        squared *= contraction;
    return squared <= 1;
}

/* Whether the iterations that are left cost more than a new matrix, which costs at least one. Most often whole halves
   of an iteration decide this, without logarithms. */
static int is_slow(const lg_renewal *r, double error, double contraction)
{
    double cost = r->settings->matrix_cost;
    return !is_safe_after(lg_larger(1, cost), error, contraction) && iterations_for(error, contraction) > cost;
}

static int costs_more(const lg_renewal *r, double error, double contraction)
{
    if (r->settings->rule == LG_RENEW_AS_PRINTED)
        return lg_renewal_is_slow_as_printed(r->count, r->reuses, r->settings->renew_after, contraction);
    return r->count > 0 ? is_slow(r, error, whole_contraction(r, contraction)) : r->begins_new;
}

/* Whether one more correction by the last matrix of this step is as good as one by a new matrix, as both are expected
   to leave round-off. The contraction falls at least as much as before, as the matrix is nearer now. */
static int is_last(const lg_renewal *r, double error, double contraction)
{
    return r->reuses <= r->settings->reuses_last && error * contraction <= lg_safe_error;
}

int lg_renewal_is_due(lg_renewal *r, double error, double contraction)
{
    if (r->full)
        return !r->matrix_valid || !is_last(r, error, contraction);
    int due = costs_more(r, error, contraction);
    r->full = due && r->renewed;
    return due || !r->matrix_valid;
}

/* ---- what happens ---- */

void lg_renewal_form(lg_renewal *r)
{
    r->matrix_valid = r->renewed = 1;
    r->formed += r->formed == r->count;
    r->reuses = 0;
}

/* Remembers how long a matrix served, and what its second step cost. A single matrix at most halves the age at
   which later ones are replaced, because first guesses improve from step to step where a motion begins. */
static void note_age(lg_renewal *r, double iterations)
{
    lg_renewal_memory *m = r->memory;
    int began_with_new = r->renewed && r->reuses == r->count, by_cost = r->settings->rule == LG_RENEW_BY_COST;
    int costly = by_cost && iterations * m->matrix_age > r->settings->matrix_cost + m->iterations;
    if (began_with_new)
        m->costly_age += m->costly_age > 0 ? 0.0625 : 0;
    else if (r->renewed || costly)
        m->costly_age = lg_larger(m->matrix_age, by_cost ? m->costly_age / 2 : 0);
    if (!r->renewed && m->matrix_age == 1) {
        m->second_iterations = iterations;
        m->sole_steps = 0;
    }
}

void lg_renewal_end(lg_renewal *r, double iterations)
{
    lg_renewal_memory *m = r->memory;
    m->last_iterations = iterations;
    m->last_formed = r->formed;
    note_age(r, iterations);
    if (r->renewed)
        m->matrix_age = m->iterations = 0;
    m->iterations += iterations - (r->count - r->reuses);
    m->matrix_age++;
    m->sole_steps++;
}
