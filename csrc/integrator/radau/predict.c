/* The first guess of a step: velocities by the polynomial through those of the last step, from which local coordinates
   follow. */
#include "core/small.h"
#include "integrator/radau/step.h"

static const double farthest = 50; /* steps longer than the last one by this factor would magnify its round-off */
enum { ROUNDS = 2 }; /* from velocities to local coordinates and their rates */

/* V_i = v_n + c_i h vdot_n, lam_i = lam_n */
static void begin(lg_radau_stepper *r)
{
    const lg_state *state = r->start;
    int nv = r->base.system->space->nv;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_copy(r->base.system->pattern->nrows, state->lam, r->stage[i].lam);
        lg_copy(nv, state->v, r->stage[i].v);
        lg_axpy(nv, r->numbers.c[i] * r->h, state->a, r->stage[i].v);
    }
}

/* Weights at s of the values at n nodes. */
static void extrapolation(int n, const double *node, double s, double *weight)
{
    for (int m = 0; m < n; m++) {
        weight[m] = 1;
        for (int j = 0; j < n; j++)
            if (j != m)
                weight[m] *= (s - node[j]) / (node[m] - node[j]);
    }
}

/* V_i and lam_i from the velocities of the last step, which are relative to its end, and from its multipliers. */
static void extrapolate(const lg_radau_stepper *r, const lg_radau_carry *last, int i, const double *v_start, double *v,
                        double *lam)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    int stages = lg_radau_stages(&r->numbers);
    double node[LG_RADAU_STAGES + 1] = {0}, weight[LG_RADAU_STAGES + 1];
    double s = 1 + r->h / *last->h * r->numbers.c[i]; /* 1: the end of the last step */
    lg_copy(stages, r->numbers.c, node + 1);
    extrapolation(stages + 1, node, s, weight);
    lg_copy(nv, v_start, v);
    for (int m = 0; m < stages; m++)
        lg_axpy(nv, weight[m], last->v + (size_t)nv * m, v);
    extrapolation(stages, node + 1, s, weight);
    lg_zero(nrows, lam);
    for (int m = 0; m < stages; m++)
        lg_axpy(nrows, weight[m], last->lam + (size_t)nrows * m, lam);
}

/* What of the error of the last extrapolation is expected in a step of another size. */
static double share_of(const lg_radau_stepper *r, const lg_radau_carry *last)
{
    double ratio = r->h / *last->h;
    return fabs(ratio - 1) < 0.1 ? pow(ratio, lg_radau_stages(&r->numbers) + 1) : 0;
}

static int can_extrapolate(const lg_radau_stepper *r, const lg_radau_carry *last)
{
    return *last->h > 0 && r->h <= farthest * *last->h;
}

/* Extrapolates all stages. */
static void go_on(lg_radau_stepper *r, const lg_radau_carry *last)
{
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows;
    double share = share_of(r, last);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_radau_stage *s = &r->stage[i];
        extrapolate(r, last, i, r->start->v, s->v, s->lam);
        for (int order = 0; order < *last->order; order++) {
            lg_axpy(nv, share, last->miss[order] + (size_t)nv * i, s->v);
            lg_axpy(nrows, share, last->miss_lam[order] + (size_t)nrows * i, s->lam);
        }
    }
}

/* theta = sum a_ij K_j */
static void sum_turns(lg_radau_stepper *r)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int i = 0; i < stages; i++) {
        lg_zero(nv, r->stage[i].theta);
        for (int j = 0; j < stages; j++)
            lg_axpy(nv, r->numbers.A[i][j], r->stage[j].K, r->stage[i].theta);
    }
}

/* K_i = h T^-1(theta_i) V_i */
static void set_rates(lg_radau_stepper *r)
{
    const lg_space *space = r->base.system->space;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        double *K = r->stage[i].K;
        lg_space_rate(space, r->start->q, r->stage[i].theta, r->stage[i].v, K);
        for (int j = 0; j < space->nv; j++)
            K[j] *= r->h;
    }
}

void lg_radau_predict(lg_radau_stepper *r)
{
    lg_radau_carry last = lg_radau_carry_in(r, r->start->carry);
    if (can_extrapolate(r, &last))
        go_on(r, &last);
    else
        begin(r);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++)
        lg_zero(r->base.system->space->nv, r->stage[i].theta);
    set_rates(r);
    for (int round = 0; round < ROUNDS; round++) {
        sum_turns(r);
        if (!r->base.system->space->linear)
            set_rates(r);
    }
    lg_radau_set_accelerations(r);
}

/* ---- the error of extrapolation ---- */

static double square(double x)
{
    return x * x;
}

/* miss[0] becomes what the values x of a stage are beyond the extrapolated ones, the others their differences. */
static void note(int corrections, int n, const double *x, const double *extrapolated, double *const *miss, int at)
{
    for (int k = at; k < at + n; k++) {
        double now = x[k - at] - extrapolated[k - at];
        for (int order = 0; order < corrections; order++) {
            double before = miss[order][k];
            miss[order][k] = now;
            now -= before;
        }
    }
}

/* Adds, for each number of corrections, the square of what they would have left of a miss. */
static void judge(int corrections, double now, double weight, double share, double *const *miss, int at, double *error)
{
    error[0] += square(now * weight);
    for (int order = 0; order < corrections; order++) {
        now -= share * miss[order][at];
        error[order + 1] += square(now * weight);
    }
}

void lg_radau_note_miss(lg_radau_stepper *r, const double *v_start, double *carry)
{
    lg_radau_carry last = lg_radau_carry_in(r, carry);
    int nv = r->base.system->space->nv, nrows = r->base.system->pattern->nrows, best = 0;
    double *v = r->residual, *lam = r->residual + nv, share, error[LG_RADAU_CORRECTIONS + 1] = {0};
    if (!can_extrapolate(r, &last)) {
        lg_zero(r->corrections * lg_radau_stages(&r->numbers) * (nv + nrows), last.miss[0]);
        *last.order = 0;
        return;
    }
    share = share_of(r, &last);
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        const lg_radau_stage *s = &r->stage[i];
        extrapolate(r, &last, i, v_start, v, lam);
        for (int k = 0; k < nv; k++)
            judge(r->corrections, s->v[k] - v[k], r->weight[k], share, last.miss, nv * i + k, error);
        note(r->corrections, nv, s->v, v, last.miss, nv * i);
        note(r->corrections, nrows, s->lam, lam, last.miss_lam, nrows * i);
    }
    for (int order = 1; order <= r->corrections; order++)
        best = error[order] < error[best] ? order : best;
    *last.order = best;
}
