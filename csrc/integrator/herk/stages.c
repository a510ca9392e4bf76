/* Points and stages of a half-explicit step; see herk.c. */
#include "core/small.h"
#include "integrator/herk/step.h"
#include "solve/initial.h"
#include "solve/project.h"

/* ---- points ---- */

void lg_herk_move(lg_herk_stepper *rk, const lg_state *state, const lg_weights *weights, int open, double h)
{
    int nv = rk->slopes.space->nv;
    lg_weights known = *weights;
    known.count -= open;
    lg_slopes_combine(&rk->slopes, weights, h, 0, nv, NULL, rk->theta);
    lg_space_move(rk->slopes.space, state->q, rk->theta, NULL, rk->q, NULL);
    lg_slopes_add_flows(&rk->slopes, state->q, weights, h, rk->q);
    lg_slopes_combine(&rk->slopes, &known, h, nv, nv, state->v, rk->v);
}

/* The rate K of stage i at the present point. */
static void set_rate(lg_herk_stepper *rk, const lg_state *state, int i)
{
    lg_space_rate(rk->slopes.space, state->q, rk->theta, rk->v, lg_slopes_at(&rk->slopes, i));
    lg_slopes_set_flow(&rk->slopes, i, rk->q, rk->v);
}

/* ---- stages ---- */

/* M and force - gyro at the present point, that of stage i. The second point also needs B here, since no stage before
   it has evaluated B. */
static lg_status assemble(lg_herk_stepper *rk, const lg_state *state, int i, double h)
{
    lg_accel *accel = &rk->base.accel;
    lg_point point = lg_herk_point(state, h, rk->c[i], rk->theta, rk->q, rk->v);
    point.same_q = i > 1; // lg_herk_set_rows was there
    lg_wanted wanted = {.force = rk->force, .gyro = accel->gyro, .B = i == 1 ? rk->B : NULL};
    LG_TRY(lg_accel_assemble(accel, &point, &wanted, &rk->base.report));
    if (!lg_accel_subtract_gyro(accel, rk->force))
        return lg_accel_not_finite(accel, &point, rk->force, &rk->base.report);
    return LG_OK;
}

lg_status lg_herk_set_rows(lg_herk_stepper *rk, const lg_state *state, double c, double h, double *B)
{
    lg_point point = lg_herk_point(state, h, c, rk->theta, rk->q, rk->v);
    return lg_accel_eval(&rk->base.accel, &point, &(lg_wanted){.B = B, .phidot = rk->phidot}, &rk->base.report);
}

lg_status lg_herk_solve(lg_herk_stepper *rk, double pivot)
{
    lg_accel *accel = &rk->base.accel;
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    lg_copy(nv, rk->force, accel->x);
    for (int i = 0; i < nrows; i++)
        accel->x[nv + i] = -rk->phidot[i] / pivot;
    return lg_accel_solve_linear(accel, accel->x);
}

/* Completes the velocities of the next point, i + 1, by those of the stage that was solved, and its rate. */
static void arrive(lg_herk_stepper *rk, const lg_state *state, int next, double h)
{
    const lg_space *space = rk->slopes.space;
    lg_axpy(space->nv, lg_herk_pivot(&rk->A[next], h), rk->base.accel.x, rk->v);
    if (next == rk->end) {
        lg_copy(space->nv, rk->theta, rk->theta_end);
        lg_copy(space->nq, rk->q, rk->q_end);
        lg_copy(space->nv, rk->v, rk->v_end);
    }
    if (next < rk->stages)
        set_rate(rk, state, next);
}

lg_status lg_herk_take_stage(lg_herk_stepper *rk, const lg_state *state, int i, double h)
{
    lg_accel *accel = &rk->base.accel;
    const lg_weights *row = &rk->A[i + 1];
    int nv = rk->slopes.space->nv, nrows = rk->base.system->pattern->nrows;
    LG_TRY(assemble(rk, state, i, h));
    lg_herk_move(rk, state, row, 1, h);
    LG_TRY(lg_herk_set_rows(rk, state, rk->c[i + 1], h, rk->B_next));

    lg_point next = lg_herk_point(state, h, rk->c[i + 1], rk->theta, rk->q, rk->v);
    LG_TRY(lg_accel_border(accel, &next, rk->B, rk->B_next, &rk->base.report));
    LG_TRY(lg_herk_solve(rk, lg_herk_pivot(row, h)));
    lg_copy(nv, accel->x, lg_slopes_at(&rk->slopes, i) + nv);
    lg_axpy(nrows, rk->d[i], accel->x + nv, rk->lam_end);
    if (rk->derivatives.Lam)
        lg_copy(nrows, accel->x + nv, rk->derivatives.Lam + (long)nrows * i);
    arrive(rk, state, i + 1, h);

    double *B = rk->B;
    rk->B = rk->B_next;
    rk->B_next = B;
    return LG_OK;
}

/* ---- start and end of a step ---- */

void lg_herk_begin(lg_herk_stepper *rk, const lg_state *state, double h)
{
    lg_slopes_begin(&rk->slopes, state);
    lg_zero(rk->base.system->pattern->nrows, rk->lam_end);
    lg_axpy(rk->base.system->pattern->nrows, rk->d[0], state->lam, rk->lam_end);
    lg_herk_move(rk, state, &rk->A[1], 0, h);
    set_rate(rk, state, 1);
}

/* The acceleration and the multipliers of the new state. */
static lg_status accelerate(lg_herk_stepper *rk, const lg_point *end)
{
    lg_accel *accel = &rk->base.accel;
    lg_report *report = &rk->base.report;
    int nv = rk->slopes.space->nv;
    if (rk->consistent)
        return lg_accel_solve(accel, end, rk->a_end, rk->lam_end, report);
    if (lg_herk_needs_acceleration(rk))
        return lg_unconstrained_solve(&rk->unconstrained, accel, end, rk->a_end, rk->lam_end, report);
    lg_copy(nv, lg_slopes_at(&rk->slopes, rk->stages - 1) + nv, rk->a_end);
    return LG_OK;
}

lg_status lg_herk_finish(lg_herk_stepper *rk, const lg_state *state, double h)
{
    lg_point end = lg_herk_point(state, h, 1, rk->theta_end, rk->q_end, rk->v_end);
    if (rk->levels && rk->consistent)
        return lg_project_end(&rk->base.accel, rk->levels, &end, rk->q_end, rk->v_end, NULL, rk->a_end, rk->lam_end,
                              &rk->base.report);
    if (rk->levels)
        LG_TRY(lg_project_at(&rk->base.accel, rk->levels, &end, rk->q_end, rk->v_end, NULL, &rk->base.report));
    return accelerate(rk, &end);
}
