/* The waist's verbs on a model: kernels speak frame space, this file maps what they say to blocks. */
#include "model/private.h"

enum { LG_FORCES, LG_REACTIONS }; /* sums of wrenches on a carrier's frames */

static const lg_chain mass_chain = {{0, 0, 1}, {NULL, NULL, NULL}};

static const lg_chain *chain_of(const lg_wanted *want, int block)
{
    return want->chain ? &want->chain[block] : &mass_chain;
}

/* Where velocities of the blocks under slots i and j of an element meet. */
static double *couple(const lg_element *e, const lg_matrix *S, int i, int j, int *ld)
{
    return e->frame[i]->block == e->frame[j]->block ? lg_matrix_at(S, e->frame[i]->block, 0, 0, ld)
                                                    : lg_matrix_at(S, e->clique, i, j, ld);
}

void lg_model_carry(const lg_model *m, const lg_point *at)
{
    for (int i = 0; i < m->carriers.count; i++) {
        const lg_element *e = &m->elements[m->carriers.element[i]];
        e->type->carry(e, at);
    }
}

/* What has been pressed on the carriers' frames goes to their blocks. */
static void gather(const lg_model *m, const lg_point *at, int sum, double *force)
{
    for (int i = 0; force && i < m->carriers.count; i++) {
        const lg_element *e = &m->elements[m->carriers.element[i]];
        e->type->gather(e, at, sum, force + e->block->v);
    }
}

static void gather_geo(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->carriers.count; i++) {
        const lg_element *e = &m->elements[m->carriers.element[i]];
        int block = e->frame[0]->block, ld;
        if (!e->type->gather_geo)
            continue;
        double *S = lg_matrix_at(want->S, block, 0, 0, &ld);
        e->type->gather_geo(e, at, chain_of(want, block), S, ld);
    }
}

static void open_frames(const lg_model *m, const lg_element *e, const lg_point *at, lg_frame f[2])
{
    for (int s = 0; s < e->type->nframes; s++) {
        lg_frame_open(&f[s], e->frame[s], &m->space, at);
        lg_frame_pose(&f[s]);
        lg_frame_twist(&f[s]);
    }
}

/* ---- tangents of wrenches ---- */

/* S += s H_i^T Y for the 6 x nv matrix Y */
static void pull_columns(const lg_frame *f, double s, int columns, const double *Y, double *S, int ld)
{
    for (int j = 0; j < columns; j++)
        lg_frame_pull(f, s, Y + 6 * j, S + (size_t)j * ld);
}

/* Y += A B for a column-major 6 x 6 A and 6 x n B. Many elements feel only translations or only rotations: the columns
   of the others are zero and skipped. */
static void mul_add6(int n, const double *A, const double *B, double *Y)
{
    static const double zero[6];
    for (int l = 0; l < 6; l++) {
        const double *column = A + 6 * l;
        if (memcmp(column, zero, sizeof zero) == 0)
            continue;
        for (int j = 0; j < n; j++) {
            double b = B[6 * j + l];
            for (int i = 0; i < 6; i++)
                Y[6 * j + i] += b * column[i];
        }
    }
}

/* How the pose and the twist of a frame follow the unknown: P = H k0 X0, W = H k1 X1 + Z k0 X0; room for A and B. */
static void follow(const lg_frame *f, const lg_chain *chain, int has_D, double *P, double *W, double *A, double *B)
{
    lg_frame_H(f, A);
    lg_chain_mul(f->block, chain, 0, A, P);
    if (!has_D)
        return;
    lg_chain_mul(f->block, chain, 1, A, W);
    lg_frame_Z(f, A);
    lg_chain_mul(f->block, chain, 0, A, B);
    lg_axpy(6 * f->block->nv, 1, B, W);
}

