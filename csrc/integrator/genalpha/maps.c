/* The maps A, C, G and P^-1 of sensitivities.c on all factors, and what they make of derivatives. Those of rotations
   are 3 x 3 and in closed form. */
#include "core/two.h"
#include "group/rotation.h"
#include "integrator/genalpha/slopes.h"

/* ---- memory ---- */

static void set_identity(int n, double *A)
{
    for (int i = 0; i < n * n; i++)
        A[i] = i % (n + 1) == 0;
}

void lg_alpha_layout_maps(lg_genalpha_stepper *g, lg_arena *arena)
{
    const lg_space *space = g->base.system->space;
    lg_alpha_slopes *d = g->slopes, room;
    long at = 0;
    d = d ? d : &room;
    double **matrices[] = {&d->chain_C, &d->A, &d->C, &d->G, &d->Pinv};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = lg_arena_doubles(arena, (size_t)space->nm);
    d->chain_CP = g->index == LG_INDEX_STABILIZED ? lg_arena_doubles(arena, (size_t)space->nm) : NULL;
    for (const lg_factor *f = space->factor; arena->base && f < space->factor + space->nfactors; f++) {
        lg_turning part = f->node->linear ? (lg_turning){0} : lg_turning_part(f);
        set_identity(part.n, d->Pinv + at); // what it stays if sigma is one
        at += part.n * part.n;
    }
    for (const lg_block *b = space->block; arena->base && b < space->block + space->nblocks; b++) {
        if (b->linear)
            continue;
        set_identity(b->nv, d->chain_C + b->m);
        if (d->chain_CP)
            set_identity(b->nv, d->chain_CP + b->m);
    }
}

/* ---- matrices of any size ---- */

/* F = P^-1 F, column by column, with P = sigma I + (1 - sigma) T */
static void divide_by_P(double sigma, int n, const double *T, double *F)
{
    for (int j = 0; sigma != 1 && j < n; j++) {
        double P[LG_NODE_NV * LG_NODE_NV];
        for (int i = 0; i < n * n; i++)
            P[i] = (1 - sigma) * T[i] + (i % (n + 1) ? 0 : sigma);
        lg_alpha_solve_small(n, P, F + n * j);
    }
}

/* out = out + s A B */
static LG_INLINE void add_product(int n, double s, const double *restrict A, const double *restrict B,
                                  double *restrict out)
{
    for (int j = 0; j < n; j++)
        for (int l = 0; l < n; l++)
            lg_axpy(n, s * B[l + n * j], A + n * l, out + n * j);
}

/* C = T X^-1 from the derivative of E in X */
static void divide_by_X(int n, const double *T, double *X, double *C)
{
    double inverse[LG_NODE_NV * LG_NODE_NV], room[LG_NODE_NV * LG_NODE_NV];
    for (int i = 0; i < n; i++)
        X[i * (n + 1)] += 1;
    set_identity(n, inverse);
    for (int j = 0; j < n; j++) {
        lg_copy(n * n, X, room);
        lg_alpha_solve_small(n, room, inverse + n * j);
    }
    lg_zero(n * n, C);
    add_product(n, 1, T, inverse, C);
}

/* ---- 3 x 3 matrices ---- */

typedef struct three {
    lg_two xy;
    double z;
} three;

/* M x for a 3 x 3 matrix in columns */
static LG_INLINE three map_three(const double *M, const double *x)
{
    return (three){lg_load_two(M) * x[0] + lg_load_two(M + 3) * x[1] + lg_load_two(M + 6) * x[2],
                   M[2] * x[0] + M[5] * x[1] + M[8] * x[2]};
}

/* s x + y */
static LG_INLINE three add_three(double s, three x, three y)
{
    return (three){s * x.xy + y.xy, s * x.z + y.z};
}

static LG_INLINE three load_three(const double *at)
{
    return (three){lg_load_two(at), at[2]};
}

static LG_INLINE void store_three(double *at, three x)
{
    lg_store_two(at, x.xy);
    at[2] = x.z;
}

/* C = A B */
static LG_INLINE void multiply3(const double *A, const double *B, double *C)
{
    for (int j = 0; j < 9; j += 3)
        store_three(C + j, map_three(A, B + j));
}

