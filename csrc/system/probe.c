/* Evaluations with dense results; see probe.h. */
#include "system/probe.h"

#include "core/arena.h"
#include "core/small.h"
#include "system/sensitivity.h"

#include <stdlib.h>

typedef struct scratch {
    const lg_probe *probe;
    double *B, *Z;
    double *X[3]; /* per block, column-major */
    lg_chain *chain;
    lg_matrix matrix;
    lg_tangent tangent;
} scratch;

static void layout_rows(void *self, lg_arena *arena)
{
    scratch *s = self;
    s->B = lg_arena_doubles(arena, (size_t)s->probe->system->pattern->nvalues);
    s->Z = lg_arena_doubles(arena, (size_t)s->probe->system->pattern->nvalues);
}

static void probe_layout(void *self, lg_arena *arena)
{
    scratch *s = self;
    const lg_system *system = s->probe->system;
    const lg_space *space = system->space;
    layout_rows(s, arena);
    for (int level = 0; level < 3; level++)
        s->X[level] = lg_arena_doubles(arena, (size_t)space->nm);
    s->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *s->chain);
    if (s->probe->out[LG_TERM_S])
        lg_matrix_layout(&s->matrix, s->probe->plan, arena);
}

/* The diagonal blocks of the dense X[i]. */
static void fill_chains(scratch *s)
{
    static const double k[3] = {0, 0, 1};
    const lg_probe *probe = s->probe;
    const lg_space *space = probe->system->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        for (int level = 0; level < 3; level++) {
            const double *dense = probe->X ? probe->X + level * space->nv * space->nv : NULL;
            double *X = s->X[level] + b->m;
            lg_chain *chain = &s->chain[b - space->block];
            chain->k[level] = (probe->k ? probe->k : k)[level];
            chain->X[level] = dense ? X : NULL;
            for (int i = 0; dense && i < b->nv * b->nv; i++)
                X[i] = dense[(b->v + i % b->nv) * space->nv + b->v + i / b->nv];
        }
}

/* Where the pieces of a matrix go: into a dense one of nv columns; or, one after the other, their values,
   which leave zeros behind, or their rows and columns. */
typedef struct spread_target {
    int nv;
    double *dense, *values;
    int *row, *column;
} spread_target;

/* A column-major piece, n x m. */
static void probe_put(spread_target *to, int row, int n, int column, int m, double *piece, int ld)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            if (to->dense)
                to->dense[(row + i) * to->nv + column + j] = piece[j * ld + i];
            if (to->values)
                *to->values++ = piece[j * ld + i], piece[j * ld + i] = 0;
            if (to->row)
                *to->row++ = row + i, *to->column++ = column + j;
        }
}

/* The entries of B; values NULL: only rows and columns are wanted. */
static void spread_rows(const lg_pattern *p, double *values, spread_target *to)
{
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e], row = p->group_row[g], n = p->group_row[g + 1] - row;
            probe_put(to, row, n, p->v_start[b], p->nv[b], values ? values + p->group_value[e] : NULL, n);
        }
    for (int b = 0; b < p->nblocks; b++)
        probe_put(to, p->own_row[b], p->nown[b], p->v_start[b], p->nv[b], values ? values + p->own_value[b] : NULL,
                  p->nown[b]);
}

/* The n blocks of one clique, whose blocks of S begin at `first`; cliques with a pair of blocks in common share
   its entries too. Returns the first block of S of the next clique. */
static long spread_clique(const lg_pattern *p, const lg_matrix *matrix, long first, int n, const int *block,
                          spread_target *to)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++, first++) {
            int ld = 0;
            double *S = matrix ? lg_matrix_at(matrix, first, &ld) : NULL;
            probe_put(to, p->v_start[block[i]], p->nv[block[i]], p->v_start[block[j]], p->nv[block[j]], S, ld);
        }
    return first;
}

