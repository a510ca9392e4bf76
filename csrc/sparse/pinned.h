/* A body that a spherical joint pins to the next one, and the front of that joint: the rows of the joint, in which the
   body's position has a multiple of the identity, give the position, and the position's rows give the reaction, so that
   only the three rows of its rotation are left to choose pivots in; private to sparse/.

   With the position p and the rotation r of the body, the reaction l of the joint and the unknowns w of the next body,
   the rows are

       [ A0   B0    t I      0     ]      of p; divided by t, with p multiplied by a: A and B in place of A0 and B0
       [ P0   Q0    U        0     ]      of r
       [ a I  L     0     [m I, M] ]      of l
       [ 0    0   [k I; K]   S     ]      of w

   Elimination of p by the rows of l, and of l by those of p, leaves H r = ... with

       P = P0 - U A,   V = B - A L,   H = Q0 - U B - P L,

   and that of r leaves S + [k I; K] G [m I, M] with G = A - V H^-1 P. Of H = L_H U_H, whose rows are in the order of
   the pivots, W = V U_H^-1 and Z = L_H^-1 P are kept:

       front of the body     D = [A W; P H]    U = [Z; G]    L = [U L], with leading dimension 4, 1/t and 1/a below U
       front of the joint                      U = [m I, M]  L = [k I; K] */
#ifndef LG_SPARSE_PINNED_H
#define LG_SPARSE_PINNED_H

#include "sparse/pivot.h"
#include "sparse/start.h"

typedef struct pin {
    double *D, *ZG, *U, *L;
    double *M, *K; /* with their multiples of the identity */
    const lg_front *joint;
} pin;

enum { LD = 4, INVERSE_T = 3, INVERSE_A = 7, AFTER = 12 };

static LG_INLINE pin pin_of(const lg_plan *plan, const lg_front *front, const lg_front_data *data)
{
    const lg_front *joint = plan->fronts + front->joint;
    double *L = data->factors + front->L;
    return (pin){.D = data->factors + front->D,
                 .ZG = data->factors + front->U,
                 .U = L,
                 .L = L + AFTER,
                 .M = data->factors + joint->U,
                 .K = data->factors + joint->L,
                 .joint = joint};
}

/* ---- vectors of three numbers, the first two in one register ---- */

typedef struct triple {
    lg_two xy;
    double z;
} triple;

static LG_INLINE triple load_triple(const double *at)
{
    return (triple){lg_load_two(at), at[2]};
}

static LG_INLINE void store_triple(double *at, triple x)
{
    lg_store_two(at, x.xy);
    at[2] = x.z;
}

/* x - s a */
static LG_INLINE triple less(triple x, double s, triple a)
{
    return (triple){x.xy - a.xy * s, x.z - a.z * s};
}

static LG_INLINE triple times(double s, triple a)
{
    return (triple){a.xy * s, a.z * s};
}

/* x - A y */
static LG_INLINE triple less_product(triple x, const double *A, int ld, triple y)
{
    x = less(x, y.xy[0], load_triple(A));
    x = less(x, y.xy[1], load_triple(A + ld));
    return less(x, y.z, load_triple(A + 2 * ld));
}

static LG_INLINE triple sum(triple a, triple b)
{
    return (triple){a.xy + b.xy, a.z + b.z};
}

static LG_INLINE double dot(const double *a, triple x)
{
    return a[0] * x.xy[0] + a[1] * x.xy[1] + a[2] * x.z;
}

/* x - A^T y */
static LG_INLINE triple less_transposed(triple x, const double *A, int ld, triple y)
{
    return (triple){x.xy - (lg_two){dot(A, y), dot(A + ld, y)}, x.z - dot(A + 2 * ld, y)};
}

/* ---- the form of the assembled values ---- */

static LG_INLINE uint64_t bits_of(const double *at)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

/* Zero if a 3 x 3 matrix is a multiple of the identity, whatever the signs of its zeros. */
static LG_INLINE uint64_t differs(const double *A, int ld)
{
    const double *B = A + ld, *C = A + 2 * ld;
    uint64_t others = bits_of(A + 1) | bits_of(A + 2) | bits_of(B) | bits_of(B + 2) | bits_of(C) | bits_of(C + 1);
    return others << 1 | (bits_of(A) ^ bits_of(B + 1)) | (bits_of(A) ^ bits_of(C + 2));
}

