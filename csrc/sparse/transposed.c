/* Solutions with the transposed matrix; see transposed.h. A front has P D = L_D U_D with reciprocal pivots on the
   diagonal, U = L_D^-1 P (panel) and L = (panel) U_D^-1. */
#include "sparse/transposed.h"

#include "core/small.h"
#include "sparse/pinned.h"
#include "sparse/single.h"

static void forward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    int n = front->n;
    const double *D = data->factors + front->D, *U = data->factors + front->U;
    const lg_neighbour *to = plan->neighbours + front->neighbour, *end = to + front->neighbours;
    double *own = z + front->first_unknown;
    for (int c = 0; c < n; c++)
        own[c] = (own[c] - lg_dot(c, D + (long)n * c, own)) * D[c + (long)n * c];
    for (; to < end; to++)
        for (int c = 0; c < to->size; c++, U += n)
            z[to->first_unknown + c] -= lg_dot(n, U, own);
}

static void backward(const lg_plan *plan, const lg_front *front, const lg_front_data *data, double *z)
{
    int n = front->n;
    const int *perm = data->pivots + front->pivot;
    const double *D = data->factors + front->D, *L = data->factors + front->L;
    const lg_neighbour *from = plan->neighbours + front->neighbour, *end = from + front->neighbours;
    double *own = z + front->first_unknown, *y = data->scratch;
    for (int c = n - 1; c >= 0; c--) {
        double sum = own[c] - lg_dot(n - c - 1, D + c + 1 + (long)n * c, y + c + 1);
        for (const lg_neighbour *later = from; later < end; later++)
            sum -= lg_dot(later->size, L + later->start + (long)front->ld * c, z + later->first_unknown);
        y[c] = sum;
    }
    for (int r = 0; r < n; r++)
        own[perm[r]] = y[r];
}

/* Those of pinned bodies do the work of their joints as well. */
void lg_fronts_forward_transposed(const lg_plan *plan, const lg_front_data *data, double *z)
{
    for (const lg_front *front = plan->fronts, *end = front + plan->nfronts; front < end; front++)
        if (!lg_is_pinned(front, data->pivots))
            forward(plan, front, data, z);
        else if (front->single == LG_SINGLE_PINNED)
            pinned_forward_transposed(plan, front, data, z);
}

void lg_fronts_backward_transposed(const lg_plan *plan, const lg_front_data *data, double *z)
{
    for (const lg_front *front = plan->fronts + plan->nfronts; front-- > plan->fronts;)
        if (!lg_is_pinned(front, data->pivots))
            backward(plan, front, data, z);
        else if (front->single == LG_SINGLE_PINNED)
            pinned_backward_transposed(plan, front, data, z);
}
