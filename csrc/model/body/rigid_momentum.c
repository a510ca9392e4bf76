/* The momentum of a rigid body in Euler parameters e, with or without a position before them, in a step.

   With the quaternion product a b = L(a) b = R(b) a, half the body angular velocity is the vector part of

       t(e, v) = e* v,      T = 2 t.J4 t,      J4 = diag(J0, J)                                (kinon2024 (43) to (46))

   with J0 = 0, or J0 = tr J / 2 if the mass matrix must be regular, (139). For fixed y the derivatives of t.y by v and
   by e are e y and v y*. In a step from e0 to e1, with e_m = (e0 + e1)/2, v_m = (e1 - e0)/h and n = e_m.e_m,

       p_m = (p0 + p1)/2 = s e_m y,   y = 4 J4 t_m,   slope = v_m y* or -c p_m t_m*

       Livens, discrete           t_m = (t(e0, v0) + t(e1, v1))/2    s = 1        slope = v_m y*    (86) to (88)
       Livens, midpoint           t_m = t(e_m, v_m)                  s = 1        slope = v_m y*    (132)
       Hamilton, midpoint         t_m = t(e_m, v_m)                  s = 1        slope = v_m y*    (133)
       Hamilton, polynomial       t_m = t(e_m, v_m)                  s = 1/n^2    c = 1/n           (133), (139), (143)
       Hamilton, published code   t_m = t(e_m, v_m)                  s = 1        c = n

   The inverse of M = 4 L(e) J4 L(e)^T holds 1/|e|^4; (139) leaves that out. The polynomial rule uses (139) and its
   gradient at the middle; the published code uses the inverse itself with the gradient of (139). With the gradient of
   the inverse itself the rule would be that of Livens except for J0. The discrete Hamiltonian rule (146) has

       p1 = e1 (8 J4 t_m/n - e0* p0)/|e1|^2,   t_m = t(e_m, v_m),   c = 1/n

   Velocities are v1 = 2 v_m - v0, and v1 = M(e1)^-1 p1 in the rules of Hamilton. Positions use the midpoint rule.

   In the conserving form (step/step.h) the discrete rules turn by the Cayley vector, which is 1/kappa times that of v_m
   with kappa = e0.e1/n: v1 = 2 v_m/kappa - v0, and e0.e1 replaces n in p1. */
#include "model/body/rigid_momentum.h"

#include "core/two.h"
#include "model/body/rigid_state.h"

static int has_euler_parameters(const lg_body *b, lg_gradients gradients)
{
    (void)gradients;
    return b->block->node->attitude_n == 4;
}

/* ---- quaternions, and matrices 4 x 4, column-major ---- */

/* c = a* b */
static void mul_conjugate(const double a[4], const double b[4], double c[4])
{
    double other[4];
    lg_quat_conjugate(a, other);
    lg_quat_mul(other, b, c);
}

/* c = a b* */
static void mul_by_conjugate(const double a[4], const double b[4], double c[4])
{
    double other[4];
    lg_quat_conjugate(b, other);
    lg_quat_mul(a, other, c);
}

/* A += s d(a b)/db B = s L(a) B; B NULL: the identity */
static void add_left(double s, const double a[4], const double *B, double *A)
{
    for (int j = 0; j < 4; j++) {
        const double unit[4] = {j == 0, j == 1, j == 2, j == 3};
        double column[4];
        lg_quat_mul(a, B ? B + 4 * j : unit, column);
        lg_axpy(4, s, column, A + 4 * j);
    }
}

/* A += s d(a b)/da B = s R(b) B; B NULL: the identity */
static void add_right(double s, const double b[4], const double *B, double *A)
{
    for (int j = 0; j < 4; j++) {
        const double unit[4] = {j == 0, j == 1, j == 2, j == 3};
        double column[4];
        lg_quat_mul(B ? B + 4 * j : unit, b, column);
        lg_axpy(4, s, column, A + 4 * j);
    }
}