/* Whether the assembled values have this form, with numbers that can be divided by. */
static LG_INLINE int has_form(const lg_front *front, const lg_front *joint, const double *values)
{
    const double *U = values + front->U, *L = values + front->L;
    uint64_t others = differs(U, 6) | differs(L, LD) | differs(values + joint->L, 6) | differs(values + joint->U, 3);
    return !others && fabs(U[0] * L[0]) <= DBL_MAX && fabs(1 / U[0] * (1 / L[0])) <= DBL_MAX;
}

/* Whether the body is pinned, which the first pivots of both fronts remember. */
static LG_INLINE int choose_pin(const lg_plan *plan, const lg_front *front, const lg_front_data *data)
{
    const lg_front *joint = plan->fronts + front->joint;
    int pinned = has_form(front, joint, data->values);
    data->pivots[front->pivot] = data->pivots[joint->pivot] = pinned ? -1 : 0;
    return pinned;
}

/* ---- factorisation ---- */

/* A column of [A; P] or of [B; Q], in pairs. */
static LG_INLINE void reduce_column(double above, double below, const double *U, const double *column, lg_two x[3])
{
    lg_two xy = lg_load_two(column) * above, last = lg_load_two(column + 4) * below;
    double z = column[2] * above, first = column[3] * below, known[3] = {xy[0], xy[1], z};
    UNROLL
    for (int k = 0; k < 3; k++) {
        first -= U[6 * k] * known[k];
        last -= lg_load_two(U + 6 * k + 1) * known[k];
    }
    x[0] = xy, x[1] = (lg_two){z, first}, x[2] = last;
}

static LG_INLINE void store_column(double *column, const lg_two x[3])
{
    UNROLL
    for (int i = 0; i < 3; i++)
        lg_store_two(column + 2 * i, x[i]);
}

/* D := [A V; P H], and the terms of the diagonal of H. */
static LG_INLINE void reduce_body(double inverse_t, double inverse_a, const double *U, const double *L,
                                  const double *growth, double *D, double terms[3])
{
    lg_two known[3][3];
    UNROLL
    for (int c = 0; c < 3; c++) {
        reduce_column(inverse_t * inverse_a, inverse_a, U, D + 6 * c, known[c]);
        store_column(D + 6 * c, known[c]);
    }
    UNROLL
    for (int c = 0; c < 3; c++) {
        lg_two x[3];
        double *column = D + 6 * (3 + c), before = column[3 + c];
        reduce_column(inverse_t, 1, U, column, x);
        terms[c] = growth[c] + fabs(before) + fabs(x[(3 + c) / 2][(3 + c) % 2]);
        UNROLL
        for (int k = 0; k < 3; k++) {
            UNROLL
            for (int i = 0; i < 3; i++)
                x[i] -= known[k][i] * L[LD * c + k];
        }
        store_column(column, x);
    }
}

/* W := V H^-1 L_H, in place */
static LG_INLINE void pinned_left(const double *H, double *V, triple W[3])
{
    UNROLL
    for (int c = 0; c < 3; c++) {
        W[c] = load_triple(V + 6 * c);
        UNROLL
        for (int k = 0; k < c; k++)
            W[c] = less(W[c], H[k + 6 * c], W[k]);
        W[c] = times(H[c + 6 * c], W[c]);
        store_triple(V + 6 * c, W[c]);
    }
}

/* A column of [Z; G] */
static LG_INLINE triple pinned_right(const double *H, const int *perm, const double *column, const triple W[3],
                                     double *ZG)
{
    double x = column[perm[0]], y = column[perm[1]] - H[1] * x, z = column[perm[2]] - H[2] * x - H[8] * y;
    triple g = less(less(less(load_triple(column - 3), x, W[0]), y, W[1]), z, W[2]);
    ZG[0] = x, ZG[1] = y, ZG[2] = z;
    store_triple(ZG + 3, g);
    return g;
}

/* A column of the pivot block of the next body, whose column of G [m I, M] is g. */
static LG_INLINE void update_column(double k, const double *K, triple g, const double *from, double *target, int row,
                                    double *growth)
{
    double first = K[0] * g.xy[0] + K[6] * g.xy[1] + K[12] * g.z;
    lg_two last = lg_load_two(K + 1) * g.xy[0] + lg_load_two(K + 7) * g.xy[1] + lg_load_two(K + 13) * g.z;
    lg_store_two(target, lg_load_two(from) + g.xy * k);
    lg_store_two(target + 2, lg_load_two(from + 2) + (lg_two){g.z * k, first});
    lg_store_two(target + 4, lg_load_two(from + 4) + last);
    if (row >= 0)
        growth[row] = fabs(row ? last[(row + 1) % 2] : first);
}

