/* The plan of a reduction to the Schur complement of the constraint rows; see schur.h. */
#include "sparse/fronts.h"
#include "sparse/schur.h"

#include <stdlib.h>
#include <string.h>

typedef struct schur_builder {
    const lg_pattern *pattern;
    lg_schur_plan *schur;
    /* The groups on each block as cliques, and the entries that put them there; per group its rows, and a zero. */
    int *start, *group, *entry, *rows, *zero;
    int *order; /* per clique: its entries in the order in which their groups are eliminated */
    int *front; /* per block or group: its position in the order of elimination, 0 if it has no unknowns */
    int *memory;
} schur_builder;

/* ---- whether there is one ---- */

static int rows_of(const lg_pattern *p, int group)
{
    return p->group_row[group + 1] - p->group_row[group];
}

static int is_reducible(const lg_pattern *p)
{
    int reducible = p->ngroups > 0;
    for (int b = 0; b < p->nblocks; b++)
        reducible &= p->nown[b] == 0 && p->nv[b] <= LG_MOST_INVERTED;
    for (int c = 0; c < p->ncliques; c++)
        reducible &= p->clique_start[c + 1] - p->clique_start[c] == 1;
    return reducible;
}

/* Multiplications that form S. */
static double work_of(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    double work = 0;
    for (int i = 0; i < p->nblocks; i++) {
        double rows = 0, nv = p->nv[i];
        for (int k = b->start[i]; k < b->start[i + 1]; k++)
            rows += rows_of(p, b->group[k]);
        work += nv * rows * (nv + rows);
    }
    return work;
}

/* ---- its sub-plans ---- */

static lg_status open_builder(schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    size_t entries = (size_t)p->group_start[p->ngroups], nblocks = (size_t)p->nblocks, ngroups = (size_t)p->ngroups;
    b->memory = calloc(2 * nblocks + 1 + 3 * entries + 3 * ngroups + 1, sizeof(int));
    if (!b->memory)
        return LG_NO_MEMORY;
    b->start = b->memory;
    b->group = b->start + nblocks + 1;
    b->entry = b->group + entries;
    b->order = b->entry + entries;
    b->rows = b->order + entries;
    b->zero = b->rows + ngroups;
    b->front = b->zero + ngroups;
    return LG_OK;
}

/* Sorts the entries of B by blocks. */
static void sort_entries(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    int *next = b->front;
    for (int e = 0; e < p->group_start[p->ngroups]; e++)
        b->start[p->group_block[e] + 1]++;
    for (int i = 0; i < p->nblocks; i++) {
        b->start[i + 1] += b->start[i];
        next[i] = b->start[i];
    }
    for (int g = 0; g < p->ngroups; g++) {
        b->rows[g] = rows_of(p, g);
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int k = next[p->group_block[e]]++;
            b->group[k] = g, b->entry[k] = e;
        }
    }
}

static lg_status plan_masses(const schur_builder *b)
{
    lg_pattern masses = *b->pattern;
    masses.ngroups = masses.nmasked = masses.nnonholonomic = masses.nrows = 0;
    return lg_plan_make(&masses, LG_COUPLING_MASS, &b->schur->masses);
}

static lg_status plan_groups(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_pattern groups = {.nblocks = p->ngroups,
                         .nv = b->rows,
                         .nown = b->zero,
                         .own_row = b->zero,
                         .own_value = b->zero,
                         .v_start = p->group_row,
                         .group_row = b->zero,
                         .group_start = b->zero,
                         .ncliques = p->nblocks,
                         .nmass_cliques = p->nblocks,
                         .clique_start = b->start,
                         .clique_block = b->group};
    return lg_plan_make(&groups, LG_COUPLING_MASS, &b->schur->groups);
}

