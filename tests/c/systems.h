/* Small systems for the tests of solvers and integrators, each of one block and at most one group of constraints.

   oscillator R^2, coupled, damped, nonlinear, driven top SO(3), a heavy body about a fixed point, with an applied
   moment that varies in time joined R^3 x SO(3), the same body with the constraint x - R X = 0 torque SO(3), unit
   inertia under a constant body-fixed moment push R^1, unit mass, force 0 before and 1 after a kink */
#ifndef SYSTEMS_H
#define SYSTEMS_H

#include "core/small.h"
#include "system/system.h"

enum { MAX_NQ = 12, MAX_NV = 6 };

typedef struct hand_system {
    lg_system system;
    lg_space space;
    lg_block block;
    lg_factor factor;
    lg_pattern pattern;
    const lg_plan *plan;
    int nv, nown, v_start[2], own_row, own_value, group_row[2], group_start[2], clique_start[2];
    double q0[MAX_NQ], v0[MAX_NV];

    double mass, X[3], weight[3], J[9]; /* of the body; J is about the centre of mass or the fixed point */
    double moment[3], rate; /* the applied moment is moment cos(rate t) */
    double kink;
    long evaluations, fail_at; /* the evaluation that fails; 0: none */
} hand_system;

static const int one_block[] = {0};

/* ---- the matrix: K k0 X0 + D k1 X1 + wa M k2 X2, column-major n x n ---- */

static inline void hand_add(double *S, int ld, int n, const double *A, double k, const double *X)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double sum = X ? 0 : A[i + n * j];
            for (int l = 0; X && l < n; l++)
                sum += A[i + n * l] * X[l + n * j];
            S[i + ld * j] += k * sum;
        }
}

static inline void hand_matrix(const lg_wanted *w, const lg_point *p, int n, const double *K, const double *D,
                               const double *M)
{
    const lg_chain identity = {{0, 0, 1}, {NULL, NULL, NULL}}, *c = w->tangent->chain ? w->tangent->chain : &identity;
    const double *A[3] = {K, D, M};
    int ld;
    double *S = lg_matrix_at(w->tangent->S, 0, &ld);
    for (int i = 0; i < 3; i++)
        if (c->k[i] != 0)
            hand_add(S, ld, n, A[i], (i == 2 ? p->wa : 1) * c->k[i], c->X[i]);
}

static inline lg_status hand_counted(hand_system *s)
{
    return ++s->evaluations == s->fail_at ? LG_CALLBACK : LG_OK;
}

static inline void hand_out(int n, const double *value, double *wanted)
{
    if (wanted)
        lg_copy(n, value, wanted);
}

/* c = A b, A column-major n x n; b may be NULL (zero) */
static inline void hand_mul(int n, const double *A, const double *b, double *c)
{
    lg_zero(n, c);
    for (int j = 0; b && j < n; j++)
        lg_axpy(n, b[j], A + n * j, c);
}

static inline const char *hand_row_name(void *self, int row)
{
    (void)self;
    static const char *const names[] = {"pivot x", "pivot y", "pivot z"};
    return names[row];
}

/* ---- oscillator ---- */

static inline lg_status oscillator_eval(void *self, const lg_point *p, const lg_wanted *w)
{
    LG_TRY(hand_counted(self));
    static const double M[4] = {2, 0.5, 0.5, 1}, D[4] = {0.3, 0, 0, 0.1};
    double x = p->q[0], y = p->q[1];

    double force[2] = {-sin(x) + 20 * (y - x) + cos(3 * p->t) - 0.3 * p->v[0],
                       -y * y * y - 20 * (y - x) - 0.1 * p->v[1]};
    double K[4] = {cos(x) + 20, -20, -20, 3 * y * y + 20}, zero[2] = {0}, Ma[2];
    hand_mul(2, M, p->a, Ma);

    hand_out(2, Ma, w->Ma);
    hand_out(2, zero, w->gyro);
    hand_out(2, force, w->force);
    hand_out(2, zero, w->Btlam);
    if (w->ntangents)
        hand_matrix(w, p, 2, K, D, M);
    return LG_OK;
}

/* ---- push ---- */

static inline lg_status push_eval(void *self, const lg_point *p, const lg_wanted *w)
{
    hand_system *s = self;
    LG_TRY(hand_counted(s));
    double force = p->t_in > s->kink ? 1 : 0, zero = 0, one = 1, Ma = p->a ? p->a[0] : 0;

    hand_out(1, &Ma, w->Ma);
    hand_out(1, &zero, w->gyro);
    hand_out(1, &force, w->force);
    hand_out(1, &zero, w->Btlam);
    if (w->ntangents)
        hand_matrix(w, p, 1, &zero, &zero, &one);
    return LG_OK;
}

static inline double push_next_kink(void *self, double t)
{
    const hand_system *s = self;
    return t < s->kink ? s->kink : INFINITY;
}