/* B = A^-1 by cofactors */
static LG_INLINE void invert3(const double *A, double *B)
{
    double rows[9];
    lg_cross(A + 3, A + 6, rows);
    lg_cross(A + 6, A, rows + 3);
    lg_cross(A, A + 3, rows + 6);
    double s = 1 / lg_dot3(A, rows);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            B[i + 3 * j] = s * rows[3 * i + j];
}

/* M = s I + q^ + p t^T */
static LG_INLINE void form_three(double s, three q, three p, const double t[3], double *M)
{
    double x = q.xy[0], y = q.xy[1];
    store_three(M, (three){p.xy * t[0] + (lg_two){s, q.z}, p.z * t[0] - y});
    store_three(M + 3, (three){p.xy * t[1] + (lg_two){-q.z, s}, p.z * t[1] + x});
    store_three(M + 6, (three){p.xy * t[2] + (lg_two){y, -x}, p.z * t[2] + s});
}

static LG_INLINE three scale_three(double s, const double *x)
{
    return (three){s * lg_load_two(x), s * x[2]};
}

/* M = s I + a w^ + b w^2 for w with the square x2 */
static LG_INLINE void form_polynomial(double s, double a, double b, const double w[3], double x2, double *M)
{
    form_three(s - b * x2, scale_three(a, w), scale_three(b, w), w, M);
}

/* ---- the maps of a factor ---- */

typedef struct maps {
    double *A, *C, *G, *Pinv;
} maps;

/* theta, theta - c_n and E of a part */
static void take_part(const lg_genalpha_stepper *g, lg_turning part, double *theta, double *y, double *E)
{
    for (int i = 0, v = part.v; i < part.n; i++, v++) {
        theta[i] = g->now.theta[v];
        y[i] = theta[i] - g->now.c[v];
        E[i] = g->now.a[v] - g->w[v];
    }
}

/* G without P^-1, and the derivative of P E at fixed E, from T and W(y). */
static LG_INLINE void form_G_and_X(const lg_genalpha_stepper *g, int n, const double *T, const double *W, double *G,
                                   double *X)
{
    double sigma = g->alpha.sigma;
    for (int i = 0; i < n * n; i++) {
        double turned = T[i] - (i % (n + 1) == 0);
        G[i] = g->beta_prime * sigma * turned;
        X[i] = sigma * (W[i] + turned);
    }
}

static void form_any(const lg_genalpha_stepper *g, lg_turning part, maps out)
{
    int n = part.n, count = n * n;
    double sigma = g->alpha.sigma, theta[LG_NODE_NV], y[LG_NODE_NV], E[LG_NODE_NV];
    double T[LG_NODE_NV * LG_NODE_NV], W[LG_NODE_NV * LG_NODE_NV], X[LG_NODE_NV * LG_NODE_NV];
    take_part(g, part, theta, y, E);
    part.node->tangent(0, theta, T);
    part.node->ad(0, theta, W);
    set_identity(n, out.A);
    add_product(n, -1, W, T, out.A);

    lg_tangent_slope(part.node, theta, y, W);
    form_G_and_X(g, n, T, W, out.G, X);
    if (sigma != 1) {
        lg_tangent_slope(part.node, theta, E, W);
        lg_axpy(count, -(1 - sigma) / g->beta_prime, W, X);
    }
    divide_by_P(sigma, n, T, out.G);
    divide_by_P(sigma, n, T, X);
    divide_by_X(n, T, X, out.C);
    set_identity(n, out.Pinv);
    divide_by_P(sigma, n, T, out.Pinv);
}

/* P^-1, and with it G and X. */
static LG_APART void divide_rotation(const lg_genalpha_stepper *g, lg_turning part, const lg_angles *angles,
                                     const double *T, maps out, double *X)
{
    double sigma = g->alpha.sigma, P[9], W[9], G[9], PX[9], theta[3], y[3], E[3];
    take_part(g, part, theta, y, E);
    lg_rotation_slope(angles, theta, E, W);
    for (int i = 0; i < 9; i++)
        P[i] = (1 - sigma) * T[i] + (i % 4 ? 0 : sigma);
    lg_axpy(9, -(1 - sigma) / g->beta_prime, W, X);
    invert3(P, out.Pinv);
    lg_copy(9, out.G, G);
    lg_copy(9, X, PX);
    multiply3(out.Pinv, G, out.G);
    multiply3(out.Pinv, PX, X);
}

