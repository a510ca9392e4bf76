/* The tangent of a rod's edge: derivatives of its wrenches in the nine relative motions; formulas in
   rod_strain.h. */
#include "model/joint/rod_tangent.h"

#include "core/small.h"
#include "model/tangent.h"

/* Columns of ds by the nine motions of the poses without damping: C/ds Y. */
static void elastic_columns(const lg_element *e, const double Y[9][6], double P[9][6])
{
    double per_length = 1 / e->p[LENGTH], strain[6];
    lg_zero(6, strain);
    for (int p = 0; p < 9; p++) {
        for (int i = e->info->nrows; i < 6; i++)
            strain[i] = per_length * Y[p][i];
        lg_edge_stress(e, strain, P[p]);
        lg_zero(e->info->nrows, P[p]);
    }
}

/* What damping adds to them, and the columns by the nine motions of the twists: 2 C_d/ds Q and W = 2 C_d/ds Y. */
static void add_damping(const lg_element *e, const lg_strained *k, const double Y[9][6], double P[9][6], double W[9][6])
{
    double Q[9][6], damping[6];
    lg_screw_rate_columns(&k->m, Y, Q);
    for (int i = 0; i < 6; i++)
        damping[i] = 2 * e->p[DAMPING + i] / e->p[LENGTH];
    lg_zero(e->info->nrows, damping);
    for (int p = 0; p < 9; p++)
        for (int i = 0; i < 6; i++) {
            P[p][i] += damping[i] * Q[p][i];
            W[p][i] = damping[i] * Y[p][i];
        }
}

void lg_edge_reaction_slopes(const lg_strained *k, const double lam[6], lg_quarters K[2][2])
{
    static const double none[9][6];
    double Y[9][6];
    lg_screw_columns(&k->m, Y);
    lg_screw_stiffness(&k->m, lam, Y, none, K);
}

void lg_edge_slopes(const lg_element *e, const lg_strained *k, const double sum[6], int damped, lg_quarters K[2][2],
                    lg_quarters D[2][2])
{
    double Y[9][6], P[9][6], W[9][6];
    D[0][0].has = D[0][1].has = D[1][0].has = D[1][1].has = 0;
    lg_screw_columns(&k->m, Y);
    elastic_columns(e, Y, P);
    if (damped) {
        add_damping(e, k, Y, P, W);
        lg_screw_damping(&k->m, Y, W, D);
    }
    lg_screw_stiffness(&k->m, sum, Y, P, K);
}

void lg_edge_tangent(const lg_joint *joint, const lg_strained *k, const lg_arms *arms, const double sum[6],
                     const lg_point *at, const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    lg_quarters K[2][2], D[2][2];
    int damped = lg_edge_damped(e);
    lg_edge_slopes(e, k, sum, damped, K, D);
    lg_tangent_add_opened(e, arms, at, want, 1, K, damped ? D : NULL);
}
