/* Minimum-degree order by elimination on an explicit graph: lists of neighbours, a table of the pairs that are
   neighbours already, and an indexed heap of the nodes that may be eliminated next. The work grows with the fill, apart
   from the logarithm of the heap: a node with thousands of neighbours costs no more than its pairs. */
#include "sparse/order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct list {
    int *at;
    int count, room;
} list;

/* The pairs (i, j), i < j, of neighbours, as i nnodes + j + 1; 0 where a slot is free. Open addressing, at most half
   full. */
typedef struct pair_table {
    int64_t *slot;
    size_t count, room; /* room: a power of two */
} pair_table;

typedef struct graph {
    int nnodes, nblocks;
    const int *size;
    const lg_pattern *pattern;
    list *adjacent; /* per node, those eliminated since included; of an eliminated node: its later neighbours */
    pair_table pairs;
    long *degree; /* per node: unknowns of its neighbours */
    char *gone; /* per node: it has been eliminated */
    int *first, *groups; /* per block, nblocks + 1: first of its groups, one for each entry */
    int *waiting; /* per group: entries whose block has not been eliminated */
    int *staying; /* per block: entries of groups that have not left it, see has_own_block */
    char *left; /* per group: it has left its blocks */
    int *stack, stack_count; /* groups that are about to leave their blocks */
    int *heap, *heap_index; /* nodes by (degree, size, node); per node its index in the heap, -1 if it is not there */
    int heap_count;
    int blocks_first; /* blocks come before groups at equal degree */
    int complete; /* the nodes that are left are all neighbours of one another */
} graph;

