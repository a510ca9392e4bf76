/* Products with the S of an assembled matrix; see matrix.h. */
#include "core/two.h"
#include "sparse/fronts.h"
#include "sparse/matrix.h"

#include <string.h>

/* y += s A x for rows x columns entries */
static LG_INLINE void add_panel(int rows, int columns, const double *restrict A, int ld, double s,
                                const double *restrict x, double *restrict y)
{
    for (int j = 0; j < columns; j++) {
        double known = s * x[j];
        for (int i = 0; i < rows; i++)
            y[i] += A[i + (long)ld * j] * known;
    }
}

/* The same, so that the compiler knows the most frequent size. */
static inline void add_velocities(int rows, int columns, const double *A, int ld, double s, const double *x, double *y)
{
    if (rows == 6)
        add_panel(6, columns, A, ld, s, x, y);
    else
        add_panel(rows, columns, A, ld, s, x, y);
}

/* How many of n unknowns of a later front are velocities, which come first and of which there are so many in all. */
static inline int velocities_of(int nvelocities, const int *unknowns, int n)
{
    if (n == 0 || unknowns[0] >= nvelocities)
        return 0;
    while (unknowns[n - 1] >= nvelocities)
        n--;
    return n;
}

/* y += s A^T x for rows x columns entries */
static void add_panel_transposed(int rows, int columns, const double *A, int ld, double s, const double *x, double *y)
{
    for (int j = 0; j < columns; j++)
        y[j] += s * lg_dot(rows, A + (long)ld * j, x);
}

/* y += s (A x + B z) for 6 x 6 matrices, whose sums stay in registers */
static LG_INLINE void add_both(const double *A, const double *B, double s, const double *x, const double *z, double *y)
{
    lg_two sum[3] = {lg_load_two(y), lg_load_two(y + 2), lg_load_two(y + 4)};
    for (int j = 0; j < 6; j++, A += 6, B += 6) {
        double a = s * x[j], b = s * z[j];
        for (int i = 0; i < 3; i++)
            sum[i] += a * lg_load_two(A + 2 * i) + b * lg_load_two(B + 2 * i);
    }
    for (int i = 0; i < 3; i++)
        lg_store_two(y + 2 * i, sum[i]);
}

/* The same for blocks that are zero outside of the last three rows and columns. */
static LG_INLINE void add_rigid_turning(const double *A, const double *B, double s, const double *x, const double *z,
                                        double *y)
{
    lg_two sum = lg_load_two(y + 3);
    double last = y[5];
    for (int j = 3; j < 6; j++) {
        double a = s * x[j], b = s * z[j];
        sum += a * lg_load_two(A + 6 * j + 3) + b * lg_load_two(B + 6 * j + 3);
        last += a * A[6 * j + 5] + b * B[6 * j + 5];
    }
    lg_store_two(y + 3, sum);
    y[5] = last;
}

typedef void (*panel)(int rows, int columns, const double *A, int ld, double s, const double *x, double *y);

/* The sum of products of several S, or S^T, of one plan by one of these functions for panels; `turning`: flags of
   fronts, see lg_turning_blocks; NULL: there are none. */
static LG_INLINE void add_panels(const lg_plan *plan, int count, const double *const A[], panel add, int transposed,
                                 const char *turning, double s, const double *const x[], double *y)
{
    const int *unknowns = plan->unknowns, nvelocities = plan->nvelocities;
    const lg_neighbour *neighbours = plan->neighbours;
    for (const lg_front *f = plan->fronts, *last = f + plan->nfronts; f < last; f++) {
        int n = f->velocities, own = unknowns[f->pivot];
        const lg_neighbour *later = neighbours + f->neighbour, *end = later + f->neighbours;
        if (n == 0 || f->end > plan->nassembled)
            continue;
        if (count == 2 && turning && turning[f - plan->fronts])
            add_rigid_turning(A[0] + f->D, A[1] + f->D, s, x[0] + own, x[1] + own, y + own);
        else if (count == 2 && f->n == 6 && n == 6 && !transposed)
            add_both(A[0] + f->D, A[1] + f->D, s, x[0] + own, x[1] + own, y + own);
        else
            for (int k = 0; k < count; k++)
                add(n, n, A[k] + f->D, f->n, s, x[k] + own, y + own);
        for (; f->coupled && later < end; later++) {
            int size = velocities_of(nvelocities, unknowns + later->pivot, later->size);
            int other = unknowns[later->pivot];
            if (size == 0)
                continue;
            int from_U = transposed ? own : other, from_L = transposed ? other : own;
            int to_U = own + other - from_U, to_L = own + other - from_L;
            for (int k = 0; k < count; k++) {
                add(n, size, A[k] + f->U + (long)f->n * later->start, f->n, s, x[k] + from_U, y + to_U);
                add(size, n, A[k] + f->L + later->start, f->ld, s, x[k] + from_L, y + to_L);
            }
        }
    }
}

void lg_matrix_add_product(const lg_matrix *matrix, double s, const double *x, double *y)
{
    add_panels(matrix->plan, 1, (const double *[]){matrix->values}, add_velocities, 0, NULL, s, &x, y);
}

typedef long long two_words __attribute__((vector_size(16), may_alias));

/* The bits of two numbers. */
static LG_INLINE two_words bits_of(const double *at)
{
    two_words bits;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

/* Whether all of a 6 x 6 block is zero but for the last three rows of its last three columns. */
static LG_INLINE int is_turning(const double *A)
{
    two_words any = bits_of(A);
    for (int i = 2; i < 18; i += 2)
        any |= bits_of(A + i);
    for (int j = 18; j < 36; j += 6)
        any |= bits_of(A + j) | bits_of(A + j + 1);
    return !(any[0] | any[1]);
}

static void find_turning(const lg_matrix *S, const lg_matrix *T, lg_turning_blocks *turning)
{
    const lg_plan *plan = S->plan;
    for (int k = 0; k < plan->nfronts; k++) {
        const lg_front *f = &plan->fronts[k];
        turning->is_turning[k] = f->n == 6 && f->velocities == 6 && f->end <= plan->nassembled &&
                                 is_turning(S->values + f->D) && is_turning(T->values + f->D);
    }
    turning->known = 1;
}

void lg_matrix_add_products(const lg_matrix *S, const lg_matrix *T, lg_turning_blocks *turning, double s,
                            const double *x, const double *z, double *y)
{
    if (!turning->known)
        find_turning(S, T, turning);
    add_panels(S->plan, 2, (const double *[]){S->values, T->values}, add_velocities, 0, turning->is_turning, s,
               (const double *[]){x, z}, y);
}

void lg_matrix_add_transposed(const lg_matrix *matrix, double s, const double *x, double *y)
{
    add_panels(matrix->plan, 1, (const double *[]){matrix->values}, add_panel_transposed, 1, NULL, s, &x, y);
}
