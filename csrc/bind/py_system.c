/* The verbs of an lg_system by Python functions: evaluation, and the space and pattern of such a system.
   One clique and, if there are constraints, one group join all blocks. */
#include "bind/py_system.h"

#include "core/small.h"

#include <float.h>

/* ---- evaluation ---- */

typedef struct evaluation {
    lg_py_work work;
    const lg_py_system *self;
    const lg_wanted *wanted;
    lg_point point;
    lg_py_place place;
} evaluation;

static void layout_work(void *work, lg_arena *arena)
{
    lg_py_work *w = work;
    size_t nv = (size_t)w->self->space.nv, rows = (size_t)w->self->rows, most = nv > rows ? nv : rows;
    w->zeros = lg_arena_doubles(arena, nv + (size_t)w->self->space.nrows);
    w->M = lg_arena_doubles(arena, nv * nv);
    w->K = lg_arena_doubles(arena, nv * nv);
    w->D = lg_arena_doubles(arena, nv * nv);
    w->J = lg_arena_doubles(arena, rows * nv);
    w->q = lg_arena_doubles(arena, (size_t)w->self->space.nq);
    w->v = lg_arena_doubles(arena, nv);
    w->theta = lg_arena_doubles(arena, nv);
    w->upper = lg_arena_doubles(arena, most);
    w->lower = lg_arena_doubles(arena, most);
    w->rate = lg_arena_doubles(arena, most);
    w->values = lg_arena_doubles(arena, (size_t)w->self->pattern.nvalues);
    w->own = lg_arena_doubles(arena, (size_t)w->self->space.nm);
}

/* Row-major rows x nv into the group's part of the values of B or Z. */
static void put_group(const lg_py_system *self, const double *J, double *values)
{
    int nv = self->space.nv;
    for (int b = 0; self->rows && b < self->space.nblocks; b++)
        for (int j = 0; j < self->nv[b]; j++)
            for (int i = 0; i < self->rows; i++)
                values[self->entry_value[b] + j * self->rows + i] = J[i * nv + self->v_start[b] + j];
}

static double *row_of(double *rows, const lg_block *b)
{
    return rows ? rows + b->own : NULL;
}

static double *value_of(const lg_py_system *self, double *values, const lg_block *b)
{
    return values ? values + self->own_value[b - self->space.block] : NULL;
}

/* The blocks' own rows, straight into what is wanted. */
static void own_rows(const evaluation *e, const lg_wanted *w, double *B)
{
    const lg_space *space = &e->self->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        if (b->node->own)
            b->node->own(e->point.q + b->q, e->point.v + b->v, e->point.lam + b->own, row_of(w->phi, b),
                         row_of(w->phidot, b), value_of(e->self, B, b), row_of(w->zeta, b), value_of(e->self, w->Z, b),
                         NULL);
}

static lg_status forces(const evaluation *e)
{
    const lg_wanted *w = e->wanted;
    int nv = e->self->space.nv;
    if (w->Ma || w->S)
        LG_TRY(lg_py_call(e->self, LG_CALL_MASS, &e->place, e->work.M));
    for (int i = 0; w->Ma && i < nv; i++) {
        w->Ma[i] = 0;
        for (int j = 0; j < nv; j++)
            w->Ma[i] += e->work.M[i * nv + j] * e->point.a[j];
    }
    if (w->gyro && e->self->function[LG_CALL_GYRO])
        LG_TRY(lg_py_call(e->self, LG_CALL_GYRO, &e->place, w->gyro));
    else if (w->gyro)
        lg_zero(nv, w->gyro);
    return w->force ? lg_py_call(e->self, LG_CALL_FORCE, &e->place, w->force) : LG_OK;
}