/* The node of those that start at these unknowns to which an unknown belongs. */
static int node_at(int nnodes, const int *start, int unknown)
{
    int low = 0, high = nnodes;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (start[middle] <= unknown)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The fronts of the nodes whose unknowns start where `start` says. */
static void find_fronts(const lg_plan *plan, int nnodes, const int *start, int *front)
{
    memset(front, 0, (size_t)nnodes * sizeof *front);
    for (int k = 0; k < plan->nfronts; k++)
        if (plan->fronts[k].n)
            front[node_at(nnodes, start, plan->unknowns[plan->fronts[k].pivot])] = k;
}

/* ---- its lists ---- */

static void count_lists(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_schur_plan *s = b->schur;
    s->nblocks = p->nblocks, s->nentries = p->group_start[p->ngroups], s->nmasks = p->nmasked;
    for (int i = 0; i < p->nblocks; i++) {
        int count = b->start[i + 1] - b->start[i];
        s->nproducts += (long)count * count;
    }
}

static void schur_layout(void *self, lg_arena *arena)
{
    lg_schur_plan *s = self;
    s->blocks = lg_arena_take(arena, (size_t)s->nblocks * sizeof *s->blocks);
    s->entries = lg_arena_take(arena, (size_t)s->nentries * sizeof *s->entries);
    s->products = lg_arena_take(arena, (size_t)s->nproducts * sizeof *s->products);
    s->masks = lg_arena_take(arena, (size_t)s->nmasks * sizeof *s->masks);
}

static int front_at(const schur_builder *b, int k)
{
    return b->front[b->group[k]];
}

/* Sorts the entries of a block by their fronts; there are few. */
static void sort_block(const schur_builder *b, int first, int count, int *order)
{
    for (int k = 0; k < count; k++) {
        int to = k;
        for (; to > 0 && front_at(b, first + order[to - 1]) > front_at(b, first + k); to--)
            order[to] = order[to - 1];
        order[to] = k;
    }
}

/* Fills block i, whose products begin at this number, from where the entries of
   the clique of its groups meet. */
static void fill_block(const schur_builder *b, int i, int products, const lg_matrix_block *matrix_block)
{
    const lg_pattern *p = b->pattern;
    lg_schur_plan *s = b->schur;
    lg_schur_block *block = &s->blocks[i];
    int first = b->start[i], count = b->start[i + 1] - first, *order = b->order + first;
    sort_block(b, first, count, order);
    *block = (lg_schur_block){.nv = p->nv[i], .velocity = p->v_start[i], .first = first, .count = count};
    block->products = products;
    for (int l = 0; l < count; l++) {
        int from = first + order[l], group = b->group[from], rows = b->rows[group];
        int repeats = l > 0 && b->group[first + order[l - 1]] == group;
        s->entries[first + l] = (lg_schur_entry){.rows = rows,
                                                 .row = p->group_row[group],
                                                 .value = p->group_value[b->entry[from]],
                                                 .lower = repeats ? s->entries[first + l - 1].lower : l};
        block->rows = l == 0 || block->rows == rows ? rows : 0;
        s->largest = rows * p->nv[i] > s->largest ? rows * p->nv[i] : s->largest;
        for (int k = 0; k < count; k++)
            s->products[products++] = matrix_block[(long)order[k] * count + order[l]];
    }
}

static void fill_blocks(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    int products = 0;
    find_fronts(b->schur->groups, p->ngroups, p->group_row, b->front);
    for (int i = 0; i < p->nblocks; i++) {
        int count = b->start[i + 1] - b->start[i];
        fill_block(b, i, products, b->schur->groups->matrix_blocks + products);
        products += count * count;
    }
}

static void fill_inverses(const schur_builder *b)
{
    find_fronts(b->schur->masses, b->pattern->nblocks, b->pattern->v_start, b->front);
    for (int i = 0; i < b->pattern->nblocks; i++)
        b->schur->blocks[i].inverse = b->schur->masses->fronts[b->front[i]].D;
}

static void fill_masks(const schur_builder *b)
{
    const lg_pattern *p = b->pattern;
    for (int i = 0; i < p->nmasked; i++) {
        int group = p->masked_group[i], row = p->masked_row[i] - p->group_row[group];
        lg_front *front = &b->schur->groups->fronts[b->front[group]];
        front->watched = 1;
        b->schur->masks[i] = (lg_mask_address){p->mask_value + i, front->D + row * (front->n + 1)};
    }
}

static void fill_lists(const schur_builder *b)
{
    fill_blocks(b);
    fill_masks(b);
    fill_inverses(b);
}

/* ---- creation ---- */

/* *pays: whether it takes less work than the plan of the whole matrix. */
static lg_status build_schur(schur_builder *b, const lg_plan *whole, int *pays)
{
    double most, factor, solve;
    LG_TRY(open_builder(b));
    sort_entries(b);
    lg_plan_operations(whole, &most, &solve);
    *pays = work_of(b) <= most;
    if (!*pays)
        return LG_OK;
    LG_TRY(plan_groups(b));
    lg_plan_operations(b->schur->groups, &factor, &solve);
    *pays = work_of(b) + factor <= most;
    if (!*pays)
        return LG_OK;
    LG_TRY(plan_masses(b));
    count_lists(b);
    LG_TRY(lg_arena_open(&b->schur->memory, schur_layout, b->schur));
    fill_lists(b);
    return LG_OK;
}

lg_status lg_schur_plan_create(const lg_pattern *pattern, lg_plan *whole)
{
    if (!is_reducible(pattern))
        return LG_OK;
    int pays = 0;
    schur_builder b = {.pattern = pattern, .schur = calloc(1, sizeof(lg_schur_plan))};
    lg_status status = b.schur ? build_schur(&b, whole, &pays) : LG_NO_MEMORY;
    free(b.memory);
    whole->schur = b.schur;
    if (status != LG_OK || !pays)
        lg_plan_drop_schur(whole);
    return status;
}