/* The blocks of S; matrix NULL: only rows and columns are wanted. */
static void spread_matrix(const lg_pattern *p, const lg_matrix *matrix, int with_groups, spread_target *to)
{
    long matrix_block = 0;
    for (int c = 0; c < p->ncliques; c++)
        matrix_block = spread_clique(p, matrix, matrix_block, p->clique_start[c + 1] - p->clique_start[c],
                                     p->clique_block + p->clique_start[c], to);
    for (int g = 0; with_groups && g < p->ngroups; g++)
        matrix_block = spread_clique(p, matrix, matrix_block, p->group_start[g + 1] - p->group_start[g],
                                     p->group_block + p->group_start[g], to);
}

/* The same to dense matrices. */
static void fill_rows(const lg_system *system, double *values, double *dense)
{
    spread_target to = {.nv = system->space->nv, .dense = dense};
    lg_zero(system->pattern->nrows * to.nv, dense);
    spread_rows(system->pattern, values, &to);
}

static void fill_matrix(const lg_system *system, const lg_matrix *matrix, int with_groups, double *dense)
{
    spread_target to = {.nv = system->space->nv, .dense = dense};
    lg_zero(to.nv * to.nv, dense);
    spread_matrix(system->pattern, matrix, with_groups, &to);
}

static lg_wanted wanted_by(scratch *s)
{
    double *const *out = s->probe->out;
    return (lg_wanted){.Ma = out[LG_TERM_Ma],
                       .gyro = out[LG_TERM_gyro],
                       .force = out[LG_TERM_force],
                       .Btlam = out[LG_TERM_Btlam],
                       .phi = out[LG_TERM_phi],
                       .phidot = out[LG_TERM_phidot],
                       .zeta = out[LG_TERM_zeta],
                       .B = out[LG_TERM_B] ? s->B : NULL,
                       .Z = out[LG_TERM_Z] ? s->Z : NULL,
                       .tangent = &s->tangent,
                       .ntangents = out[LG_TERM_S] != NULL};
}

/* Whether the tangent is the mass matrix, which needs no forces. */
static int is_mass(const lg_probe *probe)
{
    return !probe->X && (!probe->k || (probe->k[0] == 0 && probe->k[1] == 0 && probe->k[2] == 1));
}

/* The terms at the point, or their derivatives by a parameter. */
static lg_status terms(const lg_probe *probe, const lg_wanted *wanted)
{
    const lg_system *system = probe->system;
    if (!probe->derivative)
        return system->eval(system->self, &probe->point, wanted);
    return system->sensitivity->eval(system->self, probe->parameter, &probe->point, wanted);
}

static lg_status probe_evaluate(scratch *s)
{
    const lg_system *system = s->probe->system;
    double *const *out = s->probe->out;
    lg_wanted wanted = wanted_by(s);
    fill_chains(s);
    s->tangent = (lg_tangent){&s->matrix, is_mass(s->probe) ? NULL : s->chain};
    if (wanted.ntangents)
        lg_matrix_zero(&s->matrix);

    LG_TRY(terms(s->probe, &wanted));
    if (wanted.B)
        fill_rows(system, s->B, out[LG_TERM_B]);
    if (wanted.Z)
        fill_rows(system, s->Z, out[LG_TERM_Z]);
    if (wanted.ntangents)
        fill_matrix(system, &s->matrix, s->probe->form == LG_FORM_BODY_AXES, out[LG_TERM_S]);
    return LG_OK;
}

lg_status lg_probe_derivatives(lg_probe *probe)
{
    if (probe->parameter < 0 || probe->parameter >= lg_sensitivity_count(probe->system)) {
        lg_report_name(&probe->report, "the system has no derivative of this number");
        return LG_BAD_ARGUMENT;
    }
    probe->derivative = 1;
    return lg_probe_terms(probe);
}

lg_status lg_probe_terms(lg_probe *probe)
{
    lg_arena arena = {0};
    scratch s = {.probe = probe};
    LG_TRY(lg_arena_open(&arena, probe_layout, &s));
    lg_status status = probe_evaluate(&s);
    if (probe->out[LG_TERM_S])
        lg_matrix_close(&s.matrix);
    lg_arena_close(&arena);
    return status;
}

