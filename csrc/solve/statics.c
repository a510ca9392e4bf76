/* Static equilibrium; see statics.h. */
#include "solve/statics.h"

#include "core/small.h"
#include "solve/cause.h"
#include "solve/initial.h"
#include "solve/project.h"

#include <float.h>
#include <math.h>

static const double far_turn = 1; /* rad: no correction turns a rotation further */
static const double near = 0.1; /* rad or m: corrections below this size need not lead downhill */
static const double first_step = 0.1; /* rad or m, at the first mu */
static const double contraction = 0.5; /* largest contraction of an accepted correction */
static const double steepest_fall = 0.05; /* smallest factor of mu after an accepted correction */
static const double cautious_fall = 0.5; /* the same if one has been rejected before */
static const double growth = 4; /* factor of mu after a rejected correction */
static const double lowest = 1e-8; /* below this fraction of its first value mu is set to zero */
static const double tiny = 1e-8; /* below this fraction of the coordinates a correction may be round-off */
static const double tiny_neutral = 1e-6; /* the same if only nu D stiffens some direction */
static const double weak = 1e-3; /* below this fraction of its first value mu no longer holds a free body */
static const double hold = 1e-9; /* nu: the part of the diagonal of K that stiffens a neutral direction */
static const double blur = 1e-11; /* below this part of the diagonal of K a curvature may be round-off */
static const double most_growth = 1e12; /* of mu: beyond it, steps are too short to make progress */

enum { POLISHES = 4 }; /* number of corrections that polish a state that may be neutral */

static const char anywhere[] = "try smaller steps of the loads, a start nearer to the equilibrium or a larger max_iter";
static const char after_saddle[] =
    "the equilibrium found first is unstable, and no stable one was reached from it; leave_saddles=False keeps it";

/* A search under way. */
typedef struct statics_search {
    lg_statics *statics;
    lg_report *report;
    double mu, mu_first; /* 0: not needed yet */
    double nu; /* 0: no neutral direction has been found */
    double fall; /* smallest factor by which mu may fall next */
    double error; /* of the present residual: at most 1 if it has converged */
    double trial_error;
    double theta; /* contraction of the last trial */
    int begins_singular; /* K was singular where the search began */
    int was_regular; /* K has been regular, also where the search began */
    int was_weak; /* mu has been so small that a free body has moved far away */
    int at_round_off; /* corrections are down to round-off */
    int after_saddle; /* the search began at an unstable equilibrium */
    int worst; /* the row of the residual that is furthest from convergence */
    lg_report obstacle; /* why the last trial state had no memory or no regular coordinates */
} statics_search;

void lg_statics_layout(void *self, lg_arena *arena)
{
    lg_statics *s = self;
    const lg_system *system = s->accel.system;
    size_t nq = (size_t)system->space->nq, nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    lg_accel_layout(&s->accel, arena);
    s->q = lg_arena_doubles(arena, nq);
    s->lam = lg_arena_doubles(arena, nrows);
    s->mem = lg_arena_doubles(arena, (size_t)system->nmem);
    s->v = lg_arena_doubles(arena, nv);
    s->a = lg_arena_doubles(arena, nv);
    s->trial_v = lg_arena_doubles(arena, nv);
    s->trial_mem = lg_arena_doubles(arena, (size_t)system->nmem);
    s->kept = lg_arena_doubles(arena, nq + nrows + (size_t)system->nmem + nv);
    s->trial = lg_arena_doubles(arena, nq + nrows);
    s->residual = lg_arena_doubles(arena, nv + nrows);
    s->trial_residual = lg_arena_doubles(arena, nv + nrows);
    s->correction = lg_arena_doubles(arena, nv + nrows);
    s->terms = lg_arena_doubles(arena, 4 * nv);
    lg_rest_layout(&s->rest, &s->accel, arena);
    lg_saddle_layout(&s->saddle, &s->rest, arena);
}

/* ---- the residual ---- */

static lg_point statics_point(const lg_statics *s, const double *q, const double *lam)
{
    lg_point point = lg_point_after(s->t, q, q == s->trial ? s->trial_v : s->v, s->mem);
    point.load = s->load;
    point.lam = lam;
    point.work = s->accel.work;
    return point;
}

