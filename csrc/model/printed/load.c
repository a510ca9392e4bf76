/* Forces and moments of a load have a degree in the attitude of their body. A force in body axes, R_q F, has the degree
   one; so has a moment (kinon2024 (128)), whose power is its product with omega_q = 2 E(e) e' = n omega. */
#include "model/printed/load.h"

#include "model/tangent.h"
#include "system/chain.h"

/* Multiplies the forces (0) or the moments (1) in w, K and D by s. */
static void scale_wrenches(int which, double s, int linear, int nframes, lg_load *load, int side)
{
    for (int i = 0; i < 3; i++)
        load->w[side][3 * which + i] *= s;
    for (int j = 0; linear && j < nframes; j++)
        for (int column = 0; column < 2; column++)
            for (int k = 0; k < 9; k++) {
                int quarter = 2 * which + column;
                if (load->K[side][j].has >> quarter & 1)
                    load->K[side][j].A[quarter][k] *= s;
                if (load->D[side][j].has >> quarter & 1)
                    load->D[side][j].A[quarter][k] *= s;
            }
}

/* S -= H^T (dw/dn) dn^T for the wrench w on a body; by_n = dw/dn. */
static void add_load_tangent(const lg_element *e, int side, const lg_stretched *body, const double by_n[6],
                             const lg_point *at, const lg_wanted *want)
{
    double pulled[LG_MAX_NV] = {0}, A[LG_MAX_NV * LG_MAX_NV] = {0};
    int nv = body->block->nv;
    lg_printed_pull(e->frame[side], at, -1, by_n, pulled);
    for (int k = 0; k < 4; k++)
        lg_axpy(nv, 2 * body->e[k], pulled, A + nv * (body->first + k));
    lg_tangent_add_block(e, want->tangent->S, want->tangent->chain, side, side, A);
}

void lg_printed_load(const lg_element *e, const int degree[2], const lg_point *at, const lg_wanted *want, int linear,
                     lg_load *load)
{
    for (int side = 0; side < e->info->nframes; side++) {
        lg_stretched body = lg_stretched_at(e->frame[side]->body, at);
        double by_n[6];
        if (!body.turns)
            continue;
        for (int which = 0; which < 2; which++) {
            scale_wrenches(which, lg_stretch_power(body.n, degree[which]), linear, e->info->nframes, load, side);
            for (int i = 0; i < 3; i++)
                by_n[3 * which + i] = degree[which] / body.n * load->w[side][3 * which + i];
        }
        if (linear)
            add_load_tangent(e, side, &body, by_n, at, want);
    }
}
