/* The equations linearised at a point; see linearised.h. */
#include "solve/linearised.h"

#include "core/small.h"
#include "group/moves.h"

#include <float.h>
#include <math.h>

void lg_linearised_layout(lg_linearised *l, lg_arena *arena)
{
    const lg_system *system = l->accel->system;
    const lg_pattern *pattern = system->pattern;
    size_t nv = (size_t)system->space->nv, nrows = (size_t)pattern->nrows, nblocks = (size_t)system->space->nblocks;
    double **velocities[] = {&l->force, &l->term, &l->v, &l->theta};
    double **rows[] = {&l->phi, &l->phidot, &l->rows};
    double **differences[] = {&l->value, &l->now, &l->rest, &l->best};
    lg_matrix_layout_values(&l->K, l->plan, arena);
    lg_matrix_layout_values(&l->D, l->plan, arena);
    l->B = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    l->Z = lg_arena_doubles(arena, (size_t)pattern->nvalues);
    l->of_q = lg_arena_take(arena, nblocks * sizeof *l->of_q);
    l->of_v = lg_arena_take(arena, nblocks * sizeof *l->of_v);
    for (size_t i = 0; arena->base && i < nblocks; i++) {
        l->of_q[i] = (lg_chain){.k = {1, 0, 0}};
        l->of_v[i] = (lg_chain){.k = {0, 1, 0}};
    }
    for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
        *velocities[i] = lg_arena_doubles(arena, nv);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = lg_arena_doubles(arena, nrows);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        *differences[i] = lg_arena_doubles(arena, 2 * nv > nrows ? 2 * nv : nrows);
    l->x = lg_arena_doubles(arena, nv + nrows);
    l->y = lg_arena_doubles(arena, nv + nrows);
    l->q = lg_arena_doubles(arena, (size_t)system->space->nq);
    l->mem = lg_arena_doubles(arena, (size_t)system->nmem);
    l->step = lg_arena_doubles(arena, system->memory.slopes ? (size_t)system->memory.slopes->room(system->self) : 0);
    l->early = lg_arena_doubles(arena, system->memory.slopes ? 2 * nv : 0);
    l->turning.is_turning = lg_arena_take(arena, (size_t)lg_plan_fronts(l->plan));
    l->colour = lg_arena_ints(arena, nblocks);
    l->group = lg_arena_ints(arena, (size_t)pattern->ngroups);
    l->work = lg_arena_doubles(arena, lg_sensitivity_count(system) ? (size_t)lg_sensitivity_work(system) : 0);
    size_t known = lg_linearised_knows_rows(l) ? (size_t)pattern->nvalues : 0;
    l->rows_of_q = lg_arena_doubles(arena, known);
    l->rows_of_v = lg_arena_doubles(arena, known);
}

static lg_status linearised_evaluate(lg_linearised *l, const lg_point *point, const lg_wanted *wanted)
{
    const lg_system *system = l->accel->system;
    l->accel->evaluations++;
    return system->eval(system->self, point, wanted);
}

lg_status lg_linearise_with(lg_linearised *l, const lg_point *point, const lg_tangent *also, const lg_wanted *wanted)
{
    int constrained = l->accel->system->pattern->nrows > 0;
    lg_tangent tangents[] = {{&l->K, l->of_q}, {&l->D, l->of_v}, also ? *also : (lg_tangent){0}};
    lg_wanted all = *wanted;
    all.B = constrained ? l->B : NULL;
    all.Z = constrained && l->wants_Z ? l->Z : NULL;
    all.tangent = tangents;
    all.ntangents = also ? 3 : 2;
    l->has_rows = l->turning.known = 0;
    for (int i = 0; i < all.ntangents; i++)
        lg_matrix_zero(tangents[i].S);
    return linearised_evaluate(l, point, &all);
}

lg_status lg_linearise(lg_linearised *l, const lg_point *point, const lg_tangent *also)
{
    return lg_linearise_with(l, point, also, &(lg_wanted){0});
}