/* r = gyro - force + B^T lam; returns the norm of r and writes that of its terms. */
static double sum_forces(const lg_statics *s, double *r, double *size)
{
    int nv = s->accel.system->space->nv;
    const double *gyro = s->terms, *force = gyro + nv, *Btlam = force + nv;
    double sum = 0, sizes = 0;
    for (int i = 0; i < nv; i++) {
        r[i] = gyro[i] - force[i] + Btlam[i];
        sum += r[i] * r[i];
        sizes += gyro[i] * gyro[i] + force[i] * force[i] + Btlam[i] * Btlam[i];
    }
    *size = sqrt(sizes / nv);
    return sqrt(sum / nv);
}

static int largest_entry(int n, const double *x)
{
    int worst = 0;
    for (int i = 1; i < n; i++)
        if (!(fabs(x[i]) <= fabs(x[worst])))
            worst = i;
    return worst;
}

/* The error of a residual: force rows are compared with rtol times their terms plus atol, constraint rows with rtol
   times the coordinates; neither bound lies below round-off. */
static double residual_error(statics_search *at, const double *q, double *r)
{
    const lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    double size, force = sum_forces(s, r, &size), coordinates = 1 + lg_max_abs(system->space->nq, q);
    double error = force / fmax(s->rtol * size + s->atol, fmax(16 * DBL_EPSILON * size, DBL_MIN));
    double rows = nrows ? lg_max_abs(nrows, r + nv) / (fmax(s->rtol, 16 * DBL_EPSILON) * coordinates) : 0;
    at->report->residual = force;
    at->worst = rows > error ? nv + largest_entry(nrows, r + nv) : largest_entry(nv, r);
    return isnan(rows) ? rows : fmax(error, rows);
}

/* The residual at q and lam. LG_NOT_FINITE if a value is not finite. */
static lg_status evaluate_state(statics_search *at, const double *q, const double *lam, double *r, double *error)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nv = system->space->nv;
    lg_point point = statics_point(s, q, lam);
    lg_wanted wanted = {.gyro = s->terms,
                        .force = s->terms + nv,
                        .Btlam = s->terms + 2 * nv,
                        .phi = system->pattern->nrows ? r + nv : NULL};
    s->accel.evaluations++;
    LG_TRY(system->eval(system->self, &point, &wanted));
    *error = residual_error(at, q, r);
    return isfinite(*error) ? LG_OK : LG_NOT_FINITE;
}

/* ---- corrections ---- */

/* K + mu M + nu D with the rows of the constraints, factored at the present state. */
static lg_status factor_here(statics_search *at)
{
    lg_statics *s = at->statics;
    lg_point point = statics_point(s, s->q, s->lam);
    return lg_rest_factor(&s->rest, &point, (lg_shift){at->mu, at->nu}, at->report);
}

/* c^T (K + mu M) c = c^T (r - B^T dlam), with B c = phi. */
static double curvature(const lg_statics *s)
{
    int nv = s->accel.system->space->nv, nrows = s->accel.system->pattern->nrows;
    double sum = 0;
    for (int i = 0; i < nv; i++)
        sum += s->correction[i] * s->residual[i];
    for (int i = nv; i < nv + nrows; i++)
        sum -= s->correction[i] * s->residual[i];
    return sum;
}

/* The largest component of a correction along a rotation. */
static double turn_of_correction(const lg_statics *s)
{
    const lg_space *space = s->accel.system->space;
    double turn = 0;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        if (!f->node->linear)
            turn = fmax(turn, lg_max_abs(f->nv - f->node->attitude_v, s->correction + f->v + f->node->attitude_v));
    return turn;
}

/* Takes a correction from the values of first-order equations. */
static void correct_first_order(lg_statics *s)
{
    const lg_space *space = s->accel.system->space;
    lg_copy(space->nv, s->v, s->trial_v);
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        if (f->nq == 0)
            lg_axpy(f->nv, -1, s->correction + f->v, s->trial_v + f->v);
}