/* phi, phidot, zeta and Z; these use work->J, so that B comes after them. */
static lg_status constraints(const evaluation *e)
{
    const lg_py_system *self = e->self;
    const lg_wanted *w = e->wanted;
    if (!self->rows)
        return LG_OK;
    if (w->phi)
        LG_TRY(lg_py_call(self, LG_CALL_CONSTRAINT, &e->place, w->phi));
    if (w->phidot)
        LG_TRY(lg_py_rate(&e->work, &e->place, e->work.J, w->phidot));
    if (w->zeta && self->function[LG_CALL_ACCELERATION])
        LG_TRY(lg_py_call(self, LG_CALL_ACCELERATION, &e->place, w->zeta));
    else if (w->zeta)
        LG_TRY(lg_py_zeta(&e->work, &e->point, w->zeta));
    if (w->Z) {
        double *Z = PyMem_Malloc((size_t)(self->rows * self->space.nv) * sizeof *Z);
        lg_status status = Z ? lg_py_Z(&e->work, &e->point, Z) : LG_NO_MEMORY;
        if (status == LG_OK)
            put_group(self, Z, w->Z);
        PyMem_Free(Z);
        LG_TRY(status);
    }
    return LG_OK;
}

static lg_status constraint_matrix(const evaluation *e)
{
    const lg_py_system *self = e->self;
    const lg_wanted *w = e->wanted;
    if (!w->B && !w->Btlam)
        return LG_OK;
    if (self->rows)
        LG_TRY(lg_py_call(self, LG_CALL_JACOBIAN, &e->place, e->work.J));
    put_group(self, e->work.J, e->work.values);
    own_rows(e, &(lg_wanted){0}, e->work.values);
    if (w->B)
        lg_copy(self->pattern.nvalues, e->work.values, w->B);
    if (w->Btlam) {
        lg_zero(self->space.nv, w->Btlam);
        lg_pattern_add_BT(&self->pattern, e->work.values, 1, e->point.lam, w->Btlam);
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
        if (!b->node->own)
            continue;
        b->node->own(e->point.q + b->q, e->point.v + b->v, e->point.lam + b->own, NULL, NULL, NULL, NULL, NULL, own);
        for (int i = 0; i < b->nv; i++)
            for (int j = 0; j < b->nv; j++)
                K[(b->v + i) * space->nv + b->v + j] += own[j * b->nv + i];
    }
}

/* K and D, from the user's `tangent` where it holds: it means wa = 1. */
static lg_status linearise(const evaluation *e, int wants_K, int wants_D)
{
    const lg_py_system *self = e->self;
    int holds = e->point.wa == 1 || self->system.flags & LG_SYSTEM_CONSTANT_MASS;
    if (!wants_K && !wants_D)
        return LG_OK;
    if (self->function[LG_CALL_TANGENT] && holds)
        LG_TRY(lg_py_call_tangent(self, &e->place, e->point.a, e->point.lam, e->work.K, e->work.D));
    else
        LG_TRY(lg_py_tangent(&e->work, &e->point, wants_K ? e->work.K : NULL, wants_D ? e->work.D : NULL));
    if (wants_K)
        add_own_tangent(e, e->work.K);
    return LG_OK;
}

/* S_ij += s A_ij X_j for row-major A */
static void add_product(const lg_py_system *self, const double *A, double s, int i, int j, const double *X, double *S,
                        int ld)
{
    int nv = self->space.nv;
    for (int row = 0; row < self->nv[i]; row++) {
        const double *a = A + (self->v_start[i] + row) * nv + self->v_start[j];
        for (int column = 0; column < self->nv[j]; column++) {
            double sum = X ? 0 : a[column];
            for (int k = 0; X && k < self->nv[j]; k++)
                sum += a[k] * X[column * self->nv[j] + k];
            S[column * ld + row] += s * sum;
        }
    }
}

