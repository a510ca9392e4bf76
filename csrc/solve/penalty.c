/* The penalty of the constraints; see penalty.h. */
#include "solve/penalty.h"

#include "core/small.h"

#include <math.h>

void lg_penalty_layout(lg_penalty *penalty, const lg_pattern *pattern, lg_arena *arena)
{
    penalty->G = lg_arena_doubles(arena, (size_t)pattern->ngroups);
    penalty->clique = lg_arena_ints(arena, (size_t)pattern->ngroups);
    penalty->matrix_block = lg_arena_take(arena, (size_t)pattern->ngroups * sizeof *penalty->matrix_block);
    penalty->index = lg_arena_ints(arena, (size_t)(pattern->ngroups ? pattern->group_start[pattern->ngroups] : 0));
}

/* ---- cliques ---- */

/* The index of a block in a clique, or -1. */
static int index_in(const lg_pattern *p, int clique, int block)
{
    for (int i = p->clique_start[clique]; i < p->clique_start[clique + 1]; i++)
        if (p->clique_block[i] == block)
            return i - p->clique_start[clique];
    return -1;
}

/* Whether a clique holds all blocks of a group; writes the index of each. */
static int holds(const lg_pattern *p, int clique, int group, int *index)
{
    for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
        if ((index[e] = index_in(p, clique, p->group_block[e])) < 0)
            return 0;
    return 1;
}

static int size_of(const lg_pattern *p, int clique)
{
    return p->clique_start[clique + 1] - p->clique_start[clique];
}

/* Cliques and groups follow the same order of elements, so that each search continues after the last hit. */
void lg_penalty_open(lg_penalty *penalty, const lg_pattern *p)
{
    int clique = 0;
    long matrix_block = 0;
    for (int g = 0; g < p->ngroups; g++) {
        penalty->clique[g] = -1;
        for (int i = 0; i < p->ncliques && penalty->clique[g] < 0; i++) {
            if (holds(p, clique, g, penalty->index))
                penalty->clique[g] = clique, penalty->matrix_block[g] = matrix_block;
            matrix_block += (long)size_of(p, clique) * size_of(p, clique);
            clique = (clique + 1) % p->ncliques;
            matrix_block = clique ? matrix_block : 0;
        }
    }
}

/* The block of S that belongs to two entries of a group. */
static double *matrix_block_of(const lg_penalty *penalty, const lg_pattern *p, int g, int i, int j,
                               const lg_matrix *matrix, int *ld)
{
    long row = size_of(p, penalty->clique[g]) * (long)penalty->index[i];
    return lg_matrix_at(matrix, penalty->matrix_block[g] + row + penalty->index[j], ld);
}

/* ---- the penalty ---- */

/* The largest entry of S on the diagonals of a group's blocks, divided by the largest of B^2. */
static double choose_penalty(const lg_penalty *penalty, const lg_pattern *p, int g, const double *B,
                             const lg_matrix *matrix)
{
    int rows = p->group_row[g + 1] - p->group_row[g];
    double stiffness = 0, b = 0;
    for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
        int nv = p->nv[p->group_block[e]], ld;
        const double *S = matrix_block_of(penalty, p, g, e, e, matrix, &ld);
        for (int i = 0; i < nv; i++)
            stiffness = fmax(stiffness, fabs(S[i + (size_t)i * (size_t)ld]));
        b = fmax(b, lg_max_abs(rows * nv, B + p->group_value[e]));
    }
    return b > 0 ? (stiffness > 0 ? stiffness : 1) / (b * b) : 0;
}

/* S += G A^T B; A is rows x m, B is rows x n. */
static void add_ATB(double G, int rows, int m, const double *A, int n, const double *B, double *S, int ld)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int r = 0; r < rows; r++)
                sum += A[r + rows * i] * B[r + rows * j];
            S[i + (size_t)j * (size_t)ld] += G * sum;
        }
}

static void add_group_penalty(const lg_penalty *penalty, const lg_pattern *p, int g, const double *B, lg_matrix *matrix)
{
    int rows = p->group_row[g + 1] - p->group_row[g], ld;
    for (int i = p->group_start[g]; i < p->group_start[g + 1]; i++)
        for (int j = p->group_start[g]; j < p->group_start[g + 1]; j++) {
            double *S = matrix_block_of(penalty, p, g, i, j, matrix, &ld);
            add_ATB(penalty->G[g], rows, p->nv[p->group_block[i]], B + p->group_value[i], p->nv[p->group_block[j]],
                    B + p->group_value[j], S, ld);
        }
}

void lg_penalty_add(lg_penalty *penalty, const lg_pattern *p, const double *B, lg_matrix *matrix)
{
    for (int g = 0; g < p->ngroups; g++)
        penalty->G[g] = penalty->clique[g] < 0 ? 0 : choose_penalty(penalty, p, g, B, matrix);
    for (int g = 0; g < p->ngroups; g++)
        if (penalty->G[g] > 0)
            add_group_penalty(penalty, p, g, B, matrix);
}

void lg_penalty_correct(const lg_penalty *penalty, const lg_pattern *p, const double *phi, double *dlam)
{
    for (int g = 0; g < p->ngroups; g++)
        for (int row = p->group_row[g]; row < p->group_row[g + 1]; row++)
            dlam[row] += penalty->G[g] * phi[row];
}