/* S += s d(H_i^T w_i)/du over both frames; K and D may be NULL. */
static void add_tangent(const lg_element *e, const lg_frame *f, const lg_wanted *want, double s, double w[2][6],
                        double K[2][2][36], double D[2][2][36])
{
    int n = e->type->nframes, ld;
    for (int j = 0; j < n; j++) {
        if (!f[j].block)
            continue;
        const lg_chain *chain = chain_of(want, e->frame[j]->block);
        double *S = couple(e, want->S, j, j, &ld);
        lg_frame_add_geo(&f[j], s, w[j], chain, S, ld);
        if (!K && !D)
            continue;

        int nv = f[j].block->nv;
        double small[LG_FRAME_SCRATCH * LG_MAX_NV];
        double *P = nv <= LG_MAX_NV ? small : f[j].scratch, *W = P + 6 * nv, *Y = W + 6 * nv;
        follow(&f[j], chain, D != NULL, P, W, Y + 6 * nv, Y + 12 * nv);
        for (int i = 0; i < n; i++) {
            if (!f[i].block)
                continue;
            lg_zero(6 * nv, Y);
            if (K)
                mul_add6(nv, K[i][j], P, Y);
            if (D)
                mul_add6(nv, D[i][j], W, Y);
            S = couple(e, want->S, i, j, &ld);
            pull_columns(&f[i], s, nv, Y, S, ld);
        }
    }
}

/* ---- inertia, forces, constraints ---- */

static void add_inertia(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->inertia.count; i++) {
        const lg_element *e = &m->elements[m->inertia.element[i]];
        int block = e->frame[0]->block, ld = 0;
        double *S = want->S ? lg_matrix_at(want->S, block, 0, 0, &ld) : NULL;
        e->type->inertia(e, &m->blocks[block], at, want, chain_of(want, block), S, ld);
    }
}

static lg_status add_coordinate(const lg_element *e, const lg_point *at, const lg_wanted *want, int linear)
{
    const lg_block *b = e->block;
    int i = e->frame[0]->part, ld;
    double law[3];
    LG_TRY(e->type->coordinate(e, at, at->q[b->q + i], at->v[b->v + i], linear, law));
    if (want->force)
        want->force[b->v + i] += law[0];
    if (linear) {
        const lg_chain *chain = chain_of(want, e->frame[0]->block);
        double *S = lg_matrix_at(want->S, e->frame[0]->block, 0, 0, &ld);
        lg_chain_add_entry(b, chain, 0, -law[1], i, i, S, ld);
        lg_chain_add_entry(b, chain, 1, -law[2], i, i, S, ld);
    }
    return LG_OK;
}

static lg_status add_forces(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    lg_frame f[2];
    lg_load load;
    int linear = want->S && want->chain;
    for (int i = 0; i < m->force.count; i++) {
        const lg_element *e = &m->elements[m->force.element[i]];
        if (e->type->coordinate) {
            LG_TRY(add_coordinate(e, at, want, linear));
            continue;
        }
        open_frames(m, e, at, f);
        LG_TRY(e->type->force(e, f, at, linear, &load));
        if (want->force)
            for (int s = 0; s < e->type->nframes; s++)
                if (f[s].block)
                    lg_frame_press(&f[s], LG_FORCES, 1, load.w[s], want->force + f[s].block->v);
        if (linear)
            add_tangent(e, f, want, -1, load.w, load.has_K ? load.K : NULL, load.has_D ? load.D : NULL);
    }
    return LG_OK;
}

/* Rows that stay move up and close the gaps. */
static void close_gaps(const lg_element *e, unsigned want, lg_rows *out)
{
    for (int i = 0; i < e->nrows; i++) {
        int from = e->kept[i];
        out->phi[i] = out->phi[from];
        out->Jdot[i] = out->Jdot[from];
        for (int s = 0; s < 2; s++) {
            lg_copy(6, out->J[s] + 6 * from, out->J[s] + 6 * i);
            if (want & LG_ROWS_Z)
                lg_copy(6, out->Z[s] + 6 * from, out->Z[s] + 6 * i);
        }
    }
}

void lg_element_rows(const lg_element *e, const lg_frame f[2], const double *lam, unsigned want, lg_rows *out)
{
    if (e->nrows == e->type->nrows) {
        e->type->rows(e, f, lam, want, out);
        return;
    }
    double all[LG_MAX_ROWS] = {0};
    for (int i = 0; lam && i < e->nrows; i++)
        all[e->kept[i]] = lam[i];
    e->type->rows(e, f, all, want, out);
    close_gaps(e, want, out);
}