/* sigma (W(y) + T - I) for y = theta - c, in which the terms by theta alone cancel:

       W(y) + T - I = (sincc_d theta x z - cosc_d z + 2 sincc c) theta^T - sincc theta c^T - cosc c^
                      - sincc (theta.c) I,      z = c x theta */
static LG_INLINE void form_slope(double sigma, const lg_angles *angles, const double theta[3], const double c[3],
                                 double *X)
{
    double sincc = sigma * angles->x.sincc, cosc_d = sigma * angles->x.cosc_d, sincc_d = sigma * angles->sincc_d;
    double z[3], zz[3], along[3];
    lg_cross(c, theta, z);
    lg_cross(theta, z, zz);
    for (int i = 0; i < 3; i++)
        along[i] = sincc_d * zz[i] - cosc_d * z[i] + 2 * sincc * c[i];
    form_three(-sincc * lg_dot3(theta, c), scale_three(-sigma * angles->x.cosc, c), load_three(along), theta, X);
    for (int j = 0; j < 3; j++)
        store_three(X + 3 * j, add_three(-sincc * c[j], load_three(theta), load_three(X + 3 * j)));
}

static void form_rotation(const lg_genalpha_stepper *g, lg_turning part, maps out)
{
    double sigma = g->alpha.sigma, lie = g->beta_prime * sigma, T[9], X[9], inverse[9];
    const double *theta = g->now.theta + part.v, *c = g->now.c + part.v;
    double x2 = lg_dot3(theta, theta);
    lg_angles angles = lg_angles_of(theta);
    form_polynomial(1, -angles.x.sinc, angles.x.cosc, theta, x2, out.A);
    form_polynomial(1, -angles.x.cosc, angles.x.sincc, theta, x2, T);
    form_polynomial(0, -lie * angles.x.cosc, lie * angles.x.sincc, theta, x2, out.G);
    form_slope(sigma, &angles, theta, c, X);
    if (sigma != 1)
        divide_rotation(g, part, &angles, T, out, X);
    for (int i = 0; i < 9; i += 4)
        X[i] += 1;
    invert3(X, inverse);
    multiply3(T, inverse, out.C);
}

/* ---- all factors ---- */

/* Puts the n x n matrix M of a part into that of its block. */
static LG_INLINE void put_into_block(const lg_block *b, int v, int n, const double *M, double *out)
{
    out += (v - b->v) * (b->nv + 1L);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            out[i + (long)b->nv * j] = M[i + n * j];
}

void lg_alpha_form_maps(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_alpha_slopes *d = g->slopes;
    double CP[LG_NODE_NV * LG_NODE_NV];
    long at = 0;
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++) {
        const lg_block *b = space->block + f->block;
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        maps out = {d->A + at, d->C + at, d->G + at, d->Pinv + at};
        if (part.n == 3) {
            form_rotation(g, part, out);
            put_into_block(b, part.v, 3, out.C, d->chain_C + b->m);
        } else {
            form_any(g, part, out);
            put_into_block(b, part.v, part.n, out.C, d->chain_C + b->m);
        }
        if (d->chain_CP) {
            lg_zero(part.n * part.n, CP);
            add_product(part.n, 1, out.C, out.Pinv, CP);
            put_into_block(b, part.v, part.n, CP, d->chain_CP + b->m);
        }
        at += part.n * part.n;
    }
}

/* ---- derivatives ---- */

/* Of the turning part that begins at v, whose maps begin at `at`. */
static void move_part(const lg_genalpha_stepper *g, int n, int v, long at, const double *dq_n, const double *ds,
                      double *dq)
{
    const lg_alpha_slopes *d = g->slopes;
    double known[LG_NODE_NV], moved[LG_NODE_NV] = {0};
    for (int i = 0; i < n; i++)
        known[i] = g->beta_prime * d->theta0[v + i];
    lg_add_mapped(n, 1, d->G + at, d->c + v, known);
    if (ds)
        lg_add_mapped(n, -1, d->Pinv + at, ds + v, known);
    lg_add_mapped(n, 1, d->A + at, dq_n + v, moved);
    lg_add_mapped(n, g->scales.to_theta, d->C + at, known, moved);
    lg_copy(n, moved, dq + v);
}

