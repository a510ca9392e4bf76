/* Dense factors of a matrix, one connected component at a time: unknowns that nothing couples belong to different
   components, as those of mechanisms do that only share the ground. Memory and work grow with the size of the
   components. */
#ifndef LG_SPARSE_COMPONENTS_H
#define LG_SPARSE_COMPONENTS_H

#include "core/status.h"

#include <stddef.h>

typedef struct lg_components {
    int n, count, largest; /* unknowns, components, and unknowns of the largest component */
    int *component, *index; /* per unknown: its component, and its number in it */
    int *unknown; /* the unknowns, component by component, in ascending order in each */
    int *first; /* per component: the first of its unknowns; count + 1 of them */
    int *pivots; /* n */
    size_t *start; /* per component: where its matrix begins in `values` */
    size_t length;
    double *values, *x; /* each matrix with the scales of its rows and columns; the unknowns of a component */
} lg_components;

/* Joins the components of two unknowns; above[i] = i at first. */
void lg_components_join(int *above, int a, int b);
/* Allocates, given the unknowns as they have been joined. Nothing is done if it is open. LG_NO_MEMORY: also if the
   matrices are too large to be attempted. */
lg_status lg_components_open(lg_components *c, int n, int *above);
void lg_components_close(lg_components *c);

void lg_components_zero(lg_components *c);

/* An entry of two unknowns of the same component. */
static inline double *lg_components_at(const lg_components *c, int row, int column)
{
    int k = c->component[row], n = c->first[k + 1] - c->first[k];
    return c->values + c->start[k] + c->index[row] + (size_t)n * (size_t)c->index[column];
}

/* By LAPACK. LG_SINGULAR: *deficient is an unknown that is not determined. */
lg_status lg_components_factor(lg_components *c, int *deficient);
void lg_components_solve(const lg_components *c, double *x);
void lg_components_solve_transposed(const lg_components *c, double *x);
/* How many eigenvalues of a symmetric matrix are negative. It is used up; work has n entries. */
int lg_components_negative(lg_components *c, double *work);

#endif
