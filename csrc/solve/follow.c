/* Derivatives that follow projections; see follow.h. */
#include "solve/follow.h"

#include "core/small.h"

#include <math.h>

static void layout_corrections(lg_follower *f, lg_arena *arena)
{
    const lg_system *system = f->linear->accel->system;
    size_t nv = (size_t)system->space->nv;
    lg_correction room;
    f->corrections = lg_arena_take(arena, LG_CORRECTIONS * sizeof *f->corrections);
    for (int i = 0; i < LG_CORRECTIONS; i++) {
        lg_correction *c = f->corrections ? &f->corrections[i] : &room;
        c->q = lg_arena_doubles(arena, (size_t)system->space->nq);
        c->v = lg_arena_doubles(arena, nv);
        c->x = lg_arena_doubles(arena, nv + (size_t)system->pattern->nrows);
    }
}

void lg_follow_layout(lg_follower *f, int nparameters, int backwards, lg_arena *arena)
{
    const lg_system *system = f->linear->accel->system;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)system->pattern->nrows;
    f->count = nparameters;
    lg_moves_layout(&f->moves, system->space, arena);
    f->chain = lg_arena_take(arena, (size_t)system->space->nblocks * sizeof *f->chain);
    f->Z = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    f->turn = lg_arena_doubles(arena, nv);
    f->dturn = lg_arena_doubles(arena, nv * (backwards ? 1 : (size_t)nparameters));
    f->q = lg_arena_doubles(arena, (size_t)system->space->nq);
    f->x = lg_arena_doubles(arena, nv + nrows);
    f->v = lg_arena_doubles(arena, nv);
    f->corrections = NULL;
    if (backwards)
        layout_corrections(f, arena);
}

static lg_status evaluate(lg_linearised *l, const lg_point *point, const lg_wanted *wanted)
{
    const lg_system *system = l->accel->system;
    l->accel->evaluations++;
    return system->eval(system->self, point, wanted);
}

/* K = d(M delta + B^T lam)/dq, as the difference of two stiffnesses, for the correction in x. */
static lg_status form_stiffness(lg_follower *f, const lg_point *point, const double *x)
{
    lg_linearised *l = f->linear;
    const lg_system *system = l->accel->system;
    lg_point at = *point;
    lg_tangent tangent = {&l->K, f->chain};
    at.a = x, at.lam = x + system->space->nv;
    lg_matrix_zero(&l->K);
    l->turning.known = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < system->space->nblocks; i++)
            f->chain[i] = (lg_chain){.k = {sign, 0, 0}};
        LG_TRY(evaluate(l, &at, &(lg_wanted){.tangent = &tangent, .ntangents = 1}));
        at.a = at.lam = NULL;
    }
    return LG_OK;
}

/* The force rows of the right-hand side for parameter k: minus d(M delta + B^T lam) along dq at fixed delta and lam. */
static lg_status set_forces(lg_follower *f, const lg_point *point, int k, const double *x)
{
    lg_linearised *l = f->linear;
    int nv = l->accel->system->space->nv, nrows = l->accel->system->pattern->nrows;
    lg_point at = *point;
    at.a = x, at.lam = x + nv;
    LG_TRY(lg_linearised_differentiate(l, &at, k, &(lg_wanted){.Ma = l->force, .Btlam = l->term}));
    lg_zero(nv + nrows, f->x);
    lg_zero(nv + nrows, l->x);
    lg_copy(nv, f->dq + (long)nv * k, l->x);
    lg_matrix_add_product(&l->K, -1, l->x, f->x);
    lg_zero(nrows, f->x + nv);
    for (int i = 0; i < nv; i++)
        f->x[i] -= l->force[i] + l->term[i];
    return LG_OK;
}

/* rows += s (d(phidot)/dp at fixed q and v + B dv + Z dq) for parameter k at velocities v; dv NULL: zero. */
static lg_status add_rates(lg_follower *f, const lg_point *point, int k, double s, const double *v, const double *Z,
                           const double *dv)
{
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    double *rows = f->x + nv;
    lg_point at = *point;
    at.v = v;
    LG_TRY(lg_linearised_differentiate(l, &at, k, &(lg_wanted){.phidot = l->phidot}));
    lg_axpy(pattern->nrows, s, l->phidot, rows);
    lg_pattern_add_B(pattern, Z, s, f->dq + (long)nv * k, rows);
    if (dv)
        lg_pattern_add_B(pattern, l->B, s, dv, rows);
    return LG_OK;
}