/* The state after the correction, with its residual. */
static lg_status try_correction(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nq = system->space->nq, nv = system->space->nv, nrows = system->pattern->nrows;
    double *back = s->accel.x;
    for (int i = 0; i < nv; i++)
        back[i] = -s->correction[i];
    lg_space_retract(system->space, s->q, back, s->trial);
    correct_first_order(s);
    lg_copy(nrows, s->lam, s->trial + nq);
    lg_axpy(nrows, -1, s->correction + nv, s->trial + nq);
    return evaluate_state(at, s->trial, s->trial + nq, s->trial_residual, &at->trial_error);
}

/* y = M x with the mass at the present state */
static lg_status mass_times(lg_statics *s, const double *x, double *y)
{
    lg_point point = statics_point(s, s->q, NULL);
    return lg_rest_mass_times(&s->rest, &point, x, y);
}

/* The contraction: the size of the next correction by the same matrix divided by that of the last one, in the mass
   metric, which is the same in all formulations. Its right-hand side is the residual of implicit Euler's equations at
   the trial state, r - mu M c. */
static lg_status contract(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nv = system->space->nv;
    double *x = s->accel.x, *Mc = s->terms + 3 * nv, size;
    LG_TRY(mass_times(s, s->correction, Mc));
    size = lg_dot(nv, s->correction, Mc);
    lg_copy(nv + system->pattern->nrows, s->trial_residual, x);
    lg_axpy(nv, -at->mu, Mc, x);
    LG_TRY(lg_matrix_solve(&s->accel.matrix, x));
    LG_TRY(mass_times(s, x, Mc));
    at->theta = size > 0 ? sqrt(fmax(0, lg_dot(nv, x, Mc)) / size) : 0;
    return LG_OK;
}

/* Whether the coordinates of the trial state are regular. Where they are singular, unbalanced forces may have no
   component along any of them. */
static lg_status check_coordinates(statics_search *at)
{
    const lg_system *system = at->statics->accel.system;
    int block;
    double distance = lg_space_regular(system->space, at->statics->trial, &block);
    if (distance >= LG_REGULAR)
        return LG_OK;
    lg_report_angles(system, block, distance, &at->obstacle);
    return LG_COORDINATES;
}

/* Sets the memory of the trial state, if it has regular coordinates. */
static lg_status remember_trial(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    lg_point from = statics_point(s, s->q, s->lam), to = statics_point(s, s->trial, s->trial + system->space->nq);
    lg_copy(system->nmem, s->mem, s->trial_mem);
    at->obstacle = (lg_report){0};
    at->obstacle.status = check_coordinates(at);
    if (at->obstacle.status == LG_OK && system->memory.commit)
        at->obstacle.status = system->memory.commit(system->self, &from, &to, s->trial_mem, &at->obstacle);
    return at->obstacle.status;
}

/* Makes the trial state the present one. */
static lg_status accept_trial(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nq = system->space->nq, nrows = system->pattern->nrows;
    LG_TRY(remember_trial(at));
    lg_copy(system->nmem, s->trial_mem, s->mem);
    lg_copy(nq, s->trial, s->q);
    lg_copy(system->space->nv, s->trial_v, s->v);
    lg_copy(nrows, s->trial + nq, s->lam);
    lg_copy(system->space->nv + nrows, s->trial_residual, s->residual);
    at->error = at->trial_error;
    return LG_OK;
}

/* Moves the trial state of a step of implicit Euler onto the constraints, and gives it the multipliers with which it
   begins to move when released. */
static lg_status complete_trial(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    int nq = system->space->nq;
    if (at->mu == 0 || !system->pattern->nrows)
        return LG_OK;
    LG_TRY(lg_project(&s->accel, LG_PROJECT_POSITION, s->t, s->trial, s->trial_v, s->mem, &(lg_report){0}));
    lg_point point = statics_point(s, s->trial, NULL);
    LG_TRY(lg_accel_solve(&s->accel, &point, s->terms, s->trial + nq, &(lg_report){0}));
    return evaluate_state(at, s->trial, s->trial + nq, s->trial_residual, &at->trial_error);
}

/* ---- mu ---- */

/* Finds the mu at which a step from the present state is about as long as `first_step`. */
static lg_status find_first(statics_search *at)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    lg_point point = statics_point(s, s->q, NULL);
    double *a = s->terms;
    LG_TRY(lg_accel_solve(&s->accel, &point, a, s->trial + system->space->nq, at->report));
    at->mu_first = fmax(lg_max_abs(system->space->nv, a) / first_step, DBL_MIN);
    return LG_OK;
}