/* ---- a body on SO(3): J Omega' + Omega x J Omega = X x R^T weight + moment cos(rate t) ---- */

/* gyro and, unless D is NULL, its derivative. */
static inline void spin_terms(const double J[9], const double omega[3], double gyro[3], double *D)
{
    double L[3], W[9], JW[9], hatL[9];
    lg_mul3(J, omega, L);
    lg_cross(omega, L, gyro);
    if (!D)
        return;

    lg_hat3(omega, W);
    lg_hat3(L, hatL);
    lg_mul33(W, J, JW);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            D[i + 3 * j] = JW[3 * i + j] - hatL[3 * i + j];
}

static inline lg_status top_eval(void *self, const lg_point *p, const lg_wanted *w)
{
    hand_system *s = self;
    LG_TRY(hand_counted(s));
    double gyro[3], force[3], weight[3], zero[3] = {0}, D[9];
    spin_terms(s->J, p->v, gyro, w->ntangents ? D : NULL);
    lg_mulT3(p->q, s->weight, weight);
    lg_cross(s->X, weight, force);
    lg_axpy(3, cos(s->rate * p->t), s->moment, force);

    hand_out(3, gyro, w->gyro);
    hand_out(3, force, w->force);
    hand_out(3, zero, w->Btlam);
    if (w->Ma)
        hand_mul(3, s->J, p->a, w->Ma);
    if (w->ntangents) {
        double hatX[9], hatW[9], XW[9], K[9];
        lg_hat3(s->X, hatX);
        lg_hat3(weight, hatW);
        lg_mul33(hatX, hatW, XW);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                K[i + 3 * j] = -XW[3 * i + j];
        hand_matrix(w, p, 3, K, D, s->J);
    }
    return LG_OK;
}

/* ---- the same body in six coordinates: phi = x - R X ---- */

static inline void joined_rows(const hand_system *s, const lg_point *p, const lg_wanted *w)
{
    const double *x = p->q, *R = p->q + 3, *xdot = p->v, *omega = p->v + 3;
    double RX[3], WX[3], RWX[3], WWX[3], RWWX[3], hatX[9], RhatX[9];
    lg_mul3(R, s->X, RX);
    lg_cross(omega, s->X, WX);
    lg_mul3(R, WX, RWX);
    lg_cross(omega, WX, WWX);
    lg_mul3(R, WWX, RWWX);

    lg_hat3(s->X, hatX);
    lg_mul33(R, hatX, RhatX);
    for (int i = 0; i < 3; i++) {
        if (w->phi)
            w->phi[i] = x[i] - RX[i];
        if (w->phidot)
            w->phidot[i] = xdot[i] - RWX[i];
        if (w->zeta)
            w->zeta[i] = RWWX[i];
        for (int j = 0; w->B && j < 3; j++) {
            w->B[i + 3 * j] = i == j;
            w->B[i + 3 * (3 + j)] = RhatX[3 * i + j];
        }
    }
}

/* S for the force `pull` on the body's point, the gyroscopic matrix D3 and the mass M. */
static inline void joined_matrix(const hand_system *s, const double pull[3], const double D3[9], const double M[36],
                                 const lg_point *p, const lg_wanted *w)
{
    double hatX[9], hatP[9], XP[9], K[36] = {0}, D[36] = {0};
    lg_hat3(s->X, hatX);
    lg_hat3(pull, hatP);
    lg_mul33(hatX, hatP, XP);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            K[3 + i + 6 * (3 + j)] = -XP[3 * i + j];
            D[3 + i + 6 * (3 + j)] = D3[i + 3 * j];
        }
    hand_matrix(w, p, 6, K, D, M);
}

static inline lg_status joined_eval(void *self, const lg_point *p, const lg_wanted *w)
{
    hand_system *s = self;
    LG_TRY(hand_counted(s));
    const double *R = p->q + 3;
    double gyro[6] = {0}, D3[9], pull[3] = {0}, M[36] = {0}, turned[3], Btlam[6];
    spin_terms(s->J, p->v + 3, gyro + 3, w->ntangents ? D3 : NULL);
    double force[6] = {s->weight[0], s->weight[1], s->weight[2]};
    lg_axpy(3, cos(s->rate * p->t), s->moment, force + 3);
    for (int i = 0; i < 3; i++) {
        M[7 * i] = s->mass;
        for (int j = 0; j < 3; j++)
            M[3 + i + 6 * (3 + j)] = s->J[3 * j + i];
    }

    if (p->lam)
        lg_mulT3(R, p->lam, pull);
    lg_cross(pull, s->X, turned);
    for (int i = 0; i < 3; i++) {
        Btlam[i] = p->lam ? p->lam[i] : 0;
        Btlam[3 + i] = turned[i];
    }

    hand_out(6, gyro, w->gyro);
    hand_out(6, force, w->force);
    hand_out(6, Btlam, w->Btlam);
    if (w->Ma)
        hand_mul(6, M, p->a, w->Ma);
    joined_rows(s, p, w);
    if (w->ntangents)
        joined_matrix(s, pull, D3, M, p, w);
    return LG_OK;
}