/* A += s d(a b*)/db B */
static void add_by_conjugate(double s, const double a[4], const double *B, double *A)
{
    for (int j = 0; j < 4; j++) {
        double column[4];
        mul_by_conjugate(a, B + 4 * j, column);
        lg_axpy(4, s, column, A + 4 * j);
    }
}

/* A += s a b^T */
static void add_outer44(double s, const double a[4], const double b[4], double *A)
{
    for (int j = 0; j < 4; j++)
        lg_axpy(4, s * b[j], a, A + 4 * j);
}

/* ---- inertia ---- */

/* B = A^-1 of a symmetric matrix that is positive definite, or LG_SINGULAR */
static lg_status invert_inertia(const double A[9], double B[9])
{
    double trace = A[0] + A[4] + A[8];
    lg_cross(A + 3, A + 6, B);
    lg_cross(A + 6, A, B + 3);
    lg_cross(A, A + 3, B + 6);
    double det = lg_dot3(A, B);
    if (!(det > DBL_EPSILON * trace * trace * trace))
        return LG_SINGULAR;
    for (int i = 0; i < 9; i++)
        B[i] /= det;
    return LG_OK;
}

/* c = s diag(J0, J) b for each of n columns */
static void mul_inertia4(int n, double s, double J0, const double J[9], const double *b, double *c)
{
    for (int j = 0; j < 4 * n; j += 4) {
        c[j] = J0 * b[j];
        lg_mul3(J, b + j + 1, c + j + 1);
        for (int i = 0; i < 4; i++)
            c[j + i] *= s;
    }
}

/* ---- the rule of a step ---- */

typedef struct tangent { /* derivatives by e1, column-major */
    double t[16], y[16], p[16], slope[16];
} tangent;

typedef struct turn { /* from e0 to e1 */
    const double *e0, *e1, *v0, *p0;
    double h, J0, J[9];
    double e_m[4], v_m[4], n;
    double turn, by_e1[4], kappa; /* n, or e0.e1 in the conserving form, and its derivative; turn/n */
    double t[4], y[4], p[4]; /* t_m, y, p_m */
    double slope[4];
    tangent *d; /* NULL: not wanted */
} turn;

/* How the rules differ. */
typedef struct momentum_rule {
    int cayley; /* turns are Cayley vectors: the conserving form */
    int at_ends; /* t_m is the mean of t at both ends */
    int discrete; /* p_m by (146) */
    int power; /* otherwise: power of n in p_m */
    int of_momentum, slope; /* if of_momentum, the slope is -n^slope p_m t_m* */
} momentum_rule;

static const momentum_rule rules[LG_KINETICS_COUNT] = {
    [LG_LIVENS_CAYLEY] = {.cayley = 1, .at_ends = 1},
    [LG_LIVENS_DISCRETE] = {.at_ends = 1},
    [LG_HAMILTON_CAYLEY] = {.cayley = 1, .discrete = 1, .of_momentum = 1, .slope = -1},
    [LG_HAMILTON_DISCRETE] = {.discrete = 1, .of_momentum = 1, .slope = -1},
    [LG_HAMILTON_POLYNOMIAL] = {.power = -2, .of_momentum = 1, .slope = -1},
    [LG_HAMILTON_PUBLISHED] = {.of_momentum = 1, .slope = 1},
};

