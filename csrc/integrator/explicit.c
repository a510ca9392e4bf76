/* What explicit Runge-Kutta methods share; see explicit.h. */
#include "integrator/explicit.h"

#include "core/small.h"
#include "solve/initial.h"
#include "solve/project.h"

static const lg_option explicit_rows[] = {LG_PROJECT_OPTION(lg_explicit_options)};
static const lg_option pair_rows[] = {LG_PROJECT_OPTION(lg_explicit_options), LG_CONTROL_OPTIONS(lg_explicit_options)};

const lg_option_rows lg_explicit_rows = LG_OPTION_ROWS(explicit_rows, lg_explicit_options);
const lg_option_rows lg_pair_rows = LG_OPTION_ROWS(pair_rows, lg_explicit_options);

int lg_explicit_levels(const lg_stepper *self)
{
    static const int levels[] = {[LG_PROJECTION_NONE] = 0,
                                 [LG_PROJECTION_POSITION] = LG_PROJECT_POSITION,
                                 [LG_PROJECTION_VELOCITY] = LG_PROJECT_VELOCITY,
                                 [LG_PROJECTION_BOTH] = LG_PROJECT_POSITION | LG_PROJECT_VELOCITY};
    int given = ((const lg_explicit_options *)self->options)->project.choice;
    if (!self->system->pattern->nrows)
        return 0;
    if (given < 0)
        given = lg_stepper_adapts(self) ? LG_PROJECTION_BOTH : LG_PROJECTION_NONE;
    return levels[given];
}

lg_weights lg_weights_of(int stages, const lg_ratio *row)
{
    lg_weights weights = {0};
    for (int j = 0; j < stages; j++)
        if (!lg_ratio_is_zero(row[j])) {
            weights.reach = j + 1;
            weights.stage[weights.count] = j;
            weights.weight[weights.count++] = lg_ratio_value(row[j]);
        }
    return weights;
}

/* Whether there are factors with q' = A(q) v, whose rates are added to q. */
static int has_flows(const lg_space *space)
{
    for (int i = 0; i < space->nfactors; i++)
        if (space->factor[i].node->flow)
            return 1;
    return 0;
}

void lg_slopes_layout(lg_slopes *slopes, const lg_space *space, int count, lg_arena *arena)
{
    slopes->space = space;
    slopes->K = lg_arena_doubles(arena, 2 * (size_t)space->nv * (size_t)count);
    slopes->zero = lg_arena_doubles(arena, (size_t)space->nv);
    slopes->flow = has_flows(space) ? lg_arena_doubles(arena, (size_t)space->nq * (size_t)count) : NULL;
}

/* K_1 = v_n if T^-1(0) = I; linear kinds may have other kinematics. k_1 is the state's acceleration. */
void lg_slopes_begin(lg_slopes *slopes, const lg_state *state)
{
    const lg_space *space = slopes->space;
    double *K = slopes->K;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->node->linear)
            f->node->rate(f->n, state->q + f->q, slopes->zero + f->v, state->v + f->v, K + f->v);
        else
            lg_copy(f->nv, state->v + f->v, K + f->v);
    lg_copy(space->nv, state->a, K + space->nv);
    lg_slopes_set_flow(slopes, 0, state->q, state->v);
}

enum {
    GROUP = 4, /* slopes that are summed at once */
    MANY = 24 /* velocities from which on sums are vectorised, as their values are used only later */
};

/* Adds `count` <= GROUP weighted slopes to the sum of those before, if there are any, and the last group adds `start`
   (NULL: zero). The compiler knows `count`. */
static LG_INLINE void sum_group(int count, int more, const double *const K[], const double w[], const double *start,
                                int n, double *restrict sum)
{
    for (int i = 0; i < n; i++) {
        double s = more ? sum[i] + w[0] * K[0][i] : w[0] * K[0][i];
        for (int j = 1; j < count; j++)
            s += w[j] * K[j][i];
        sum[i] = start ? s + start[i] : s;
    }
}

void lg_slopes_combine(const lg_slopes *slopes, const lg_weights *weights, double h, int from, int n,
                       const double *start, double *result)
{
    const double *K[LG_STAGES];
    double w[LG_STAGES];
    if (weights->count < 1 && start)
        lg_copy(n, start, result);
    else if (weights->count < 1)
        lg_zero(n, result);
    for (int j = 0; j < weights->count; j++) {
        K[j] = lg_slopes_at(slopes, weights->stage[j]) + from;
        w[j] = h * weights->weight[j];
    }
    for (int j = 0; j < weights->count; j += GROUP)
        switch (weights->count - j) {
        case 1:
            sum_group(1, j, K + j, w + j, start, n, result);
            break;
        case 2:
            sum_group(2, j, K + j, w + j, start, n, result);
            break;
        case 3:
            sum_group(3, j, K + j, w + j, start, n, result);
            break;
        case GROUP:
            sum_group(GROUP, j, K + j, w + j, start, n, result);
            break;
        default:
            sum_group(GROUP, j, K + j, w + j, NULL, n, result);
        }
}

