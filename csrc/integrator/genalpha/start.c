/* The optimal start of holzinger2025: a_0 belongs to t_0 + (alpha_m - alpha_f) h, and for index 3 v_0 violates the
   constraints by as much as the following steps will. */
#include "core/small.h"
#include "integrator/genalpha/step.h"
#include "solve/initial.h"

/* Consistent accelerations a time s into the step, along q exp(s v + s^2/2 a), v + s a. */
static lg_status acceleration_after(lg_genalpha_stepper *g, double s, double *a)
{
    const lg_space *space = g->base.system->space;
    const lg_state *state = g->start;
    lg_point point = lg_point_at(state->t + s, g->now.q, g->now.v);
    point.t_in = g->now.t_in;
    point.mem = (lg_memory){state->mem, s, g->now.theta};
    for (int i = 0; i < space->nv; i++) {
        g->now.theta[i] = s * (state->v[i] + 0.5 * s * state->a[i]);
        g->now.v[i] = state->v[i] + s * state->a[i];
    }
    lg_space_move(space, state->q, g->now.theta, NULL, g->now.q, NULL);
    return lg_accel_solve(&g->base.accel, &point, a, g->implicit.residual + space->nv, &g->base.report);
}

/* jerk = (-3 a_0 + 4 a(s) - a(2 s))/(2 s); an error of O(h) is small enough. */
static lg_status initial_jerk(lg_genalpha_stepper *g, double *jerk)
{
    double s = g->h / 8, *a1 = g->implicit.residual, *a2 = g->implicit.gyro;
    LG_TRY(acceleration_after(g, s, a1));
    LG_TRY(acceleration_after(g, 2 * s, a2));
    for (int i = 0; i < g->base.system->space->nv; i++)
        jerk[i] = (-3 * g->start->a[i] + 4 * a1[i] - a2[i]) / (2 * s);
    return LG_OK;
}

/* x = M^-1 B^T (B M^-1 B^T)^-1 B l at the start, with zeros for the nonholonomic rows of B l; x must be long enough for
   velocities and rows. */
static lg_status project_on_rows(lg_genalpha_stepper *g, const double *l, double *x)
{
    const lg_system *system = g->base.system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    lg_point point = lg_point_after(g->start->t, g->start->q, g->start->v, g->start->mem);
    LG_TRY(lg_accel_factor(&g->base.accel, &point, &(lg_wanted){0}, &g->base.report));
    lg_zero(nv + nrows, x);
    lg_pattern_add_B(system->pattern, g->base.accel.B, 1, l, x + nv);
    lg_pattern_zero_nonholonomic(system->pattern, x + nv);
    return lg_matrix_solve(&g->base.accel.matrix, x);
}

/* Shifts a_0 to t_0 + (alpha_m - alpha_f) h and, for index 3, perturbs v_0 by h^2 P l, so that the multipliers are of
   second order from the first step (holzinger2025, section 5, and Arnold, Bruels and Cardona (2015)). */
lg_status lg_alpha_optimal_start(lg_genalpha_stepper *g)
{
    const lg_system *system = g->base.system;
    const lg_alpha *p = &g->alpha;
    int nv = system->space->nv, constrained = system->pattern->nrows > 0;
    double *jerk = g->implicit.force, *l = g->implicit.Btlam, h = g->h;

    LG_TRY(initial_jerk(g, jerk));
    lg_copy(nv, g->a_n, g->now.a);
    lg_axpy(nv, (p->alpha_m - p->alpha_f) * h, jerk, g->now.a);
    g->a_n = g->now.a;
    if (g->index == LG_INDEX_3 && constrained) {
        lg_alpha_local_error(g, g->start->v, g->start->a, jerk, l);
        LG_TRY(project_on_rows(g, l, g->implicit.residual));
        lg_copy(nv, g->v_n, g->now.v);
        lg_axpy(nv, h * h, g->implicit.residual, g->now.v);
        g->v_n = g->now.v;
    }
    return LG_OK;
}