/* The pivot block of the next body, which nothing has changed before. */
static LG_INLINE void start_next(const lg_plan *plan, const pin *p, const lg_front_data *data, const triple G[3])
{
    static const double zeros[36];
    int at = plan->updates[p->joint->updates].at;
    const double *from = at < plan->nassembled ? data->values + at : zeros, *M = p->M + 9, *K = p->K + 3;
    double *target = data->factors + at, *growth = data->growth + plan->neighbours[p->joint->neighbour].pivot;
    double m = p->M[0], k = p->K[0];
    UNROLL
    for (int c = 0; c < 3; c++) {
        double size = c < 2 ? fabs(G[c].xy[c % 2]) : fabs(G[c].z);
        growth[c] = fabs(k * m) * (size + fabs(p->D[7 * c]));
        update_column(k, K, times(m, G[c]), from + 6 * c, target + 6 * c, -1, growth);
    }
    UNROLL
    for (int c = 0; c < 3; c++) {
        const double *column = M + 3 * c;
        triple g = sum(sum(times(column[0], G[0]), times(column[1], G[1])), times(column[2], G[2]));
        update_column(k, K, g, from + 6 * (3 + c), target + 6 * (3 + c), c, growth + 3);
    }
}

/* What solutions need of the panels. */
static LG_INLINE void keep_panels(const lg_front *front, const lg_front_data *data, const pin *p)
{
    const double *U = data->values + front->U + 3, *L = data->values + front->L + AFTER;
    const double *M = data->values + p->joint->U, *K = data->values + p->joint->L;
    double t = data->values[front->U], a = data->values[front->L];
    UNROLL
    for (int c = 0; c < 3; c++) {
        store_triple(p->L + LD * c, load_triple(L + LD * c));
        store_triple(p->U + LD * c, load_triple(U + 6 * c));
        store_triple(p->M + 9 + 3 * c, load_triple(M + 9 + 3 * c));
        store_triple(p->K + 3 + 6 * c, load_triple(K + 3 + 6 * c));
    }
    p->U[INVERSE_T] = 1 / t, p->U[INVERSE_A] = 1 / a;
    p->M[0] = M[0], p->K[0] = K[0];
}

/* The next functions are those of single.h for the front of the body; nothing is left to do for that of the joint. */
static LG_INLINE lg_status pinned_factor(const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                         int *deficient)
{
    pin p = pin_of(plan, front, data);
    int *perm = data->pivots + front->pivot + 3;
    double terms[3], *H = p.D + 21;
    triple W[3], G[3];
    keep_panels(front, data, &p);
    reduce_body(p.U[INVERSE_T], p.U[INVERSE_A], data->values + front->U + 3, p.L, data->growth + front->pivot + 3, p.D,
                terms);
    int done = factor_block(3, 6, 0, front, data->watch, data->weakest, 1, H, perm, terms);
    if (done < 3)
        return failed_at(6, 3 + done, p.D, deficient);

    pinned_left(H, p.D + 18, W);
    UNROLL
    for (int c = 0; c < 3; c++)
        G[c] = pinned_right(H, perm, p.D + 6 * c + 3, W, p.ZG + 6 * c);
    start_next(plan, &p, data, G);
    return LG_OK;
}

/* ---- solution ---- */

/* H^-1 in two halves, of which the first one takes the rows in the order of the pivots. */
static LG_INLINE triple lower_half(const double *H, const int *perm, triple g)
{
    double b[3] = {g.xy[0], g.xy[1], g.z};
    double x = b[perm[0]], y = b[perm[1]] - H[1] * x, z = b[perm[2]] - H[2] * x - H[8] * y;
    return (triple){{x, y}, z};
}

static LG_INLINE triple upper_half(const double *H, triple y)
{
    double r = y.z * H[14], q = (y.xy[1] - H[13] * r) * H[7], p = (y.xy[0] - H[12] * r - H[6] * q) * H[0];
    return (triple){{p, q}, r};
}

