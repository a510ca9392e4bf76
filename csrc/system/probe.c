/* One evaluation with dense results; see probe.h. */
#include "system/probe.h"

#include "core/arena.h"
#include "core/small.h"

const lg_term_info lg_terms[LG_TERM_COUNT] = {
#define LG_TERM(term, shape) {#term, shape},
    LG_TERMS(LG_TERM)
#undef LG_TERM
};

const lg_term_info lg_pair_terms[LG_PAIR_TERM_COUNT] = {
#define LG_TERM(term, shape) {#term, shape},
    LG_PAIR_TERMS(LG_TERM)
#undef LG_TERM
};

typedef struct scratch {
    const lg_probe *probe;
    double *zeros; /* for a, lam and mem that were not given */
    double *work, *B, *Z;
    double *X[3]; /* per block, column-major */
    lg_chain *chain;
    lg_matrix matrix;
} scratch;

static void layout(void *self, lg_arena *arena)
{
    scratch *s = self;
    const lg_system *system = s->probe->system;
    const lg_space *space = system->space;
    s->zeros = lg_arena_doubles(arena, (size_t)(space->nv + space->nrows + system->nmem));
    s->work = lg_arena_doubles(arena, (size_t)system->nwork);
    s->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->Z = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    for (int level = 0; level < 3; level++)
        s->X[level] = lg_arena_doubles(arena, (size_t)space->nm);
    s->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *s->chain);
    if (s->probe->out[LG_TERM_S])
        lg_matrix_layout(&s->matrix, s->probe->plan, arena);
}

/* The diagonal blocks of the dense X[i]. */
static void fill_chains(scratch *s)
{
    const lg_probe *probe = s->probe;
    const lg_space *space = probe->system->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        for (int level = 0; level < 3; level++) {
            const double *dense = probe->X[level];
            double *X = s->X[level] + b->m;
            lg_chain *chain = &s->chain[b - space->block];
            chain->k[level] = probe->k[level];
            chain->X[level] = dense ? X : NULL;
            for (int i = 0; dense && i < b->nv * b->nv; i++)
                X[i] = dense[(b->v + i % b->nv) * space->nv + b->v + i / b->nv];
        }
}

/* Copies a column-major piece to its place in a dense matrix of nv columns. */
static void put(double *dense, int nv, int row, int n, int column, int m, const double *piece, int ld)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            dense[(row + i) * nv + column + j] = piece[j * ld + i];
}

static void spread_rows(const lg_system *system, const double *values, double *dense)
{
    const lg_pattern *p = system->pattern;
    int nv = system->space->nv;
    lg_zero(p->nrows * nv, dense);
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e], row = p->group_row[g], n = p->group_row[g + 1] - row;
            put(dense, nv, row, n, p->v_start[b], p->nv[b], values + p->group_value[e], n);
        }
    for (int b = 0; b < p->nblocks; b++)
        put(dense, nv, p->own_row[b], p->nown[b], p->v_start[b], p->nv[b], values + p->own_value[b], p->nown[b]);
}

/* The blocks of one clique; those that have a pair of blocks in common have its place in the matrix in common too. */
static void spread_clique(const lg_pattern *p, const lg_matrix *matrix, int clique, int n, const int *block,
                          double *dense)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int ld;
            const double *S = lg_matrix_at(matrix, clique, i, j, &ld);
            put(dense, p->v_start[p->nblocks], p->v_start[block[i]], p->nv[block[i]], p->v_start[block[j]],
                p->nv[block[j]], S, ld);
        }
}

static void spread_matrix(const lg_pattern *p, const lg_matrix *matrix, int with_groups, double *dense)
{
    lg_zero(p->v_start[p->nblocks] * p->v_start[p->nblocks], dense);
    for (int c = 0; c < p->ncliques; c++)
        spread_clique(p, matrix, c, p->clique_start[c + 1] - p->clique_start[c], p->clique_block + p->clique_start[c],
                      dense);
    for (int g = 0; with_groups && g < p->ngroups; g++)
        spread_clique(p, matrix, p->ncliques + g, p->group_start[g + 1] - p->group_start[g],
                      p->group_block + p->group_start[g], dense);
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
                       .S = out[LG_TERM_S] ? &s->matrix : NULL,
                       .chain = s->chain};
}