static turn open_turn(const lg_body *b, lg_kinetics kinetics, const lg_pair *pair)
{
    const lg_block *block = b->block;
    int q = block->q + block->node->attitude_q, v = block->v + block->node->attitude_v;
    turn s = {.e0 = pair->q0 + q, .e1 = pair->q1 + q, .v0 = pair->v0 + v, .p0 = pair->p0 + v, .h = pair->h};
    lg_inertia_matrix(b->e.p + LG_RIGID_INERTIA, s.J);
    s.J0 = lg_is_livens(kinetics) ? 0 : 0.5 * (s.J[0] + s.J[4] + s.J[8]);
    for (int i = 0; i < 4; i++) {
        s.e_m[i] = 0.5 * (s.e0[i] + s.e1[i]);
        s.v_m[i] = (s.e1[i] - s.e0[i]) / s.h;
    }
    s.n = lg_dot4(s.e_m, s.e_m);
    int cayley = rules[kinetics].cayley;
    s.turn = cayley ? lg_dot4(s.e0, s.e1) : s.n;
    s.kappa = s.turn / s.n;
    lg_copy(4, cayley ? s.e0 : s.e_m, s.by_e1);
    return s;
}

/* t_m += weight t(e, v), where de = a de1 and dv = b de1 + c by^T de1 */
static void add_rates(turn *s, double weight, const double e[4], const double v[4], double a, double b,
                      const double c[4], const double by[4])
{
    static const double conjugation[16] = {1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1};
    double t[4], other[4];
    lg_quat_conjugate(e, other);
    lg_quat_mul(other, v, t);
    lg_axpy(4, weight, t, s->t);
    if (!s->d)
        return;
    add_right(weight * a, v, conjugation, s->d->t);
    add_left(weight * b, other, NULL, s->d->t);
    lg_quat_mul(other, c, t);
    add_outer44(weight, t, by, s->d->t);
}

/* v1 = 2 v_m/kappa - v0, and its derivative 2/(h kappa) + c by^T by e1 */
static void rates_at_end(const turn *s, double v1[4], double c[4], double by[4])
{
    for (int i = 0; i < 4; i++) {
        v1[i] = 2 * s->v_m[i] / s->kappa - s->v0[i];
        c[i] = -2 * s->v_m[i] / (s->kappa * s->kappa);
        by[i] = (s->by_e1[i] - s->kappa * s->e_m[i]) / s->n;
    }
}

static void find_rates(turn *s, int at_ends)
{
    static const double none[4];
    if (!at_ends) {
        add_rates(s, 1, s->e_m, s->v_m, 0.5, 1 / s->h, none, none);
    } else {
        double v1[4], c[4], by[4];
        rates_at_end(s, v1, c, by);
        add_rates(s, 0.5, s->e0, s->v0, 0, 0, none, none);
        add_rates(s, 0.5, s->e1, v1, 1, 2 / (s->h * s->kappa), c, by);
    }
    mul_inertia4(1, 4, s->J0, s->J, s->t, s->y);
    if (s->d)
        mul_inertia4(4, 4, s->J0, s->J, s->d->t, s->d->y);
}

/* p_m = n^k e_m y */
static void find_momentum(turn *s, int k)
{
    double scale = pow(s->n, k), product[4];
    lg_quat_mul(s->e_m, s->y, product);
    lg_axpy(4, scale, product, s->p);
    if (!s->d)
        return;
    add_right(0.5 * scale, s->y, NULL, s->d->p);
    add_left(scale, s->e_m, s->d->y, s->d->p);
    add_outer44(k * scale / s->n, product, s->e_m, s->d->p);
}

/* p_m = (p0 + e1 z/|e1|^2)/2 with z = 2 y/n - e0* p0; e0.e1 replaces n in the conserving form. */
static void find_discrete_momentum(turn *s)
{
    double z[4], dz[16] = {0}, product[4], length = lg_dot4(s->e1, s->e1);
    mul_conjugate(s->e0, s->p0, z);
    for (int i = 0; i < 4; i++)
        z[i] = 2 * s->y[i] / s->turn - z[i];
    lg_quat_mul(s->e1, z, product);
    for (int i = 0; i < 4; i++)
        s->p[i] = 0.5 * (s->p0[i] + product[i] / length);
    if (!s->d)
        return;
    lg_axpy(16, 2 / s->turn, s->d->y, dz);
    add_outer44(-2 / (s->turn * s->turn), s->y, s->by_e1, dz);
    add_right(0.5 / length, z, NULL, s->d->p);
    add_left(0.5 / length, s->e1, dz, s->d->p);
    add_outer44(-1 / (length * length), product, s->e1, s->d->p);
}

