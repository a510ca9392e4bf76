/* Accelerations and multipliers by M^-1 of single blocks; see articulated.h. */
#include "solve/articulated.h"

#include "core/small.h"
#include "sparse/linalg.h"

/* ---- whether to use it ---- */

static int has_inverse_mass(const lg_system *system)
{
    const lg_pattern *p = system->pattern;
    int has = system->inverse_mass != NULL;
    for (int b = 0; has && b < p->nblocks; b++)
        has = p->nown[b] == 0 && system->inverse_mass->size(system->self, b) >= 0;
    for (int c = 0; has && c < p->nmass_cliques; c++)
        has = p->clique_start[c + 1] - p->clique_start[c] == 1;
    return has;
}

static int rows_of(const lg_pattern *p, int group)
{
    return p->group_row[group + 1] - p->group_row[group];
}

/* In multiplications, with numbers fitted to times of chains that one or three rows close: M^-1 takes 40 per link more
   than forming M, and 40 per link for each row; a link of M takes 2 for each other link. Both ways take the same time
   at 12 links with one row, and at 16 with three. */
int lg_articulated_suits(const lg_system *system, const lg_plan *plan)
{
    const lg_pattern *p = system->pattern;
    double n = p->nrows, work = n * n * n / 3, whole, solve;
    if (!has_inverse_mass(system))
        return 0;
    lg_plan_operations(plan, &whole, &solve);
    for (int b = 0; b < p->nblocks; b++) {
        work += 40. * p->nv[b];
        whole += 2. * p->nv[b] * p->nv[b];
    }
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++)
            work += p->nv[p->group_block[e]] * rows_of(p, g) * (40 + n);
    return system->accelerate || work < whole;
}

/* ---- memory ---- */

/* The first entry of the same group on the same block, with which an entry shares its columns. */
static int first_entry(const lg_pattern *p, int group, int entry)
{
    int e = p->group_start[group];
    while (p->group_block[e] != p->group_block[entry])
        e++;
    return e;
}

/* The number of columns of a group, and of their values. */
static size_t count_columns(const lg_pattern *p, int group, size_t *values)
{
    size_t count = 0;
    *values = 0;
    for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
        if (first_entry(p, group, e) == e) {
            count += (size_t)rows_of(p, group);
            *values += (size_t)(rows_of(p, group) * p->nv[p->group_block[e]]);
        }
    return count;
}

/* Gives the entries of a group the columns that come next on their blocks; `next` NULL: only counts them in `first` of
   the block that follows. */
static void number_group(lg_articulated *art, int group, int *next)
{
    const lg_pattern *p = art->system->pattern;
    for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++) {
        int block = p->group_block[e], first = first_entry(p, group, e), rows = rows_of(p, group);
        if (first == e && !next)
            art->first[block + 1] += rows;
        if (!next)
            continue;
        art->column[e] = first == e ? next[block] : art->column[first];
        for (int r = 0; first == e && r < rows; r++)
            art->row[next[block]++] = p->group_row[group] + r;
    }
}

static void number_columns(lg_articulated *art, int *next)
{
    const lg_pattern *p = art->system->pattern;
    for (int g = 0; g < p->ngroups; g++)
        number_group(art, g, NULL);
    for (int b = 0; b < p->nblocks; b++) {
        next[b] = art->first[b];
        art->first[b + 1] += art->first[b];
        art->at[b + 1] = art->at[b] + (size_t)(art->first[b + 1] - art->first[b]) * (size_t)p->nv[b];
    }
    for (int g = 0; g < p->ngroups; g++)
        number_group(art, g, next);
}

void lg_articulated_layout(lg_articulated *art, const lg_system *system, lg_arena *arena)
{
    const lg_pattern *p = system->pattern;
    size_t nblocks = (size_t)p->nblocks, nrows = (size_t)p->nrows, columns = 0, values = 0, factor = 0, more;
    *art = (lg_articulated){.system = system};
    for (int g = 0; g < p->ngroups; g++) {
        columns += count_columns(p, g, &more);
        values += more;
    }
    art->factor_at = lg_arena_take(arena, nblocks * sizeof *art->factor_at);
    for (int b = 0; b < p->nblocks; b++) {
        if (art->factor_at)
            art->factor_at[b] = factor;
        factor += (size_t)system->inverse_mass->size(system->self, b);
    }
    art->factor = lg_arena_doubles(arena, factor);
    art->first = lg_arena_ints(arena, nblocks + 1);
    art->row = lg_arena_ints(arena, columns);
    art->column = lg_arena_ints(arena, (size_t)p->group_start[p->ngroups]);
    art->at = lg_arena_take(arena, (nblocks + 1) * sizeof *art->at);
    art->C = lg_arena_doubles(arena, values);
    art->W = lg_arena_doubles(arena, values);
    art->inactive = lg_arena_doubles(arena, nrows);
    art->S = lg_arena_doubles(arena, nrows * nrows);
    art->scale = lg_arena_doubles(arena, 2 * nrows);
    art->pivots = lg_arena_ints(arena, nrows);
    int *next = lg_arena_ints(arena, nblocks);
    if (next)
        number_columns(art, next);
}

/* ---- M ---- */

lg_status lg_articulated_factor_mass(lg_articulated *art, const lg_point *point, int *deficient)
{
    const lg_system *system = art->system;
    lg_point same = *point;
    same.same_q = 1;
    for (int b = 0; b < system->pattern->nblocks; b++) {
        int velocity = 0;
        lg_status status =
            system->inverse_mass->factor(system->self, &same, b, art->factor + art->factor_at[b], &velocity);
        *deficient = -1 - system->pattern->v_start[b] - velocity;
        LG_TRY(status);
    }
    return LG_OK;
}