/* ---- construction ---- */

static inline void hand_pattern(hand_system *s, int nv, int nrows)
{
    s->nv = s->v_start[1] = nv;
    s->own_row = s->group_row[1] = nrows;
    s->own_value = nrows * nv;
    s->group_start[1] = nrows > 0;
    s->clique_start[1] = 1;
    s->pattern = (lg_pattern){.nblocks = 1,
                              .nv = &s->nv,
                              .nown = &s->nown,
                              .v_start = s->v_start,
                              .own_row = &s->own_row,
                              .own_value = &s->own_value,
                              .ngroups = nrows > 0,
                              .group_row = s->group_row,
                              .group_start = s->group_start,
                              .group_block = one_block,
                              .group_value = one_block,
                              .ncliques = 1,
                              .nmass_cliques = 1,
                              .clique_start = s->clique_start,
                              .clique_block = one_block,
                              .nrows = nrows,
                              .nvalues = nrows * nv};
}

static inline void hand_build(hand_system *s, const char *kind, int n, int nrows,
                              lg_status (*eval)(void *, const lg_point *, const lg_wanted *))
{
    const lg_node *node = lg_node_find(kind);
    int nq = lg_node_nq(node, n), nv = lg_node_nv(node, n);
    s->factor = (lg_factor){.node = node, .n = n, .nq = nq, .nv = nv, .end = nv};
    s->block = (lg_block){node, &s->factor, 1, node->linear, nq, nv, 0, 0, 0, 0, 0};
    s->space = (lg_space){.nblocks = 1,
                          .nfactors = 1,
                          .nq = nq,
                          .nv = nv,
                          .nrows = nrows,
                          .nm = nv * nv,
                          .linear = node->linear,
                          .singular = node->regular != NULL,
                          .block = &s->block,
                          .factor = &s->factor};
    hand_pattern(s, nv, nrows);
    s->system = (lg_system){.self = s,
                            .space = &s->space,
                            .pattern = &s->pattern,
                            .flags = LG_SYSTEM_CONSTANT_MASS,
                            .eval = eval,
                            .row_name = hand_row_name};
    lg_plan *plan = NULL;
    if (lg_plan_create(&s->pattern, LG_COUPLING_TANGENTS, &plan) == LG_OK)
        s->plan = plan;
    lg_node_identity(node, n, s->q0);
}

static inline void hand_free(hand_system *s)
{
    lg_plan_free((lg_plan *)s->plan);
}

static inline void oscillator(hand_system *s)
{
    *s = (hand_system){0};
    hand_build(s, "Rn", 2, 0, oscillator_eval);
    s->q0[0] = 1, s->q0[1] = -0.5, s->v0[0] = 0.3, s->v0[1] = 1;
}

static inline void push(hand_system *s, double kink)
{
    *s = (hand_system){.kink = kink};
    hand_build(s, "Rn", 1, 0, push_eval);
    s->system.next_kink = push_next_kink;
    s->v0[0] = 1;
}

static inline void torque(hand_system *s)
{
    *s = (hand_system){.J = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .moment = {0.3, -0.5, 0.8}};
    hand_build(s, "SO3", 0, 0, top_eval);
    s->v0[0] = 1, s->v0[1] = 2, s->v0[2] = -0.5;
}

/* The body of both tops; speed 1 is that of the benchmark, (0, 150, -4.61538). */
static inline void heavy_body(hand_system *s, double speed, double moment)
{
    double J[9] = {0.234375, 0, 0, 0, 0.46875, 0, 0, 0, 0.234375};
    *s = (hand_system){
        .mass = 15, .X = {0, 1, 0}, .weight = {0, 0, -9.81 * 15}, .moment = {moment, -moment, moment}, .rate = 2};
    lg_copy(9, J, s->J);
    s->v0[1] = 150 * speed, s->v0[2] = -4.61538 * speed;
}

static inline void top(hand_system *s, double speed, double moment)
{
    heavy_body(s, speed, moment);
    s->J[0] += s->mass, s->J[8] += s->mass; /* Steiner for X = (0, 1, 0) */
    hand_build(s, "SO3", 0, 0, top_eval);
}

static inline void joined(hand_system *s, double speed, double moment)
{
    heavy_body(s, speed, moment);
    double omega[3] = {s->v0[0], s->v0[1], s->v0[2]};
    hand_build(s, "R3xSO3", 0, 3, joined_eval);
    lg_copy(3, s->X, s->q0);
    lg_cross(omega, s->X, s->v0);
    lg_copy(3, omega, s->v0 + 3);
}

#endif