/* Keeps the correction that stands in the solver's x. */
static lg_status keep_correction(lg_follower *f, const lg_point *point, int of_velocity, int joint)
{
    const lg_accel *accel = f->linear->accel;
    const lg_space *space = accel->system->space;
    if (f->ncorrections == LG_CORRECTIONS)
        return LG_NO_CONVERGENCE;
    lg_correction *c = &f->corrections[f->ncorrections++];
    c->point = *point;
    c->of_velocity = of_velocity, c->joint = joint;
    lg_copy(space->nq, of_velocity && joint ? c[-1].q : point->q, c->q);
    lg_copy(space->nv, point->v, c->v);
    lg_copy(space->nv + accel->system->pattern->nrows, accel->x, c->x);
    c->point.q = c->q, c->point.v = c->v, c->point.work = accel->work;
    return LG_OK;
}

/* ---- positions ---- */

static lg_status turn(lg_follower *f, const lg_point *point, int k)
{
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    double *rows = f->x + nv;
    LG_TRY(set_forces(f, point, k, l->accel->x));
    LG_TRY(lg_linearised_differentiate(l, point, k, &(lg_wanted){.phi = l->phi}));
    lg_axpy(pattern->nrows, -1, l->phi, rows);
    lg_pattern_add_B(pattern, l->B, -1, f->dq + (long)nv * k, rows);
    LG_TRY(add_rates(f, point, k, -1, l->accel->x, l->Z, NULL));
    LG_TRY(add_rates(f, point, k, 1, f->v, f->Z, NULL));
    lg_pattern_zero_nonholonomic(pattern, rows);
    LG_TRY(lg_accel_solve_linear(l->accel, f->x));
    lg_copy(nv, f->x, f->dturn + (long)nv * k);
    return LG_OK;
}

static void move(lg_follower *f)
{
    int nv = f->linear->accel->system->space->nv;
    lg_moves_form(&f->moves, f->turn, NULL);
    for (int k = 0; k < f->count; k++) {
        double *dq = f->dq + (long)nv * k;
        lg_moves_end(&f->moves, dq, f->dturn + (long)nv * k, f->v);
        lg_copy(nv, f->v, dq);
    }
}

lg_status lg_follow_position(lg_follower *f, const lg_point *point, int waits)
{
    lg_linearised *l = f->linear;
    const lg_system *system = l->accel->system;
    lg_point at = *point;
    if (f->corrections)
        return keep_correction(f, point, 0, waits);
    at.work = l->accel->work;
    lg_copy(system->space->nv, l->accel->x, f->turn);
    lg_copy(system->space->nq, point->q, f->q);
    LG_TRY(form_stiffness(f, &at, l->accel->x));
    at.v = l->accel->x;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.B = l->B, .Z = l->Z}));
    lg_zero(system->space->nv, f->v);
    at.v = f->v;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.Z = f->Z}));
    at.v = point->v;
    for (int k = 0; k < f->count; k++)
        LG_TRY(turn(f, &at, k));
    if (!waits)
        move(f);
    return LG_OK;
}

/* ---- velocities ---- */

/* rows += s Z delta at the point moved by x along (dq, dv) */
static lg_status add_displaced(lg_follower *f, const lg_point *point, double x, const double *dq, const double *dv,
                               double s, double *rows)
{
    lg_linearised *l = f->linear;
    const lg_system *system = l->accel->system;
    for (int i = 0; i < system->space->nv; i++) {
        l->theta[i] = x * dq[i];
        l->v[i] = point->v[i] + x * dv[i];
    }
    lg_space_retract(system->space, point->q, l->theta, l->q);
    lg_point at = *point;
    at.q = l->q, at.v = l->v;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.Z = f->Z}));
    lg_pattern_add_B(system->pattern, f->Z, s, f->turn, rows);
    return LG_OK;
}