/* Row i of an element's part of B or Z for one frame: H^T J^T, and for Z the rate of H as well. `add`: to what is there. */
static void write_row(const lg_frame *f, int nrows, int i, const double *J, const double *rate, int add, double *values)
{
    double small[LG_MAX_NV], *row = f->block->nv <= LG_MAX_NV ? small : f->scratch;
    lg_zero(f->block->nv, row);
    lg_frame_pull(f, 1, J, row);
    if (rate)
        lg_frame_pull_rate(f, rate, row);
    for (int j = 0; j < f->block->nv; j++)
        values[i + j * nrows] = (add ? values[i + j * nrows] : 0) + row[j];
}

/* phi, and what needs velocities: phidot = J twist, zeta = -(J bias + Jdot). */
static void write_levels(const lg_element *e, lg_frame *f, const lg_rows *rows, const lg_wanted *want)
{
    int n = e->nrows;
    if (want->phi)
        lg_copy(n, rows->phi, want->phi + e->row);
    if (want->zeta)
        for (int s = 0; s < 2; s++)
            lg_frame_bias(&f[s]);
    for (int i = 0; i < n; i++) {
        double phidot = 0, zeta = -rows->Jdot[i];
        for (int s = 0; s < 2; s++) {
            const double *J = rows->J[s] + 6 * i;
            if (want->phidot)
                phidot += lg_dot3(J, f[s].xdot) + lg_dot3(J + 3, f[s].omega);
            if (want->zeta)
                zeta -= lg_dot3(J, f[s].xdd) + lg_dot3(J + 3, f[s].omegadot);
        }
        if (want->phidot)
            want->phidot[e->row + i] = phidot;
        if (want->zeta)
            want->zeta[e->row + i] = zeta;
    }
}

static void write_jacobians(const lg_element *e, const lg_frame *f, const lg_rows *rows, const lg_wanted *want)
{
    int n = e->nrows;
    for (int s = 0; s < 2; s++)
        for (int i = 0; f[s].block && i < n; i++) {
            const double *J = rows->J[s] + 6 * i;
            int add = s == 1 && f[1].block == f[0].block;
            if (want->B)
                write_row(&f[s], n, i, J, NULL, add, want->B + e->value[s]);
            if (want->Z)
                write_row(&f[s], n, i, rows->Z[s] + 6 * i, J, add, want->Z + e->value[s]);
        }
}

/* B^T lam and its tangent: the rows as wrenches J^T lam on the frames. */
static void add_reactions(const lg_element *e, const lg_frame *f, lg_rows *rows, const double *lam,
                          const lg_wanted *want)
{
    double w[2][6] = {{0}, {0}};
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < e->nrows; i++)
            lg_axpy(6, lam[i], rows->J[s] + 6 * i, w[s]);
        if (want->Btlam && f[s].block)
            lg_frame_press(&f[s], LG_REACTIONS, 1, w[s], want->Btlam + f[s].block->v);
    }
    if (want->S && want->chain)
        add_tangent(e, f, want, 1, w, rows->has_K ? rows->K : NULL, NULL);
}

static void add_rows(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    int tangent = want->S && want->chain && at->lam;
    unsigned wish = (want->zeta ? LG_ROWS_RATE : 0u) | (want->Z ? LG_ROWS_Z : 0u) | (tangent ? LG_ROWS_K : 0u);
    lg_frame f[2];
    lg_rows rows;
    for (int k = 0; k < m->rows.count; k++) {
        const lg_element *e = &m->elements[m->rows.element[k]];
        const double *lam = at->lam ? at->lam + e->row : NULL;
        open_frames(m, e, at, f);
        lg_element_rows(e, f, lam, wish, &rows);
        write_levels(e, f, &rows, want);
        write_jacobians(e, f, &rows, want);
        if (lam && (want->Btlam || tangent))
            add_reactions(e, f, &rows, lam, want);
    }
}

/* ---- the blocks' own rows ---- */