lg_status lg_linearise_with_masses(lg_linearised *l, const lg_point *point, lg_report *report)
{
    lg_accel *accel = l->accel;
    lg_matrix *masses = accel->articulated.system ? NULL : lg_kkt_masses(&accel->kkt);
    const lg_tangent tangent = {.S = masses};
    if (accel->articulated.system)
        LG_TRY(lg_accel_assemble(accel, point, &(lg_wanted){0}, report));
    return lg_linearise(l, point, masses ? &tangent : NULL);
}

lg_status lg_linearise_and_factor(lg_linearised *l, const lg_point *point, lg_report *report)
{
    const double *B = l->accel->system->pattern->nrows ? l->B : NULL;
    LG_TRY(lg_linearise_with_masses(l, point, report));
    return lg_accel_border(l->accel, point, B, B, report);
}

void lg_linearised_forces(lg_linearised *l, double s, const double *dq, const double *dv, double *out)
{
    lg_matrix_add_products(&l->K, &l->D, &l->turning, s, dq, dv, out);
}

void lg_linearised_forces_adjoint(lg_linearised *l, double s, const double *w, double *of_q, double *of_v)
{
    lg_matrix_add_transposed(&l->K, s, w, of_q);
    lg_matrix_add_transposed(&l->D, s, w, of_v);
}

/* ---- parameters ---- */

static void clear(int n, double *x)
{
    if (x)
        lg_zero(n, x);
}

lg_status lg_linearised_differentiate(lg_linearised *l, const lg_point *point, int k, const lg_wanted *wanted)
{
    const lg_system *system = l->accel->system;
    double *const velocities[] = {wanted->Ma, wanted->gyro, wanted->force, wanted->Btlam};
    double *const rows[] = {wanted->phi, wanted->phidot, wanted->zeta}, *const values[] = {wanted->B, wanted->Z};
    lg_point at = *point;
    at.work = l->work;
    at.same_q = 0;
    if (k < lg_sensitivity_count(system))
        return system->sensitivity->eval(system->self, k, &at, wanted);
    for (int i = 0; i < 4; i++)
        clear(system->space->nv, velocities[i]);
    for (int i = 0; i < 3; i++)
        clear(system->pattern->nrows, rows[i]);
    for (int i = 0; i < 2; i++)
        clear(system->pattern->nvalues, values[i]);
    return LG_OK;
}

static const double held_step = 6e-6; /* of central differences along what memory holds */

/* *sum += s times the weighted derivatives by a number of the memory, in which forces are linear unless something reads
   what is held. */
static lg_status weigh_held(lg_linearised *l, const lg_point *point, int number, const double *forces, double s,
                            double *sum)
{
    int nmem = l->accel->system->nmem;
    double step = held_step * (1 + fabs(point->mem.values[number]));
    lg_point at = *point;
    at.same_q = 0;
    at.mem.values = l->mem;
    for (int sign = -1; sign <= 1; sign += 2) {
        lg_copy(nmem, point->mem.values, l->mem);
        l->mem[number] += sign * step;
        LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.force = l->y}));
        *sum -= s * sign / (2 * step) * lg_dot(l->accel->system->space->nv, forces, l->y);
    }
    return LG_OK;
}

lg_status lg_linearised_weigh(lg_linearised *l, const lg_point *point, int count, const lg_term_weights *weights,
                              double s, double *gradient)
{
    const lg_system *system = l->accel->system;
    lg_point at = *point;
    at.work = l->work;
    if (lg_sensitivity_count(system))
        LG_TRY(system->sensitivity->weigh(system->self, &at, weights, s, gradient));
    const lg_memory_rules *memory = &system->memory;
    double *held = gradient + l->nparameters;
    if (!weights->forces || count <= l->nparameters)
        return LG_OK;
    for (int number = memory->first_sampled; number < system->nmem; number++)
        LG_TRY(weigh_held(l, point, number, weights->forces, s, &held[number - memory->first_held]));
    at.work = point->work, at.same_q = 0;
    return memory->slopes ? memory->slopes->force_back(system->self, &at, weights->forces, -s, held) : LG_OK;
}

