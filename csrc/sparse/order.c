/* Minimum-degree order by elimination on an explicit graph: sorted neighbour lists, merged as nodes disappear, and an
   indexed heap of the nodes that may go next. Linear, up to the logarithm of the heap, where the fill is. */
#include "sparse/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct list {
    int *at;
    int count, room;
} list;

typedef struct graph {
    int nnodes, nblocks;
    const int *size;
    list *adjacent; /* per node, sorted; of an eliminated node: its later neighbours */
    list merged; /* scratch */
    long *degree; /* per node: unknowns of its neighbours */
    int *waiting; /* per node: entries of the group whose block is still there */
    int *heap, *place; /* nodes by (degree, node); where a node is in the heap, -1 if it is not */
    int heap_count;
} graph;

static lg_status reserve(list *l, int room)
{
    if (room <= l->room)
        return LG_OK;
    int *at = realloc(l->at, (size_t)room * sizeof(int));
    if (!at)
        return LG_NO_MEMORY;
    l->at = at;
    l->room = room;
    return LG_OK;
}

static lg_status append(list *l, int value)
{
    if (l->count == l->room)
        LG_TRY(reserve(l, 2 * l->room + 4));
    l->at[l->count++] = value;
    return LG_OK;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_unique(list *l)
{
    if (l->count == 0)
        return;
    qsort(l->at, (size_t)l->count, sizeof(int), ascending);
    int kept = 1;
    for (int i = 1; i < l->count; i++)
        if (l->at[i] != l->at[kept - 1])
            l->at[kept++] = l->at[i];
    l->count = kept;
}

/* ---- heap ---- */

static int before(const graph *g, int a, int b)
{
    return g->degree[a] != g->degree[b] ? g->degree[a] < g->degree[b] : a < b;
}

static void put(graph *g, int at, int node)
{
    g->heap[at] = node;
    g->place[node] = at;
}

static void sift_up(graph *g, int at)
{
    int node = g->heap[at];
    for (; at > 0 && before(g, node, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(g, at, g->heap[(at - 1) / 2]);
    put(g, at, node);
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
        put(g, at, g->heap[child]);
        at = child;
    }
    put(g, at, node);
}

static void heap_insert(graph *g, int node)
{
    put(g, g->heap_count, node);
    sift_up(g, g->heap_count++);
}

static int heap_pop(graph *g)
{
    int node = g->heap[0];
    g->place[node] = -1;
    if (--g->heap_count > 0) {
        put(g, 0, g->heap[g->heap_count]);
        sift_down(g, 0);
    }
    return node;
}

static void heap_moved(graph *g, int node)
{
    sift_up(g, g->place[node]);
    sift_down(g, g->place[node]);
}

/* ---- graph ---- */

static lg_status graph_alloc(graph *g)
{
    size_t n = (size_t)g->nnodes + 1; /* never nothing */
    g->adjacent = calloc(n, sizeof *g->adjacent);
    g->degree = calloc(n, sizeof *g->degree);
    g->waiting = calloc(n, sizeof *g->waiting);
    g->heap = calloc(n, sizeof *g->heap);
    g->place = calloc(n, sizeof *g->place);
    return g->adjacent && g->degree && g->waiting && g->heap && g->place ? LG_OK : LG_NO_MEMORY;
}

static void graph_free(graph *g)
{
    for (int i = 0; g->adjacent && i < g->nnodes; i++)
        free(g->adjacent[i].at);
    free(g->adjacent);
    free(g->merged.at);
    free(g->degree);
    free(g->waiting);
    free(g->heap);
    free(g->place);
}

static lg_status connect_groups(graph *g, const lg_pattern *p)
{
    for (int group = 0; group < p->ngroups; group++) {
        g->waiting[g->nblocks + group] = p->group_start[group + 1] - p->group_start[group];
        for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++) {
            LG_TRY(append(&g->adjacent[p->group_block[e]], g->nblocks + group));
            LG_TRY(append(&g->adjacent[g->nblocks + group], p->group_block[e]));
        }
    }
    return LG_OK;
}

static lg_status connect_cliques(graph *g, const lg_pattern *p)
{
    for (int c = 0; c < p->ncliques; c++)
        for (int i = p->clique_start[c]; i < p->clique_start[c + 1]; i++)
            for (int j = p->clique_start[c]; j < p->clique_start[c + 1]; j++)
                if (p->clique_block[i] != p->clique_block[j])
                    LG_TRY(append(&g->adjacent[p->clique_block[i]], p->clique_block[j]));
    return LG_OK;
}

static void measure_degree(graph *g, int node)
{
    g->degree[node] = 0;
    for (int i = 0; i < g->adjacent[node].count; i++)
        g->degree[node] += g->size[g->adjacent[node].at[i]];
}

static void start_heap(graph *g)
{
    for (int node = 0; node < g->nnodes; node++) {
        sort_unique(&g->adjacent[node]);
        measure_degree(g, node);
        g->place[node] = -1;
    }
    for (int node = 0; node < g->nnodes; node++)
        if (!g->waiting[node])
            heap_insert(g, node);
}

/* adjacent[i] := (adjacent[i] + adjacent[k]) without i and k */
static lg_status merge(graph *g, int i, int k)
{
    const list *a = &g->adjacent[i], *b = &g->adjacent[k];
    LG_TRY(reserve(&g->merged, a->count + b->count));
    int count = 0;
    for (int s = 0, t = 0; s < a->count || t < b->count;) {
        int next = t == b->count || (s < a->count && a->at[s] <= b->at[t]) ? a->at[s] : b->at[t];
        s += s < a->count && a->at[s] == next;
        t += t < b->count && b->at[t] == next;
        if (next != i && next != k)
            g->merged.at[count++] = next;
    }
    LG_TRY(reserve(&g->adjacent[i], count));
    g->adjacent[i].count = count;
    if (count > 0)
        memcpy(g->adjacent[i].at, g->merged.at, (size_t)count * sizeof(int));
    return LG_OK;
}

static lg_status eliminate(graph *g, int k)
{
    for (int s = 0; s < g->adjacent[k].count; s++) {
        int i = g->adjacent[k].at[s];
        LG_TRY(merge(g, i, k));
        measure_degree(g, i);
        if (g->place[i] >= 0)
            heap_moved(g, i);
    }
    return LG_OK;
}

/* Groups that waited for this block and for no other one may go now. */
static void release_groups(graph *g, const lg_pattern *p, int block)
{
    for (int s = 0; s < g->adjacent[block].count; s++) {
        int node = g->adjacent[block].at[s], group = node - g->nblocks;
        if (group < 0)
            continue;
        int waiting = g->waiting[node];
        for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
            waiting -= p->group_block[e] == block;
        if (waiting == 0 && g->waiting[node] > 0)
            heap_insert(g, node);
        g->waiting[node] = waiting;
    }
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

static lg_status eliminate_all(graph *g, const lg_pattern *p, lg_order *order)
{
    for (int k = 0; k < g->nnodes; k++) {
        int node = heap_pop(g);
        order->node[k] = node;
        order->position[node] = k;
        order->start[k + 1] = order->start[k] + g->adjacent[node].count;
        LG_TRY(eliminate(g, node));
        if (node < g->nblocks)
            release_groups(g, p, node);
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

static lg_status build(graph *g, const lg_pattern *pattern, lg_order *order)
{
    LG_TRY(graph_alloc(g));
    LG_TRY(order_alloc(order, g->nnodes));
    LG_TRY(connect_groups(g, pattern));
    LG_TRY(connect_cliques(g, pattern));
    start_heap(g);
    LG_TRY(eliminate_all(g, pattern, order));
    return collect_later(g, order);
}

lg_status lg_order_create(const lg_pattern *pattern, const int *size, lg_order *order)
{
    graph g = {.nnodes = pattern->nblocks + pattern->ngroups, .nblocks = pattern->nblocks, .size = size};
    *order = (lg_order){0};
    lg_status status = build(&g, pattern, order);
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
