/* Dense output; see dense.h.

   Between q_0 and q_1, h apart, q(t) = q_0 exp(theta(s)), s = (t - t_0)/h, with theta the polynomial of degree five
   that has at both ends the values, 0 and difference(q_0, q_1), the rates and the second derivatives of the solution:

       theta' = T^-1(theta) v,      theta'' = T^-1(theta) v' + (d/dt T^-1(theta)) v, the latter by a central difference.

   A block that turns far in the step is followed from a frame that turns with it by a constant spin W, that of the mean
   of both velocities: q(t) = q_0 exp(s W) exp(theta(s)), so that theta stays short of half a turn, and

       theta' = T^-1(theta) (v - W/h) + [theta, W/h].

   v = T(theta) theta' (with a spin, T(theta) (theta' - [theta, W/h]) + W/h) is the velocity of that curve. vdot and
   lambda are those of the index-1 equations at q and v. With the exact solution at both ends the error of q is O(h^6),
   and all others are O(h^5); values of first-order equations, of which the ends are all that is known, are O(h^4).

   A stepper may write a better curve of a step, as polynomials of theta and v (stepper.h), which then take the place of
   these; with that of dop853 all errors are O(h^8).

   Without a plan, and where the index-1 equations are singular, vdot is the derivative of the cubic that has the v and
   vdot of both ends, O(h^3), and lambda is a straight line, O(h^2). Implicit methods use these, because a stiff spring
   would turn even a small error of q into a large force. All of this depends only on the two ends and the curve. */
#include "run/dense.h"

#include "core/small.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 6 }; /* the largest number of velocities of a Lie kind */

lg_dense lg_dense_of(const lg_system *system, const lg_plan *plan)
{
    return (lg_dense){.system = system, .plan = plan, .accel = {.system = system, .plan = plan}};
}

void lg_dense_layout(void *self, lg_arena *arena)
{
    lg_dense *dense = self;
    size_t nv = (size_t)dense->system->space->nv;
    for (int i = 0; i < 5; i++)
        dense->power[i] = lg_arena_doubles(arena, nv);
    dense->spin = lg_arena_doubles(arena, nv);
    dense->moved = lg_arena_doubles(arena, nv);
    dense->base = lg_arena_doubles(arena, (size_t)dense->system->space->nq);
    dense->theta = lg_arena_doubles(arena, nv);
    dense->thetadot = lg_arena_doubles(arena, nv);
    dense->side = lg_arena_doubles(arena, nv);
    dense->theta_beside = lg_arena_doubles(arena, nv);
    if (dense->plan)
        lg_accel_layout(&dense->accel, arena);
}

void lg_dense_close(lg_dense *dense)
{
    if (dense->plan)
        lg_accel_close(&dense->accel);
}

/* ---- the spin ---- */

/* Whether the mean velocity turns the node by more than a quarter turn, and the accelerations do not contradict it. */
static int is_spinning(const lg_dense *dense, const lg_factor *f, double h)
{
    const double quarter = LG_PI / 2, *v0 = dense->from.v, *v1 = dense->to.v, *a0 = dense->from.a, *a1 = dense->to.a;
    double mean[BLOCK], bend[BLOCK];
    int n = f->node->attitude_n;
    if (f->node->linear)
        return 0;
    for (int i = 0; i < n; i++) {
        int k = f->v + f->node->attitude_v + i;
        mean[i] = 0.5 * h * (v0[k] + v1[k]);
        bend[i] = h * h / 12 * (a0[k] - a1[k]);
    }
    return lg_max_abs(n, mean) > quarter && !(lg_max_abs(n, bend) > quarter / 2);
}

static void open_spin(lg_dense *dense, double h)
{
    const lg_space *space = dense->system->space;
    lg_zero(space->nv, dense->spin);
    dense->spins = 0;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++) {
        if (!is_spinning(dense, f, h))
            continue;
        dense->spins = 1;
        for (int i = f->v; i < f->v + f->nv; i++)
            dense->spin[i] = 0.5 * h * (dense->from.v[i] + dense->to.v[i]);
    }
}

/* out += s [theta, W] */
static void add_bracket(const lg_dense *dense, double s, const double *theta, double *out)
{
    const lg_space *space = dense->system->space;
    double A[BLOCK * BLOCK];
    for (const lg_factor *f = space->factor; dense->spins && f < space->factor + space->nfactors; f++) {
        if (f->node->linear)
            continue;
        f->node->ad(f->n, theta + f->v, A);
        for (int j = 0; j < f->nv; j++)
            lg_axpy(f->nv, s * dense->spin[f->v + j], A + f->nv * j, out + f->v);
    }
}