/* How far derivatives lead numbers, in proportion to these. */
static double reach(int n, const double *x, const double *dx)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(dx[i]) / (1 + fabs(x[i])));
    return most;
}

/* Makes l->mem the memory of a point, from the first number on moved by x times its derivatives. */
static void move_memory(lg_linearised *l, const lg_point *point, int first, double x, const double *dmem)
{
    int nmem = l->accel->system->nmem;
    lg_copy(nmem, point->mem.values, l->mem);
    lg_axpy(nmem - first, x, dmem + first, l->mem + first);
}

/* l->force += the derivative of the forces along one of the memory; in what is sampled they are linear unless something
   reads it. */
static lg_status add_held(lg_linearised *l, const lg_point *point, const double *dmem)
{
    const lg_memory_rules *memory = &l->accel->system->memory;
    int nv = l->accel->system->space->nv, nmem = l->accel->system->nmem, first = memory->first_sampled;
    double most = reach(nmem - first, point->mem.values + first, dmem + first), step = held_step / most;
    lg_point at = *point;
    at.same_q = 0;
    if (memory->slopes)
        LG_TRY(memory->slopes->force(l->accel->system->self, &at, dmem, 1, l->force));
    at.mem.values = l->mem;
    for (int sign = -1; most > 0 && sign <= 1; sign += 2) {
        move_memory(l, point, first, sign * step, dmem);
        LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.force = l->y}));
        lg_axpy(nv, sign / (2 * step), l->y, l->force);
    }
    return LG_OK;
}

lg_status lg_linearised_terms(lg_linearised *l, const lg_point *point, int k)
{
    const lg_system *system = l->accel->system;
    int nrows = system->pattern->nrows;
    double *phi = nrows ? l->phi : NULL, *phidot = nrows ? l->phidot : NULL;
    lg_point at = *point;
    at.work = l->work;
    at.same_q = 0;
    lg_zero(system->space->nv, l->force);
    lg_zero(nrows, l->phi);
    lg_zero(nrows, l->phidot);
    if (k < lg_sensitivity_count(system))
        LG_TRY(system->sensitivity->terms(system->self, k, &at, l->force, phi, phidot));
    return l->held ? add_held(l, point, l->held + (long)system->nmem * k) : LG_OK;
}

/* ---- differences ---- */

/* A curve through a point, x = 0 there: n numbers. */
typedef struct curve {
    lg_status (*at)(const struct curve *c, double x, double *value);
    int n;
    double size; /* how far x = 1 leads, in rad or m */
    lg_linearised *l;
    const lg_point *point;
    const double *dq, *dv; /* its direction; dv NULL: at fixed v */
    const double *w; /* weights of rows */
} curve;

/* l->now: the derivative by a difference of the sixth order; l->rest: what one of the fourth order with the same points
   lacks; *largest: the largest value. */
static lg_status difference(const curve *c, double step, double *largest)
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, fourth[] = {8.0 / 12, -1.0 / 12, 0};
    lg_linearised *l = c->l;
    lg_zero(c->n, l->now);
    lg_zero(c->n, l->rest);
    for (int i = 0; i < 3; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            LG_TRY(c->at(c, sign * (i + 1) * step, l->value));
            lg_axpy(c->n, sign * weight[i] / step, l->value, l->now);
            lg_axpy(c->n, sign * (weight[i] - fourth[i]) / step, l->value, l->rest);
            *largest = fmax(*largest, lg_max_abs(c->n, l->value));
        }
    return LG_OK;
}

/* l->best: the derivative along a curve at x = 0. A rest r, part of the derivative, means an error of some r^1.5: where
   the first step, 5e-3 rad or m, is not short beside the lengths of the rows, a shorter one follows. */