lg_status lg_probe_acceleration_rows(lg_probe *probe)
{
    const lg_system *system = probe->system;
    lg_arena arena = {0};
    scratch s = {.probe = probe};
    if (!system->sensitivity || !system->sensitivity->acceleration_rows) {
        lg_report_name(&probe->report, "some constraint row has no such derivatives in closed form");
        return LG_BAD_ARGUMENT;
    }
    LG_TRY(lg_arena_open(&arena, layout_rows, &s));
    lg_status status = system->sensitivity->acceleration_rows(system->self, &probe->point, s.B, s.Z);
    if (status == LG_OK) {
        fill_rows(system, s.B, probe->out[0]);
        fill_rows(system, s.Z, probe->out[1]);
    }
    lg_arena_close(&arena);
    return status;
}

/* ---- stiffness, damping, mass and B in one evaluation ---- */

enum { ROWS = 3 }; /* the number of B behind K, D and M */

typedef struct linear_scratch {
    const lg_probe *probe;
    int sparse;
    lg_chain *chain[3];
    lg_matrix matrix[3];
    double *B;
} linear_scratch;

static void layout_linear(void *self, lg_arena *arena)
{
    linear_scratch *s = self;
    const lg_system *system = s->probe->system;
    s->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    for (int level = 0; level < ROWS; level++)
        if (s->probe->out[level]) {
            s->chain[level] = lg_arena_take(arena, (size_t)system->space->nblocks * sizeof(lg_chain));
            lg_matrix_layout(&s->matrix[level], s->probe->plan, arena);
        }
}

/* Copies what has been evaluated to the results. */
static void collect(linear_scratch *s)
{
    const lg_system *system = s->probe->system;
    double *const *out = s->probe->out;
    for (int level = 0; level < ROWS; level++)
        if (out[level] && !s->sparse)
            fill_matrix(system, &s->matrix[level], 0, out[level]);
        else if (out[level])
            spread_matrix(system->pattern, &s->matrix[level], 1, &(spread_target){.values = out[level]});
    if (out[ROWS])
        spread_rows(system->pattern, s->B, &(spread_target){.values = out[ROWS]});
}

static lg_status linearise(linear_scratch *s)
{
    const lg_system *system = s->probe->system;
    lg_tangent tangent[3];
    lg_wanted wanted = {.B = s->probe->out[ROWS] ? s->B : NULL, .tangent = tangent};
    for (int level = 0; level < ROWS; level++) {
        if (!s->probe->out[level])
            continue;
        for (int i = 0; i < system->space->nblocks; i++)
            s->chain[level][i] = (lg_chain){.k = {level == 0, level == 1}};
        tangent[wanted.ntangents++] = (lg_tangent){&s->matrix[level], level < 2 ? s->chain[level] : NULL};
        lg_matrix_zero(&s->matrix[level]);
    }
    LG_TRY(system->eval(system->self, &s->probe->point, &wanted));
    collect(s);
    return LG_OK;
}

static lg_status linear(const lg_probe *probe, int sparse)
{
    lg_arena arena = {0};
    linear_scratch s = {.probe = probe, .sparse = sparse};
    LG_TRY(lg_arena_open(&arena, layout_linear, &s));
    lg_status status = linearise(&s);
    for (int level = 0; level < ROWS; level++)
        if (probe->out[level])
            lg_matrix_close(&s.matrix[level]);
    lg_arena_close(&arena);
    return status;
}

lg_status lg_probe_linear(lg_probe *probe)
{
    return linear(probe, 0);
}

lg_status lg_probe_sparse(lg_probe *probe)
{
    return linear(probe, 1);
}

void lg_probe_sparsity(const lg_pattern *pattern, int of_rows, int *row, int *column)
{
    spread_target to = {.row = row, .column = column};
    if (of_rows)
        spread_rows(pattern, NULL, &to);
    else
        spread_matrix(pattern, NULL, 1, &to);
}

