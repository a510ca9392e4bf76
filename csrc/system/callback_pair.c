/* The functions of a step for a system on a single R^n that is given by M(q), V(q) and g(q).

   With dq = q1 - q0, q_m = (q0 + q1)/2 and v_m = dq/h, Gonzalez' discrete gradient of a function f (kinon2024 (71)) is

       grad f(q_m) + c P dq,      c = (f(q1) - f(q0) - grad f(q_m).dq)/|P dq|^2,

   with P = I or, if it is to be equivariant, with the P that leaves out the coordinates on which f does not depend in
   this step: those in which its gradient vanishes at q0, q_m and q1. The momenta of these coordinates are then
   conserved. With T(q, v) = v^T M(q) v / 2 the rules for the momentum and the derivative of the kinetic energy are

       discrete   p1 = (M(q0) + M(q1)) v_m - p0,   slope = mean of the discrete gradients of T(., v0) and T(., v1)
       midpoint   p1 = 2 M(q_m) v_m - p0,          slope = grad T(q_m, v_m)

   (84), (129) to (132), with v1 = 2 v_m - v0. The Hamiltonian midpoint rule (133) has v_m = M(q_m)^-1 (p0 + p1)/2,
   which is the second row, and v1 = M(q1)^-1 p1; there is no discrete one. Forces are taken at q_m, v_m and half-way in
   time. Derivatives by q1 are central differences. */
#include "system/callback_pair.h"

#include "core/small.h"
#include "sparse/linalg.h"
#include "system/callback_difference.h"
#include "system/chain.h"
#include "system/gonzalez.h"

typedef struct callback_step {
    const lg_callbacks *self;
    const lg_pair *pair;
    int discrete, equivariant; /* whether gradients are discrete, and whether P may leave out coordinates */
    double shortest; /* if P dq is at most this long, gradients are those at the middle */
    double *dq, *middle, *v_m, *v1; /* nv each */
    double *M, *M1, *dM, *gradient; /* nv x nv twice, nv x nv x nv, nv */
    double *J, *g0, *g1; /* rows x nv, rows twice */
    double *beside; /* gradients at an end of the step: of the nv x nv entries of M, or of all rows */
    double *depends; /* the diagonal of P for each function whose gradient is discrete */
    double *q, *upper, *lower, *p_upper, *p_lower; /* a point beside q1 and values there, for differences: nv each */
    int *pivots;
} callback_step;

static void callback_step_layout(callback_step *w, lg_arena *arena)
{
    size_t nv = (size_t)w->self->space.nv, rows = (size_t)w->self->rows;
    double **vectors[] = {&w->dq, &w->middle, &w->v_m,   &w->v1,      &w->gradient,
                          &w->q,  &w->upper,  &w->lower, &w->p_upper, &w->p_lower};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = lg_arena_doubles(arena, nv);
    w->M = lg_arena_doubles(arena, nv * nv);
    w->dM = lg_arena_doubles(arena, nv * nv * nv);
    w->M1 = lg_arena_doubles(arena, nv * nv);
    w->beside = lg_arena_doubles(arena, (nv * nv + rows) * nv);
    w->depends = lg_arena_doubles(arena, (1 + rows) * nv);
    w->J = lg_arena_doubles(arena, rows * nv);
    w->g0 = lg_arena_doubles(arena, rows);
    w->g1 = lg_arena_doubles(arena, rows);
    w->pivots = lg_arena_ints(arena, nv);
}

static size_t step_work_size(void *self)
{
    callback_step work = {.self = self};
    lg_arena measure = {0};
    callback_step_layout(&work, &measure);
    return measure.used / sizeof(double);
}

static callback_step open_work(const lg_callbacks *self, const lg_pair *pair, int discrete, int equivariant)
{
    callback_step work = {.self = self, .pair = pair, .discrete = discrete, .equivariant = equivariant};
    callback_step_layout(&work, &(lg_arena){.base = (char *)pair->work});
    return work;
}

/* ---- the middle of a step ---- */

static lg_status set_middle(callback_step *w, const double *q1)
{
    int nv = w->self->space.nv;
    double largest = 0;
    for (int i = 0; i < nv; i++) {
        double q0 = w->pair->q0[i];
        w->dq[i] = q1[i] - q0;
        w->middle[i] = 0.5 * (q0 + q1[i]);
        w->v_m[i] = w->dq[i] / w->pair->h;
        w->v1[i] = 2 * w->v_m[i] - w->pair->v0[i];
        largest = fmax(largest, fabs(w->middle[i]));
    }
    w->shortest = w->discrete ? LG_GONZALEZ_SHORT * (1 + largest) : INFINITY;
    return lg_callback_check(w->self, q1, w->v1);
}

