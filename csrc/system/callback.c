/* A system made of functions: its creation and the table of its functions; see callback.h. */
#include "system/callback.h"

#include "core/small.h"
#include "system/callback_eval.h"
#include "system/callback_pair.h"
#include "system/optional.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- functions of the waist ---- */

static lg_status callbacks_energy(void *self, const lg_point *point, double *T, double *V)
{
    double both[2] = {0, 0};
    LG_TRY(lg_callback_check(self, point->q, point->v));
    lg_callback_point at = {.t = point->t, .q = point->q, .v = point->v};
    LG_TRY(lg_callback_call(self, LG_CALL_ENERGY, &at, both));
    *T = both[0];
    *V = both[1];
    return LG_OK;
}

static double callbacks_next_kink(void *self, double t)
{
    const lg_callbacks *s = self;
    for (int i = 0; i < s->nkinks; i++)
        if (s->kinks[i] > t)
            return s->kinks[i];
    return INFINITY;
}

static const char *callbacks_row_name(void *self, int row)
{
    return ((lg_callbacks *)self)->row_name[row];
}

static int callbacks_not_finite(void *self, const lg_point *point, lg_report *report)
{
    const lg_callbacks *s = self;
    lg_callback_work work = {.self = s};
    lg_callback_layout_work(&work, &(lg_arena){.base = (char *)point->work});
    lg_callback_point at = {.t = lg_callback_time(s, point->t, point->t_in),
                            .q = point->q,
                            .v = point->v,
                            .a = work.zeros,
                            .lam = work.zeros};
    lg_status status = lg_callback_call(s, LG_CALL_FORCE, &at, work.v);
    if (status != LG_OK && status != LG_NOT_FINITE && s->forget)
        s->forget();
    if (status != LG_NOT_FINITE && (status != LG_OK || lg_all_finite(s->space.nv, work.v)))
        return 0;
    lg_report_force(report, "the model", s->space.nv, work.v);
    return 1;
}

static const char *callbacks_law_name(void *self, int number)
{
    (void)self;
    return number == 0 ? "force" : NULL;
}

static int callbacks_law_length(void *self)
{
    return ((lg_callbacks *)self)->space.nv;
}

static lg_status callbacks_law_value(void *self, const lg_point *point, int number, double *value)
{
    (void)number;
    const lg_callbacks *s = self;
    lg_callback_point at = {.t = point->t, .q = point->q, .v = point->v};
    lg_status status = lg_callback_call(s, LG_CALL_FORCE, &at, value);
    if (status != LG_OK && s->forget)
        s->forget();
    return status;
}

static const lg_laws callbacks_laws = {callbacks_law_name, callbacks_law_length, callbacks_law_value};

/* ---- creation ---- */

