/* Down from an unstable equilibrium; see saddle.h. */
#include "solve/saddle.h"

#include "core/small.h"
#include "solve/project.h"

#include <float.h>
#include <math.h>

static const double ratio = 4; /* between the values of mu that are tried */
static const double clear = 0.125; /* c^T K c is at most -clear mu c^T M c */
static const double first_step = 1.0 / 1024; /* along the direction, rad or m */
static const double finer = 1.0 / 64,
                    finest_step = 1e-7; /* first steps after one that led up, as close to a critical load */
enum { STEPS = 11 }; /* along the direction, each twice as far as the one before */
enum { MOST_SOLUTIONS = 200 }; /* of inverse iteration */

void lg_saddle_layout(lg_saddle *s, lg_rest *rest, lg_arena *arena)
{
    const lg_space *space = rest->accel->system->space;
    size_t nq = (size_t)space->nq, nv = (size_t)space->nv;
    s->rest = rest;
    s->direction = lg_arena_doubles(arena, nv + (size_t)rest->accel->system->pattern->nrows);
    s->product = lg_arena_doubles(arena, nv);
    s->force = lg_arena_doubles(arena, nv);
    s->next_force = lg_arena_doubles(arena, nv);
    s->trial = lg_arena_doubles(arena, nq);
    s->next = lg_arena_doubles(arena, nq);
    s->lowest = lg_arena_doubles(arena, nq);
}

static void scale(int n, double s, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= s;
}

/* ---- the direction ---- */

static lg_status is_positive(lg_saddle *s, const lg_point *point, double mu, int *positive, lg_report *report)
{
    int negative = 1;
    lg_status status = lg_rest_negative(s->rest, point, (lg_shift){.mu = mu}, &negative, report);
    *positive = negative <= 0;
    return status == LG_SINGULAR ? LG_OK : status;
}

/* A power of `ratio` at which K + mu M is positive on the constraints, while it is not at the next lower one. */
static lg_status find_shift(lg_saddle *s, const lg_point *point, double *mu, lg_report *report)
{
    int positive;
    *mu = 1;
    LG_TRY(is_positive(s, point, *mu, &positive, report));
    double factor = positive ? 1 / ratio : ratio;
    for (int begins = positive; positive == begins; *mu *= factor) {
        if (!(*mu > DBL_MIN && *mu < DBL_MAX))
            return LG_NO_EQUILIBRIUM;
        LG_TRY(is_positive(s, point, *mu * factor, &positive, report));
    }
    *mu *= positive ? 1 : ratio;
    return LG_OK;
}

/* Components without a pattern, so that no direction is missed because of a symmetry. */
static void saddle_begin(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = fmod((i + 1) * 0.6180339887498949, 1) - 0.5;
}

/* Inverse iteration with K + mu M, which is positive: x <- (K + mu M)^-1 M x. As c = (K + mu M)^-1 M x satisfies B c =
   0, c^T K c = c^T M x - mu c^T M c. */
static lg_status find_direction(lg_saddle *s, const lg_point *point, lg_report *report)
{
    const lg_system *system = s->rest->accel->system;
    int nv = system->space->nv;
    double *c = s->direction, *Mc = s->product, mu, curvature = INFINITY;
    LG_TRY(find_shift(s, point, &mu, report));
    LG_TRY(lg_rest_factor_symmetric(s->rest, point, (lg_shift){.mu = mu}, report));
    saddle_begin(nv, Mc);
    for (int i = 0; !(curvature < -clear * mu); i++) {
        if (i == MOST_SOLUTIONS)
            return LG_NO_EQUILIBRIUM;
        lg_copy(nv, Mc, c);
        lg_zero(system->pattern->nrows, c + nv);
        LG_TRY(lg_matrix_solve(&s->rest->accel->matrix, c));
        double energy = lg_dot(nv, c, Mc);
        LG_TRY(lg_rest_mass_times(s->rest, point, c, Mc));
        double size = lg_dot(nv, c, Mc);
        curvature = energy / size - mu;
        scale(nv, 1 / sqrt(size), Mc);
    }
    return LG_OK;
}

/* ---- the way down ---- */

/* force - gyro: the forces that do work along the constraints. */
static lg_status forces_at(lg_saddle *s, const lg_point *point, const double *q, double *F)
{
    const lg_system *system = s->rest->accel->system;
    lg_point at = *point;
    at.q = q;
    at.lam = NULL;
    s->rest->accel->evaluations++;
    LG_TRY(system->eval(system->self, &at, &(lg_wanted){.force = F, .gyro = s->product}));
    lg_axpy(system->space->nv, -1, s->product, F);
    return LG_OK;
}

/* The state at a distance along the direction, moved onto the constraints. */
static lg_status saddle_point_at(lg_saddle *s, const lg_point *point, double distance, double *q)
{
    const lg_space *space = s->rest->accel->system->space;
    double *v = s->product;
    lg_copy(space->nv, s->direction, v);
    scale(space->nv, distance, v);
    lg_space_retract(space, point->q, v, q);
    lg_zero(space->nv, v);
    return lg_project(s->rest->accel, LG_PROJECT_POSITION, point->t, q, v, point->mem.values, &(lg_report){0});
}

/* Replaces the trial state and its forces by those at another distance, and adds the work on the way by the trapezoidal
   rule; NaN where there is no such state. */
static lg_status advance(lg_saddle *s, const lg_point *point, double distance, double *work)
{
    const lg_space *space = s->rest->accel->system->space;
    lg_status status = saddle_point_at(s, point, distance, s->next);
    if (status == LG_NO_CONVERGENCE || status == LG_SINGULAR || status == LG_NOT_FINITE) {
        *work = NAN;
        return LG_OK;
    }
    LG_TRY(status);
    LG_TRY(forces_at(s, point, s->next, s->next_force));
    double *way = s->product;
    lg_space_difference(space, s->trial, s->next, way);
    *work += 0.5 * (lg_dot(space->nv, way, s->force) + lg_dot(space->nv, way, s->next_force));
    lg_copy(space->nq, s->next, s->trial);
    lg_copy(space->nv, s->next_force, s->force);
    return LG_OK;
}

/* Goes along the direction, with a first step whose sign is the side, as long as the forces do work, and keeps the
   lowest state of all sides. */
static lg_status go_down(lg_saddle *s, const lg_point *point, double first, double *most)
{
    const lg_space *space = s->rest->accel->system->space;
    double before = 0;
    lg_copy(space->nq, point->q, s->trial);
    LG_TRY(forces_at(s, point, s->trial, s->force));
    for (int i = 0; i < STEPS; i++) {
        double work = before;
        LG_TRY(advance(s, point, ldexp(first, i), &work));
        if (!(work > before))
            break;
        before = work;
        if (work > *most) {
            *most = work;
            lg_copy(space->nq, s->trial, s->lowest);
        }
    }
    return LG_OK;
}

lg_status lg_saddle_leave(lg_saddle *s, const lg_point *point, double *q, int *left, lg_report *report)
{
    const lg_space *space = s->rest->accel->system->space;
    double most = 0;
    LG_TRY(find_direction(s, point, report));
    scale(space->nv, 1 / lg_max_abs(space->nv, s->direction), s->direction);
    for (double first = first_step; most == 0 && first > finest_step; first *= finer) {
        LG_TRY(go_down(s, point, first, &most));
        LG_TRY(go_down(s, point, -first, &most));
    }
    *left = most > 0;
    if (*left)
        lg_copy(space->nq, s->lowest, q);
    return LG_OK;
}
