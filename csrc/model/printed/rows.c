/* Rows of joints; see rows.h. Where attitudes are not normalised, a body turns directions by R_q = n R with n = e.e
   (kinon2024 (51), (125)). A row of a joint has some degree k in the attitude of each of its bodies. With f the row for
   normalised attitudes,

       f_q = s f,   s = n_a^k_a n_b^k_b,   ds = s g,   g = 2 k e/n on the parameters of each body.

   Joints evaluate f, with the multipliers s lam. The rest follows from f and its gradient B: with s' = ds . v,

       B_q = s B + f ds^T,   phidot_q = s phidot + f s',   Z_q = s Z + phidot ds^T + s' B + f d(s')^T,
       B_q^T lam = B^T (s lam) + lam f ds,
       d(B_q^T lam) = d(B^T (s lam)) + lam (B^T ds^T + ds B + f d^2 s),

   where the second term contains the derivatives of s lam. */
#include "model/printed/rows.h"

#include "model/printed/frame.h"
#include "model/tangent.h"

typedef struct stretch { /* of one row */
    int degree[2];
    double s, rate; /* s, and s'/s */
    double g[2][4]; /* ds/s */
} stretch;

static void open_ends(const lg_joint *joint, const lg_point *at, lg_stretched ends[2])
{
    for (int side = 0; side < 2; side++)
        ends[side] = lg_stretched_at(joint->e.frame[side]->body, at);
}

/* The degree of a row: translations are along axes of one body, and pairs have an axis on each. */
static int degree_of(const lg_joint *joint, int row, int side)
{
    const lg_element_info *info = joint->e.info;
    return joint->type->axes && (row >= info->nrows - info->npairs || joint->type->axes(&joint->e) == side);
}

static stretch stretch_of(const lg_joint *joint, int i, const lg_stretched ends[2])
{
    stretch out = {.s = 1};
    for (int side = 0; side < 2; side++) {
        if (!ends[side].turns)
            continue;
        int degree = out.degree[side] = degree_of(joint, joint->row_in_type[i], side);
        out.s *= lg_stretch_power(ends[side].n, degree);
        for (int k = 0; k < 4; k++) {
            out.g[side][k] = 2 * degree * ends[side].e[k] / ends[side].n;
            out.rate += out.g[side][k] * ends[side].rate[k];
        }
    }
    return out;
}

/* Whether any row has a degree other than zero. */
static int is_stretched(const lg_joint *joint)
{
    int sum = 0;
    for (int i = 0; i < joint->nrows; i++)
        for (int side = 0; side < 2; side++)
            sum += degree_of(joint, joint->row_in_type[i], side);
    return sum > 0;
}

/* y += s (dg/de) x, with dg/de = 2 k (1/n - 2 e e^T/n^2) */
static void add_curvature(const lg_stretched *at, int degree, double s, const double x[4], double y[4])
{
    double along = lg_dot4(at->e, x);
    lg_axpy(4, 2 * degree * s / at->n, x, y);
    lg_axpy(4, -4 * degree * s * along / (at->n * at->n), at->e, y);
}

/* Column k of a row's B or Z at one end. */
static double *value_at(const lg_joint *joint, double *values, int i, int side, int k)
{
    return values + joint->value[side] + i + (size_t)k * joint->nrows;
}

static void turn_rates(const lg_joint *joint, int i, const lg_stretched ends[2], const stretch *at, double phi,
                       const lg_wanted *want)
{
    double phidot = want->phidot[joint->row + i];
    want->phidot[joint->row + i] = at->s * (phidot + phi * at->rate);
    for (int side = 0; want->Z && side < 2; side++) {
        double slope[4] = {0};
        for (int k = 0; ends[side].block && k < ends[side].block->nv; k++) {
            double *Z = value_at(joint, want->Z, i, side, k);
            *Z = at->s * (*Z + at->rate * *value_at(joint, want->B, i, side, k));
        }
        if (!ends[side].turns)
            continue;
        lg_axpy(4, phidot + phi * at->rate, at->g[side], slope);
        add_curvature(&ends[side], at->degree[side], phi, ends[side].rate, slope);
        for (int k = 0; k < 4; k++)
            *value_at(joint, want->Z, i, side, ends[side].first + k) += at->s * slope[k];
    }
}