static lg_status differentiate_curve(const curve *c)
{
    static const double rtol = 5e-10;
    lg_linearised *l = c->l;
    double step = 5e-3 / c->size, least = INFINITY;
    lg_zero(c->n, l->best);
    for (int i = 0; c->size > 0 && i < 6; i++) {
        double largest = 0;
        LG_TRY(difference(c, step, &largest));
        double rest = lg_max_abs(c->n, l->rest), most = lg_max_abs(c->n, l->now);
        if (i && !(rest < least))
            return LG_OK;
        lg_copy(c->n, l->now, l->best);
        if (rest <= rtol * most + DBL_EPSILON * largest / step)
            return LG_OK;
        least = rest;
        step /= fmin(fmax(2 * pow(rest / (rtol * most), 0.25), 2), 64);
    }
    return LG_OK;
}

/* How far a curve along dq and dv leads, whose velocities are v at x = 0. */
static double size_of(int nv, const double *dq, const double *v, const double *dv)
{
    return fmax(lg_max_abs(nv, dq), dv ? lg_max_abs(nv, dv) / (1 + lg_max_abs(nv, v)) : 0);
}

/* Makes l->q and l->v those of a curve at x, and a point of them. */
static lg_point displaced(const curve *c, double x)
{
    lg_linearised *l = c->l;
    const lg_space *space = l->accel->system->space;
    lg_point at = *c->point;
    for (int i = 0; i < space->nv; i++) {
        l->theta[i] = x * c->dq[i];
        l->v[i] = at.v[i] + (c->dv ? x * c->dv[i] : 0);
    }
    lg_space_retract(space, at.q, l->theta, l->q);
    at.q = l->q, at.v = l->v, at.mem.theta = l->theta;
    return at;
}

/* ---- samples ---- */

lg_status lg_linearised_sample(lg_linearised *l, const lg_point *point, int k, const double *dq, const double *dv,
                               double *room, double *dmem)
{
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, nmem = system->nmem;
    const double *held = l->held + (long)nmem * k;
    double most = fmax(size_of(nv, dq, point->v, dv), reach(nmem, point->mem.values, held)), step = held_step / most;
    const curve c = {.l = l, .point = point, .dq = dq, .dv = dv};
    lg_copy(nmem, held, dmem);
    for (int sign = -1; most > 0 && sign <= 1; sign += 2) {
        lg_point at = displaced(&c, sign * step);
        move_memory(l, point, 0, sign * step, held);
        lg_copy(nmem, l->mem, room);
        at.mem.values = l->mem;
        LG_TRY(system->memory.sample(system->self, &at, room));
        lg_axpy(nmem, -1, l->mem, room);
        lg_axpy(nmem, sign / (2 * step), room, dmem);
    }
    return LG_OK;
}

/* *sum += w times the derivative of what is sampled along a curve and along a number of the memory (-1: none). */
static lg_status weigh_sample(const curve *c, int number, double step, double *room, double *sum)
{
    lg_linearised *l = c->l;
    const lg_system *system = l->accel->system;
    int first = system->memory.first_sampled;
    const double *w = c->w + first - system->memory.first_held;
    for (int sign = -1; sign <= 1; sign += 2) {
        lg_point at = displaced(c, sign * step);
        lg_copy(system->nmem, c->point->mem.values, l->mem);
        if (number >= 0)
            l->mem[number] += sign * step;
        lg_copy(system->nmem, l->mem, room);
        at.mem.values = l->mem;
        LG_TRY(system->memory.sample(system->self, &at, room));
        *sum += sign / (2 * step) * lg_dot(system->nmem - first, w, room + first);
    }
    return LG_OK;
}