static lg_status evaluate(scratch *s)
{
    const lg_system *system = s->probe->system;
    double *const *out = s->probe->out;
    lg_point point = s->probe->point;
    lg_wanted wanted = wanted_by(s);
    point.a = point.a ? point.a : s->zeros;
    point.lam = point.lam ? point.lam : s->zeros;
    point.mem = point.mem ? point.mem : s->zeros;
    point.work = s->work;
    fill_chains(s);
    if (wanted.S)
        lg_matrix_zero(wanted.S);

    LG_TRY(system->eval(system->self, &point, &wanted));
    if (wanted.B)
        spread_rows(system, s->B, out[LG_TERM_B]);
    if (wanted.Z)
        spread_rows(system, s->Z, out[LG_TERM_Z]);
    if (wanted.S)
        spread_matrix(system->pattern, wanted.S, 0, out[LG_TERM_S]);
    return LG_OK;
}

lg_status lg_probe_evaluate(const lg_probe *probe)
{
    lg_arena arena = {0};
    scratch s = {.probe = probe};
    LG_TRY(lg_arena_open(&arena, layout, &s));
    lg_status status = evaluate(&s);
    if (probe->out[LG_TERM_S])
        lg_matrix_close(&s.matrix);
    lg_arena_close(&arena);
    return status;
}

/* ---- a step between two states ---- */

typedef struct pair_scratch {
    const lg_pair_probe *probe;
    double *zeros; /* for lam and mem that were not given */
    double *work, *kept, *G, *B;
    lg_chain *chain;
    lg_matrix matrix;
} pair_scratch;

static void layout_pair(void *self, lg_arena *arena)
{
    pair_scratch *s = self;
    const lg_system *system = s->probe->system;
    const lg_space *space = system->space;
    s->zeros = lg_arena_doubles(arena, (size_t)(space->nrows + system->nmem + space->nv));
    s->work = lg_arena_doubles(arena, (size_t)system->npair);
    s->kept = lg_arena_doubles(arena, (size_t)system->nkept);
    s->G = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    s->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *s->chain);
    lg_matrix_layout(&s->matrix, s->probe->plan, arena);
}

/* The first evaluations of a step. */
static lg_status decide(const pair_scratch *s, lg_pair pair)
{
    const lg_system *system = s->probe->system;
    pair.q1 = s->probe->decided;
    for (pair.stage = LG_PAIR_FIRST; pair.stage < LG_PAIR_DECIDED; pair.stage++)
        LG_TRY(system->pair(system->self, &pair, &(lg_pair_wanted){NULL}));
    return LG_OK;
}

static lg_status evaluate_pair(pair_scratch *s)
{
    const lg_system *system = s->probe->system;
    double *const *out = s->probe->out;
    lg_pair pair = s->probe->pair;
    lg_pair_wanted wanted = {.force = out[LG_PAIR_TERM_force],
                             .Gtlam = out[LG_PAIR_TERM_Gtlam],
                             .phi = out[LG_PAIR_TERM_phi],
                             .G = out[LG_PAIR_TERM_G] ? s->G : NULL,
                             .B = out[LG_PAIR_TERM_B] ? s->B : NULL,
                             .S = out[LG_PAIR_TERM_S] ? &s->matrix : NULL,
                             .chain = s->chain};
    pair.lam = pair.lam ? pair.lam : s->zeros;
    pair.mem = pair.mem ? pair.mem : s->zeros;
    pair.p0 = pair.p0 ? pair.p0 : s->zeros;
    pair.p1 = pair.p1 ? pair.p1 : s->zeros;
    pair.work = s->work, pair.kept = s->kept;
    for (int i = 0; i < system->space->nblocks; i++)
        s->chain[i] = (lg_chain){.k = {1, 0, 0}};
    lg_matrix_zero(&s->matrix);

    LG_TRY(decide(s, pair));
    pair.stage = LG_PAIR_DECIDED;
    LG_TRY(system->pair(system->self, &pair, &wanted));
    if (out[LG_PAIR_TERM_G])
        spread_rows(system, s->G, out[LG_PAIR_TERM_G]);
    if (out[LG_PAIR_TERM_B])
        spread_rows(system, s->B, out[LG_PAIR_TERM_B]);
    if (out[LG_PAIR_TERM_S])
        spread_matrix(system->pattern, &s->matrix, 1, out[LG_PAIR_TERM_S]);
    return LG_OK;
}

lg_status lg_probe_pair(const lg_pair_probe *probe)
{
    lg_arena arena = {0};
    pair_scratch s = {.probe = probe};
    LG_TRY(lg_arena_open(&arena, layout_pair, &s));
    lg_status status = evaluate_pair(&s);
    lg_matrix_close(&s.matrix);
    lg_arena_close(&arena);
    return status;
}