static void turn_gradient(const lg_joint *joint, int i, const lg_stretched ends[2], const stretch *at, double phi,
                          double *B)
{
    for (int side = 0; side < 2; side++) {
        for (int k = 0; ends[side].block && k < ends[side].block->nv; k++)
            *value_at(joint, B, i, side, k) *= at->s;
        for (int k = 0; ends[side].turns && k < 4; k++)
            *value_at(joint, B, i, side, ends[side].first + k) += phi * at->s * at->g[side][k];
    }
}

/* A += lam (B^T ds^T + ds B + f d^2 s) for one row, between the blocks at two ends; `size`: rows of A. */
static void add_second(const lg_joint *joint, int i, const lg_stretched ends[2], const int side[2], const stretch *at,
                       double lam, double phi, double *B, double *A)
{
    const lg_stretched *a = &ends[side[0]], *b = &ends[side[1]];
    int size = a->block->nv;
    for (int k = 0; b->turns && k < 4; k++)
        for (int l = 0; l < size; l++)
            A[l + size * (b->first + k)] += lam * at->s * at->g[side[1]][k] * *value_at(joint, B, i, side[0], l);
    for (int k = 0; a->turns && k < b->block->nv; k++)
        lg_axpy(4, lam * at->s * *value_at(joint, B, i, side[1], k), at->g[side[0]], A + a->first + size * k);
    for (int k = 0; a->turns && b->turns && k < 4; k++) {
        double unit[4] = {k == 0, k == 1, k == 2, k == 3}, *column = A + a->first + size * (b->first + k);
        lg_axpy(4, lam * phi * at->s * at->g[side[1]][k], at->g[side[0]], column);
        if (side[0] == side[1])
            add_curvature(a, at->degree[side[0]], lam * phi * at->s, unit, column);
    }
}

static void add_row_tangent(const lg_joint *joint, const lg_stretched ends[2], const stretch *rows, const double *lam,
                            const double *phi, const lg_wanted *want)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double A[LG_MAX_NV * LG_MAX_NV] = {0};
            if (!ends[i].block || !ends[j].block)
                continue;
            for (int row = 0; row < joint->nrows; row++)
                add_second(joint, row, ends, (int[2]){i, j}, &rows[row], lam[row], phi[row], want->B, A);
            lg_tangent_add_block(&joint->e, want->tangent->S, want->tangent->chain, i, j, A);
        }
}

/* Completes the outputs of one joint. */
static void turn_joint(const lg_joint *joint, const lg_point *at, const double *lam, const double *phi,
                       const lg_wanted *want)
{
    lg_stretched ends[2];
    open_ends(joint, at, ends);
    stretch rows[LG_MAX_ROWS];
    for (int i = 0; i < joint->nrows; i++)
        rows[i] = stretch_of(joint, i, ends);
    if (want->ntangents)
        add_row_tangent(joint, ends, rows, lam, phi, want);
    for (int i = 0; i < joint->nrows; i++) {
        for (int side = 0; want->Btlam && side < 2; side++)
            if (ends[side].turns)
                lg_axpy(4, lam[i] * phi[i] * rows[i].s, rows[i].g[side],
                        want->Btlam + ends[side].block->v + ends[side].first);
        if (want->phidot)
            turn_rates(joint, i, ends, &rows[i], phi[i], want);
        if (want->B)
            turn_gradient(joint, i, ends, &rows[i], phi[i], want->B);
    }
}

void lg_printed_rows(const lg_model *m, const lg_point *at, const double *lam, const double *phi, const lg_wanted *want)
{
    for (int i = 0; i < m->njoints; i++) {
        const lg_joint *joint = &m->joints[i];
        if (is_stretched(joint))
            turn_joint(joint, at, lam + joint->row, phi + joint->row, want);
    }
}

void lg_printed_multipliers(const lg_model *m, const lg_point *at, const double *lam, double *out)
{
    lg_copy(m->space.nrows, lam, out);
    for (const lg_joint *joint = m->joints; joint < m->joints + m->njoints; joint++) {
        if (!is_stretched(joint))
            continue;
        lg_stretched ends[2];
        open_ends(joint, at, ends);
        for (int i = 0; i < joint->nrows; i++)
            out[joint->row + i] *= stretch_of(joint, i, ends).s;
    }
}