lg_status lg_linearised_sample_adjoint(lg_linearised *l, const lg_point *point, double *room, double *mem, double *q,
                                       double *v)
{
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, first = system->memory.first_held, nheld = system->nmem - first;
    double *dq = l->term, *dv = l->force, *of_mem = room + system->nmem;
    const curve c = {.l = l, .point = point, .dq = dq, .dv = dv, .w = mem};
    lg_zero(nv, dq);
    lg_zero(nv, dv);
    lg_zero(nheld, of_mem);
    lg_copy(system->memory.first_sampled - first, mem, of_mem); /* a sample leaves these */
    for (int i = 0; i < nv; i++) {
        dq[i] = 1;
        LG_TRY(weigh_sample(&c, -1, held_step, room, &q[i]));
        dq[i] = 0, dv[i] = 1;
        LG_TRY(weigh_sample(&c, -1, held_step * (1 + fabs(point->v[i])), room, &v[i]));
        dv[i] = 0;
    }
    for (int i = 0; i < nheld; i++) {
        double step = held_step * (1 + fabs(point->mem.values[first + i]));
        LG_TRY(weigh_sample(&c, first + i, step, room, &of_mem[i]));
    }
    lg_copy(nheld, of_mem, mem);
    return LG_OK;
}

/* ---- accelerations ---- */

lg_status lg_linearised_subtract_shares(lg_linearised *l, const lg_point *point, int count, const double *forces,
                                        const double *rows, double *gradient)
{
    const lg_system *system = l->accel->system;
    const lg_term_weights of_rows = {.phidot = rows};
    lg_point at = *point;
    if (system->pattern->nrows == 0)
        rows = NULL;
    LG_TRY(lg_linearised_weigh(l, &at, count, &(lg_term_weights){.forces = forces, .zeta = rows}, -1, gradient));
    if (rows) {
        at.v = point->a;
        LG_TRY(lg_linearised_weigh(l, &at, count, &of_rows, -1, gradient));
    }
    if (rows && !(system->flags & LG_SYSTEM_FIXED_ROWS)) {
        lg_zero(system->space->nv, l->v);
        at.v = l->v;
        LG_TRY(lg_linearised_weigh(l, &at, count, &of_rows, 1, gradient));
    }
    return LG_OK;
}

/* rows -= d(B a - zeta)/dp for parameter k at fixed q, v and a, from d(phidot)/dp with a as v, and with zero where rows
   depend on time. */
static lg_status subtract_parameter(lg_linearised *l, const lg_point *point, int k, double *rows)
{
    const lg_system *system = l->accel->system;
    int nrows = system->pattern->nrows;
    lg_point at = *point;
    double *zeta = l->rows, *phidot = l->phidot;
    if (!lg_sensitivity_count(system))
        return LG_OK;
    LG_TRY(lg_linearised_differentiate(l, &at, k, &(lg_wanted){.zeta = zeta}));
    lg_axpy(nrows, 1, zeta, rows);
    at.v = point->a;
    LG_TRY(lg_linearised_differentiate(l, &at, k, &(lg_wanted){.phidot = phidot}));
    lg_axpy(nrows, -1, phidot, rows);
    if (system->flags & LG_SYSTEM_FIXED_ROWS)
        return LG_OK;
    lg_zero(system->space->nv, l->v);
    at.v = l->v;
    LG_TRY(lg_linearised_differentiate(l, &at, k, &(lg_wanted){.phidot = phidot}));
    lg_axpy(nrows, 1, phidot, rows);
    return LG_OK;
}

/* B a - zeta at fixed a */
static lg_status rows_at(const curve *c, double x, double *value)
{
    lg_linearised *l = c->l;
    double *zeta = l->rows, *B = l->Z;
    lg_point at = displaced(c, x);
    LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.B = B, .zeta = zeta}));
    lg_zero(c->n, value);
    lg_pattern_add_B(l->accel->system->pattern, B, 1, at.a, value);
    lg_axpy(c->n, -1, zeta, value);
    return LG_OK;
}

/* The derivatives of B a - zeta by q and v at the point that was linearised last, once for it. */
static lg_status find_rows(lg_linearised *l, const lg_point *point)
{
    const lg_system *system = l->accel->system;
    lg_point at = *point;
    if (l->has_rows)
        return LG_OK;
    l->has_rows = 1;
    l->accel->evaluations++;
    at.same_q = 0;
    return system->sensitivity->acceleration_rows(system->self, &at, l->rows_of_q, l->rows_of_v);
}

