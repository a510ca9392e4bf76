/* The discrete null space; see null_space.h. */
#include "integrator/conserve/null_space.h"

#include "core/small.h"
#include "solve/cause.h"

lg_status lg_null_open(lg_null_space *null, const lg_system *system, const lg_plan *plan, lg_coupling coupling)
{
    null->system = system;
    LG_TRY(lg_reduction_create(system->pattern, plan, coupling, &null->reduction));
    null->nu = null->reduction.pattern.v_start[system->space->nblocks];
    return LG_OK;
}

void lg_null_layout(lg_null_space *null, lg_arena *arena)
{
    const lg_reduction *r = &null->reduction;
    lg_matrix_layout(&null->matrix, r->plan, arena);
    null->N = lg_arena_doubles(arena, (size_t)r->nbases);
    null->X = lg_arena_doubles(arena, (size_t)r->nbases);
    null->G = lg_arena_doubles(arena, (size_t)r->pattern.nvalues);
    null->B = lg_arena_doubles(arena, (size_t)r->pattern.nvalues);
    null->middle = lg_arena_doubles(arena, (size_t)null->system->space->nq);
    null->u = lg_arena_doubles(arena, (size_t)null->nu);
}

void lg_null_close(lg_null_space *null)
{
    lg_matrix_close(&null->matrix);
    lg_reduction_close(&null->reduction);
}

static void fill_bases(const lg_null_space *null, const double *q, double *bases)
{
    const lg_space *space = null->system->space;
    for (int i = 0; i < space->nblocks; i++)
        if (space->block[i].nown)
            space->block[i].node->unit->null_space(q + space->block[i].q, bases + null->reduction.basis[i]);
}

void lg_null_step(lg_null_space *null, const double *q0, const double *q1)
{
    for (int i = 0; i < null->system->space->nq; i++)
        null->middle[i] = 0.5 * (q0[i] + q1[i]);
    fill_bases(null, null->middle, null->N);
    fill_bases(null, q1, null->X);
}

enum { MOST = 16 }; /* velocities of a node */

void lg_null_own_multipliers(const lg_null_space *null, double *r, double *lam)
{
    const lg_space *space = null->system->space;
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        if (!b->nown)
            continue;
        double gradient[MOST];
        b->node->unit->own(null->middle + b->q, r + b->v, NULL, &(lg_own_rows){.B = gradient});
        double part = lg_dot(b->nv, gradient, r + b->v) / lg_dot(b->nv, gradient, gradient);
        lam[b->own] -= part;
        lg_axpy(b->nv, -part, gradient, r + b->v);
    }
}

void lg_null_pull(const lg_null_space *null, const double *r, double *rows)
{
    lg_reduction_pull(&null->reduction, null->N, r, rows);
}

/* Names the joint, or the body, whose rows are deficient in the matrix of the unknowns. */
static lg_status name_deficient(const lg_null_space *null, lg_report *report)
{
    const int *start = null->reduction.pattern.v_start;
    int row = null->matrix.deficient_row, block = 0;
    if (row >= 0) {
        lg_report_row(null->system, "", null->system->space->nv + row, report);
        return LG_SINGULAR;
    }
    while (start[block + 1] <= -1 - row)
        block++;
    lg_report_row(null->system, "", null->system->space->block[block].v, report);
    return LG_SINGULAR;
}

lg_status lg_null_factor(lg_null_space *null, lg_accel *accel, const double *G, lg_report *report)
{
    const lg_reduction *r = &null->reduction;
    lg_matrix *matrix = &null->matrix;
    long fallbacks = matrix->fallbacks;
    matrix->poll = accel->matrix.poll;
    matrix->watch = accel->matrix.watch;
    matrix->weakest = NAN;
    lg_matrix_zero(matrix);
    lg_reduction_add(r, &accel->matrix, null->N, null->X, matrix);
    lg_reduction_rows(r, G, null->N, null->G);
    lg_reduction_rows(r, accel->B, null->X, null->B);
    lg_matrix_add_border(matrix, null->G, 1, null->B, 0, NULL);
    lg_status status = lg_matrix_factor(matrix);
    accel->matrix.factorisations++;
    accel->matrix.fallbacks += matrix->fallbacks - fallbacks;
    accel->matrix.weakest = fmin(accel->matrix.weakest, matrix->weakest);
    return status == LG_SINGULAR ? name_deficient(null, report) : status;
}

void lg_null_move(const lg_null_space *null, const double *q, double s, const double *u, double *q1)
{
    const lg_space *space = null->system->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        const double *own = u + null->reduction.pattern.v_start[i];
        double scaled[MOST];
        if (!b->nown) {
            for (int k = 0; k < b->nq; k++)
                q1[b->q + k] = q[b->q + k] + s * own[k];
            continue;
        }
        for (int k = 0; k < b->nv - b->nown; k++)
            scaled[k] = s * own[k];
        b->node->unit->null_move(q + b->q, scaled, q1 + b->q);
    }
}

void lg_null_predict(lg_null_space *null, const double *q, const double *v, double *q1)
{
    fill_bases(null, q, null->X);
    lg_reduction_pull(&null->reduction, null->X, v, null->u);
    lg_null_move(null, q, 1, null->u, q1);
}