static lg_status append(list *l, int value)
{
    if (l->count == l->room) {
        int room = 2 * l->room + 4, *at = realloc(l->at, (size_t)room * sizeof(int));
        if (!at)
            return LG_NO_MEMORY;
        l->at = at;
        l->room = room;
    }
    l->at[l->count++] = value;
    return LG_OK;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* ---- table of pairs ---- */

/* The slot that holds `key`, or the free one where it belongs. */
static int64_t *slot_of(const pair_table *table, int64_t key)
{
    uint64_t mixed = (uint64_t)key * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio spreads neighbouring keys */
    size_t at = (size_t)(mixed >> 32) & (table->room - 1);
    while (table->slot[at] && table->slot[at] != key)
        at = (at + 1) & (table->room - 1);
    return &table->slot[at];
}

static lg_status grow(pair_table *table)
{
    pair_table larger = {.count = table->count, .room = table->room ? 2 * table->room : 1024};
    larger.slot = calloc(larger.room, sizeof *larger.slot);
    if (!larger.slot)
        return LG_NO_MEMORY;
    for (size_t i = 0; i < table->room; i++)
        if (table->slot[i])
            *slot_of(&larger, table->slot[i]) = table->slot[i];
    free(table->slot);
    *table = larger;
    return LG_OK;
}

/* Adds a pair to the table; *is_new: it was not there before. */
static lg_status table_add(pair_table *table, int64_t key, int *is_new)
{
    if (2 * table->count >= table->room)
        LG_TRY(grow(table));
    int64_t *slot = slot_of(table, key);
    *is_new = *slot == 0;
    *slot = key;
    table->count += *is_new;
    return LG_OK;
}

/* ---- heap ---- */

static int before(const graph *g, int a, int b)
{
    int a_group = a >= g->nblocks, b_group = b >= g->nblocks;
    if (g->degree[a] != g->degree[b])
        return g->degree[a] < g->degree[b];
    if (g->blocks_first && a_group != b_group)
        return b_group;
    return g->size[a] != g->size[b] ? g->size[a] < g->size[b] : a < b;
}

static void order_put(graph *g, int at, int node)
{
    g->heap[at] = node;
    g->heap_index[node] = at;
}

static void sift_up(graph *g, int at)
{
    int node = g->heap[at];
    for (; at > 0 && before(g, node, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        order_put(g, at, g->heap[(at - 1) / 2]);
    order_put(g, at, node);
}

static void sift_down(graph *g, int at)
{
    int node = g->heap[at];
    for (;;) {
        int child = 2 * at + 1;
        if (child + 1 < g->heap_count && before(g, g->heap[child + 1], g->heap[child]))
            child++;
        if (child >= g->heap_count || !before(g, g->heap[child], node))
            break;
        order_put(g, at, g->heap[child]);
        at = child;
    }
    order_put(g, at, node);
}

static void heap_insert(graph *g, int node)
{
    order_put(g, g->heap_count, node);
    sift_up(g, g->heap_count++);
}

static int heap_pop(graph *g)
{
    int node = g->heap[0];
    g->heap_index[node] = -1;
    if (--g->heap_count > 0) {
        order_put(g, 0, g->heap[g->heap_count]);
        sift_down(g, 0);
    }
    return node;
}

static void heap_moved(graph *g, int node)
{
    sift_up(g, g->heap_index[node]);
    sift_down(g, g->heap_index[node]);
}

/* ---- graph ---- */

static lg_status graph_alloc(graph *g)
{
    size_t n = (size_t)g->nnodes + 1; /* never an allocation of zero bytes */
    g->adjacent = calloc(n, sizeof *g->adjacent);
    g->degree = calloc(n, sizeof *g->degree);
    g->gone = calloc(n, sizeof *g->gone);
    g->waiting = calloc(n, sizeof *g->waiting);
    g->first = calloc(n, sizeof *g->first);
    g->groups = calloc((size_t)g->pattern->group_start[g->pattern->ngroups] + 1, sizeof *g->groups);
    g->staying = calloc(n, sizeof *g->staying);
    g->left = calloc(n, sizeof *g->left);
    g->stack = calloc(n, sizeof *g->stack);
    g->heap = calloc(n, sizeof *g->heap);
    g->heap_index = calloc(n, sizeof *g->heap_index);
    return g->adjacent && g->degree && g->gone && g->first && g->groups && g->waiting && g->staying && g->left &&
                   g->stack && g->heap && g->heap_index
               ? LG_OK
               : LG_NO_MEMORY;
}

static void graph_free(graph *g)
{
    for (int i = 0; g->adjacent && i < g->nnodes; i++)
        free(g->adjacent[i].at);
    free(g->adjacent);
    free(g->pairs.slot);
    free(g->degree);
    free(g->gone);
    free(g->waiting);
    free(g->first);
    free(g->groups);
    free(g->staying);
    free(g->left);
    free(g->stack);
    free(g->heap);
    free(g->heap_index);
}

/* Makes two nodes neighbours, unless they already are. */
static lg_status connect(graph *g, int i, int j)
{
    int low = i < j ? i : j, high = i < j ? j : i, is_new;
    if (low == high)
        return LG_OK;
    LG_TRY(table_add(&g->pairs, (int64_t)low * g->nnodes + high + 1, &is_new));
    if (!is_new)
        return LG_OK;
    LG_TRY(append(&g->adjacent[i], j));
    LG_TRY(append(&g->adjacent[j], i));
    g->degree[i] += g->size[j];
    g->degree[j] += g->size[i];
    return LG_OK;
}

static lg_status connect_groups(graph *g)
{
    const lg_pattern *p = g->pattern;
    for (int group = 0; group < p->ngroups; group++) {
        g->waiting[group] = p->group_start[group + 1] - p->group_start[group];
        for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++) {
            g->staying[p->group_block[e]]++;
            LG_TRY(connect(g, p->group_block[e], g->nblocks + group));
        }
    }
    return LG_OK;
}

/* The groups of each block. */
static void list_groups(graph *g)
{
    const lg_pattern *p = g->pattern;
    for (int b = 0; b < g->nblocks; b++)
        g->first[b + 1] = g->first[b] + g->staying[b];
    for (int group = p->ngroups - 1; group >= 0; group--)
        for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
            g->groups[--g->first[p->group_block[e] + 1]] = group;
    for (int b = 0; b < g->nblocks; b++)
        g->first[b] = g->first[b + 1];
    g->first[g->nblocks] = p->group_start[p->ngroups];
}

static lg_status connect_cliques(graph *g)
{
    const lg_pattern *p = g->pattern;
    for (int c = 0; c < p->ncliques; c++)
        for (int i = p->clique_start[c]; i < p->clique_start[c + 1]; i++)
            for (int j = p->clique_start[c]; j < i; j++)
                LG_TRY(connect(g, p->clique_block[i], p->clique_block[j]));
    return LG_OK;
}

static void start_heap(graph *g)
{
    for (int node = 0; node < g->nnodes; node++) {
        g->heap_index[node] = -1;
        if (node < g->nblocks || !g->waiting[node - g->nblocks])
            heap_insert(g, node);
    }
}

/* ---- which groups may be eliminated ---- */

/* A group may be eliminated after all of its blocks, or as soon as it has a block to itself: an eliminated block on
   which its rows are independent and which every other group has left. A group leaves its blocks once it has been
   eliminated and has a block to itself. Rows of two groups may be dependent on one block and yet independent on all of
   their blocks; by this rule each group that leaves has a block of its own that no later group acts on. The rows of B
   eliminated so far are then block-triangular on the blocks eliminated so far, so that their Schur complement has full
   rank. */
static int has_own_block(const graph *g, int group)
{
    const lg_pattern *p = g->pattern;
    int has = 0;
    for (int e = p->group_start[group]; p->group_sufficient && e < p->group_start[group + 1]; e++)
        has |= p->group_sufficient[e] && g->gone[p->group_block[e]] && g->staying[p->group_block[e]] == 1;
    return has;
}

/* Updates all groups on an eliminated block: groups that may now be eliminated enter the heap; groups that have been
   eliminated and now have a block to themselves are put on the stack of those that leave. */
static void look_at_groups(graph *g, int block)
{
    for (int s = g->first[block]; s < g->first[block + 1]; s++) {
        int group = g->groups[s], node = g->nblocks + group, own = has_own_block(g, group);
        if (!g->gone[node] && g->heap_index[node] < 0 && (own || g->waiting[group] == 0))
            heap_insert(g, node);
        if (g->gone[node] && !g->left[group] && own) {
            g->left[group] = 1;
            g->stack[g->stack_count++] = group;
        }
    }
}

static void block_gone(graph *g, int block)
{
    for (int s = g->first[block]; s < g->first[block + 1]; s++)
        g->waiting[g->groups[s]]--;
    look_at_groups(g, block);
}

/* An eliminated group with a block to itself leaves its other blocks. Each of those may thereby become the own block of
   the last group on it, and so on from the tips of a tree inwards. */
static void group_gone(graph *g, int group)
{
    const lg_pattern *p = g->pattern;
    if (!has_own_block(g, group))
        return;
    g->left[group] = 1;
    g->stack[g->stack_count++] = group;
    while (g->stack_count) {
        int leaving = g->stack[--g->stack_count];
        for (int e = p->group_start[leaving]; e < p->group_start[leaving + 1]; e++)
            if (--g->staying[p->group_block[e]] == 1 && g->gone[p->group_block[e]])
                look_at_groups(g, p->group_block[e]);
    }
}

/* ---- elimination ---- */

/* Removes the eliminated nodes from a list of neighbours. */
static void forget_gone(const graph *g, list *l)
{
    int count = 0;
    for (int s = 0; s < l->count; s++)
        if (!g->gone[l->at[s]])
            l->at[count++] = l->at[s];
    l->count = count;
}

/* Eliminates node k as the `nth`: its neighbours become neighbours of one another. */
static lg_status eliminate(graph *g, int k, int nth)
{
    const list *left = &g->adjacent[k];
    g->gone[k] = 1;
    forget_gone(g, &g->adjacent[k]);
    for (int s = 0; s < left->count; s++) {
        g->degree[left->at[s]] -= g->size[k];
        for (int t = 0; t < s && !g->complete; t++)
            LG_TRY(connect(g, left->at[s], left->at[t]));
    }
    g->complete |= left->count == g->nnodes - nth - 1;
    for (int s = 0; s < left->count; s++)
        if (g->heap_index[left->at[s]] >= 0)
            heap_moved(g, left->at[s]);
    return LG_OK;
}

static lg_status order_alloc(lg_order *order, int nnodes)
{
    size_t n = (size_t)nnodes + 1;
    order->nnodes = nnodes;
    order->node = calloc(n, sizeof *order->node);
    order->position = calloc(n, sizeof *order->position);
    order->start = calloc(n, sizeof *order->start);
    return order->node && order->position && order->start ? LG_OK : LG_NO_MEMORY;
}

static lg_status eliminate_all(graph *g, lg_order *order)
{
    for (int k = 0; k < g->nnodes; k++) {
        int node = heap_pop(g);
        order->node[k] = node;
        order->position[node] = k;
        LG_TRY(eliminate(g, node, k));
        order->start[k + 1] = order->start[k] + g->adjacent[node].count;
        if (node < g->nblocks)
            block_gone(g, node);
        else
            group_gone(g, node - g->nblocks);
    }
    return LG_OK;
}

static lg_status collect_later(const graph *g, lg_order *order)
{
    order->later = calloc((size_t)order->start[g->nnodes] + 1, sizeof(int));
    if (!order->later)
        return LG_NO_MEMORY;
    for (int k = 0; k < g->nnodes; k++) {
        const list *adjacent = &g->adjacent[order->node[k]];
        int *later = order->later + order->start[k];
        for (int s = 0; s < adjacent->count; s++)
            later[s] = order->position[adjacent->at[s]];
        qsort(later, (size_t)adjacent->count, sizeof(int), ascending);
    }
    return LG_OK;
}

static lg_status build_graph(graph *g, lg_order *order)
{
    LG_TRY(graph_alloc(g));
    LG_TRY(order_alloc(order, g->nnodes));
    LG_TRY(connect_groups(g));
    list_groups(g);
    LG_TRY(connect_cliques(g));
    start_heap(g);
    LG_TRY(eliminate_all(g, order));
    return collect_later(g, order);
}

lg_status lg_order_create(const lg_pattern *pattern, const int *size, int blocks_first, lg_order *order)
{
    graph g = {.nnodes = pattern->nblocks + pattern->ngroups, .nblocks = pattern->nblocks, .size = size};
    g.pattern = pattern, g.blocks_first = blocks_first;
    *order = (lg_order){0};
    lg_status status = build_graph(&g, order);
    graph_free(&g);
    if (status != LG_OK)
        lg_order_free(order);
    return status;
}

void lg_order_free(lg_order *order)
{
    free(order->node);
    free(order->position);
    free(order->start);
    free(order->later);
    *order = (lg_order){0};
}