/* Increases mu after a failed correction, so that the next one is shorter. */
static lg_status shorten(statics_search *at)
{
    if (at->mu_first == 0)
        LG_TRY(find_first(at));
    at->fall = at->mu == 0 ? steepest_fall : cautious_fall;
    at->mu = at->mu == 0 ? at->mu_first : growth * at->mu;
    return at->mu <= most_growth * at->mu_first ? LG_OK : LG_NO_EQUILIBRIUM;
}

static void lengthen(statics_search *at)
{
    at->was_weak |= at->mu < weak * at->mu_first;
    at->mu *= fmax(at->fall, fmin(1, 2 * at->theta / contraction));
    at->fall = fmax(steepest_fall, at->fall * at->fall);
    if (at->mu < lowest * at->mu_first)
        at->mu = 0;
}

/* ---- the search ---- */

/* Whether a direction in which K is singular may be neutral: K was regular where the search began, or the last
   equilibrium is neutral. */
static int may_hold(const statics_search *at)
{
    return at->mu == 0 && at->nu == 0 && (at->was_regular || at->statics->neutral);
}

/* Handles a matrix K, or K + mu M, that is singular, or a K so nearly singular that a converged state would move far.
   If K was regular where the search began, there is a neutral direction, such as a turn about an axis of symmetry, and
   nu D stiffens it from now on. Otherwise, or if that does not help, the search ends if the residual has converged or
   mu has fallen to zero again: either nothing determines the position or, if K was regular at the beginning, the search
   has run away. */
static lg_status meet_singular(statics_search *at)
{
    int begins = at->mu_first == 0;
    if (may_hold(at)) {
        at->nu = hold;
        return LG_OK;
    }
    if (at->mu == 0 && (at->error <= 1 || at->at_round_off))
        return LG_NOT_UNIQUE;
    if (at->mu == 0 && !begins)
        return at->begins_singular ? LG_NOT_UNIQUE : LG_NO_EQUILIBRIUM;
    at->begins_singular |= begins;
    at->was_weak |= !begins; /* mu M is below the round-off of K */
    return shorten(at);
}

/* Whether the correction is worth a trial. */
static int is_reasonable(const statics_search *at)
{
    const lg_statics *s = at->statics;
    int nv = s->accel.system->space->nv;
    double size = lg_max_abs(nv, s->correction);
    return isfinite(size) && turn_of_correction(s) <= far_turn && (size <= near || curvature(s) > 0);
}

/* Whether the correction is of the size of round-off. */
static int is_tiny(const statics_search *at)
{
    const lg_statics *s = at->statics;
    const lg_space *space = s->accel.system->space;
    return lg_max_abs(space->nv, s->correction) <=
           (at->nu > 0 ? tiny_neutral : tiny) * (1 + lg_max_abs(space->nq, s->q));
}

/* Whether the last correction, by K, shows that K is singular up to round-off. */
static int is_astray(const statics_search *at)
{
    return may_hold(at) && (!is_reasonable(at) || (at->error > 1 && !is_tiny(at)));
}

/* Judges the trial state of a search that has not converged. A tiny correction that does not contract is round-off. */
static lg_status judge(statics_search *at)
{
    LG_TRY(contract(at));
    if (!(at->theta <= contraction)) {
        at->at_round_off = at->mu < at->mu_first + DBL_MIN && is_tiny(at);
        return at->at_round_off ? LG_OK : shorten(at);
    }
    lg_status status = complete_trial(at);
    if (status == LG_NO_CONVERGENCE || status == LG_SINGULAR || status == LG_NOT_FINITE)
        return shorten(at);
    LG_TRY(status);
    status = accept_trial(at);
    if (status == LG_TURNED || status == LG_OVERTURNED)
        return shorten(at);
    LG_TRY(status);
    lengthen(at);
    return LG_OK;
}

/* Makes the last correction, by K itself, which reduces the error to round-off; it is dropped if it raises the
   residual. */
static lg_status finish_search(statics_search *at)
{
    if (at->error > 1 && !is_tiny(at))
        return LG_NO_EQUILIBRIUM;
    return at->trial_error <= fmax(1, at->error) ? accept_trial(at) : LG_OK;
}