static void add_own_row(const lg_block *b, const lg_pattern *pattern, int block, const lg_point *at,
                        const lg_wanted *want)
{
    const double *q = at->q + b->q, *v = at->v + b->v, *lam = at->lam ? at->lam + b->own : NULL;
    int values = pattern->own_value[block], ld;
    double B[LG_MAX_NV], K[LG_MAX_NV * LG_MAX_NV] = {0};
    int nv = b->node->nv; /* linear coordinates behind the node have no part in its rows */
    int tangent = want->S && want->chain && lam;
    b->node->own(q, v, lam, want->phi ? want->phi + b->own : NULL, want->phidot ? want->phidot + b->own : NULL, B,
                 want->zeta ? want->zeta + b->own : NULL, want->Z ? want->Z + values : NULL, tangent ? K : NULL);
    if (want->B) {
        lg_zero(b->nown * b->nv, want->B + values);
        lg_copy(b->nown * nv, B, want->B + values);
    }
    if (want->Z)
        lg_zero(b->nown * lg_block_tail(b), want->Z + values + b->nown * nv);
    if (want->Btlam && lam)
        for (int j = 0; j < nv; j++)
            for (int i = 0; i < b->nown; i++)
                want->Btlam[b->v + j] += B[i + j * b->nown] * lam[i];
    if (tangent) {
        double *S = lg_matrix_at(want->S, block, 0, 0, &ld);
        lg_chain_add(b, chain_of(want, block), 0, 1, 0, nv, 0, nv, K, nv, S, ld);
    }
}

static void add_own_rows(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->space.nblocks; i++)
        if (m->blocks[i].nown)
            add_own_row(&m->blocks[i], &m->pattern, i, at, want);
}

/* ---- the verbs ---- */

static void clear(const lg_model *m, const lg_wanted *want)
{
    double *vectors[] = {want->Ma, want->gyro, want->force, want->Btlam};
    for (int i = 0; i < 4; i++)
        if (vectors[i])
            lg_zero(m->space.nv, vectors[i]);
}

lg_status lg_model_eval(void *self, const lg_point *at, const lg_wanted *want)
{
    const lg_model *m = self;
    int tangent = want->S && want->chain;
    clear(m, want);
    lg_model_carry(m, at);
    if (want->Ma || want->gyro || want->S)
        add_inertia(m, at, want);
    if (want->force || tangent)
        LG_TRY(add_forces(m, at, want));
    if (m->space.nrows && (want->Btlam || want->phi || want->phidot || want->zeta || want->B || want->Z || tangent)) {
        add_rows(m, at, want);
        add_own_rows(m, at, want);
    }
    gather(m, at, LG_FORCES, want->force);
    gather(m, at, LG_REACTIONS, want->Btlam);
    if (tangent)
        gather_geo(m, at, want);
    return LG_OK;
}

lg_status lg_model_energy(void *self, const lg_point *at, double *T, double *V)
{
    const lg_model *m = self;
    lg_frame f[2];
    *T = *V = 0;
    lg_model_carry(m, at);
    for (int i = 0; i < m->nelements; i++) {
        const lg_element *e = &m->elements[i];
        if (e->type->kinetic)
            *T += e->type->kinetic(e, &m->blocks[e->frame[0]->block], at);
        if (e->type->potential) {
            open_frames(m, e, at, f);
            *V += e->type->potential(e, f);
        }
    }
    return LG_OK;
}

double lg_model_next_kink(void *self, double t)
{
    const lg_model *m = self;
    double next = INFINITY;
    for (int i = 0; i < m->force.count; i++) {
        const lg_element *e = &m->elements[m->force.element[i]];
        if (e->type->next_kink)
            next = fmin(next, e->type->next_kink(e, t));
    }
    return next;
}

lg_status lg_model_commit(void *self, const lg_point *at, double *mem)
{
    const lg_model *m = self;
    lg_frame f[2];
    lg_model_carry(m, at);
    for (int i = 0; i < m->commit.count; i++) {
        const lg_element *e = &m->elements[m->commit.element[i]];
        open_frames(m, e, at, f);
        e->type->commit(e, f, mem + e->mem);
    }
    return LG_OK;
}
