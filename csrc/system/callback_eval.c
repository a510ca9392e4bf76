/* The evaluation of a system made of functions; see callback.h. */
#include "system/callback_eval.h"

#include "core/small.h"
#include "system/callback_difference.h"

typedef struct evaluation {
    lg_callback_work work;
    const lg_callbacks *self;
    const lg_wanted *wanted;
    lg_callback_point at;
    double wa;
} evaluation;

static double *own_row_of(double *rows, const lg_block *b)
{
    return rows ? rows + b->own : NULL;
}

static double *own_value_of(const lg_callbacks *self, double *values, const lg_block *b)
{
    return values ? values + self->pattern.own_value[b - self->space.block] : NULL;
}

/* Writes the blocks' own rows directly into the wanted arrays; only the coordinates of the node are in them. */
static void write_own_rows(const evaluation *e, const lg_wanted *w, double *B)
{
    const lg_space *space = &e->self->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++) {
        double *values[] = {own_value_of(e->self, B, b), own_value_of(e->self, w->Z, b)};
        if (!b->node->unit)
            continue;
        for (int i = 0; i < 2; i++)
            if (values[i])
                lg_zero(b->nown * b->nv, values[i]);
        const lg_own_rows out = {.phi = own_row_of(w->phi, b),
                                 .phidot = own_row_of(w->phidot, b),
                                 .zeta = own_row_of(w->zeta, b),
                                 .B = values[0],
                                 .Z = values[1]};
        b->node->unit->own(e->at.q + b->q, e->at.v + b->v, e->at.lam + b->own, &out);
    }
}

static lg_status eval_forces(const evaluation *e)
{
    const lg_wanted *w = e->wanted;
    int nv = e->self->space.nv;
    if (w->Ma || w->ntangents)
        LG_TRY(lg_callback_call(e->self, LG_CALL_MASS, &e->at, e->work.M));
    for (int i = 0; w->Ma && i < nv; i++) {
        w->Ma[i] = 0;
        for (int j = 0; j < nv; j++)
            w->Ma[i] += e->work.M[i * nv + j] * e->at.a[j];
    }
    if (w->gyro && e->self->function[LG_CALL_GYRO].call)
        LG_TRY(lg_callback_call(e->self, LG_CALL_GYRO, &e->at, w->gyro));
    else if (w->gyro)
        lg_zero(nv, w->gyro);
    return w->force ? lg_callback_call(e->self, LG_CALL_FORCE, &e->at, w->force) : LG_OK;
}

/* phi, zeta, Z and phidot. They overwrite work->J; phidot, the last one, leaves the J of this point there. */
static lg_status constraints(const evaluation *e)
{
    const lg_callbacks *self = e->self;
    const lg_wanted *w = e->wanted;
    if (!self->rows)
        return LG_OK;
    if (w->phi)
        LG_TRY(lg_callback_call(self, LG_CALL_CONSTRAINT, &e->at, w->phi));
    if (w->zeta && self->function[LG_CALL_ACCELERATION].call)
        LG_TRY(lg_callback_call(self, LG_CALL_ACCELERATION, &e->at, w->zeta));
    else if (w->zeta)
        LG_TRY(lg_callback_zeta(&e->work, &e->at, w->zeta));
    if (w->Z) {
        LG_TRY(lg_callback_Z(&e->work, &e->at));
        lg_callback_put_group(self, e->work.Z, w->Z);
    }
    return w->phidot ? lg_callback_rate(&e->work, &e->at, w->phidot) : LG_OK;
}

static lg_status constraint_matrix(const evaluation *e)
{
    const lg_callbacks *self = e->self;
    const lg_wanted *w = e->wanted;
    if (!w->B && !w->Btlam)
        return LG_OK;
    if (self->rows && !w->phidot)
        LG_TRY(lg_callback_call(self, LG_CALL_JACOBIAN, &e->at, e->work.J));
    lg_callback_put_group(self, e->work.J, e->work.values);
    write_own_rows(e, &(lg_wanted){0}, e->work.values);
    if (w->B)
        lg_copy(self->pattern.nvalues, e->work.values, w->B);
    if (w->Btlam) {
        lg_zero(self->space.nv, w->Btlam);
        lg_pattern_add_BT(&self->pattern, e->work.values, 1, e->at.lam, w->Btlam);
    }
    return LG_OK;
}

/* ---- S ---- */

/* K += d(B_own^T lam)/dq, block by block */
static void add_own_tangent(const evaluation *e, double *K)
{
    const lg_space *space = &e->self->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++) {
        double *own = e->work.own + b->m;
        if (!b->node->unit)
            continue;
        int nv = b->node->nv;
        lg_zero(nv * nv, own);
        b->node->unit->own(e->at.q + b->q, e->at.v + b->v, e->at.lam + b->own, &(lg_own_rows){.K = own});
        for (int i = 0; i < nv; i++)
            for (int j = 0; j < nv; j++)
                K[(b->v + i) * space->nv + b->v + j] += own[j * nv + i];
    }
}