/* S = K X0 k0 + D X1 k1 + wa M X2 k2 */
static lg_status tangent(const evaluation *e)
{
    static const lg_chain identity = {.k = {0, 0, 1}};
    const lg_py_system *self = e->self;
    const lg_chain *chain = e->wanted->chain;
    int wants_K = chain && chain[0].k[0] != 0, wants_D = chain && chain[0].k[1] != 0;
    for (int b = 1; chain && b < self->space.nblocks; b++) {
        wants_K |= chain[b].k[0] != 0;
        wants_D |= chain[b].k[1] != 0;
    }
    LG_TRY(linearise(e, wants_K, wants_D));
    /* the differences have left other values there */
    if (wants_K)
        LG_TRY(lg_py_call(self, LG_CALL_MASS, &e->place, e->work.M));

    for (int i = 0; i < self->space.nblocks; i++)
        for (int j = 0; j < self->space.nblocks; j++) {
            const lg_chain *c = chain ? &chain[j] : &identity;
            int ld;
            double *S = lg_matrix_at(e->wanted->S, 0, i, j, &ld);
            add_product(self, e->work.M, e->point.wa * c->k[2], i, j, c->X[2], S, ld);
            if (wants_D)
                add_product(self, e->work.D, c->k[1], i, j, c->X[1], S, ld);
            if (wants_K)
                add_product(self, e->work.K, c->k[0], i, j, c->X[0], S, ld);
        }
    return LG_OK;
}

/* ---- the verbs ---- */

/* The time that functions see: at a kink, a rounding error into the piece that t_in picks. */
static double time_seen(const lg_py_system *self, const lg_point *point)
{
    for (int i = 0; i < self->nkinks; i++) {
        double kink = self->kinks[i];
        if (fabs(point->t - kink) <= 8 * DBL_EPSILON * fabs(kink) && point->t_in != kink)
            return nextafter(kink, point->t_in > kink ? INFINITY : -INFINITY);
    }
    return point->t;
}

static lg_status evaluate(const evaluation *e)
{
    const lg_wanted *w = e->wanted;
    LG_TRY(forces(e));
    LG_TRY(constraints(e));
    own_rows(e, w, NULL);
    LG_TRY(constraint_matrix(e));
    return w->S ? tangent(e) : LG_OK;
}

static lg_status py_eval(void *self, const lg_point *point, const lg_wanted *wanted)
{
    evaluation e = {.work.self = self, .self = self, .wanted = wanted, .point = *point};
    lg_arena arena = {0};
    e.point.t = time_seen(self, point);
    LG_TRY(lg_py_place_open(&e.place, self, e.point.t, point->q, point->v));
    lg_status status = lg_arena_open(&arena, layout_work, &e.work);
    if (status == LG_OK) {
        e.point.a = point->a ? point->a : e.work.zeros;
        e.point.lam = point->lam ? point->lam : e.work.zeros;
        status = evaluate(&e);
    }
    lg_arena_close(&arena);
    lg_py_place_close(&e.place);
    return status;
}

static lg_status py_energy(void *self, const lg_point *point, double *T, double *V)
{
    lg_py_place place;
    double both[2] = {0, 0};
    LG_TRY(lg_py_place_open(&place, self, point->t, point->q, point->v));
    lg_status status = lg_py_call(self, LG_CALL_ENERGY, &place, both);
    lg_py_place_close(&place);
    *T = both[0];
    *V = both[1];
    return status;
}

static double py_next_kink(void *self, double t)
{
    const lg_py_system *s = self;
    for (int i = 0; i < s->nkinks; i++)
        if (s->kinks[i] > t)
            return s->kinks[i];
    return INFINITY;
}

static const char *py_row_name(void *self, int row)
{
    return ((lg_py_system *)self)->row_name[row];
}

/* ---- creation ---- */