long lg_probe_count(const lg_pattern *p, int of_rows)
{
    long count = 0;
    for (int c = 0; !of_rows && c < p->ncliques; c++) {
        long n = 0;
        for (int e = p->clique_start[c]; e < p->clique_start[c + 1]; e++)
            n += p->nv[p->clique_block[e]];
        count += n * n;
    }
    for (int g = 0; !of_rows && g < p->ngroups; g++) {
        long n = 0;
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++)
            n += p->nv[p->group_block[e]];
        count += n * n;
    }
    for (int g = 0; of_rows && g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++)
            count += (long)(p->group_row[g + 1] - p->group_row[g]) * p->nv[p->group_block[e]];
    for (int b = 0; of_rows && b < p->nblocks; b++)
        count += (long)p->nown[b] * p->nv[b];
    return count;
}

/* ---- a step between two states ---- */

typedef struct pair_scratch {
    const lg_probe *probe;
    lg_pair pair;
    double *G, *B;
    lg_chain *chain;
    lg_matrix matrix;
} pair_scratch;

static void layout_pair(void *self, lg_arena *arena)
{
    pair_scratch *s = self;
    const lg_system *system = s->probe->system;
    const lg_space *space = system->space;
    s->pair.work = lg_arena_doubles(arena, system->steps->nwork(system->self));
    s->G = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *s->chain);
    lg_matrix_layout(&s->matrix, s->probe->plan, arena);
}

static lg_gradients gradients_of(const lg_probe *probe)
{
    static const lg_gradients gradients[2][2] = {{LG_GRADIENTS_DISCRETE_PRINTED, LG_GRADIENTS_DISCRETE},
                                                 {LG_GRADIENTS_MIDPOINT_PRINTED, LG_GRADIENTS_MIDPOINT}};
    return gradients[probe->midpoint != 0][probe->equivariant != 0];
}

static lg_status evaluate_pair(pair_scratch *s)
{
    const lg_system *system = s->probe->system;
    double *const *out = s->probe->out;
    lg_pair_wanted wanted = {.force = out[LG_PAIR_TERM_force],
                             .Gtlam = out[LG_PAIR_TERM_Gtlam],
                             .phi = out[LG_PAIR_TERM_phi],
                             .G = out[LG_PAIR_TERM_G] ? s->G : NULL,
                             .B = out[LG_PAIR_TERM_B] ? s->B : NULL,
                             .S = out[LG_PAIR_TERM_S] ? &s->matrix : NULL,
                             .chain = s->chain};
    for (int i = 0; i < system->space->nblocks; i++)
        s->chain[i] = (lg_chain){.k = {1, 0, 0}};
    lg_matrix_zero(&s->matrix);

    LG_TRY(system->steps->pair[gradients_of(s->probe)](system->self, &s->pair, &wanted));
    if (out[LG_PAIR_TERM_G])
        fill_rows(system, s->G, out[LG_PAIR_TERM_G]);
    if (out[LG_PAIR_TERM_B])
        fill_rows(system, s->B, out[LG_PAIR_TERM_B]);
    if (out[LG_PAIR_TERM_S])
        fill_matrix(system, &s->matrix, 1, out[LG_PAIR_TERM_S]);
    return LG_OK;
}

/* The step that begins at the point of a probe. */
static lg_pair pair_of(const lg_probe *probe)
{
    lg_pair pair = probe->pair;
    pair.t = probe->point.t;
    pair.q0 = probe->point.q;
    pair.lam = probe->point.lam, pair.mem = probe->point.mem.values;
    return pair;
}

lg_status lg_probe_pair(lg_probe *probe)
{
    const lg_system *system = probe->system;
    lg_arena arena = {0};
    pair_scratch s = {.probe = probe, .pair = pair_of(probe)};
    if (!system->steps || system->steps->without_step(system->self, gradients_of(probe), LG_LIVENS_DISCRETE) >= 0) {
        lg_report_say(&probe->report, "this system has no terms of a step between two states");
        return LG_BAD_ARGUMENT;
    }
    LG_TRY(lg_arena_open(&arena, layout_pair, &s));
    lg_status status = evaluate_pair(&s);
    lg_matrix_close(&s.matrix);
    lg_arena_close(&arena);
    return status;
}