/* Sets K and D, by the function `tangent` if it holds, for which wa must be 1 or the mass constant, otherwise by
   differences. */
static lg_status set_K_and_D(const evaluation *e, int wants_K, int wants_D)
{
    const lg_callbacks *self = e->self;
    int holds = e->wa == 1 || self->system.flags & LG_SYSTEM_CONSTANT_MASS;
    if (!wants_K && !wants_D)
        return LG_OK;
    if (self->function[LG_CALL_TANGENT].call && holds)
        LG_TRY(lg_callback_call(self, LG_CALL_TANGENT, &e->at, e->work.K));
    else
        LG_TRY(lg_callback_tangent(&e->work, &e->at, e->wa, wants_K, wants_D));
    if (wants_K)
        add_own_tangent(e, e->work.K);
    return LG_OK;
}

/* S_ij += s A_ij X_j for row-major A */
static void add_scaled_block(const lg_callbacks *self, const double *A, double s, int i, int j, const double *X,
                             double *S, int ld)
{
    const lg_block *rows = &self->space.block[i], *columns = &self->space.block[j];
    for (int row = 0; row < rows->nv; row++) {
        const double *a = A + (rows->v + row) * self->space.nv + columns->v;
        for (int column = 0; column < columns->nv; column++) {
            double sum = X ? 0 : a[column];
            for (int k = 0; X && k < columns->nv; k++)
                sum += a[k] * X[column * columns->nv + k];
            S[column * ld + row] += s * sum;
        }
    }
}

/* S = K X0 k0 + D X1 k1 + wa M X2 k2 */
static void add_S(const evaluation *e, const lg_tangent *to, int wants_K, int wants_D)
{
    static const lg_chain identity = {.k = {0, 0, 1}};
    const lg_callbacks *self = e->self;
    long matrix_block = 0;
    for (int i = 0; i < self->space.nblocks; i++)
        for (int j = 0; j < self->space.nblocks; j++) {
            const lg_chain *c = to->chain ? &to->chain[j] : &identity;
            int ld;
            double *S = lg_matrix_at(to->S, matrix_block++, &ld);
            add_scaled_block(self, e->work.M, e->wa * c->k[2], i, j, c->X[2], S, ld);
            if (wants_D)
                add_scaled_block(self, e->work.D, c->k[1], i, j, c->X[1], S, ld);
            if (wants_K)
                add_scaled_block(self, e->work.K, c->k[0], i, j, c->X[0], S, ld);
        }
}

static lg_status tangents(const evaluation *e)
{
    const lg_callbacks *self = e->self;
    const lg_tangent *first = e->wanted->tangent, *end = first + e->wanted->ntangents;
    int wants_K = 0, wants_D = 0;
    for (const lg_tangent *to = first; to < end; to++)
        for (int b = 0; to->chain && b < self->space.nblocks; b++) {
            wants_K |= to->chain[b].k[0] != 0;
            wants_D |= to->chain[b].k[1] != 0;
        }
    LG_TRY(set_K_and_D(e, wants_K, wants_D));
    /* differences have overwritten M */
    if (wants_K)
        LG_TRY(lg_callback_call(self, LG_CALL_MASS, &e->at, e->work.M));
    for (const lg_tangent *to = first; to < end; to++)
        add_S(e, to, wants_K, wants_D);
    return LG_OK;
}

lg_status lg_callback_eval(void *self, const lg_point *point, const lg_wanted *wanted)
{
    const lg_callbacks *callbacks = self;
    const lg_space *space = &callbacks->space;
    evaluation e = {.work.self = self, .self = self, .wanted = wanted, .wa = point->wa};
    LG_TRY(lg_callback_check(self, point->q, point->v));
    lg_callback_layout_work(&e.work, &(lg_arena){.base = (char *)point->work});
    lg_zero(space->nv + space->nrows, e.work.zeros);
    e.at = (lg_callback_point){.t = lg_callback_time(self, point->t, point->t_in),
                               .q = point->q,
                               .v = point->v,
                               .a = point->a ? point->a : e.work.zeros,
                               .lam = point->lam ? point->lam : e.work.zeros};
    LG_TRY(eval_forces(&e));
    LG_TRY(constraints(&e));
    write_own_rows(&e, wanted, NULL);
    LG_TRY(constraint_matrix(&e));
    return wanted->ntangents ? tangents(&e) : LG_OK;
}