/* The position becomes what is left of l without w, the rotation L_H^-1 of its right-hand side. */
static LG_INLINE void pinned_forward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    pin p = pin_of(plan, front, data);
    double *own = z + front->first_unknown, *next = z + plan->neighbours[p.joint->neighbour].first_unknown;
    triple rows = load_triple(z + p.joint->first_unknown), above = times(p.U[INVERSE_T], load_triple(own));
    triple g = less_product(less_product(load_triple(own + 3), p.U, LD, above), p.D + 3, 6, rows);
    triple y = lower_half(p.D + 21, data->pivots + front->pivot + 3, g);
    triple l = less_product(less_product(above, p.D, 6, rows), p.D + 18, 6, y);
    store_triple(own, l);
    store_triple(own + 3, y);
    store_triple(next, less(load_triple(next), p.K[0], l));
    store_triple(next + 3, less_product(load_triple(next + 3), p.K + 3, 6, l));
}

static LG_INLINE void pinned_backward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    pin p = pin_of(plan, front, data);
    double *own = z + front->first_unknown, *rows = z + p.joint->first_unknown;
    const double *next = z + plan->neighbours[p.joint->neighbour].first_unknown;
    triple s =
        less(less_product((triple){0}, p.M + 9, 3, load_triple(next + 3)), p.M[0], load_triple(next)); /* -[m I, M] w */
    triple r = upper_half(p.D + 21, less_product(load_triple(own + 3), p.ZG, 6, s));
    triple x = less_product(sum(load_triple(rows), s), p.L, LD, r);
    store_triple(rows, less_product(load_triple(own), p.ZG + 3, 6, s));
    store_triple(own, times(p.U[INVERSE_A], x));
    store_triple(own + 3, r);
}

/* ---- solution with the transposed matrix: as above, with the rows in the place of the columns ---- */

static LG_INLINE triple lower_transposed(const double *H, triple b)
{
    double x = b.xy[0] * H[0], y = (b.xy[1] - H[6] * x) * H[7], z = (b.z - H[12] * x - H[13] * y) * H[14];
    return (triple){{x, y}, z};
}

static LG_INLINE triple upper_transposed(const double *H, const int *perm, triple y)
{
    double b[3], r = y.z, q = y.xy[1] - H[8] * r, p = y.xy[0] - H[1] * q - H[2] * r;
    b[perm[0]] = p, b[perm[1]] = q, b[perm[2]] = r;
    return (triple){{b[0], b[1]}, b[2]};
}

static LG_INLINE void pinned_forward_transposed(const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                                double *z)
{
    pin p = pin_of(plan, front, data);
    double *own = z + front->first_unknown, *next = z + plan->neighbours[p.joint->neighbour].first_unknown;
    triple rows = load_triple(z + p.joint->first_unknown), above = times(p.U[INVERSE_A], load_triple(own));
    triple g = less_transposed(load_triple(own + 3), p.L, LD, above);
    triple y = less_transposed(lower_transposed(p.D + 21, g), p.D + 18, 6, rows);
    triple l = less_transposed(less_transposed(above, p.D, 6, rows), p.ZG, 6, y);
    store_triple(own, l);
    store_triple(own + 3, y);
    store_triple(next, less(load_triple(next), p.M[0], l));
    store_triple(next + 3, less_transposed(load_triple(next + 3), p.M + 9, 3, l));
}

static LG_INLINE void pinned_backward_transposed(const lg_plan *plan, const lg_front *front, const lg_front_data *data,
                                                 double *z)
{
    pin p = pin_of(plan, front, data);
    double *own = z + front->first_unknown, *rows = z + p.joint->first_unknown;
    const double *next = z + plan->neighbours[p.joint->neighbour].first_unknown;
    triple s = less(less_transposed((triple){0}, p.K + 3, 6, load_triple(next + 3)), p.K[0], load_triple(next));
    triple y = less_transposed(load_triple(own + 3), p.D + 18, 6, s);
    triple r = upper_transposed(p.D + 21, data->pivots + front->pivot + 3, y);
    triple x = less_transposed(sum(load_triple(rows), s), p.U, LD, r);
    store_triple(rows, less_transposed(load_triple(own), p.ZG + 3, 6, s));
    store_triple(own, times(p.U[INVERSE_T], x));
    store_triple(own + 3, r);
}

#endif