/* ---- what needs no scratch of its own ---- */

lg_status lg_probe_energy(lg_probe *probe)
{
    const lg_system *system = probe->system;
    if (system->energy)
        return system->energy(system->self, &probe->point, probe->out[0], probe->out[1]);
    lg_report_say(&probe->report, "this system has no energy; make it with the function `energy`");
    return LG_BAD_ARGUMENT;
}

lg_status lg_probe_residual(lg_probe *probe)
{
    const lg_system *system = probe->system;
    const lg_wanted wanted = {.phi = probe->out[0], .phidot = probe->out[1]};
    return system->eval(system->self, &probe->point, &wanted);
}

lg_status lg_probe_remember(lg_probe *probe)
{
    const lg_system *system = probe->system;
    lg_point point = probe->point;
    double *mem = probe->out[0];
    lg_copy(system->nmem, point.mem.values, mem);
    point.mem.values = mem;
    point.mem.theta = probe->theta;
    return system->memory.commit ? system->memory.commit(system->self, NULL, &point, mem, &probe->report) : LG_OK;
}

lg_status lg_probe_sample(lg_probe *probe)
{
    const lg_memory_rules *memory = &probe->system->memory;
    double *mem = probe->out[0];
    lg_copy(probe->system->nmem, probe->point.mem.values, mem);
    return memory->sample ? memory->sample(probe->system->self, &probe->point, mem) : LG_OK;
}

lg_status lg_probe_stretch(lg_probe *probe)
{
    const lg_memory_slopes *slopes = probe->system->memory.slopes;
    double *factor = probe->out[0];
    for (int i = 0; i < probe->system->nmem; i++)
        factor[i] = 1;
    return slopes ? slopes->stretch(probe->system->self, &probe->point, factor) : LG_OK;
}

/* room: for the map of the step, and of the derivatives by a parameter */
static lg_status follow(const lg_probe *probe, double *changes, double *own, double *room)
{
    const lg_system *system = probe->system;
    int nv = system->space->nv;
    lg_point from = probe->from, to = probe->point;
    const lg_memory_change change = {{changes, changes + 2 * nv}, {changes + nv, changes + 3 * nv}, probe->out[0]};
    from.t_in = to.t_in = from.q ? 0.5 * (from.t + to.t) : to.t;
    from.work = to.work;
    LG_TRY(system->memory.slopes->open(system->self, &from, &to, room));
    if (probe->parameter >= 0 && lg_sensitivity_count(system))
        LG_TRY(system->sensitivity->remember(system->self, probe->parameter, &from, &to, own));
    lg_copy(4 * nv, probe->change, changes);
    system->memory.slopes->follow(system->self, room, &change);
    lg_axpy(system->nmem, 1, own, change.mem);
    return LG_OK;
}

lg_status lg_probe_follow(lg_probe *probe)
{
    const lg_system *system = probe->system;
    size_t nv = (size_t)system->space->nv, nmem = (size_t)system->nmem;
    lg_copy(system->nmem, probe->dmem, probe->out[0]);
    if (!system->memory.slopes)
        return LG_OK;
    double *room = calloc(4 * nv + nmem + (size_t)system->memory.slopes->room(system->self), sizeof *room);
    if (!room)
        return LG_NO_MEMORY;
    lg_status status = follow(probe, room, room + 4 * nv, room + 4 * nv + nmem);
    free(room);
    return status;
}

lg_status lg_probe_retract(lg_probe *probe)
{
    lg_space_retract(probe->system->space, probe->point.q, probe->theta, probe->out[0]);
    return LG_OK;
}

lg_status lg_probe_difference(lg_probe *probe)
{
    lg_space_difference(probe->system->space, probe->point.q, probe->pair.q1, probe->out[0]);
    return LG_OK;
}