static lg_callback_point middle_point(const callback_step *w, const double *q)
{
    const lg_pair *pair = w->pair;
    double t = pair->t + 0.5 * pair->h;
    return (lg_callback_point){.t = lg_callback_time(w->self, t, t), .q = q, .v = w->v_m};
}

static lg_status call_at(const callback_step *w, enum lg_call which, const double *q, double *out)
{
    lg_callback_point at = middle_point(w, q);
    return lg_callback_call(w->self, which, &at, out);
}

/* Marks the coordinates on which a function depends, given n of its gradients (n x nv). */
static void note_dependence(const callback_step *w, int n, const double *gradients, double *depends)
{
    int nv = w->self->space.nv;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < nv; k++)
            if (gradients[i * nv + k] != 0)
                depends[k] = 1;
}

/* The diagonals of P for `rows` functions, given their gradients at the middle, n for each. */
static lg_status find_dependence(const callback_step *w, enum lg_call which, const double *q1, int rows, int n,
                                 const double *middle)
{
    const double *const at[] = {w->pair->q0, q1};
    int nv = w->self->space.nv;
    for (int i = 0; i < rows * nv; i++)
        w->depends[i] = !w->equivariant;
    for (int end = 0; end < 2 && w->equivariant; end++) {
        LG_TRY(call_at(w, which, at[end], w->beside));
        for (int i = 0; i < rows; i++) {
            note_dependence(w, n, middle + i * n * nv, w->depends + i * nv);
            note_dependence(w, n, w->beside + i * n * nv, w->depends + i * nv);
        }
    }
    return LG_OK;
}

/* out += weight c P dq for a function with this gradient at the middle that changes by `change`. Returns |P dq|^2. */
static double add_correction(const callback_step *w, double change, const double *gradient, const double *depends,
                             double weight, double *out)
{
    int nv = w->self->space.nv;
    double square = 0;
    for (int i = 0; i < nv; i++)
        square += depends[i] * w->dq[i] * w->dq[i];
    double c = lg_gonzalez(change, lg_dot(nv, gradient, w->dq), square, w->shortest);
    for (int i = 0; i < nv; i++)
        out[i] += weight * c * depends[i] * w->dq[i];
    return square;
}

/* ---- forces and constraints ---- */

/* Minus the gradient of V plus all other forces. */
static lg_status force_to(callback_step *w, const double *q1, double *force, double *noise)
{
    double V0, V1, sizes;
    *noise = 0;
    LG_TRY(call_at(w, LG_CALL_FORCE, w->middle, force));
    if (!w->discrete)
        return LG_OK;
    LG_TRY(call_at(w, LG_CALL_POTENTIAL, w->pair->q0, &V0));
    LG_TRY(call_at(w, LG_CALL_POTENTIAL, q1, &V1));
    LG_TRY(call_at(w, LG_CALL_POTENTIAL_GRADIENT, w->middle, w->gradient));
    LG_TRY(find_dependence(w, LG_CALL_POTENTIAL_GRADIENT, q1, 1, 1, w->gradient));
    double square = add_correction(w, V1 - V0, w->gradient, w->depends, -1, force);
    sizes = fabs(V0) + fabs(V1);
    for (int i = 0; w->equivariant && i < w->self->space.nv; i++)
        sizes += fabs(w->gradient[i] * w->middle[i]);
    *noise = lg_gonzalez_noise(sizes, square, w->shortest);
    return LG_OK;
}

/* J: the gradients of all constraint rows. */
static lg_status rows_to(callback_step *w, const double *q1)
{
    int nv = w->self->space.nv, rows = w->self->rows;
    if (!rows)
        return LG_OK;
    LG_TRY(call_at(w, LG_CALL_JACOBIAN, w->middle, w->J));
    if (!w->discrete)
        return LG_OK;
    LG_TRY(find_dependence(w, LG_CALL_JACOBIAN, q1, rows, 1, w->J));
    LG_TRY(call_at(w, LG_CALL_CONSTRAINT, w->pair->q0, w->g0));
    LG_TRY(call_at(w, LG_CALL_CONSTRAINT, q1, w->g1));
    for (int i = 0; i < rows; i++) {
        double *row = w->J + i * nv;
        add_correction(w, w->g1[i] - w->g0[i], row, w->depends + i * nv, 1, row);
    }
    return LG_OK;
}

/* r = -force + G^T lam at q1 */
static lg_status residual_at(callback_step *w, const double *q1, double *r)
{
    int nv = w->self->space.nv;
    double noise;
    LG_TRY(set_middle(w, q1));
    LG_TRY(force_to(w, q1, r, &noise));
    for (int i = 0; i < nv; i++)
        r[i] = -r[i];
    LG_TRY(rows_to(w, q1));
    for (int i = 0; i < w->self->rows; i++)
        lg_axpy(nv, w->pair->lam[i], w->J + i * nv, r);
    return LG_OK;
}