/* Value i of `count` <= GROUP weighted slopes. */
static LG_INLINE double weighted(int count, const double w[], const double *const K[], long i)
{
    double sum = w[0] * K[0][i];
    for (int j = 1; j < count; j++)
        sum += w[j] * K[j][i];
    return sum;
}

/* theta = the weighted slopes of `count` stages, at most two groups, and v = v_n + those of v. The compiler knows
   `count`. */
static LG_INLINE void add_slopes(int count, const lg_slopes *slopes, const lg_weights *weights, double h,
                                 const double *restrict vn, double *restrict theta, double *restrict v)
{
    const double *K[2 * GROUP];
    double w[2 * GROUP];
    int first = count < GROUP ? count : GROUP;
    long nv = slopes->space->nv;
    for (int j = 0; j < count; j++) {
        K[j] = lg_slopes_at(slopes, weights->stage[j]);
        w[j] = h * weights->weight[j];
    }
    for (long i = 0; i < nv; i++) {
        double turn = weighted(first, w, K, i), change = vn[i] + weighted(first, w, K, nv + i);
        if (count > GROUP) {
            turn += weighted(count - GROUP, w + GROUP, K + GROUP, i);
            change += weighted(count - GROUP, w + GROUP, K + GROUP, nv + i);
        }
        theta[i] = turn;
        v[i] = change;
        LG_ONE_BY_ONE(i);
    }
}

static LG_APART void advance_by_several(const lg_slopes *slopes, const lg_weights *weights, double h, const double *vn,
                                        double *theta, double *v)
{
    int nv = slopes->space->nv;
    if (nv >= MANY || weights->count == 0 || weights->count > 2 * GROUP) {
        lg_slopes_combine(slopes, weights, h, 0, nv, NULL, theta);
        lg_slopes_combine(slopes, weights, h, nv, nv, vn, v);
        return;
    }
#define ADD(count)                                                                                                     \
    case count:                                                                                                        \
        add_slopes(count, slopes, weights, h, vn, theta, v);                                                           \
        break;
    switch (weights->count) {
        ADD(2)
        ADD(3)
        ADD(4)
        ADD(5)
        ADD(6)
        ADD(7)
        ADD(8)
    }
#undef ADD
}

void lg_slopes_advance(const lg_slopes *slopes, const lg_weights *weights, double h, const double *vn, double *theta,
                       double *v)
{
    if (weights->count == 1 && slopes->space->nv < MANY)
        add_slopes(1, slopes, weights, h, vn, theta, v);
    else
        advance_by_several(slopes, weights, h, vn, theta, v);
}

void lg_slopes_write_flow(lg_slopes *slopes, int stage, const double *q, const double *v)
{
    const lg_space *space = slopes->space;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (f->node->flow)
            f->node->flow->qdot(q + f->q, v + f->v, slopes->flow + (long)space->nq * stage + f->q);
}

void lg_slopes_sum_flows(const lg_slopes *slopes, const double *qn, const lg_weights *weights, double h, double *q)
{
    const lg_space *space = slopes->space;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        if (!f->node->flow)
            continue;
        lg_copy(f->nq, qn + f->q, q + f->q);
        for (int j = 0; j < weights->count; j++)
            lg_axpy(f->nq, h * weights->weight[j], slopes->flow + (long)space->nq * weights->stage[j] + f->q, q + f->q);
    }
}

int lg_slopes_count(const lg_slopes *slopes, int stages)
{
    return (2 * slopes->space->nv + (slopes->flow ? slopes->space->nq : 0)) * stages;
}

void lg_slopes_keep(const lg_slopes *slopes, int stages, double *kept)
{
    int rates = 2 * slopes->space->nv * stages;
    lg_copy(rates, slopes->K, kept);
    if (slopes->flow)
        lg_copy(slopes->space->nq * stages, slopes->flow, kept + rates);
}

void lg_slopes_take(lg_slopes *slopes, int stages, const double *kept)
{
    int rates = 2 * slopes->space->nv * stages;
    lg_copy(rates, kept, slopes->K);
    if (slopes->flow)
        lg_copy(slopes->space->nq * stages, kept + rates, slopes->flow);
}