/* rows -= the derivative of B a - zeta along (dq, dv), by differences */
static lg_status subtract_rows(lg_linearised *l, const lg_point *point, const double *dq, const double *dv,
                               double *rows)
{
    int nv = l->accel->system->space->nv, nrows = l->accel->system->pattern->nrows;
    const curve c = {
        .at = rows_at, .n = nrows, .size = size_of(nv, dq, point->v, dv), .l = l, .point = point, .dq = dq, .dv = dv};
    LG_TRY(differentiate_curve(&c));
    lg_axpy(nrows, -1, l->best, rows);
    return LG_OK;
}

lg_status lg_linearised_subtract_rows(lg_linearised *l, const lg_point *point, int k, const double *dq,
                                      const double *dv, double *rows)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    LG_TRY(subtract_parameter(l, point, k, rows));
    if (!lg_linearised_knows_rows(l))
        return subtract_rows(l, point, dq, dv, rows);
    LG_TRY(find_rows(l, point));
    lg_pattern_add_B(pattern, l->rows_of_q, -1, dq, rows);
    lg_pattern_add_B(pattern, l->rows_of_v, -1, dv, rows);
    return LG_OK;
}

lg_status lg_linearised_accelerations(lg_linearised *l, const lg_point *point, int k, const double *dq,
                                      const double *dv, double *da, double *dlam)
{
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    double *x = l->accel->x, *rows = x + nv;
    LG_TRY(lg_linearised_terms(l, point, k));
    lg_zero(nv + nrows, x);
    lg_axpy(nv, 1, l->force, x);
    lg_linearised_forces(l, -1, dq, dv, x);
    if (nrows)
        LG_TRY(lg_linearised_subtract_rows(l, point, k, dq, dv, rows));
    LG_TRY(lg_accel_solve_linear(l->accel, x));
    lg_copy(nv, x, da);
    lg_copy(nrows, rows, dlam);
    return LG_OK;
}

/* ---- along a turn ---- */

/* Z^T w and, if there is room, B^T w behind it. */
static lg_status reactions_at(const curve *c, double x, double *value)
{
    lg_linearised *l = c->l;
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, both = c->n > nv;
    lg_point at = displaced(c, x);
    LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.B = both ? l->B : NULL, .Z = l->Z}));
    lg_zero(c->n, value);
    lg_pattern_add_BT(system->pattern, l->Z, 1, c->w, value);
    if (both)
        lg_pattern_add_BT(system->pattern, l->B, 1, c->w, value + nv);
    return LG_OK;
}

/* w.(Z turn) is the derivative of w.phidot along the turn. Its own derivatives are those of Z^T w, which is `here`, and
   of B^T w along it; that by q is brought back to the point by Ad(exp(-x turn)). With velocities that change at a rate
   `dv` (NULL: none), that by q is the derivative of w.(Z turn + B dv). That by v (NULL: it is not wanted) needs B at
   displaced points, too. */
static lg_status add_turned(lg_linearised *l, const lg_point *point, double s, const double *turn, const double *dv,
                            const double *w, const double *here, double *q, double *v)
{
    const lg_space *space = l->accel->system->space;
    int nv = space->nv;
    const curve c = {.at = reactions_at,
                     .n = v ? 2 * nv : nv,
                     .size = size_of(nv, turn, point->v, dv),
                     .l = l,
                     .point = point,
                     .dq = turn,
                     .dv = dv,
                     .w = w};
    LG_TRY(differentiate_curve(&c));
    lg_axpy(nv, s, l->best, q);
    if (v)
        lg_axpy(nv, s, l->best + nv, v);
    lg_add_ad_adjoint(space, -s, turn, here, q);
    return LG_OK;
}

/* out = Z^T w at velocities v */
static lg_status turn_rows(lg_linearised *l, const lg_point *point, const double *v, const double *w, double *out)
{
    lg_point at = *point;
    at.v = v;
    LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.Z = l->Z}));
    lg_zero(l->accel->system->space->nv, out);
    lg_pattern_add_BT(l->accel->system->pattern, l->Z, 1, w, out);
    return LG_OK;
}

