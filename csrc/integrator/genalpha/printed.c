/* The algorithms of holzinger2025 as printed, which update q, v and vdot by increments. They act like the exact form
   with another sigma: about 1.5 sigma if the factor 1/2 that (84), (85) and line 6 lack is supplied. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

/* Line 6: theta := (I - s h beta/gamma v^) theta with s = sigma, or with the missing 1/2, (85). */
static void turn_prediction(const lg_genalpha_stepper *g, const lg_block *b, double *theta)
{
    const lg_alpha *p = &g->alpha;
    double s = p->sigma * g->h * p->beta / p->gamma * g->form->half;
    double V[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK], old[LG_ALPHA_BLOCK];
    b->node->ad(b->n, g->v0 + b->v, V);
    int n = b->node->nv;
    lg_copy(n, theta + b->v, old);
    for (int j = 0; j < n; j++)
        lg_axpy(n, -s * old[j], V + n * j, theta + b->v);
}

/* Lines 1 to 7 of Algs. 1 to 3. */
static void predict(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_copy(space->nv, g->theta0, g->now.theta);
    lg_copy(space->nv, g->v0, g->now.v);
    lg_zero(space->nv, g->now.a);
    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++)
        if (!b->node->linear)
            turn_prediction(g, b, g->now.theta);
    lg_space_move(space, g->now.qn, g->now.theta, NULL, g->now.q, NULL);
}

/* q, v and vdot are already updated by increments. */
static void follow(lg_genalpha_stepper *g)
{
    (void)g;
}

/* P^-1(theta) as printed, (65): s/2 theta^ - s (2 - 3 s)/12 theta^^2 beside I, s = 1 - sigma. */
static void printed_inverse(const lg_alpha *p, const lg_block *b, const double *theta, double *X)
{
    double s = 1 - p->sigma;
    lg_alpha_polynomial(b, theta, s / 2, -s * (2 - 3 * s) / 12, X);
}

/* The printed updates, with the unknown Delta = T Delta theta: lines 15 to 17 of Algs. 1 and 3, 15 to 18 of Alg. 2,
   (D.3)-(D.6). What mu_correction adds to dw moves the coordinates only. */
static void correct(lg_genalpha_stepper *g, const double *dw)
{
    const lg_space *space = g->base.system->space;
    double *Delta = g->theta0, *rate = g->v0; /* scratch: their values are no longer needed */
    lg_copy(space->nv, dw, Delta);
    if (g->index == LG_INDEX_STABILIZED)
        lg_axpy(space->nv, 1, g->mu_correction, Delta);
    for (int i = 0; i < space->nv; i++)
        Delta[i] /= -g->beta_prime;

    lg_space_rate(space, g->now.qn, g->now.theta, Delta, rate);
    lg_axpy(space->nv, 1, rate, g->now.theta);
    if (g->alpha.sigma == 1)
        lg_space_advance(space, Delta, g->now.q);
    else
        lg_space_move(space, g->now.qn, g->now.theta, NULL, g->now.q, NULL);

    for (const lg_block *b = space->block, *end = b + space->nblocks; b < end; b++) {
        double u[LG_ALPHA_BLOCK] = {0}, X[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        int lie = b->node->linear || g->alpha.sigma == 1 ? 0 : b->node->nv;
        lg_axpy(b->nv - lie, -g->gamma_prime / g->beta_prime, dw + b->v + lie, g->now.v + b->v + lie);
        lg_axpy(b->nv - lie, -1, dw + b->v + lie, g->now.a + b->v + lie);
        if (!lie)
            continue;
        printed_inverse(&g->alpha, b, g->now.theta, X);
        for (int j = 0; j < lie; j++)
            lg_axpy(lie, -dw[b->v + j], X + lie * j, u);
        lg_axpy(lie, g->gamma_prime / g->beta_prime, u, g->now.v + b->v);
        lg_axpy(lie, 1, u, g->now.a + b->v);
    }
}

static void form_chains(lg_genalpha_stepper *g, const double k[3])
{
    const lg_space *space = g->base.system->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double *X = b->node->linear || !g->operator || g->alpha.sigma == 1 ? NULL : g->X + b->m;
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {NULL, X, X}};
    }
}

static void update_chains(lg_genalpha_stepper *g, const lg_alpha_place *place)
{
    const lg_space *space = g->base.system->space;
    for (int i = 0; i < space->nblocks; i++)
        if (g->chain[i].X[1]) {
            const lg_block *b = &space->block[i];
            printed_inverse(&g->alpha, b, place->theta, g->X + b->m);
            lg_block_widen(b, 1, g->X + b->m);
        }
}

const lg_alpha_form lg_printed_form = {predict, follow, correct, form_chains, update_chains, .half = 1};
const lg_alpha_form lg_printed_half_form = {predict, follow, correct, form_chains, update_chains, .half = 0.5};
