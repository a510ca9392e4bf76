/* The local error of a step, from differences of the accelerations vdot at its ends and at the start of the step before
   (holzinger2025 (40) for the coordinates). With Delta = alpha_m - alpha_f, a step from exact values, whose a_n goes on
   from equal steps before, adds

       q:  exact minus numerical   h^3 (C_q vddot + 1/4 (1/3 - sigma beta/gamma) v^ vdot)
           C_q = 1/6 - beta - Delta/2
       v:  numerical minus exact   h^3 C_v vdddot
           C_v = 1/12 + Delta (alpha_m - 1/2 - Delta)

   The accelerations a of the algorithm would give the same derivatives, but they change with the step sizes. After a
   start there is no step before, and the error of v is not known. */
#include "core/small.h"
#include "integrator/genalpha/step.h"

void lg_alpha_local_error(const lg_genalpha_stepper *g, const double *v, const double *vdot, const double *vddot,
                          double *l)
{
    const lg_space *space = g->base.system->space;
    const lg_alpha *p = &g->alpha;
    double Cq = (1 - 6 * p->beta - 3 * (p->alpha_m - p->alpha_f)) / 6;
    double lie = 0.25 * (1.0 / 3 - p->sigma * p->beta / p->gamma);
    for (int i = 0; i < space->nv; i++)
        l[i] = Cq * vddot[i];
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double V[LG_ALPHA_BLOCK * LG_ALPHA_BLOCK];
        if (f->node->linear)
            continue;
        f->node->ad(f->n, v + f->v, V);
        for (int j = 0; j < f->nv; j++)
            lg_axpy(f->nv, lie * vdot[f->v + j], V + f->nv * j, l + f->v);
    }
}

/* The error of v: h^3 C_v times twice the second divided difference of vdot. */
static void velocity_error(const lg_genalpha_stepper *g, const lg_state *before, double h, const double *vddot,
                           double *error)
{
    lg_alpha_carry c;
    const lg_alpha *p = &g->alpha;
    double Delta = p->alpha_m - p->alpha_f, Cv = 1.0 / 12 + Delta * (p->alpha_m - 0.5 - Delta);
    int nv = g->base.system->space->nv;
    lg_alpha_carry_layout(g, before->carry, &c);
    if (!lg_alpha_knows_vdot(g, &c)) {
        lg_zero(nv, error);
        return;
    }
    for (int i = 0; i < nv; i++) {
        double vddot_last = (before->a[i] - c.vdot[i]) / *c.h;
        error[i] = h * h * h * Cv * 2 * (vddot[i] - vddot_last) / (h + *c.h);
    }
}

lg_status lg_alpha_error(lg_stepper *self, const lg_state *before, double h, double *error)
{
    lg_genalpha_stepper *g = (lg_genalpha_stepper *)self;
    int nv = self->system->space->nv;
    double *v = g->v0, *vdot = g->a0, *vddot = g->theta0; /* scratch: what stood there is no longer needed */
    for (int i = 0; i < nv; i++) {
        v[i] = 0.5 * (before->v[i] + g->now.v[i]);
        vdot[i] = 0.5 * (before->a[i] + g->now.a[i]);
        vddot[i] = (g->now.a[i] - before->a[i]) / h;
    }
    lg_alpha_local_error(g, v, vdot, vddot, error);
    for (int i = 0; i < nv; i++)
        error[i] *= h * h * h;
    velocity_error(g, before, h, vddot, error + nv);
    return LG_OK;
}
