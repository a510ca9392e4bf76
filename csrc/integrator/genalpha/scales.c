/* The constants of steps of one size. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

static LG_APART lg_alpha_scales scales_of(const lg_alpha *p, double h)
{
    double beta_prime = lg_beta_prime(p, h), gamma_prime = lg_gamma_prime(p, h), to_theta = 1 / beta_prime;
    return (lg_alpha_scales){.h = h,
                             .beta_prime = beta_prime,
                             .gamma_prime = gamma_prime,
                             .to_theta = to_theta,
                             .to_v = gamma_prime * to_theta,
                             .to_lie = beta_prime * p->sigma,
                             .vdot_share = p->alpha_f / (1 - p->alpha_m),
                             .a_share = p->alpha_m / (1 - p->alpha_m),
                             .early = h * (1 - p->gamma),
                             .late = h * p->gamma,
                             .ratio = h * p->beta / p->gamma,
                             .early2 = h * h * (0.5 - p->beta),
                             .late2 = h * h * p->beta};
}

void lg_alpha_set_size(lg_genalpha_stepper *g, double h)
{
    g->h = h;
    if (h != g->scales.h)
        g->scales = scales_of(&g->alpha, h);
    g->beta_prime = g->scales.beta_prime;
    g->gamma_prime = g->scales.gamma_prime;
}