/* rows -= d(Z delta), Z = d(phidot)/dq, by differences of the sixth order along the derivatives of the state. */
static lg_status subtract_turned(lg_follower *f, const lg_point *point, int k, double *rows)
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    const double *dq = f->dq + (long)nv * k, *dv = f->dv + (long)nv * k;
    double size = fmax(lg_max_abs(nv, dq), lg_max_abs(nv, dv) / (1 + lg_max_abs(nv, point->v))), step = 1e-2 / size;
    LG_TRY(evaluate(l, point, &(lg_wanted){.Z = f->Z}));
    lg_pattern_add_B(pattern, f->Z, -1, f->dturn + (long)nv * k, rows);
    LG_TRY(lg_linearised_differentiate(l, point, k, &(lg_wanted){.Z = f->Z}));
    lg_pattern_add_B(pattern, f->Z, -1, f->turn, rows);
    for (int i = 0; size > 0 && i < 3; i++)
        for (int sign = -1; sign <= 1; sign += 2)
            LG_TRY(add_displaced(f, point, sign * (i + 1) * step, dq, dv, -sign * weight[i] / step, rows));
    return LG_OK;
}

lg_status lg_follow_velocity(lg_follower *f, const lg_point *point, int waited)
{
    lg_linearised *l = f->linear;
    int nv = l->accel->system->space->nv;
    lg_point at = *point, after;
    if (f->corrections)
        return keep_correction(f, point, 1, waited);
    at.work = l->accel->work;
    at.q = waited ? f->q : point->q;
    after = at;
    LG_TRY(form_stiffness(f, &at, l->accel->x));
    for (int i = 0; i < nv; i++)
        f->v[i] = point->v[i] + l->accel->x[i];
    after.v = f->v;
    LG_TRY(evaluate(l, &after, &(lg_wanted){.B = l->B, .Z = l->Z}));
    for (int k = 0; k < f->count; k++) {
        double *dv = f->dv + (long)nv * k;
        LG_TRY(set_forces(f, &at, k, l->accel->x));
        LG_TRY(add_rates(f, &at, k, -1, f->v, l->Z, dv));
        if (waited)
            LG_TRY(subtract_turned(f, &at, k, f->x + nv));
        LG_TRY(lg_accel_solve_linear(l->accel, f->x));
        lg_axpy(nv, 1, f->x, dv);
    }
    if (waited)
        move(f);
    return LG_OK;
}

/* ---- the way back ---- */

/* The matrix of a correction of positions or velocities. */
static lg_status factor_again(lg_follower *f, const lg_correction *c, lg_report *report)
{
    lg_accel *accel = f->linear->accel;
    LG_TRY(lg_accel_assemble(accel, &c->point, &(lg_wanted){.B = accel->B}, report));
    if (!c->of_velocity)
        lg_pattern_mask_nonholonomic(accel->system->pattern, 1, accel->B);
    return lg_accel_border(accel, &c->point, accel->B, accel->B, report);
}

/* w and its rows, into f->x, for the adjoint of the correction. */
static lg_status solve_back(lg_follower *f, const double *correction)
{
    int nv = f->linear->accel->system->space->nv;
    lg_copy(nv, correction, f->x);
    lg_zero(f->linear->accel->system->pattern->nrows, f->x + nv);
    return lg_accel_solve_linear(f->linear->accel, f->x);
}

/* The shares of all parameters in the force rows of a correction, and in phidot at velocities v. */
static lg_status add_shares(lg_follower *f, const lg_correction *c, int count, const double *v, double *gradient)
{
    int nv = f->linear->accel->system->space->nv;
    const lg_term_weights weights = {.reactions = f->x, .phidot = f->x + nv};
    lg_point at = c->point;
    at.v = v, at.a = c->x, at.lam = c->x + nv;
    return lg_linearised_weigh(f->linear, &at, count, &weights, -1, gradient);
}

/* Those in phi, and in phidot of a body at rest, which counts in that of the correction. */
static lg_status add_shares_of_rows(lg_follower *f, const lg_correction *c, int count, const double *rest,
                                    double *gradient)
{
    const double *rows = f->x + f->linear->accel->system->space->nv;
    lg_point at = c->point;
    at.v = rest;
    LG_TRY(lg_linearised_weigh(f->linear, &at, count, &(lg_term_weights){.phi = rows}, -1, gradient));
    return lg_linearised_weigh(f->linear, &at, count, &(lg_term_weights){.phidot = rows}, 1, gradient);
}

