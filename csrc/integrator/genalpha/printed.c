/* The algorithms of holzinger2025 as printed, which update q, v and vdot by increments. They act like the exact form
   with another sigma: about 1.5 sigma if the factor 1/2 that (84), (85) and line 6 lack is supplied. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

/* Line 6: theta := (I - s h beta/gamma v^) theta with s = sigma, or with the missing 1/2, (85). */
static void turn_prediction(const lg_genalpha_stepper *g, const lg_factor *f, double *theta)
{
    const lg_alpha *p = &g->alpha;
    double s = p->sigma * g->h * p->beta / p->gamma * g->form->half;
    double V[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK], old[LG_ALPHA_BLOCK];
    f->node->ad(f->n, g->v0 + f->v, V);
    lg_copy(f->nv, theta + f->v, old);
    for (int j = 0; j < f->nv; j++)
        lg_axpy(f->nv, -s * old[j], V + f->nv * j, theta + f->v);
}

/* Lines 1 to 7 of Algs. 1 to 3. */
static void printed_predict(lg_genalpha_stepper *g)
{
    const lg_space *space = g->base.system->space;
    lg_copy(space->nv, g->theta0, g->now.theta);
    lg_copy(space->nv, g->v0, g->now.v);
    lg_zero(space->nv, g->now.a);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++)
        if (!f->node->linear)
            turn_prediction(g, f, g->now.theta);
    lg_space_move(space, g->now.qn, g->now.theta, NULL, g->now.q, NULL);
}

/* q, v and vdot are already updated by increments. */
static void printed_follow(lg_genalpha_stepper *g)
{
    (void)g;
}

/* P^-1(theta) as printed, (65): I + first theta^ + second theta^^2, with s = 1 - sigma. */
static void printed_inverse(const lg_alpha *p, double *first, double *second)
{
    double s = 1 - p->sigma;
    *first = s / 2;
    *second = -s * (2 - 3 * s) / 12;
}

/* The printed updates, with the unknown Delta = T Delta theta: lines 15 to 17 of Algs. 1 and 3, 15 to 18 of Alg. 2,
   (D.3)-(D.6). What mu_correction adds to dw moves the coordinates only. */
static void printed_correct(lg_genalpha_stepper *g, const double *dw)
{
    const lg_space *space = g->base.system->space;
    double first, second, *Delta = g->theta0, *rate = g->v0; /* scratch: their values are no longer needed */
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

    printed_inverse(&g->alpha, &first, &second);
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double u[LG_ALPHA_BLOCK] = {0}, X[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        if (f->node->linear || g->alpha.sigma == 1) {
            lg_axpy(f->nv, -g->gamma_prime / g->beta_prime, dw + f->v, g->now.v + f->v);
            lg_axpy(f->nv, -1, dw + f->v, g->now.a + f->v);
            continue;
        }
        lg_alpha_polynomial(f, g->now.theta, first, second, X);
        for (int j = 0; j < f->nv; j++)
            lg_axpy(f->nv, -dw[f->v + j], X + f->nv * j, u);
        lg_axpy(f->nv, g->gamma_prime / g->beta_prime, u, g->now.v + f->v);
        lg_axpy(f->nv, 1, u, g->now.a + f->v);
    }
}

static void printed_form_chains(lg_genalpha_stepper *g, const double k[3])
{
    const lg_space *space = g->base.system->space;
    for (int i = 0; i < space->nblocks; i++) {
        const lg_block *b = &space->block[i];
        double *X = b->linear || !g->operator || g->alpha.sigma == 1 ? NULL : g->X + b->m;
        g->chain[i] = (lg_chain){{k[0], k[1], k[2]}, {NULL, X, X}};
    }
}

static void update_chains(lg_genalpha_stepper *g, const lg_alpha_state *formed)
{
    const lg_space *space = g->base.system->space;
    double first, second;
    printed_inverse(&g->alpha, &first, &second);
    for (int i = 0; i < space->nblocks; i++)
        if (g->chain[i].X[1])
            lg_alpha_polynomials(&space->block[i], formed->theta, first, second, g->X + space->block[i].m);
}

const lg_alpha_form lg_printed_form = {printed_predict,     printed_follow, printed_correct,
                                       printed_form_chains, update_chains,  .half = 1};
const lg_alpha_form lg_printed_half_form = {printed_predict,     printed_follow, printed_correct,
                                            printed_form_chains, update_chains,  .half = 0.5};