/* ---- kinetic energy ---- */

/* slope += weight times the discrete gradient of T(., v), given `change` = M(q1) - M(q0) and dM(q_m); if `change` is
   NULL, times the gradient at the middle. */
static void add_slope(const callback_step *w, const double *v, double weight, const double *change, double *slope)
{
    int nv = w->self->space.nv;
    double dT = 0;
    lg_zero(nv, w->gradient);
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++) {
            dT += change ? 0.5 * v[i] * change[i * nv + j] * v[j] : 0;
            lg_axpy(nv, 0.5 * v[i] * v[j], w->dM + (i * nv + j) * nv, w->gradient);
        }
    lg_axpy(nv, weight, w->gradient, slope);
    if (change)
        add_correction(w, dT, w->gradient, w->depends, weight, slope);
}

/* p = 2 M v_m - p0 */
static void livens_momentum(const callback_step *w, const double *M, double *p)
{
    int nv = w->self->space.nv;
    for (int i = 0; i < nv; i++)
        p[i] = 2 * lg_dot(nv, M + i * nv, w->v_m) - w->pair->p0[i];
}

static lg_status discrete_rule(callback_step *w, const double *q1, double *p1, double *slope)
{
    int n = w->self->space.nv * w->self->space.nv;
    LG_TRY(find_dependence(w, LG_CALL_MASS_GRADIENT, q1, 1, n, w->dM));
    LG_TRY(call_at(w, LG_CALL_MASS, w->pair->q0, w->M));
    LG_TRY(call_at(w, LG_CALL_MASS, q1, w->M1));
    for (int i = 0; i < n; i++) {
        double M0 = w->M[i];
        w->M[i] = 0.5 * (M0 + w->M1[i]);
        w->M1[i] -= M0;
    }
    livens_momentum(w, w->M, p1);
    add_slope(w, w->pair->v0, 0.5, w->M1, slope);
    add_slope(w, w->v1, 0.5, w->M1, slope);
    return LG_OK;
}

static lg_status kinetic_to(callback_step *w, const double *q1, double *p1, double *slope)
{
    LG_TRY(set_middle(w, q1));
    lg_zero(w->self->space.nv, slope);
    LG_TRY(call_at(w, LG_CALL_MASS_GRADIENT, w->middle, w->dM));
    if (w->discrete)
        return discrete_rule(w, q1, p1, slope);
    LG_TRY(call_at(w, LG_CALL_MASS, w->middle, w->M));
    livens_momentum(w, w->M, p1);
    add_slope(w, w->v_m, 1, NULL, slope);
    return LG_OK;
}

/* v = M(q1)^-1 p1 */
static lg_status hamilton_velocity(callback_step *w, const double *q1, const double *p1, double *v)
{
    int nv = w->self->space.nv, deficient;
    LG_TRY(call_at(w, LG_CALL_MASS, q1, w->M));
    LG_TRY(lg_dense_factor(nv, w->M, w->pivots, &deficient));
    lg_copy(nv, p1, v);
    lg_dense_solve(nv, w->M, w->pivots, v);
    return LG_OK;
}

/* ---- derivatives by q1 ---- */

/* w->q = q1 + side * step e_j; returns the step. */
static double step_beside(const callback_step *w, int j, int side)
{
    double step = lg_callback_step(w->self, w->pair->q1, j);
    lg_copy(w->self->space.nv, w->pair->q1, w->q);
    w->q[j] += side * step;
    return step;
}

/* S += column j of a derivative, (upper - lower)/(2 step), along the chain */
static void add_S_column(const callback_step *w, int j, double step, const lg_chain *chain, lg_matrix *S)
{
    int nv = w->self->space.nv, ld;
    double *at = lg_matrix_at(S, 0, &ld);
    for (int i = 0; i < nv; i++)
        w->upper[i] = (w->upper[i] - w->lower[i]) / (2 * step);
    lg_chain_add(w->self->space.block, chain, 0, 1, 0, nv, j, 1, w->upper, nv, at, ld);
}

static lg_status add_pair_tangent(callback_step *w, const lg_pair_wanted *wanted)
{
    for (int j = 0; j < w->self->space.nv; j++) {
        double step = step_beside(w, j, 1);
        LG_TRY(residual_at(w, w->q, w->upper));
        step_beside(w, j, -1);
        LG_TRY(residual_at(w, w->q, w->lower));
        add_S_column(w, j, step, wanted->chain, wanted->S);
    }
    return LG_OK;
}

/* p1 and r = p1/h - slope beside q1 */
static lg_status kinetic_side(callback_step *w, double *p1, double *r)
{
    LG_TRY(kinetic_to(w, w->q, p1, r));
    for (int i = 0; i < w->self->space.nv; i++)
        r[i] = p1[i] / w->pair->h - r[i];
    return LG_OK;
}