/* n right-hand sides on a block. */
static void solve_block(lg_articulated *art, int block, int n, double *x)
{
    const lg_system *system = art->system;
    system->inverse_mass->solve(system->self, block, art->factor + art->factor_at[block], n, system->pattern->nv[block],
                                x);
}

void lg_articulated_solve_mass(lg_articulated *art, double *x)
{
    const lg_pattern *p = art->system->pattern;
    for (int b = 0; b < p->nblocks; b++)
        solve_block(art, b, 1, x + p->v_start[b]);
}

/* ---- rows ---- */

/* Writes values of B column by column. */
static void articulated_put(const lg_articulated *art, const double *B, double *to)
{
    const lg_pattern *p = art->system->pattern;
    memset(to, 0, art->at[p->nblocks] * sizeof *to);
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g], rows = rows_of(p, g); e < p->group_start[g + 1]; e++) {
            int block = p->group_block[e], nv = p->nv[block];
            const double *from = B + p->group_value[e];
            double *out = to + art->at[block] + (size_t)(art->column[e] - art->first[block]) * (size_t)nv;
            for (int r = 0; r < rows; r++)
                for (int i = 0; i < nv; i++)
                    out[i + (size_t)nv * (size_t)r] += from[r + (size_t)rows * (size_t)i];
        }
}

static void put_columns(lg_articulated *art, const double *B)
{
    const lg_pattern *p = art->system->pattern;
    articulated_put(art, B, art->W);
    for (int b = 0; b < p->nblocks; b++)
        solve_block(art, b, art->first[b + 1] - art->first[b], art->W + art->at[b]);
}

static void put_rows(lg_articulated *art, const double *B)
{
    const lg_pattern *p = art->system->pattern;
    articulated_put(art, B, art->C);
    for (int i = 0; i < p->nmasked; i++)
        art->inactive[p->masked_row[i]] = B[p->mask_value + i];
}

/* ---- S ---- */

static double *S_at(const lg_articulated *art, int row, int column)
{
    return art->S + (size_t)row + (size_t)art->system->pattern->nrows * (size_t)column;
}

/* Adds the part of a block; one triangle of it is the other one if C and B belong to one point. */
static void articulated_add_block(lg_articulated *art, int block, int symmetric)
{
    int nv = art->system->pattern->nv[block], n = art->first[block + 1] - art->first[block];
    const int *row = art->row + art->first[block];
    const double *C = art->C + art->at[block], *W = art->W + art->at[block];
    for (int j = 0; j < n; j++)
        for (int i = symmetric ? j : 0; i < n; i++) {
            double product = lg_dot(nv, C + (size_t)i * (size_t)nv, W + (size_t)j * (size_t)nv);
            *S_at(art, row[i], row[j]) += product;
            if (symmetric && i > j)
                *S_at(art, row[j], row[i]) += product;
        }
}

/* Scales the rows, then the columns, so that their largest entries are one, whatever the units. */
static void scale_S(lg_articulated *art)
{
    int n = art->system->pattern->nrows;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            double largest = 0;
            for (int j = 0; j < n; j++)
                largest = fmax(largest, fabs(*(pass ? S_at(art, j, i) : S_at(art, i, j))));
            double scale = art->scale[pass * n + i] = largest > 0 ? 1 / largest : 1;
            for (int j = 0; j < n; j++)
                *(pass ? S_at(art, j, i) : S_at(art, i, j)) *= scale;
        }
}

lg_status lg_articulated_border(lg_articulated *art, const double *columns, const double *rows, int *deficient)
{
    int n = art->system->pattern->nrows;
    if (columns)
        put_columns(art, columns);
    if (rows)
        put_rows(art, rows);
    lg_zero(n * n, art->S);
    for (int b = 0; b < art->system->pattern->nblocks; b++)
        articulated_add_block(art, b, columns == rows);
    for (int i = 0; i < n; i++)
        *S_at(art, i, i) += art->inactive[i];
    scale_S(art);
    return lg_dense_factor(n, art->S, art->pivots, deficient);
}

void lg_articulated_solve(lg_articulated *art, double *x)
{
    const lg_pattern *p = art->system->pattern;
    int n = p->nrows;
    double *lam = x + p->v_start[p->nblocks];
    lg_articulated_solve_mass(art, x);
    if (!n)
        return;

    for (int i = 0; i < n; i++)
        lam[i] = -lam[i];
    for (int b = 0; b < p->nblocks; b++)
        for (int k = art->first[b]; k < art->first[b + 1]; k++) {
            size_t at = art->at[b] + (size_t)(k - art->first[b]) * (size_t)p->nv[b];
            lam[art->row[k]] += lg_dot(p->nv[b], art->C + at, x + p->v_start[b]);
        }
    for (int i = 0; i < n; i++)
        lam[i] *= art->scale[i];
    lg_dense_solve(n, art->S, art->pivots, lam);
    for (int i = 0; i < n; i++)
        lam[i] *= art->scale[n + i];
    for (int b = 0; b < p->nblocks; b++)
        for (int k = art->first[b]; k < art->first[b + 1]; k++) {
            size_t at = art->at[b] + (size_t)(k - art->first[b]) * (size_t)p->nv[b];
            lg_axpy(p->nv[b], -lam[art->row[k]], art->W + at, x + p->v_start[b]);
        }
}