static lg_status refuse_spec(lg_report *report, const char *reason)
{
    lg_report_name(report, reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

/* Checks what the functions of a step need. */
static lg_status check_step(const lg_callbacks_spec *spec, lg_report *report)
{
    const lg_callback *function = spec->function;
    int given = (function[LG_CALL_POTENTIAL].call != NULL) + (function[LG_CALL_POTENTIAL_GRADIENT].call != NULL) +
                (function[LG_CALL_MASS_GRADIENT].call != NULL);
    if (given % 3)
        return refuse_spec(report, "potential, potential_gradient and mass_gradient belong together: give all or none");
    if (given && (lg_layout_factors(spec->nblocks, spec->blocks) != 1 || spec->blocks[0].factor[0].n < 1))
        return refuse_spec(report, "a system with a potential has one block of the kind Rn");
    return LG_OK;
}

static lg_status check_spec(const lg_callbacks_spec *spec, lg_report *report)
{
    const lg_callback *function = spec->function;
    int has_phi = function[LG_CALL_CONSTRAINT].call != NULL, has_J = function[LG_CALL_JACOBIAN].call != NULL;
    if (spec->nblocks < 1)
        return refuse_spec(report, "there must be at least one block");
    if (!function[LG_CALL_MASS].call || !function[LG_CALL_FORCE].call)
        return refuse_spec(report, "mass and force must be functions");
    if (spec->nrows < 0 || (spec->nrows > 0) != has_phi || has_phi != has_J)
        return refuse_spec(report,
                           "constraint and constraint_jacobian belong together: give both if there are constraint "
                           "rows, otherwise neither");
    LG_TRY(check_step(spec, report));
    LG_TRY(lg_layout_check(spec->nblocks, spec->blocks, spec->nrows, report));
    return LG_OK;
}

typedef struct callback_builder {
    lg_callbacks *callbacks;
    const lg_callbacks_spec *spec;
    lg_layout layout;
} callback_builder;

static void callbacks_layout(void *self, lg_arena *arena)
{
    callback_builder *b = self;
    const lg_callbacks_spec *spec = b->spec;
    int nblocks = spec->nblocks, rows = spec->nrows + lg_layout_own_rows(nblocks, spec->blocks);
    lg_layout_take(&b->layout, arena,
                   (lg_layout_sizes){.nblocks = nblocks,
                                     .nfactors = lg_layout_factors(nblocks, spec->blocks),
                                     .ngroups = spec->nrows > 0,
                                     .nentries = spec->nrows > 0 ? nblocks : 0,
                                     .ncliques = 1,
                                     .nmembers = nblocks});
    b->callbacks->kinks = lg_arena_doubles(arena, (size_t)spec->nkinks);
    b->callbacks->row_name = lg_arena_take(arena, (size_t)rows * sizeof *b->callbacks->row_name);
}

static void fill_space(callback_builder *b)
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

static void fill_system(lg_callbacks *self, const lg_callbacks_spec *spec, size_t nwork)
{
    self->system = (lg_system){
        .self = self,
        .space = &self->space,
        .pattern = &self->pattern,
        .flags =
            spec->flags | LG_SYSTEM_FIXED_LOADS | (self->function[LG_CALL_TANGENT].call ? 0 : LG_SYSTEM_DIFFERENCED),
        .nwork = (int)nwork,
        .eval = lg_callback_eval,
        .energy = self->function[LG_CALL_ENERGY].call ? callbacks_energy : NULL,
        .steps = self->function[LG_CALL_POTENTIAL].call ? &lg_callback_steps : NULL,
        .next_kink = self->nkinks ? callbacks_next_kink : NULL,
        .row_name = callbacks_row_name,
        .not_finite = callbacks_not_finite,
        .laws = &callbacks_laws,
    };
}

static lg_status build_callbacks(lg_callbacks *self, const lg_callbacks_spec *spec, lg_report *report)
{
    callback_builder b = {
        .callbacks = self, .spec = spec, .layout = {.space = &self->space, .pattern = &self->pattern}};
    LG_TRY(lg_arena_open(&self->arena, callbacks_layout, &b));
    memcpy(self->function, spec->function, sizeof self->function);
    self->rows = spec->nrows;
    self->forget = spec->forget;
    self->nkinks = spec->nkinks;
    if (spec->nkinks > 0)
        lg_copy(spec->nkinks, spec->kinks, self->kinks);
    fill_space(&b);
    name_rows(self);

    lg_callback_work work = {.self = self};
    lg_arena measure = {0};
    lg_callback_layout_work(&work, &measure);
    size_t nwork = measure.used / sizeof(double);
    if (nwork > INT_MAX)
        return refuse_spec(report, "the blocks have too many coordinates: the matrices would be too large");
    fill_system(self, spec, nwork);
    return LG_OK;
}

lg_status lg_callbacks_create(const lg_callbacks_spec *spec, lg_callbacks **callbacks, lg_report *report)
{
    *report = (lg_report){0};
    LG_TRY(check_spec(spec, report));
    lg_callbacks *self = calloc(1, sizeof *self);
    lg_status status = self ? build_callbacks(self, spec, report) : LG_NO_MEMORY;
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