static void layout_system(void *self, lg_arena *arena)
{
    lg_py_system *s = self;
    size_t nblocks = (size_t)s->space.nblocks;
    s->block = lg_arena_take(arena, nblocks * sizeof *s->block);
    s->nv = lg_arena_ints(arena, nblocks);
    s->nown = lg_arena_ints(arena, nblocks);
    s->v_start = lg_arena_ints(arena, nblocks + 1);
    s->own_row = lg_arena_ints(arena, nblocks);
    s->own_value = lg_arena_ints(arena, nblocks);
    s->entry_value = lg_arena_ints(arena, nblocks);
    s->entry_block = lg_arena_ints(arena, nblocks);
    s->kinks = lg_arena_doubles(arena, (size_t)s->nkinks);
    s->row_name = lg_arena_take(arena, (size_t)s->space.nrows * sizeof *s->row_name);
}

lg_status lg_py_system_open(lg_py_system *self, int nblocks, int own_rows, int rows, int nkinks)
{
    self->space.nblocks = nblocks;
    self->space.nrows = rows + own_rows;
    self->rows = rows;
    self->nkinks = nkinks;
    return lg_arena_open(&self->arena, layout_system, self);
}

void lg_py_system_close(lg_py_system *self)
{
    lg_arena_close(&self->arena);
}

/* Sizes and places of the blocks; the group's values come first, then each block's own. */
static void place_blocks(lg_py_system *self)
{
    lg_space *space = &self->space;
    int own = self->rows, value = 0;
    space->linear = 1;
    for (int i = 0; i < space->nblocks; i++) {
        lg_block *b = &self->block[i];
        b->nq = lg_node_nq(b->node, b->n);
        b->nv = lg_node_nv(b->node, b->n);
        b->nown = b->node->nown;
        b->q = space->nq, b->v = space->nv, b->m = space->nm, b->own = own;
        space->nq += b->nq, space->nv += b->nv, space->nm += b->nv * b->nv, own += b->nown;
        space->linear &= b->node->linear;
        self->nv[i] = b->nv, self->nown[i] = b->nown, self->v_start[i] = b->v, self->own_row[i] = b->own;
        self->entry_block[i] = i;
        self->entry_value[i] = value;
        value += self->rows * b->nv;
    }
    for (int i = 0; i < space->nblocks; i++) {
        self->own_value[i] = value;
        value += self->nown[i] * self->nv[i];
    }
    self->v_start[space->nblocks] = space->nv;
    self->pattern.nvalues = value;
    space->block = self->block;
}

static void name_rows(lg_py_system *self)
{
    for (int i = 0; i < self->rows; i++)
        snprintf(self->row_name[i], sizeof *self->row_name, "constraint[%d]", i);
    for (int b = 0; b < self->space.nblocks; b++)
        for (int i = 0; i < self->nown[b]; i++)
            snprintf(self->row_name[self->own_row[b] + i], sizeof *self->row_name, "block[%d] own row %d", b, i);
}

void lg_py_system_finish(lg_py_system *self, unsigned flags)
{
    place_blocks(self);
    name_rows(self);
    int nblocks = self->space.nblocks, ngroups = self->rows > 0;
    self->group_row[1] = self->rows;
    self->group_start[1] = self->clique_start[1] = nblocks;

    lg_pattern *p = &self->pattern;
    p->nblocks = nblocks, p->nrows = self->space.nrows;
    p->nv = self->nv, p->nown = self->nown, p->v_start = self->v_start;
    p->own_row = self->own_row, p->own_value = self->own_value;
    p->ngroups = ngroups, p->group_row = self->group_row, p->group_start = self->group_start;
    p->group_block = self->entry_block, p->group_value = self->entry_value;
    p->ncliques = 1, p->clique_start = self->clique_start, p->clique_block = self->entry_block;

    self->system = (lg_system){
        .self = self,
        .space = &self->space,
        .pattern = p,
        .flags = flags | LG_SYSTEM_NEEDS_GIL,
        .eval = py_eval,
        .energy = self->function[LG_CALL_ENERGY] ? py_energy : NULL,
        .next_kink = self->nkinks ? py_next_kink : NULL,
        .row_name = py_row_name,
    };
}