/* slope = v_m y* */
static void find_slope(turn *s)
{
    double other[4];
    lg_quat_conjugate(s->y, other);
    lg_quat_mul(s->v_m, other, s->slope);
    if (!s->d)
        return;
    add_right(1 / s->h, other, NULL, s->d->slope);
    add_by_conjugate(1, s->v_m, s->d->y, s->d->slope);
}

/* slope = -n^k p_m t_m* */
static void find_slope_of_momentum(turn *s, int k)
{
    double scale = -pow(s->n, k), product[4], other[4];
    lg_quat_conjugate(s->t, other);
    lg_quat_mul(s->p, other, product);
    lg_axpy(4, scale, product, s->slope);
    if (!s->d)
        return;
    add_right(scale, other, s->d->p, s->d->slope);
    add_by_conjugate(scale, s->p, s->d->t, s->d->slope);
    add_outer44(k * scale / s->n, product, s->e_m, s->d->slope);
}

static void apply_rule(turn *s, const momentum_rule *rule)
{
    find_rates(s, rule->at_ends);
    if (rule->discrete)
        find_discrete_momentum(s);
    else
        find_momentum(s, rule->power);
    if (rule->of_momentum)
        find_slope_of_momentum(s, rule->slope);
    else
        find_slope(s);
}

/* ---- the function of the row ---- */

/* v = M(e1)^-1 p = e1 J4^-1 (e1* p)/4 */
static lg_status hamilton_rates(const turn *s, const double p[4], double v[4])
{
    double inverse[9], t[4], rates[4];
    LG_TRY(invert_inertia(s->J, inverse));
    mul_conjugate(s->e1, p, t);
    mul_inertia4(1, 0.25, 1 / s->J0, inverse, t, rates);
    lg_quat_mul(s->e1, rates, v);
    return LG_OK;
}

static lg_status rotate_in_step(const lg_body *b, lg_kinetics kinetics, const lg_pair *pair,
                                const lg_kinetic_wanted *wanted)
{
    int first = b->block->node->attitude_v, v = b->block->v + first;
    tangent matrices;
    memset(&matrices, 0, sizeof matrices);
    turn s = open_turn(b, kinetics, pair);
    s.d = wanted->S ? &matrices : NULL;
    apply_rule(&s, &rules[kinetics]);
    lg_copy(4, s.slope, wanted->slope + v);
    for (int i = 0; i < 4; i++) {
        wanted->p1[v + i] = 2 * s.p[i] - s.p0[i];
        wanted->v1[v + i] = 2 * s.v_m[i] / s.kappa - s.v0[i];
    }
    lg_momentum_put(b, pair, wanted, first, 4, matrices.p, matrices.slope);
    return lg_is_livens(kinetics) ? LG_OK : hamilton_rates(&s, wanted->p1 + v, wanted->v1 + v);
}

static lg_status rigid_momentum(lg_span bodies, lg_kinetics kinetics, const lg_pair *pair, const lg_point *middle,
                                const lg_kinetic_wanted *wanted)
{
    (void)middle;
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        if (wanted->S && wanted->dp1)
            lg_zero(b->block->nv * b->block->nv, wanted->dp1 + b->block->m);
        if (b->block->node->position != LG_POSITION_FIXED)
            lg_momentum_translate(b, b->e.p[LG_RIGID_MASS], kinetics, pair, wanted);
        LG_TRY(rotate_in_step(b, kinetics, pair, wanted));
    }
    return LG_OK;
}

const lg_body_step lg_rigid_step = {.momentum = rigid_momentum, .fits = has_euler_parameters};