/* Computes the correction at the present state. LG_SINGULAR: there is none. */
static lg_status find_correction(statics_search *at)
{
    lg_statics *s = at->statics;
    int nv = s->accel.system->space->nv;
    LG_TRY(factor_here(at));
    at->was_regular |= at->mu == 0 && at->nu == 0 && !at->begins_singular;
    lg_copy(nv + s->accel.system->pattern->nrows, s->residual, s->correction);
    return lg_rest_solve(&s->rest, s->residual + nv, s->correction);
}

/* Makes one correction, which may be rejected. *ends: it was the last one. */
static lg_status make_correction(statics_search *at, int *ends)
{
    *ends = at->error <= 1 || at->at_round_off;
    if (*ends)
        at->mu = 0;
    lg_status status = find_correction(at);
    if (status == LG_SINGULAR || (*ends && is_astray(at))) {
        *ends = 0;
        return meet_singular(at);
    }
    LG_TRY(status);
    if (!*ends && !is_reasonable(at))
        return shorten(at);
    status = try_correction(at);
    if (*ends)
        return status == LG_OK ? finish_search(at) : status;
    if (status == LG_NOT_FINITE)
        return shorten(at);
    LG_TRY(status);
    return judge(at);
}

static lg_status iterate_search(statics_search *at)
{
    lg_statics *s = at->statics;
    LG_TRY(evaluate_state(at, s->q, s->lam, s->residual, &at->error));
    for (int ends = 0; !ends; s->iterations++) {
        if (at->report->iteration++ >= s->max_iter)
            return LG_NO_EQUILIBRIUM;
        LG_TRY(make_correction(at, &ends));
        LG_TRY(lg_poll_after(s->accel.matrix.poll, LG_POLL_WORK / 100));
    }
    return LG_OK;
}

/* ---- stability ---- */

/* Leaves a saddle for a state of lower potential, where a new search begins with short steps. *left = 0: there is no
   such state. */
static lg_status leave_saddle(statics_search *at, int *left)
{
    lg_statics *s = at->statics;
    const lg_system *system = s->accel.system;
    lg_point from = statics_point(s, s->q, s->lam), to = statics_point(s, s->trial, NULL);
    LG_TRY(lg_saddle_leave(&s->saddle, &from, s->trial, left, at->report));
    if (!*left)
        return LG_OK;
    LG_TRY(lg_accel_solve(&s->accel, &to, s->terms, s->lam, at->report));
    LG_TRY(remember_trial(at));
    lg_copy(system->nmem, s->trial_mem, s->mem);
    lg_copy(system->space->nq, s->trial, s->q);
    *at = (statics_search){
        .statics = s, .report = at->report, .fall = cautious_fall, .after_saddle = 1, .was_regular = 1};
    LG_TRY(find_first(at));
    at->mu = at->mu_first;
    return LG_OK;
}

/* Counts the directions in which the curvature is below a part of the diagonal of K; -1: K minus that part is
   singular. */
static lg_status count_below(statics_search *at, double part, int *count)
{
    lg_statics *s = at->statics;
    lg_point point = statics_point(s, s->q, s->lam);
    lg_status status = lg_rest_negative(&s->rest, &point, (lg_shift){.nu = -part}, count, &(lg_report){0});
    if (status == LG_SINGULAR)
        *count = -1;
    return status == LG_SINGULAR ? LG_OK : status;
}

/* Counts the directions in which the equilibrium is unstable. A curvature that may be round-off decides nothing. */
static lg_status count_unstable(statics_search *at)
{
    lg_statics *s = at->statics;
    int flat;
    s->unstable = -1;
    s->neutral = at->nu > 0;
    if (!s->has_potential)
        return LG_OK;
    LG_TRY(count_below(at, -blur, &s->unstable));
    LG_TRY(count_below(at, blur, &flat));
    s->neutral = flat != s->unstable;
    if (s->neutral && s->unstable <= 0)
        s->unstable = -1;
    return LG_OK;
}

/* Makes more corrections of a converged state. Along a neutral direction K alone would turn round-off into a correction
   of any size; nu D keeps it small, at the price of linear convergence in the other directions. */