static lg_status kinetic_tangent(callback_step *w, const lg_kinetic_wanted *wanted)
{
    int nv = w->self->space.nv;
    for (int j = 0; j < nv; j++) {
        double step = step_beside(w, j, 1);
        LG_TRY(kinetic_side(w, w->p_upper, w->upper));
        step_beside(w, j, -1);
        LG_TRY(kinetic_side(w, w->p_lower, w->lower));
        add_S_column(w, j, step, wanted->chain, wanted->S);
        for (int i = 0; i < nv && wanted->dp1; i++)
            wanted->dp1[j * nv + i] = (w->p_upper[i] - w->p_lower[i]) / (2 * step);
    }
    return LG_OK;
}

/* ---- the functions of lg_steps ---- */

static lg_status end_rows(callback_step *w, const lg_pair_wanted *wanted)
{
    const lg_pair *pair = w->pair;
    if (wanted->phi)
        LG_TRY(call_at(w, LG_CALL_CONSTRAINT, pair->q1, wanted->phi));
    if (wanted->B) {
        LG_TRY(call_at(w, LG_CALL_JACOBIAN, pair->q1, w->J));
        lg_callback_put_group(w->self, w->J, wanted->B);
    }
    return LG_OK;
}

static lg_status middle_rows(callback_step *w, const lg_pair_wanted *wanted)
{
    int nv = w->self->space.nv;
    LG_TRY(rows_to(w, w->pair->q1));
    if (wanted->G)
        lg_callback_put_group(w->self, w->J, wanted->G);
    if (wanted->Gtlam)
        lg_zero(nv, wanted->Gtlam);
    for (int i = 0; i < w->self->rows && wanted->Gtlam; i++)
        lg_axpy(nv, w->pair->lam[i], w->J + i * nv, wanted->Gtlam);
    return LG_OK;
}

static lg_status pair(callback_step w, const lg_pair_wanted *wanted)
{
    double noise;
    const double *q1 = w.pair->q1;
    if (wanted->turned)
        *wanted->turned = NULL;
    LG_TRY(set_middle(&w, q1));
    if (wanted->force)
        LG_TRY(force_to(&w, q1, wanted->force, wanted->noise ? wanted->noise : &noise));
    if (wanted->G || wanted->Gtlam)
        LG_TRY(middle_rows(&w, wanted));
    if (w.self->rows)
        LG_TRY(end_rows(&w, wanted));
    return wanted->S ? add_pair_tangent(&w, wanted) : LG_OK;
}

static lg_status pair_discrete(void *self, const lg_pair *given, const lg_pair_wanted *wanted)
{
    return pair(open_work(self, given, 1, 1), wanted);
}

static lg_status pair_discrete_printed(void *self, const lg_pair *given, const lg_pair_wanted *wanted)
{
    return pair(open_work(self, given, 1, 0), wanted);
}

static lg_status pair_midpoint(void *self, const lg_pair *given, const lg_pair_wanted *wanted)
{
    return pair(open_work(self, given, 0, 0), wanted);
}

static lg_status step_kinetic(void *self, lg_kinetics kinetics, const lg_pair *given, const lg_kinetic_wanted *wanted)
{
    int discrete = kinetics == LG_LIVENS_DISCRETE || kinetics == LG_LIVENS_CAYLEY;
    callback_step w = open_work(self, given, discrete, kinetics == LG_LIVENS_CAYLEY);
    int nv = w.self->space.nv;
    LG_TRY(kinetic_to(&w, given->q1, wanted->p1, wanted->slope));
    lg_copy(nv, w.v1, wanted->v1);
    if (!lg_is_livens(kinetics))
        LG_TRY(hamilton_velocity(&w, given->q1, wanted->p1, wanted->v1));
    return wanted->S ? kinetic_tangent(&w, wanted) : LG_OK;
}

static int step_without_step(void *self, lg_gradients gradients, lg_kinetics kinetics)
{
    (void)self, (void)gradients;
    return kinetics == LG_HAMILTON_DISCRETE || kinetics == LG_HAMILTON_CAYLEY ? 0 : -1;
}

const lg_steps lg_callback_steps = {
    .nwork = step_work_size,
    .pair = {[LG_GRADIENTS_DISCRETE] = pair_discrete,
             [LG_GRADIENTS_DISCRETE_PRINTED] = pair_discrete_printed,
             [LG_GRADIENTS_MIDPOINT] = pair_midpoint,
             [LG_GRADIENTS_MIDPOINT_PRINTED] = pair_midpoint},
    .kinetic = step_kinetic,
    .without_step = step_without_step,
};