lg_status lg_linearised_turned_adjoint(lg_linearised *l, const lg_point *point, double s, const double *turn,
                                       const double *w, double *q, double *v)
{
    LG_TRY(turn_rows(l, point, point->v, w, l->x));
    return add_turned(l, point, s, turn, NULL, w, l->x, q, v);
}

/* ---- accelerations, transposed ---- */

enum { NO_COLOUR = -1 };

/* Gives blocks this colour, so that no group has two of them, among those that have none yet; returns how many. */
static int choose_blocks(lg_linearised *l, int colour)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int chosen = 0, *of = l->colour;
    for (int b = 0; b < pattern->nblocks; b++)
        if (of[b] == NO_COLOUR)
            of[b] = colour;
    for (int g = 0; g < pattern->ngroups; g++)
        for (int e = pattern->group_start[g], has = 0; e < pattern->group_start[g + 1]; e++) {
            int *own = &of[pattern->group_block[e]];
            if (has && *own == colour)
                *own = NO_COLOUR;
            has |= *own == colour;
        }
    for (int b = 0; b < pattern->nblocks; b++)
        chosen += of[b] == colour;
    return chosen;
}

/* out += w.rows for each block of a colour that has a velocity i, with the rows that depend on it. */
static void add_by_blocks(const lg_linearised *l, int colour, int i, const double *w, const double *rows, double *out)
{
    const lg_pattern *p = l->accel->system->pattern;
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e], row = p->group_row[g], n = p->group_row[g + 1] - row;
            if (l->colour[b] == colour && i < p->nv[b])
                out[p->v_start[b] + i] += lg_dot(n, w + row, rows + row);
        }
    for (int b = 0; b < p->nblocks; b++)
        if (l->colour[b] == colour && i < p->nv[b])
            out[p->v_start[b] + i] += lg_dot(p->nown[b], w + p->own_row[b], rows + p->own_row[b]);
}

/* Sets coordinate i of each block of a colour to x; returns whether there is one. */
static int set_direction(const lg_linearised *l, int colour, int i, double x, double *direction)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int any = 0;
    for (int b = 0; b < pattern->nblocks; b++)
        if (l->colour[b] == colour && i < pattern->nv[b]) {
            direction[pattern->v_start[b] + i] = x;
            any = 1;
        }
    return any;
}

/* Subtracts w.d(B a - zeta)/d(q, v) from q and v, where all blocks of a colour move together. */
static lg_status subtract_colour(lg_linearised *l, const lg_point *point, int colour, const double *w, double *q,
                                 double *v)
{
    double *direction[] = {l->x, l->y}, *out[] = {q, v}, *rows = l->phi;
    for (int level = 0; level < 2; level++)
        for (int i = 0; set_direction(l, colour, i, 1, direction[level]); i++) {
            lg_zero(l->accel->system->pattern->nrows, rows);
            LG_TRY(subtract_rows(l, point, direction[0], direction[1], rows));
            add_by_blocks(l, colour, i, w, rows, out[level]);
            (void)set_direction(l, colour, i, 0, direction[level]);
        }
    return LG_OK;
}

/* The same where all blocks of a colour move together. */
static lg_status subtract_by_colours(lg_linearised *l, const lg_point *point, const double *w, double *q, double *v)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int nv = l->accel->system->space->nv;
    for (int b = 0; b < pattern->nblocks; b++)
        l->colour[b] = NO_COLOUR;
    lg_zero(nv, l->x);
    lg_zero(nv, l->y);
    for (int colour = 0; choose_blocks(l, colour); colour++)
        LG_TRY(subtract_colour(l, point, colour, w, q, v));
    return LG_OK;
}

/* Whether rows change with time at fixed q and v, where -zeta is more than Z v: at a point beside this one, since the
   change may vanish at a point of symmetry while its derivatives do not. */
