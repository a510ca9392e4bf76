/* Dense factors, one connected component at a time; see components.h. */
#include "sparse/components.h"

#include "sparse/linalg.h"

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
        c->length += (size_t)size * ((size_t)size + 2);
        c->first[k + 1] += c->first[k];
        c->pivots[k] = 0; /* counts the unknowns of a component */
    }
    for (int i = 0; i < c->n; i++) {
        int k = c->component[i];
        c->index[i] = c->pivots[k]++;
        c->unknown[c->first[k] + c->index[i]] = i;
    }
}

static lg_status take_integers(lg_components *c, size_t n)
{
    c->component = malloc((5 * n + 1) * sizeof(int));
    c->start = malloc(n * sizeof *c->start);
    if (!c->component || !c->start)
        return LG_NO_MEMORY;
    c->index = c->component + n, c->unknown = c->index + n, c->pivots = c->unknown + n, c->first = c->pivots + n;
    return LG_OK;
}

static lg_status take_values(lg_components *c)
{
    if (c->length > MOST)
        return LG_NO_MEMORY;
    c->values =
        malloc((c->length + (size_t)c->largest + 1) * sizeof(double)); /* never 0 bytes, for which it may give NULL */
    if (!c->values)
        return LG_NO_MEMORY;
    c->x = c->values + c->length;
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
    free(c->values);
    *c = (lg_components){0};
}

void lg_components_zero(lg_components *c)
{
    memset(c->values, 0, c->length * sizeof(double));
}

/* ---- factors ---- */

typedef struct component {
    int n;
    const int *unknown;
    double *A, *row, *column; /* the matrix, and the scales of its rows and columns */
    int *pivots;
} component;

static component component_of(const lg_components *c, int k)
{
    int first = c->first[k], n = c->first[k + 1] - first;
    double *A = c->values + c->start[k], *row = A + (size_t)n * (size_t)n;
    return (component){n, c->unknown + first, A, row, row + n, c->pivots + first};
}

/* Scales rows, then columns, so that their largest entry is one: pivots become comparable whatever the units. */
static void equilibrate(const component *p)
{
    int n = p->n;
    for (int i = 0; i < n; i++)
        p->row[i] = 0;
    for (long j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            p->row[i] = fmax(p->row[i], fabs(p->A[i + n * j]));
    for (int i = 0; i < n; i++)
        p->row[i] = p->row[i] > 0 ? 1 / p->row[i] : 1;

    for (long j = 0; j < n; j++) {
        double largest = 0;
        for (int i = 0; i < n; i++)
            largest = fmax(largest, fabs(p->A[i + n * j] *= p->row[i]));
        p->column[j] = largest > 0 ? 1 / largest : 1;
        for (int i = 0; i < n; i++)
            p->A[i + n * j] *= p->column[j];
    }
}

lg_status lg_components_factor(lg_components *c, int *deficient)
{
    for (int k = 0; k < c->count; k++) {
        component p = component_of(c, k);
        int at = 0;
        equilibrate(&p);
        lg_status status = lg_dense_factor(p.n, p.A, p.pivots, &at);
        *deficient = status == LG_OK ? *deficient : p.unknown[at];
        if (status != LG_OK)
            return status;
    }
    return LG_OK;
}

/* Of a matrix whose right-hand side has `first` as scales, and the solution `second`. */
typedef void (*dense_solution)(int n, const double *A, const int *pivots, double *x);

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
        component p = component_of(c, k);
        for (int i = 0; i < p.n; i++)
            c->x[i] = x[p.unknown[i]];
        if (transposed)
            solve_scaled(&p, lg_dense_solve_transposed, p.column, p.row, c->x);
        else
            solve_scaled(&p, lg_dense_solve, p.row, p.column, c->x);
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

int lg_components_negative(lg_components *c, double *work)
{
    int negative = 0;
    for (int k = 0; k < c->count; k++) {
        component p = component_of(c, k);
        negative += lg_dense_negative(p.n, p.A, p.pivots, work);
    }
    return negative;
}