/* The same of a rotation. */
static LG_INLINE void move_rotation(const lg_genalpha_stepper *g, int v, long at, const double *dq_n, const double *ds,
                                    double *dq)
{
    const lg_alpha_slopes *d = g->slopes;
    double known[3];
    three sum = add_three(g->beta_prime, load_three(d->theta0 + v), map_three(d->G + at, d->c + v));
    if (ds)
        sum = add_three(-1, map_three(d->Pinv + at, ds + v), sum);
    store_three(known, sum);
    sum = add_three(g->scales.to_theta, map_three(d->C + at, known), map_three(d->A + at, dq_n + v));
    store_three(dq + v, sum);
}

void lg_alpha_move_known(const lg_genalpha_stepper *g, const double *dq_n, const double *ds, double *dq)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha_slopes *d = g->slopes;
    long at = 0;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        lg_turning part = f->node->linear ? (lg_turning){f->node, f->v + f->nv, 0} : lg_turning_part(f);
        for (int i = f->v; i < part.v; i++)
            dq[i] = dq_n[i] + d->theta0[i] - (ds ? g->scales.to_theta * ds[i] : 0);
        if (part.n == 3)
            move_rotation(g, part.v, at, dq_n, ds, dq);
        else if (part.n)
            move_part(g, part.n, part.v, at, dq_n, ds, dq);
        at += part.n * part.n;
    }
}

/* dq += C x/beta' */
static void move_part_along(const lg_genalpha_stepper *g, int n, const double *C, const double *x, double *dq)
{
    double moved[LG_NODE_NV] = {0};
    lg_add_mapped(n, 1, C, x, moved);
    lg_axpy(n, g->scales.to_theta, moved, dq);
}

void lg_alpha_move_along(const lg_genalpha_stepper *g, const double *x, double *dq)
{
    const lg_space *space = g->base.system->space;
    const double *C = g->slopes->C;
    double s = g->scales.to_theta;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        lg_turning part = f->node->linear ? (lg_turning){f->node, f->v + f->nv, 0} : lg_turning_part(f);
        for (int i = f->v; i < part.v; i++)
            dq[i] = f->nq ? dq[i] + s * x[i] : 0; // first-order values have no coordinates
        if (part.n == 3)
            store_three(dq + part.v, add_three(s, map_three(C, x + part.v), load_three(dq + part.v)));
        else if (part.n)
            move_part_along(g, part.n, C, x + part.v, dq + part.v);
        C += part.n * part.n;
    }
}

/* ---- transposed ---- */

/* y = s M^T x */
static void map_back(int n, double s, const double *M, const double *x, double *y)
{
    for (int j = 0; j < n; j++)
        y[j] = s * lg_dot(n, M + n * j, x);
}

void lg_alpha_move_back(const lg_genalpha_stepper *g, const double *dq, double *y)
{
    const lg_space *space = g->base.system->space;
    const double *C = g->slopes->C;
    for (int i = 0; i < space->nv; i++)
        y[i] = g->scales.to_theta * dq[i];
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        map_back(part.n, g->scales.to_theta, C, dq + part.v, y + part.v);
        C += part.n * part.n;
    }
}

void lg_alpha_move_back_known(const lg_genalpha_stepper *g, const double *dq, const double *y, double *dq_n, double *ds)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha_slopes *d = g->slopes;
    long at = 0;
    lg_copy(space->nv, dq, dq_n);
    lg_zero(space->nv, d->c);
    for (int i = 0; i < space->nv; i++)
        d->theta0[i] = g->beta_prime * y[i];
    if (ds)
        lg_copy(space->nv, y, ds);
    for (const lg_factor *f = space->factor; f < space->factor + space->nfactors; f++) {
        if (f->node->linear)
            continue;
        lg_turning part = lg_turning_part(f);
        int v = part.v;
        map_back(part.n, 1, d->A + at, dq + v, dq_n + v);
        map_back(part.n, 1, d->G + at, y + v, d->c + v);
        if (ds)
            map_back(part.n, 1, d->Pinv + at, y + v, ds + v);
        at += part.n * part.n;
    }
}