/* q_0 exp(s W) */
static const double *base_at(lg_dense *dense, double s)
{
    const lg_space *space = dense->system->space;
    if (!dense->spins)
        return dense->from.q;
    for (int i = 0; i < space->nv; i++)
        dense->side[i] = s * dense->spin[i];
    lg_space_retract(space, dense->from.q, dense->side, dense->base);
    return dense->base;
}

/* ---- the curve ---- */

/* theta' for the velocity v, which is overwritten. */
static void rate_of(const lg_dense *dense, const double *theta, double *v, double h, double *rate)
{
    if (dense->spins)
        lg_axpy(dense->system->space->nv, -1 / h, dense->spin, v);
    lg_space_rate(dense->system->space, dense->from.q, theta, v, rate);
    add_bracket(dense, 1 / h, theta, rate);
}

/* theta' for the velocity of a knot, at the distance d from theta along the tangent of the curve. */
static void rate_beside(lg_dense *dense, const double *theta, const lg_knot *knot, double h, double d, double *side)
{
    const lg_space *space = dense->system->space;
    double *v = dense->theta;
    for (int i = 0; i < space->nv; i++)
        dense->theta_beside[i] = theta[i] + d * dense->thetadot[i];
    lg_copy(space->nv, knot->v, v);
    rate_of(dense, dense->theta_beside, v, h, side);
}

/* h theta' and h^2 theta'' at a knot. */
static void derivatives(lg_dense *dense, const double *theta, const lg_knot *knot, double h, double *first,
                        double *second)
{
    const double d = 1e-3 * h;
    const lg_space *space = dense->system->space;
    lg_copy(space->nv, knot->v, dense->theta);
    rate_of(dense, theta, dense->theta, h, dense->thetadot);
    rate_beside(dense, theta, knot, h, d, second);
    rate_beside(dense, theta, knot, h, -d, dense->side);
    for (int i = 0; i < space->nv; i++) {
        first[i] = h * dense->thetadot[i];
        second[i] = h * h * ((second[i] - dense->side[i]) / (2 * d));
    }
    lg_space_rate(space, dense->from.q, theta, knot->a, dense->side);
    lg_axpy(space->nv, h * h, dense->side, second);
}

/* Values of first-order equations have no coordinates; the displacement that their velocities would give makes them a
   cubic with the values and the rates of both ends. */
static void integrate_first_order(const lg_dense *dense, double h, double *theta1)
{
    const lg_space *space = dense->system->space;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++)
        for (int i = f->v; f->nq == 0 && i < f->v + f->nv; i++)
            theta1[i] = h / 2 * (dense->from.v[i] + dense->to.v[i]) + h * h / 12 * (dense->from.a[i] - dense->to.a[i]);
}

/* The arrays of the knots must stay unchanged while the dense output is in use. */
static void open_step(lg_dense *dense, lg_knot from, lg_knot to)
{
    double h = to.t - from.t, *theta1 = dense->power[4];
    dense->from = from;
    dense->to = to;
    if (dense->curve)
        return;
    open_spin(dense, h);

    lg_zero(dense->system->space->nv, theta1);
    derivatives(dense, theta1, &from, h, dense->power[0], dense->power[1]);
    lg_space_difference(dense->system->space, base_at(dense, 1), to.q, theta1);
    integrate_first_order(dense, h, theta1);
    derivatives(dense, theta1, &to, h, dense->power[2], dense->power[3]);

    for (int i = 0; i < dense->system->space->nv; i++) {
        double A = dense->power[0][i], B = 0.5 * dense->power[1][i]; /* at the start */
        double C = theta1[i], D = dense->power[2][i], E = 0.5 * dense->power[3][i]; /* at the end */
        dense->power[1][i] = B;
        dense->power[2][i] = 10 * C - 6 * A - 4 * D - 3 * B + E;
        dense->power[3][i] = -15 * C + 8 * A + 7 * D + 3 * B - 2 * E;
        dense->power[4][i] = 6 * C - 3 * A - 3 * D - B + E;
    }
}

static void copy_knot(const lg_dense *dense, const lg_knot *knot, double *q, double *v, double *a, double *lam)
{
    if (q)
        lg_copy(dense->system->space->nq, knot->q, q);
    if (v)
        lg_copy(dense->system->space->nv, knot->v, v);
    if (a)
        lg_copy(dense->system->space->nv, knot->a, a);
    if (lam)
        lg_copy(dense->system->pattern->nrows, knot->lam, lam);
}

/* Evaluates theta, its rate and the displacement. */
static void evaluate_curve(lg_dense *dense, double s, double h)
{
    double *const *p = dense->power;
    for (int i = 0; i < dense->system->space->nv; i++) {
        dense->theta[i] = s * (p[0][i] + s * (p[1][i] + s * (p[2][i] + s * (p[3][i] + s * p[4][i]))));
        dense->thetadot[i] =
            (p[0][i] + s * (2 * p[1][i] + s * (3 * p[2][i] + s * (4 * p[3][i] + s * 5 * p[4][i])))) / h;
        dense->moved[i] = dense->theta[i] + s * dense->spin[i];
    }
}

