/* The first guess of a step: velocities by the polynomial through those of the last step, from which local coordinates
   follow. */
#include "core/small.h"
#include "integrator/radau/step.h"

enum { ROUNDS = 2 }; /* from velocities to local coordinates and their rates */

/* V_i = v_n + c_i h vdot_n */
static void begin(lg_radau_stepper *r)
{
    const lg_state *state = r->start;
    int nv = r->base.system->space->nv;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        lg_copy(nv, state->v, r->stage[i].v);
        lg_axpy(nv, r->numbers.c[i] * r->h, state->a, r->stage[i].v);
    }
}

/* Weights at s (1: the end of the last step) of the velocities v_n, V_1 .. V_s-1 of that step, relative to its end. */
static void extrapolation(const lg_radau_numbers *n, double s, double *weight)
{
    double node[LG_RADAU_STAGES + 1] = {0};
    lg_copy(lg_radau_stages(n), n->c, node + 1);
    for (int m = 0; m < lg_radau_stages(n); m++) {
        weight[m] = 1;
        for (int j = 0; j <= lg_radau_stages(n); j++)
            if (j != m)
                weight[m] *= (s - node[j]) / (node[m] - node[j]);
    }
}

static void extrapolate(lg_radau_stepper *r, double ratio, const double *before)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int i = 0; i < stages; i++) {
        double weight[LG_RADAU_STAGES];
        extrapolation(&r->numbers, 1 + ratio * r->numbers.c[i], weight);
        lg_copy(nv, r->start->v, r->stage[i].v);
        for (int m = 0; m < stages; m++)
            lg_axpy(nv, weight[m], before + (size_t)nv * m, r->stage[i].v);
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

/* A_i = sum (A^-1)_ij (V_j - v_n) / h */
static void set_accelerations(lg_radau_stepper *r)
{
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    for (int i = 0; i < stages; i++) {
        double *a = r->stage[i].a;
        lg_zero(nv, a);
        for (int j = 0; j < stages; j++)
            for (int k = 0; k < nv; k++)
                a[k] += r->numbers.inverse[i][j] / r->h * (r->stage[j].v[k] - r->start->v[k]);
    }
}

/* Steps longer than the last one by this factor are not predicted from it. */
static const double farthest = 10;

void lg_radau_predict(lg_radau_stepper *r)
{
    const lg_state *state = r->start;
    int nv = r->base.system->space->nv, stages = lg_radau_stages(&r->numbers);
    if (state->carry[0] > 0 && r->h <= farthest * state->carry[0])
        extrapolate(r, r->h / state->carry[0], state->carry + 1);
    else
        begin(r);
    for (int i = 0; i < stages; i++) {
        lg_zero(nv, r->stage[i].theta);
        lg_copy(r->base.system->pattern->nrows, state->lam, r->stage[i].lam);
    }
    set_rates(r);
    for (int round = 0; round < ROUNDS; round++) {
        sum_turns(r);
        if (!r->base.system->space->linear)
            set_rates(r);
    }
    set_accelerations(r);
}

void lg_radau_hand_over(const lg_radau_stepper *r, const double *v_start, lg_state *state)
{
    int nv = r->base.system->space->nv;
    state->carry[0] = r->h;
    for (int m = 0; m < lg_radau_stages(&r->numbers); m++) {
        const double *v = m ? r->stage[m - 1].v : v_start;
        for (int k = 0; k < nv; k++)
            state->carry[1 + (size_t)nv * m + k] = v[k] - state->v[k];
    }
}
