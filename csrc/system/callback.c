/* The verbs of a system made of functions, and its creation; see callback.h. */
#include "system/callback_work.h"

#include "core/small.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- evaluation ---- */

typedef struct evaluation {
    lg_callback_work work;
    const lg_callbacks *self;
    const lg_wanted *wanted;
    lg_callback_point at;
    double wa;
} evaluation;

/* Carves the point's scratch from the arena; on an arena without memory this measures the size that is needed. */
static void layout_work(lg_callback_work *w, lg_arena *arena)
{
    size_t nv = (size_t)w->self->space.nv, rows = (size_t)w->self->rows, most = nv > rows ? nv : rows;
    w->zeros = lg_arena_doubles(arena, nv + (size_t)w->self->space.nrows);
    w->M = lg_arena_doubles(arena, nv * nv);
    w->K = lg_arena_doubles(arena, 2 * nv * nv);
    w->D = w->K ? w->K + nv * nv : NULL;
    w->J = lg_arena_doubles(arena, rows * nv);
    w->Z = lg_arena_doubles(arena, rows * nv);
    w->q = lg_arena_doubles(arena, (size_t)w->self->space.nq);
    w->v = lg_arena_doubles(arena, nv);
    w->theta = lg_arena_doubles(arena, nv);
    w->upper = lg_arena_doubles(arena, most);
    w->lower = lg_arena_doubles(arena, most);
    w->rate = lg_arena_doubles(arena, most);
    w->values = lg_arena_doubles(arena, (size_t)w->self->pattern.nvalues);
    w->own = lg_arena_doubles(arena, (size_t)w->self->space.nm);
}

lg_status lg_callback_check(const lg_callbacks *self, const double *q, const double *v)
{
    double sum = 0; /* infinite or NaN if one of them is: 0 times it is NaN */
    for (int i = 0; i < self->space.nq; i++)
        sum += 0 * q[i];
    for (int i = 0; i < self->space.nv; i++)
        sum += 0 * v[i];
    return isfinite(sum) ? LG_OK : LG_NOT_FINITE;
}

void lg_callback_put_group(const lg_callbacks *self, const double *J, double *values)
{
    const lg_pattern *p = &self->pattern;
    int nv = self->space.nv;
    for (int b = 0; self->rows && b < p->nblocks; b++)
        for (int j = 0; j < p->nv[b]; j++)
            for (int i = 0; i < self->rows; i++)
                values[p->group_value[b] + j * self->rows + i] = J[i * nv + p->v_start[b] + j];
}

static double *row_of(double *rows, const lg_block *b)
{
    return rows ? rows + b->own : NULL;
}

static double *value_of(const lg_callbacks *self, double *values, const lg_block *b)
{
    return values ? values + self->pattern.own_value[b - self->space.block] : NULL;
}

/* The blocks' own rows, written directly into the wanted arrays. */
static void own_rows(const evaluation *e, const lg_wanted *w, double *B)
{
    const lg_space *space = &e->self->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        if (b->node->own)
            b->node->own(e->at.q + b->q, e->at.v + b->v, e->at.lam + b->own, row_of(w->phi, b), row_of(w->phidot, b),
                         value_of(e->self, B, b), row_of(w->zeta, b), value_of(e->self, w->Z, b), NULL);
}

static lg_status forces(const evaluation *e)
{
    const lg_wanted *w = e->wanted;
    int nv = e->self->space.nv;
    if (w->Ma || w->S)
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

/* phi, zeta, Z and phidot. They overwrite work->J, where the last one leaves that of this point. */
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
    own_rows(e, &(lg_wanted){0}, e->work.values);
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
        if (!b->node->own)
            continue;
        lg_zero(b->nv * b->nv, own);
        b->node->own(e->at.q + b->q, e->at.v + b->v, e->at.lam + b->own, NULL, NULL, NULL, NULL, NULL, own);
        for (int i = 0; i < b->nv; i++)
            for (int j = 0; j < b->nv; j++)
                K[(b->v + i) * space->nv + b->v + j] += own[j * b->nv + i];
    }
}

/* K and D: from the function `tangent` if wa = 1, for which it is defined, else by differences. */
static lg_status linearise(const evaluation *e, int wants_K, int wants_D)
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
static void add_product(const lg_callbacks *self, const double *A, double s, int i, int j, const double *X, double *S,
                        int ld)
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
static lg_status tangent(const evaluation *e)
{
    static const lg_chain identity = {.k = {0, 0, 1}};
    const lg_callbacks *self = e->self;
    const lg_chain *chain = e->wanted->chain;
    int wants_K = 0, wants_D = 0;
    for (int b = 0; chain && b < self->space.nblocks; b++) {
        wants_K |= chain[b].k[0] != 0;
        wants_D |= chain[b].k[1] != 0;
    }
    LG_TRY(linearise(e, wants_K, wants_D));
    /* the differences have overwritten M */
    if (wants_K)
        LG_TRY(lg_callback_call(self, LG_CALL_MASS, &e->at, e->work.M));

    for (int i = 0; i < self->space.nblocks; i++)
        for (int j = 0; j < self->space.nblocks; j++) {
            const lg_chain *c = chain ? &chain[j] : &identity;
            int ld;
            double *S = lg_matrix_at(e->wanted->S, 0, i, j, &ld);
            add_product(self, e->work.M, e->wa * c->k[2], i, j, c->X[2], S, ld);
            if (wants_D)
                add_product(self, e->work.D, c->k[1], i, j, c->X[1], S, ld);
            if (wants_K)
                add_product(self, e->work.K, c->k[0], i, j, c->X[0], S, ld);
        }
    return LG_OK;
}

