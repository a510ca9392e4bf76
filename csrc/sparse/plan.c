/* Makes the plan: sizes and order of the fronts, update lists, and the addresses of everything assembled. */
#include "sparse/plan.h"

#include "sparse/fronts.h"
#include "sparse/order.h"
#include "sparse/single.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    const lg_pattern *pattern;
    lg_coupling coupling;
    int *size; /* per node */
    lg_order order;
    lg_plan *plan;
} builder;

static long square(long x)
{
    return x * x;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static long rounded(long x, long unit)
{
    return (x + unit - 1) / unit * unit;
}

/* ---- sizes ---- */

static lg_status measure_nodes(builder *b)
{
    const lg_pattern *p = b->pattern;
    b->size = calloc((size_t)(p->nblocks + p->ngroups) + 1, sizeof(int));
    if (!b->size)
        return LG_NO_MEMORY;
    for (int i = 0; i < p->nblocks; i++)
        b->size[i] = p->nv[i] + p->nown[i];
    for (int g = 0; g < p->ngroups; g++)
        b->size[p->nblocks + g] = p->group_row[g + 1] - p->group_row[g];
    return LG_OK;
}

static void count_plan(builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_plan *plan = b->plan;
    plan->of_masses = b->coupling == LG_COUPLING_MASS;
    plan->nfronts = b->order.nnodes;
    plan->ncliques = p->ncliques;
    plan->nvelocities = p->v_start[p->nblocks];
    plan->size = plan->nvelocities + p->nrows;

    plan->nentries = p->group_start[p->ngroups];
    plan->nmasks = p->nmasked;
    for (int i = 0; i < p->nblocks; i++)
        plan->nentries += p->nown[i] > 0;
    for (int c = 0; c < p->ncliques; c++)
        plan->nmatrix_blocks += square(p->clique_start[c + 1] - p->clique_start[c]);

    plan->nneighbours = b->order.start[plan->nfronts];
    for (int k = 0; k < plan->nfronts; k++) {
        plan->nupdates += square(b->order.start[k + 1] - b->order.start[k]);
    }
}

static void plan_layout(void *self, lg_arena *arena)
{
    lg_plan *plan = self;
    plan->fronts = lg_arena_take(arena, (size_t)plan->nfronts * sizeof(lg_front));
    plan->neighbours = lg_arena_take(arena, (size_t)plan->nneighbours * sizeof(lg_neighbour));
    plan->updates = lg_arena_take(arena, (size_t)plan->nupdates * sizeof(lg_update));
    plan->unknowns = lg_arena_ints(arena, (size_t)plan->size);
    plan->entries = lg_arena_take(arena, (size_t)plan->nentries * sizeof(lg_entry_address));
    plan->masks = lg_arena_take(arena, (size_t)plan->nmasks * sizeof(lg_mask_address));
    plan->matrix_blocks = lg_arena_take(arena, (size_t)plan->nmatrix_blocks * sizeof(lg_matrix_block));
}

/* ---- fronts ---- */

/* The front of the i-th row that may be inactive. */
static lg_front *masked_front(const builder *b, int i)
{
    return &b->plan->fronts[b->order.position[b->pattern->nblocks + b->pattern->masked_group[i]]];
}

static void fill_neighbours(builder *b, int k)
{
    lg_front *front = &b->plan->fronts[k];
    front->neighbour = (int)b->order.start[k];
    front->neighbours = (int)(b->order.start[k + 1] - b->order.start[k]);
    front->m = 0;
    for (int s = front->neighbour; s < front->neighbour + front->neighbours; s++) {
        int later = b->order.later[s], size = b->size[b->order.node[later]];
        lg_front *target = &b->plan->fronts[later];
        b->plan->neighbours[s] =
            (lg_neighbour){.start = front->m, .size = size, .starts = target->changed ? -1 : later};
        target->shared = target->changed, target->changed = 1, target->fresh = 0;
        target->whole &= s + 1 == front->neighbour + front->neighbours; // no panel of the last one is changed
        front->m += size;
    }
}

static void fill_sizes(builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_plan *plan = b->plan;
    for (int k = 0; k < plan->nfronts; k++)
        plan->fronts[k].fresh = b->order.node[k] < p->nblocks, plan->fronts[k].whole = 1;
    for (int i = 0; i < p->nmasked; i++)
        masked_front(b, i)->watched = 1;

    int pivot = 0;
    int updates = 0;
    for (int k = 0; k < plan->nfronts; k++) {
        lg_front *front = &plan->fronts[k];
        int node = b->order.node[k], is_block = node < p->nblocks;
        fill_neighbours(b, k);
        front->n = b->size[node];
        front->ld = (int)rounded(front->m, LG_CHUNK);
        front->velocities = is_block ? p->nv[node] : 0;
        front->bordered = is_block && p->nown[node] > 0 && p->nv[node] > 0;
        front->pivot = pivot;
        front->updates = updates;
        pivot += front->n;
        updates += front->neighbours * front->neighbours;
        plan->largest = larger(plan->largest, front->n);
        plan->widest = larger(plan->widest, front->m);
    }
    plan->apart = plan->nneighbours == 0;
    for (lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        front->constant = front->fresh && front->velocities == front->n;
        plan->apart &= front->constant && front->n <= LG_MOST_INVERTED;
    }
}

/* Whether elements add to the front at position k: that of a block, of a group eliminated before one of its blocks, or
   of one with rows that may be inactive. */
static int is_assembled(const builder *b, int k)
{
    const lg_pattern *p = b->pattern;
    int group = b->order.node[k] - p->nblocks, assembled = group < 0 || b->plan->fronts[k].watched;
    for (int e = group < 0 ? 0 : p->group_start[group]; group >= 0 && e < p->group_start[group + 1]; e++)
        assembled |= b->order.position[p->group_block[e]] > k;
    return assembled;
}

/* A body and its joint to the next one, if the joint may pin it: no other front changes that of the joint. */
static void choose_pin(lg_plan *plan, lg_front *front)
{
    int joint = plan->neighbours[front->neighbour].starts;
    lg_front *with = &plan->fronts[joint];
    if (with->single != LG_SINGLE_3_6 || with->shared || with->watched)
        return;
    front->joint = joint;
    front->single = LG_SINGLE_PINNED;
    with->single = LG_SINGLE_PINNING;
}

/* Which fronts have whole panels, and which are taken by the kernels for a single neighbour. */
static void choose_kernels(builder *b)
{
    lg_plan *plan = b->plan;
    for (int k = 0; k < plan->nfronts; k++)
        plan->fronts[k].whole = plan->fronts[k].whole && is_assembled(b, k);
    for (lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        const lg_neighbour *with = plan->neighbours + front->neighbour;
        int may = front->neighbours == 1 && with->starts >= 0 && !front->bordered && (front->fresh || front->changed);
        if (may && front->whole && (plan->fronts[with->starts].whole || plan->fronts[with->starts].m == 0))
            front->single = lg_single_of(front->n, front->m);
    }
    for (lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        if (front->single == LG_SINGLE_6_3 && !front->fresh)
            choose_pin(plan, front);
}

/* Assigns the memory of the fronts that elements add to, or of the others. */
static void lay_out_fronts(builder *b, int assembled)
{
    lg_plan *plan = b->plan;
    for (int k = 0; k < plan->nfronts; k++) {
        lg_front *front = &plan->fronts[k];
        if (is_assembled(b, k) != assembled)
            continue;
        long U = plan->nvalues + rounded(square(front->n), LG_CHUNK);
        long L = U + rounded((long)front->n * front->m, LG_CHUNK), end = L + (long)front->ld * front->n;
        front->D = (int)plan->nvalues, front->U = (int)U, front->L = (int)L, front->end = (int)end;
        plan->nvalues = rounded(end, 4);
    }
    if (assembled)
        plan->nassembled = plan->nvalues;
}

/* The unknowns of a node: velocities, then its rows. */
static int *put_unknowns(const builder *b, int node, int *out)
{
    const lg_pattern *p = b->pattern;
    int group = node - p->nblocks, nv = 0, row, rows;
    if (group < 0) {
        nv = p->nv[node], row = p->own_row[node], rows = p->nown[node];
    } else {
        row = p->group_row[group], rows = p->group_row[group + 1] - row;
    }
    for (int i = 0; i < nv; i++)
        *out++ = p->v_start[node] + i;
    for (int i = 0; i < rows; i++)
        *out++ = b->plan->nvelocities + row + i;
    return out;
}

static void fill_unknowns(builder *b)
{
    lg_plan *plan = b->plan;
    int *out = plan->unknowns;
    for (int k = 0; k < plan->nfronts; k++)
        out = put_unknowns(b, b->order.node[k], out);
}

/* Where fronts find their unknowns in the vector of a solution: in the given order, or in that of elimination if some
   block has velocities and own rows, which are apart in the given order. */
static void fill_solution(builder *b)
{
    lg_plan *plan = b->plan;
    plan->in_place = 1;
    for (int k = 0; k < plan->nfronts; k++)
        plan->in_place &= !plan->fronts[k].bordered;
    for (lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        front->first_unknown = plan->in_place && front->n ? plan->unknowns[front->pivot] : front->pivot;
    for (long s = 0; s < plan->nneighbours; s++) {
        const lg_front *later = &plan->fronts[b->order.later[s]];
        plan->neighbours[s].pivot = later->pivot;
        plan->neighbours[s].first_unknown = later->first_unknown;
    }
    for (lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++)
        for (int s = front->neighbour; s < front->neighbour + front->neighbours; s++)
            front->coupled |= plan->fronts[b->order.later[s]].velocities > 0;
}

/* ---- addresses ---- */

/* Where the unknowns of front j start among the later ones of front i < j. */
static int start_of(const builder *b, int i, int j)
{
    long low = b->order.start[i], high = b->order.start[i + 1] - 1;
    while (low < high) {
        long middle = (low + high) / 2;
        if (b->order.later[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return b->plan->neighbours[low].start;
}

/* Where the rows of front i meet the columns of front j. */
static lg_matrix_block find_matrix_block(const builder *b, int i, int j)
{
    const lg_front *row = &b->plan->fronts[i], *column = &b->plan->fronts[j];
    if (i == j)
        return (lg_matrix_block){row->D, row->n};
    if (i < j)
        return (lg_matrix_block){row->U + row->n * start_of(b, i, j), row->n};
    return (lg_matrix_block){column->L + start_of(b, j, i), column->ld};
}

static void fill_updates(builder *b)
{
    lg_update *update = b->plan->updates;
    for (int k = 0; k < b->plan->nfronts; k++)
        for (long t = b->order.start[k]; t < b->order.start[k + 1]; t++)
            for (long s = b->order.start[k]; s < b->order.start[k + 1]; s++) {
                int i = b->order.later[s], j = b->order.later[t];
                lg_matrix_block matrix_block = find_matrix_block(b, i, j);
                *update++ = (lg_update){matrix_block.at, matrix_block.ld};
            }
}

static void fill_matrix_blocks(builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_matrix_block *matrix_block = b->plan->matrix_blocks;
    for (int c = 0; c < p->ncliques; c++) {
        const int *block = p->clique_block + p->clique_start[c];
        int count = p->clique_start[c + 1] - p->clique_start[c];
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++)
                *matrix_block++ = find_matrix_block(b, b->order.position[block[i]], b->order.position[block[j]]);
    }
}

static lg_entry_address group_entry(const builder *b, int group, int entry)
{
    const lg_pattern *p = b->pattern;
    int block = p->group_block[entry], rows = p->group_row[group + 1] - p->group_row[group];
    int i = b->order.position[block], j = b->order.position[p->nblocks + group];
    lg_matrix_block U = find_matrix_block(b, i, j), L = find_matrix_block(b, j, i);
    lg_entry_address address = {.block = block, .nv = p->nv[block], .rows = rows, .value = p->group_value[entry]};
    address.ld_U = U.ld, address.U = U.at;
    address.ld_L = L.ld, address.L = L.at;
    for (int e = p->group_start[group]; e < entry; e++)
        address.again |= p->group_block[e] == block;
    return address;
}

static lg_entry_address own_entry(const builder *b, int block)
{
    const lg_pattern *p = b->pattern;
    const lg_front *front = &b->plan->fronts[b->order.position[block]];
    int n = front->n, nv = p->nv[block];
    lg_entry_address address = {.block = block, .nv = nv, .rows = p->nown[block], .value = p->own_value[block]};
    address.ld_U = address.ld_L = n;
    address.U = front->D + n * nv, address.L = front->D + nv;
    return address;
}

static void fill_entries(builder *b)
{
    const lg_pattern *p = b->pattern;
    lg_entry_address *address = b->plan->entries;
    for (int group = 0; group < p->ngroups; group++)
        for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
            *address++ = group_entry(b, group, e);
    for (int block = 0; block < p->nblocks; block++)
        if (p->nown[block])
            *address++ = own_entry(b, block);
}

static void fill_masks(builder *b)
{
    const lg_pattern *p = b->pattern;
    for (int i = 0; i < p->nmasked; i++) {
        const lg_front *front = masked_front(b, i);
        int row = p->masked_row[i] - p->group_row[p->masked_group[i]];
        b->plan->masks[i] = (lg_mask_address){p->mask_value + i, front->D + row * (front->n + 1)};
    }
}

/* ---- creation ---- */

static lg_status build_plan(builder *b)
{
    LG_TRY(measure_nodes(b));
    lg_order order = {0};
    lg_status status = lg_order_create(b->pattern, b->size, b->coupling == LG_COUPLING_MASS, &order);
    b->order = order;
    LG_TRY(status);
    count_plan(b);
    if (b->plan->nneighbours > INT_MAX || b->plan->nupdates > INT_MAX)
        return LG_NO_MEMORY;
    LG_TRY(lg_arena_open(&b->plan->memory, plan_layout, b->plan));

    fill_sizes(b);
    choose_kernels(b);
    lay_out_fronts(b, 1);
    lay_out_fronts(b, 0);
    if (b->plan->nvalues > INT_MAX)
        return LG_NO_MEMORY;
    fill_unknowns(b);
    fill_solution(b);
    fill_updates(b);
    fill_matrix_blocks(b);
    fill_entries(b);
    fill_masks(b);
    return LG_OK;
}

lg_status lg_plan_make(const lg_pattern *pattern, lg_coupling coupling, lg_plan **plan)
{
    builder b = {.pattern = pattern, .coupling = coupling, .plan = calloc(1, sizeof(lg_plan))};
    lg_status status = b.plan ? build_plan(&b) : LG_NO_MEMORY;
    free(b.size);
    lg_order_free(&b.order);
    if (status == LG_OK)
        *plan = b.plan;
    else
        lg_plan_free(b.plan);
    return status;
}

void lg_plan_drop_schur(lg_plan *plan)
{
    if (!plan->schur)
        return;
    lg_plan_free(plan->schur->masses);
    lg_plan_free(plan->schur->groups);
    lg_arena_close(&plan->schur->memory);
    free(plan->schur);
    plan->schur = NULL;
}

void lg_plan_free(lg_plan *plan)
{
    if (!plan)
        return;
    lg_plan_drop_schur(plan);
    lg_arena_close(&plan->memory);
    free(plan);
}

int lg_plan_is_of_masses(const lg_plan *plan)
{
    return plan->of_masses;
}

long lg_plan_values(const lg_plan *plan)
{
    return plan->nvalues;
}

int lg_plan_fronts(const lg_plan *plan)
{
    return plan->nfronts;
}

/* For each front, with n pivots and m later unknowns: the factorisation takes the LU of the pivot block, both panels
   and their product; the solution takes the triangles of the pivot block and both panels, once each. */
void lg_plan_operations(const lg_plan *plan, double *factor, double *solve)
{
    *factor = *solve = 0;
    for (const lg_front *front = plan->fronts; front < plan->fronts + plan->nfronts; front++) {
        double n = front->n, m = front->m;
        *factor += n * n * n / 3 + n * n * m + n * m * m;
        *solve += n * n + 2 * n * m;
    }
}