static lg_status find_time(lg_linearised *l, const lg_point *point, int *depends)
{
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, nrows = system->pattern->nrows;
    double *zeta = l->rows, *product = l->now, scale = 1 + lg_max_abs(nv, point->v);
    for (int i = 0; i < nv; i++) {
        l->theta[i] = 1e-3 * sin(1 + 2.0 * i);
        l->v[i] = point->v[i] + scale * cos(3 + 1.7 * i);
    }
    lg_space_retract(system->space, point->q, l->theta, l->q);
    lg_point at = *point;
    at.q = l->q, at.v = l->v, at.mem.theta = l->theta;
    LG_TRY(linearised_evaluate(l, &at, &(lg_wanted){.zeta = zeta, .Z = l->Z}));
    lg_zero(nrows, product);
    lg_pattern_add_B(system->pattern, l->Z, 1, l->v, product);
    double size = lg_max_abs(nrows, zeta) + lg_max_abs(nrows, product);
    *depends = 0;
    for (int i = 0; i < nrows; i++)
        *depends |= !(fabs(zeta[i] + product[i]) <= 1e-13 * size);
    return LG_OK;
}

/* Without time, -zeta = Z v. Where B = d(phi)/dq, w.(Z v) is a second derivative of w.phi along v, and B^T w changes by
   Z^T w + ad(v)^T B^T w. `has_Z`: l->Z is that of the point. */
static lg_status subtract_fixed_rows(lg_linearised *l, const lg_point *point, int has_Z, const double *w, double *q,
                                     double *v)
{
    const lg_system *system = l->accel->system;
    int nv = system->space->nv, holonomic = system->pattern->nnonholonomic == 0;
    double *here = l->x, *pull = l->y;
    lg_zero(nv, here);
    if (has_Z)
        lg_pattern_add_BT(system->pattern, l->Z, 1, w, here);
    else
        LG_TRY(turn_rows(l, point, point->v, w, here));
    lg_axpy(nv, -1 - holonomic, here, v);
    if (holonomic) {
        lg_zero(nv, pull);
        lg_pattern_add_BT(system->pattern, l->B, 1, w, pull);
        lg_add_ad_adjoint(system->space, -1, point->v, pull, v);
    }
    return add_turned(l, point, -1, point->v, point->a, w, here, q, holonomic ? NULL : v);
}

lg_status lg_linearised_subtract_rows_adjoint(lg_linearised *l, const lg_point *point, const double *w, double *q,
                                              double *v)
{
    const lg_pattern *pattern = l->accel->system->pattern;
    int depends = 0, fixed = (l->accel->system->flags & LG_SYSTEM_FIXED_ROWS) != 0;
    if (lg_linearised_knows_rows(l)) {
        LG_TRY(find_rows(l, point));
        lg_pattern_add_BT(pattern, l->rows_of_q, -1, w, q);
        lg_pattern_add_BT(pattern, l->rows_of_v, -1, w, v);
        return LG_OK;
    }
    if (!fixed)
        LG_TRY(find_time(l, point, &depends));
    return depends ? subtract_by_colours(l, point, w, q, v)
                   : subtract_fixed_rows(l, point, fixed && l->wants_Z, w, q, v);
}

lg_status lg_linearised_accelerations_adjoint(lg_linearised *l, const lg_point *point, int count, const double *a,
                                              const double *lam, double *q, double *v, double *gradient)
{
    int nv = l->accel->system->space->nv, nrows = l->accel->system->pattern->nrows;
    double *w = l->accel->x, *w_rows = w + nv;
    lg_copy(nv, a, w);
    lg_zero(nrows, w_rows);
    if (lam)
        lg_copy(nrows, lam, w_rows);
    LG_TRY(lg_accel_solve_linear(l->accel, w)); /* the matrix is symmetric */
    LG_TRY(lg_linearised_subtract_shares(l, point, count, w, w_rows, gradient));
    lg_linearised_forces_adjoint(l, -1, w, q, v);
    return nrows ? lg_linearised_subtract_rows_adjoint(l, point, w_rows, q, v) : LG_OK;
}