/* ---- the verbs ---- */

double lg_callback_time(const lg_callbacks *self, double t, double t_in)
{
    for (int i = 0; i < self->nkinks; i++) {
        double kink = self->kinks[i];
        if (fabs(t - kink) <= 8 * DBL_EPSILON * fabs(kink) && t_in != kink)
            return nextafter(kink, t_in > kink ? INFINITY : -INFINITY);
    }
    return t;
}

static lg_status eval(void *self, const lg_point *point, const lg_wanted *wanted)
{
    const lg_callbacks *callbacks = self;
    const lg_space *space = &callbacks->space;
    evaluation e = {.work.self = self, .self = self, .wanted = wanted, .wa = point->wa};
    LG_TRY(lg_callback_check(self, point->q, point->v));
    layout_work(&e.work, &(lg_arena){.base = (char *)point->work});
    lg_zero(space->nv + space->nrows, e.work.zeros);
    e.at = (lg_callback_point){.t = lg_callback_time(self, point->t, point->t_in),
                               .q = point->q,
                               .v = point->v,
                               .a = point->a ? point->a : e.work.zeros,
                               .lam = point->lam ? point->lam : e.work.zeros};
    LG_TRY(forces(&e));
    LG_TRY(constraints(&e));
    own_rows(&e, wanted, NULL);
    LG_TRY(constraint_matrix(&e));
    return wanted->S ? tangent(&e) : LG_OK;
}

static lg_status energy(void *self, const lg_point *point, double *T, double *V)
{
    double both[2] = {0, 0};
    LG_TRY(lg_callback_check(self, point->q, point->v));
    lg_callback_point at = {.t = point->t, .q = point->q, .v = point->v};
    LG_TRY(lg_callback_call(self, LG_CALL_ENERGY, &at, both));
    *T = both[0];
    *V = both[1];
    return LG_OK;
}

static double next_kink(void *self, double t)
{
    const lg_callbacks *s = self;
    for (int i = 0; i < s->nkinks; i++)
        if (s->kinks[i] > t)
            return s->kinks[i];
    return INFINITY;
}

static const char *row_name(void *self, int row)
{
    return ((lg_callbacks *)self)->row_name[row];
}

/* ---- creation ---- */

