/* Dense factors, one connected component at a time; see components.h. */
#include "sparse/components.h"

#include "core/small.h"
#include "sparse/linalg.h"
#include "sparse/pivoted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t MOST = (size_t)1 << 26; /* doubles (512 MB); more are not attempted */

/* ---- components ---- */

static int top_of(int *above, int i)
{
    while (above[i] != i)
        i = above[i] = above[above[i]];
    return i;
}

void lg_components_join(int *above, int a, int b)
{
    a = top_of(above, a), b = top_of(above, b);
    above[a > b ? a : b] = a > b ? b : a;
}

/* Numbers the components by their first unknowns, and the unknowns of each. */
static void number(lg_components *c, int *above)
{
    c->count = 0;
    for (int i = 0; i < c->n; i++) {
        int top = top_of(above, i);
        c->component[i] = top == i ? c->count++ : c->component[top];
        c->first[c->component[i] + 1] = top == i ? 1 : c->first[c->component[i] + 1] + 1;
    }
    c->first[0] = c->largest = 0;
    for (int k = 0; k < c->count; k++) {
        int size = c->first[k + 1];
        c->largest = size > c->largest ? size : c->largest;
        c->start[k] = c->length;
        c->length += lg_pivoted_size(size);
        c->first[k + 1] += c->first[k];
        c->pivots[k] = 0; /* counts the unknowns of a component */
    }
    for (int i = 0; i < c->n; i++) {
        int k = c->component[i];
        c->place[i] = c->pivots[k]++;
        c->unknown[c->first[k] + c->place[i]] = i;
    }
}

static lg_status take_integers(lg_components *c, size_t n)
{
    c->component = malloc((6 * n + 1) * sizeof(int));
    c->start = malloc(n * sizeof *c->start);
    c->is_pivoted = malloc(n);
    if (!c->component || !c->start || !c->is_pivoted)
        return LG_NO_MEMORY;
    c->place = c->component + n, c->unknown = c->place + n, c->pivots = c->unknown + n, c->first = c->pivots + 2 * n;
    return LG_OK;
}

static lg_status take_values(lg_components *c)
{
    size_t copied = c->largest < LG_PIVOTED_LIMIT ? (size_t)c->largest : LG_PIVOTED_LIMIT;
    if (c->length > MOST)
        return LG_NO_MEMORY;
    size_t count = c->length + (size_t)c->largest + copied * copied;
    c->values = malloc((count + 1) * sizeof(double)); /* never 0 bytes, for which it may give NULL */
    if (!c->values)
        return LG_NO_MEMORY;
    c->x = c->values + c->length, c->copy = c->x + c->largest;
    return LG_OK;
}

lg_status lg_components_open(lg_components *c, int n, int *above)
{
    if (c->values)
        return LG_OK;
    *c = (lg_components){.n = n};
    lg_status status = take_integers(c, (size_t)n + 1);
    if (status == LG_OK) {
        number(c, above);
        status = take_values(c);
    }
    if (status != LG_OK)
        lg_components_close(c);
    return status;
}

void lg_components_close(lg_components *c)
{
    free(c->component);
    free(c->start);
    free(c->is_pivoted);
    free(c->values);
    *c = (lg_components){0};
}

void lg_components_zero(lg_components *c)
{
    memset(c->values, 0, c->length * sizeof(double));
}

/* ---- factors ---- */

typedef struct component {
    int n, nv;
    const int *unknown;
    double *A;
    int *pivots; /* 2 n */
} component;

static component component_of(const lg_components *c, int k, int nv)
{
    int first = c->first[k], n = c->first[k + 1] - first, velocities = 0;
    while (velocities < n && c->unknown[first + velocities] < nv)
        velocities++;
    return (component){n, velocities, c->unknown + first, c->values + c->start[k], c->pivots + 2 * first};
}

/* By LAPACK; *weakest: see lg_dense_weakest. */
static lg_status factor_by_columns(const component *p, double *weakest, int *deficient)
{
    double *row = p->A + (size_t)p->n * (size_t)p->n;
    lg_dense_equilibrate(p->n, p->A, row, row + p->n);
    lg_status status = lg_dense_factor(p->n, p->A, p->pivots, deficient);
    *weakest = status == LG_OK ? lg_dense_weakest(p->n, p->A, deficient) : 0;
    return status;
}

static lg_status factor_component(lg_components *c, int k, const component *p, double weak, int *deficient)
{
    size_t size = (size_t)p->n * (size_t)p->n * sizeof(double);
    double weakest;
    int may_pivot = p->n <= LG_PIVOTED_LIMIT;
    if (may_pivot)
        memcpy(c->copy, p->A, size);
    c->is_pivoted[k] = 0;
    lg_status status = factor_by_columns(p, &weakest, deficient);
    if (status == LG_NOT_FINITE || weakest > weak || !may_pivot)
        return status;
    memcpy(p->A, c->copy, size);
    c->is_pivoted[k] = lg_pivoted_factor(p->n, p->nv, p->A, p->pivots) == LG_OK;
    if (c->is_pivoted[k] || status != LG_OK)
        return c->is_pivoted[k] ? LG_OK : status;
    memcpy(p->A, c->copy, size);
    return factor_by_columns(p, &weakest, deficient);
}

lg_status lg_components_factor(lg_components *c, int nv, double weak, int *deficient)
{
    for (int k = 0; k < c->count; k++) {
        component p = component_of(c, k, nv);
        int at = 0;
        lg_status status = factor_component(c, k, &p, weak, &at);
        *deficient = status == LG_OK ? *deficient : p.unknown[at];
        if (status != LG_OK)
            return status;
    }
    return LG_OK;
}

typedef void (*dense_solution)(int n, const double *A, const int *pivots, double *x);

/* The solution of a component by LAPACK, whose right-hand side has `first` as scales, and the solution `second`. */
static void solve_scaled(const component *p, dense_solution solve, const double *first, const double *second, double *x)
{
    for (int i = 0; i < p->n; i++)
        x[i] *= first[i];
    solve(p->n, p->A, p->pivots, x);
    for (int i = 0; i < p->n; i++)
        x[i] *= second[i];
}

static void solve(const lg_components *c, int transposed, double *x)
{
    for (int k = 0; k < c->count; k++) {
        component p = component_of(c, k, 0);
        const double *row = p.A + (size_t)p.n * (size_t)p.n, *column = row + p.n;
        for (int i = 0; i < p.n; i++)
            c->x[i] = x[p.unknown[i]];
        if (c->is_pivoted[k])
            (transposed ? lg_pivoted_solve_transposed : lg_pivoted_solve)(p.n, p.A, p.pivots, c->x);
        else if (transposed)
            solve_scaled(&p, lg_dense_solve_transposed, column, row, c->x);
        else
            solve_scaled(&p, lg_dense_solve, row, column, c->x);
        for (int i = 0; i < p.n; i++)
            x[p.unknown[i]] = c->x[i];
    }
}

void lg_components_solve(const lg_components *c, double *x)
{
    solve(c, 0, x);
}

void lg_components_solve_transposed(const lg_components *c, double *x)
{
    solve(c, 1, x);
}

int lg_components_are_pivoted(const lg_components *c)
{
    for (int k = 0; k < c->count; k++)
        if (c->is_pivoted[k])
            return 1;
    return 0;
}

int lg_components_negative(lg_components *c, double *work)
{
    int negative = 0;
    for (int k = 0; k < c->count; k++) {
        component p = component_of(c, k, 0);
        negative += lg_dense_negative(p.n, p.A, p.pivots, work);
    }
    return negative;
}