static void curve_at(lg_dense *dense, double s, double h, double *q, double *v)
{
    const lg_space *space = dense->system->space;
    if (q)
        lg_space_retract(space, base_at(dense, s), dense->theta, q);
    if (!v)
        return;
    add_bracket(dense, -1 / h, dense->theta, dense->thetadot);
    lg_space_tangent_mul(space, dense->theta, dense->thetadot, v);
    if (dense->spins)
        lg_axpy(space->nv, 1 / h, dense->spin, v);
}

/* The same on the curve that the stepper has written. */
static void follow_curve(lg_dense *dense, double s, double *q, double *v)
{
    const lg_space *space = dense->system->space;
    int nv = space->nv;
    for (int i = 0; i < 2 * nv; i++) {
        double y = 0;
        for (int k = dense->degree - 1; k >= 0; k--)
            y = (k % 2 ? 1 - s : s) * (y + dense->curve[2L * nv * k + i]);
        if (i < nv)
            dense->moved[i] = y;
        else if (v)
            v[i - nv] = dense->from.v[i - nv] + y;
    }
    if (q)
        lg_space_retract(space, dense->from.q, dense->moved, q);
}

/* The solution at a time between the knots; each array may be NULL. */
static void solution_at(lg_dense *dense, double t, double *q, double *v, double *a, double *lam)
{
    const lg_knot *from = &dense->from, *to = &dense->to;
    double h = to->t - from->t, s = fmin(fmax((t - from->t) / h, 0), 1);
    if (dense->curve) {
        follow_curve(dense, s, q, v);
    } else {
        evaluate_curve(dense, s, h);
        curve_at(dense, s, h, q, v);
    }
    if (t <= from->t || t >= to->t) {
        copy_knot(dense, t <= from->t ? from : to, q, v, a, lam);
        return;
    }
    for (int i = 0; a && i < dense->system->space->nv; i++)
        a[i] = 6 * s * (1 - s) * (to->v[i] - from->v[i]) / h + (1 - s) * (1 - 3 * s) * from->a[i] +
               s * (3 * s - 2) * to->a[i];
    for (int i = 0; lam && i < dense->system->pattern->nrows; i++)
        lam[i] = (1 - s) * from->lam[i] + s * to->lam[i];
}

/* The state in row i. */
static lg_states states_row(const lg_dense *dense, const lg_states *states, long i)
{
    lg_states row = {.count = 1, .nextra = states->nextra, .t = states->t + i};
    for (int part = 0; part < LG_PARTS; part++)
        row.part[part] =
            states->part[part] ? states->part[part] + i * lg_part_width(dense->system, (lg_part)part) : NULL;
    row.extra = states->nextra ? states->extra + i * states->nextra : NULL;
    row.ncurve = states->ncurve;
    row.curve = states->curve ? states->curve + i * states->ncurve : NULL;
    return row;
}

static lg_knot knot_of(const lg_states *row)
{
    double *const *part = row->part;
    return (lg_knot){*row->t, part[LG_PART_Q], part[LG_PART_V], part[LG_PART_A], part[LG_PART_LAM]};
}

/* Sets the memory at a time inside a step: that of the start, updated as if the step ended there. */
static lg_status update_memory(const lg_dense *dense, const lg_states *from, const lg_states *found, double *work)
{
    const lg_system *system = dense->system;
    double *const *part = found->part, *mem = part[LG_PART_MEM];
    if (!mem)
        return LG_OK;
    lg_copy(system->nmem, from->part[LG_PART_MEM], mem);
    if (!system->memory.commit)
        return LG_OK;
    lg_point start = lg_point_at(*from->t, from->part[LG_PART_Q], from->part[LG_PART_V]);
    lg_point point = lg_point_at(*found->t, part[LG_PART_Q], part[LG_PART_V]);
    start.t_in = point.t_in = 0.5 * (dense->from.t + dense->to.t);
    double age = point.t - start.t;
    start.mem.values = from->part[LG_PART_MEM];
    point.mem = (lg_memory){mem, age, age > 0 ? dense->moved : NULL};
    start.work = point.work = work;
    return system->memory.commit(system->self, &start, &point, mem, &(lg_report){0});
}

/* Replaces the accelerations and multipliers inside the step by those of the index-1 equations, unless these are
   singular. */