/* From the adjoint of a turn of positions, which is lost, to that of q where it begins, which is added. */
static lg_status position_back(lg_follower *f, const lg_correction *c, int nparameters, const double *turn, double *q,
                               double *gradient)
{
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    double *rows = f->x + nv;
    lg_point at = c->point;
    LG_TRY(solve_back(f, turn));
    lg_pattern_zero_nonholonomic(pattern, rows);
    LG_TRY(form_stiffness(f, &c->point, c->x));
    lg_matrix_add_transposed(&l->K, -1, f->x, q);
    at.v = c->x;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.B = l->B, .Z = l->Z}));
    lg_pattern_add_BT(pattern, l->B, -1, rows, q);
    lg_pattern_add_BT(pattern, l->Z, -1, rows, q);
    lg_zero(nv, f->v);
    at.v = f->v;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.Z = f->Z}));
    lg_pattern_add_BT(pattern, f->Z, 1, rows, q);
    LG_TRY(add_shares(f, c, nparameters, c->x, gradient));
    return add_shares_of_rows(f, c, nparameters, f->v, gradient);
}

/* From the adjoint of v after a correction to that before it, and to that of q, which is added. */
static lg_status velocity_back(lg_follower *f, const lg_correction *c, int nparameters, double *q, double *v,
                               double *gradient)
{
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    const double *rows = f->x + nv;
    lg_point at = c->point;
    LG_TRY(solve_back(f, v));
    LG_TRY(form_stiffness(f, &c->point, c->x));
    lg_matrix_add_transposed(&l->K, -1, f->x, q);
    for (int i = 0; i < nv; i++)
        f->v[i] = c->v[i] + c->x[i];
    at.v = f->v;
    LG_TRY(evaluate(l, &at, &(lg_wanted){.B = l->B, .Z = l->Z}));
    lg_pattern_add_BT(pattern, l->Z, -1, rows, q);
    lg_pattern_add_BT(pattern, l->B, -1, rows, v);
    return add_shares(f, c, nparameters, f->v, gradient);
}

/* What Z turn, in the rows of a correction of velocities, takes of q, v and the turn. */
static lg_status turned_back(lg_follower *f, const lg_correction *c, int nparameters, double *turn, double *q,
                             double *v, double *gradient)
{
    lg_linearised *l = f->linear;
    const lg_pattern *pattern = l->accel->system->pattern;
    const double *rows = f->x + l->accel->system->space->nv, *made = c[-1].x;
    LG_TRY(lg_linearised_turned_adjoint(l, &c->point, -1, made, rows, q, v));
    LG_TRY(evaluate(l, &c->point, &(lg_wanted){.Z = f->Z}));
    lg_pattern_add_BT(pattern, f->Z, -1, rows, turn);
    for (int k = 0; k < nparameters; k++) {
        LG_TRY(lg_linearised_differentiate(l, &c->point, k, &(lg_wanted){.Z = f->Z}));
        lg_zero(pattern->nrows, l->phidot);
        lg_pattern_add_B(pattern, f->Z, 1, made, l->phidot);
        gradient[k] -= lg_dot(pattern->nrows, rows, l->phidot);
    }
    return LG_OK;
}

/* The adjoint of the turn of a correction of positions, into f->dturn, and that of q without it. */
static void turn_back(lg_follower *f, const lg_correction *c, double *q)
{
    int nv = f->linear->accel->system->space->nv;
    lg_moves_form(&f->moves, c->x, NULL);
    lg_copy(nv, q, f->turn);
    lg_zero(nv, q);
    lg_zero(nv, f->dturn);
    lg_moves_end_adjoint(&f->moves, f->turn, q, f->dturn);
}

lg_status lg_follow_back(lg_follower *f, int nparameters, double *q, double *v, double *gradient, lg_report *report)
{
    for (int i = f->ncorrections - 1; i >= 0; i--) {
        const lg_correction *c = &f->corrections[i];
        LG_TRY(factor_again(f, c, report));
        if (!c->of_velocity || c->joint)
            turn_back(f, c->joint ? c - 1 : c, q);
        if (c->of_velocity)
            LG_TRY(velocity_back(f, c, nparameters, q, v, gradient));
        if (c->joint)
            LG_TRY(turned_back(f, c, nparameters, f->dturn, q, v, gradient));
        if (c->joint)
            c = &f->corrections[--i];
        if (!c->of_velocity)
            LG_TRY(position_back(f, c, nparameters, f->dturn, q, gradient));
    }
    return LG_OK;
}