static lg_status refuse(lg_report *report, const char *reason)
{
    lg_report_name(report, reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

/* What the verbs of a step need. */
static lg_status check_step(const lg_callbacks_spec *spec, lg_report *report)
{
    const lg_callback *function = spec->function;
    int given = (function[LG_CALL_POTENTIAL].call != NULL) + (function[LG_CALL_POTENTIAL_GRADIENT].call != NULL) +
                (function[LG_CALL_MASS_GRADIENT].call != NULL);
    if (given % 3)
        return refuse(report, "potential, potential_gradient and mass_gradient belong together: give all or none");
    if (given && (spec->nblocks != 1 || spec->blocks[0].n < 1))
        return refuse(report, "a system with a potential has one block of the kind Rn");
    return LG_OK;
}

static lg_status check_spec(const lg_callbacks_spec *spec, lg_report *report)
{
    const lg_callback *function = spec->function;
    int has_phi = function[LG_CALL_CONSTRAINT].call != NULL, has_J = function[LG_CALL_JACOBIAN].call != NULL;
    if (spec->nblocks < 1)
        return refuse(report, "there must be at least one block");
    if (!function[LG_CALL_MASS].call || !function[LG_CALL_FORCE].call)
        return refuse(report, "mass and force must be functions");
    if (spec->nrows < 0 || (spec->nrows > 0) != has_phi || has_phi != has_J)
        return refuse(report, "constraint and constraint_jacobian belong together: give both if there are constraint "
                              "rows, otherwise neither");
    LG_TRY(check_step(spec, report));
    LG_TRY(lg_layout_check(spec->nblocks, spec->blocks, spec->nrows, report));
    for (int i = 0; i < spec->nblocks; i++)
        if (spec->blocks[i].n > 0 && lg_node_find(spec->blocks[i].kind)->nq > 0)
            return refuse(report, "a block cannot have linear coordinates in addition to those of its kind");
    return LG_OK;
}

typedef struct builder {
    lg_callbacks *callbacks;
    const lg_callbacks_spec *spec;
    lg_layout layout;
} builder;

static void layout(void *self, lg_arena *arena)
{
    builder *b = self;
    const lg_callbacks_spec *spec = b->spec;
    int nblocks = spec->nblocks, rows = spec->nrows + lg_layout_own_rows(nblocks, spec->blocks);
    lg_layout_take(&b->layout, arena,
                   (lg_layout_sizes){.nblocks = nblocks,
                                     .ngroups = spec->nrows > 0,
                                     .nentries = spec->nrows > 0 ? nblocks : 0,
                                     .ncliques = 1,
                                     .nmembers = nblocks});
    b->callbacks->kinks = lg_arena_doubles(arena, (size_t)spec->nkinks);
    b->callbacks->row_name = lg_arena_take(arena, (size_t)rows * sizeof *b->callbacks->row_name);
}

static void fill_space(builder *b)
{
    const lg_callbacks_spec *spec = b->spec;
    lg_layout_blocks(&b->layout, spec->nblocks, spec->blocks);
    for (int i = 0; i < spec->nblocks; i++)
        lg_layout_member(&b->layout, i);
    lg_layout_mass_clique(&b->layout);
    for (int i = 0; spec->nrows > 0 && i < spec->nblocks; i++)
        lg_layout_entry(&b->layout, i, spec->nrows, 0);
    if (spec->nrows > 0)
        lg_layout_group(&b->layout, spec->nrows);
    lg_layout_finish(&b->layout);
}

static void name_rows(lg_callbacks *self)
{
    for (int i = 0; i < self->rows; i++)
        snprintf(self->row_name[i], sizeof *self->row_name, "constraint[%d]", i);
    for (int b = 0; b < self->space.nblocks; b++)
        for (int i = 0; i < self->space.block[b].nown; i++)
            snprintf(self->row_name[self->space.block[b].own + i], sizeof *self->row_name, "block[%d] own row %d", b,
                     i);
}

static void fill_system(lg_callbacks *self, unsigned flags, size_t nwork)
{
    self->system = (lg_system){
        .self = self,
        .space = &self->space,
        .pattern = &self->pattern,
        .flags = flags | LG_SYSTEM_FIXED_LOADS | (self->function[LG_CALL_TANGENT].call ? 0 : LG_SYSTEM_DIFFERENCED),
        .nwork = (int)nwork,
        .npair = (int)nwork,
        .eval = eval,
        .energy = self->function[LG_CALL_ENERGY].call ? energy : NULL,
        .pair = self->function[LG_CALL_POTENTIAL].call ? lg_callback_pair : NULL,
        .kinetic = self->function[LG_CALL_POTENTIAL].call ? lg_callback_kinetic : NULL,
        .without_step = self->function[LG_CALL_POTENTIAL].call ? lg_callback_without_step : NULL,
        .next_kink = self->nkinks ? next_kink : NULL,
        .row_name = row_name,
    };
}

static lg_status build(lg_callbacks *self, const lg_callbacks_spec *spec, lg_report *report)
{
    builder b = {.callbacks = self, .spec = spec, .layout = {.space = &self->space, .pattern = &self->pattern}};
    LG_TRY(lg_arena_open(&self->arena, layout, &b));
    memcpy(self->function, spec->function, sizeof self->function);
    self->rows = spec->nrows;
    self->nkinks = spec->nkinks;
    if (spec->nkinks > 0)
        lg_copy(spec->nkinks, spec->kinks, self->kinks);
    fill_space(&b);
    name_rows(self);

    lg_callback_work work = {.self = self};
    lg_arena measure = {0};
    layout_work(&work, &measure);
    size_t nwork = measure.used / sizeof(double), npair = lg_callback_pair_work(self);
    nwork = nwork > npair ? nwork : npair;
    if (nwork > INT_MAX)
        return refuse(report, "too many coordinates, the matrices would be too large");
    fill_system(self, spec->flags, nwork);
    return LG_OK;
}

lg_status lg_callbacks_create(const lg_callbacks_spec *spec, lg_callbacks **callbacks, lg_report *report)
{
    *report = (lg_report){0};
    LG_TRY(check_spec(spec, report));
    lg_callbacks *self = calloc(1, sizeof *self);
    lg_status status = self ? build(self, spec, report) : LG_NO_MEMORY;
    if (status == LG_OK)
        *callbacks = self;
    else
        lg_callbacks_free(self);
    return status;
}

void lg_callbacks_free(lg_callbacks *callbacks)
{
    if (!callbacks)
        return;
    lg_arena_close(&callbacks->arena);
    free(callbacks);
}

const lg_system *lg_callbacks_system(const lg_callbacks *callbacks)
{
    return &callbacks->system;
}