static lg_status solve_inside(lg_dense *dense, const lg_states *found, double *work, lg_report *report)
{
    double *const *part = found->part, *a = dense->thetadot;
    if (!dense->plan || *found->t <= dense->from.t || *found->t >= dense->to.t)
        return LG_OK;
    lg_point point = lg_point_at(*found->t, part[LG_PART_Q], part[LG_PART_V]);
    point.t_in = 0.5 * (dense->from.t + dense->to.t);
    point.mem.values = part[LG_PART_MEM];
    point.work = work;
    lg_status status = lg_accel_solve(&dense->accel, &point, a, part[LG_PART_LAM], report);
    if (status == LG_OK)
        lg_copy(dense->system->space->nv, a, part[LG_PART_A]);
    return status == LG_SINGULAR ? LG_OK : status;
}

lg_status lg_dense_between(lg_dense *dense, const lg_states *from, const lg_states *to, const lg_states *found,
                           double *work, lg_report *report)
{
    double *const *part = found->part;
    double t = *found->t, s = fmin(fmax((t - *from->t) / (*to->t - *from->t), 0), 1);
    dense->curve = to->curve;
    dense->degree = to->curve ? to->ncurve / (2 * dense->system->space->nv) : 0;
    if (dense->from.q != from->part[LG_PART_Q] || dense->from.t != *from->t || dense->to.t != *to->t)
        open_step(dense, knot_of(from), knot_of(to));
    solution_at(dense, t, part[LG_PART_Q], part[LG_PART_V], part[LG_PART_A], part[LG_PART_LAM]);
    for (int i = 0; i < found->nextra; i++)
        found->extra[i] = (1 - s) * from->extra[i] + s * to->extra[i];
    LG_TRY(update_memory(dense, from, found, work));
    return solve_inside(dense, found, work, report);
}

/* ---- at many times ---- */

typedef struct interpolation {
    lg_dense dense;
    double *work; /* scratch of the system */
    lg_arena arena;
} interpolation;

static void interpolation_layout(void *self, lg_arena *arena)
{
    interpolation *p = self;
    lg_dense_layout(&p->dense, arena);
    p->work = lg_arena_doubles(arena, (size_t)p->dense.system->nwork);
}

/* Opens a record at these times, with the parts that the knots have. */
static lg_status open_found(const lg_system *system, const lg_states *knots, long count, const double *times,
                            lg_record *found)
{
    *found = lg_record_of_knots(system, knots->nextra, 0);
    if (!knots->part[LG_PART_MEM])
        found->width[LG_COLUMN_STATE + LG_PART_MEM] = 0;
    LG_TRY(lg_record_reserve(found, (size_t)count));
    if (count)
        memcpy(found->column[LG_COLUMN_T], times, (size_t)count * sizeof *times);
    found->count = (size_t)count;
    return LG_OK;
}

/* The rows of a record. */
static lg_states states_of(const lg_record *record)
{
    double *const *column = record->column;
    lg_states states = {.count = (long)record->count,
                        .nextra = (int)record->width[LG_COLUMN_EXTRA],
                        .t = column[LG_COLUMN_T],
                        .extra = column[LG_COLUMN_EXTRA]};
    for (int part = 0; part < LG_PARTS; part++)
        states.part[part] = column[LG_COLUMN_STATE + part];
    return states;
}

static void copy_row(const lg_dense *dense, const lg_states *from, const lg_states *to)
{
    for (int part = 0; part < LG_PARTS; part++)
        if (to->part[part])
            lg_copy(lg_part_width(dense->system, (lg_part)part), from->part[part], to->part[part]);
    if (to->nextra)
        lg_copy(to->nextra, from->extra, to->extra);
}

/* The last two knots are at one time if a run ends at a kink. */
static lg_status interpolate_rows(interpolation *p, const lg_states *knots, const lg_record *record, lg_report *report)
{
    lg_states found = states_of(record);
    for (long j = 0; j < found.count; j++) {
        long i = lg_piece_of(knots->count, knots->t, found.t[j]);
        lg_states from = states_row(&p->dense, knots, i), to = states_row(&p->dense, knots, i + 1);
        lg_states row = states_row(&p->dense, &found, j);
        if (*from.t == *to.t)
            copy_row(&p->dense, &to, &row);
        else
            LG_TRY(lg_dense_between(&p->dense, &from, &to, &row, p->work, report));
    }
    return LG_OK;
}

lg_status lg_interpolate(const lg_system *system, const lg_plan *plan, const lg_states *knots, long count,
                         const double *times, lg_record *found, lg_report *report)
{
    interpolation p = {.dense = lg_dense_of(system, plan)};
    LG_TRY(open_found(system, knots, count, times, found));
    LG_TRY(lg_arena_open(&p.arena, interpolation_layout, &p));
    lg_status status = interpolate_rows(&p, knots, found, report);
    lg_dense_close(&p.dense);
    lg_arena_close(&p.arena);
    return status;
}