static lg_status polish(statics_search *at)
{
    at->nu = hold;
    for (int i = 0, ends; i < POLISHES; i++)
        LG_TRY(make_correction(at, &ends));
    return LG_OK;
}

/* Moves into an equilibrium and counts the directions in which it is unstable. Neutral directions are expected after a
   saddle that has a symmetry, next to a neutral equilibrium, and if a search that begins in equilibrium moves away from
   it. */
static lg_status find_equilibrium(statics_search *at)
{
    lg_statics *s = at->statics;
    long before = s->iterations;
    int expected = at->after_saddle || s->neutral;
    LG_TRY(iterate_search(at));
    expected |= s->iterations == before + 1 && !is_tiny(at);
    if (!expected)
        LG_TRY(count_unstable(at));
    if (!expected && !s->neutral)
        return LG_OK;
    LG_TRY(polish(at));
    LG_TRY(count_unstable(at));
    if (s->neutral)
        return LG_OK;
    at->nu = 0;
    return iterate_search(at);
}

/* Searches for an equilibrium, and from every saddle for another one. */
static lg_status descend(statics_search *at)
{
    for (int left = 1; left;) {
        LG_TRY(find_equilibrium(at));
        left = 0;
        if (at->statics->unstable <= 0 || !at->statics->leaves)
            continue;
        LG_TRY(leave_saddle(at, &left));
        at->after_saddle = 1;
        if (!left)
            return LG_NO_EQUILIBRIUM;
    }
    return LG_OK;
}

/* ---- the outcome ---- */

/* Finds out why a search has failed. A free body falls until round-off in its coordinates makes long steps useless;
   then K is singular far away as it was at the beginning. */
static lg_status explain(statics_search *at)
{
    if (at->obstacle.status == LG_OVERTURNED)
        return LG_OVERTURNED;
    if (!at->begins_singular || !at->was_weak)
        return LG_NO_EQUILIBRIUM;
    at->mu = at->nu = 0;
    lg_status status = factor_here(at);
    if (status == LG_SINGULAR)
        return LG_NOT_UNIQUE;
    return status == LG_OK ? LG_NO_EQUILIBRIUM : status;
}

/* Keeps the state at the beginning of a call, or restores it (`back`). */
static void keep_or_restore(const lg_statics *s, int back)
{
    const lg_system *system = s->accel.system;
    const int lengths[] = {system->space->nq, system->pattern->nrows, system->nmem, system->space->nv};
    double *const parts[] = {s->q, s->lam, s->mem, s->v}, *kept = s->kept;
    for (int i = 0; i < 4; kept += lengths[i++])
        lg_copy(lengths[i], back ? kept : parts[i], back ? parts[i] : kept);
}

static void report_failure(const statics_search *at, lg_status status)
{
    const lg_statics *s = at->statics;
    lg_point point = statics_point(s, s->q, s->lam);
    if (status == LG_NO_EQUILIBRIUM)
        lg_report_row(s->accel.system, "the largest residual is in ", at->worst, at->report);
    else if (status == LG_NOT_FINITE)
        lg_report_not_finite(s->accel.system, &point, -1, at->report);
    else if (status == at->obstacle.status)
        lg_report_name(at->report, at->obstacle.what);
}

lg_status lg_statics_solve(lg_statics *s, lg_report *out)
{
    statics_search at = {.statics = s, .report = out};
    out->iteration = 0;
    out->advice[0] = '\0';
    keep_or_restore(s, 0);
    lg_status status = descend(&at);
    if (status == LG_NO_EQUILIBRIUM)
        status = explain(&at);
    report_failure(&at, status);
    if (status == LG_NO_EQUILIBRIUM)
        lg_report_advise(out, at.after_saddle ? after_saddle : anywhere);
    if (status != LG_OK)
        keep_or_restore(s, 1);
    return status;
}

lg_status lg_statics_start(lg_statics *s, lg_report *report)
{
    lg_rest_open(&s->rest);
    const lg_system *system = s->accel.system;
    lg_point point = statics_point(s, s->q, NULL);
    if (system->memory.commit)
        LG_TRY(system->memory.commit(system->self, NULL, &point, s->mem, report));
    lg_status status = lg_accel_solve(&s->accel, &point, s->terms, s->lam, report);
    return status == LG_NOT_FINITE ? LG_UNDEFINED : status;
}
