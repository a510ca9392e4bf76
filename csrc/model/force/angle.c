/* The angle phi about e3 from a triad on the first body to one on the second. It counts full turns: its branch is the
   one nearest to the angle in memory. A torque about e3 of the first body acts on the second body, and its opposite
   acts on the first.

   With e = e3 of a, r = R_b^T R_a e, v = R_a^T R_b e1 of b, and n = d phi/d v:
       phi' = r . omega_b - e . omega_a
       dv = v^ dphi_a - R_ab e1^ dphi_b,   dr = r^ dphi_b - R_ab^T e^ dphi_a. */
#include "model/force/coordinate.h"
#include "model/triad.h"

enum { TRIAD_A, TRIAD_B = 9 }; /* indices of the parameters */

static void angle_open(const lg_element *e, const lg_pose *const f[2], const lg_point *point, lg_coordinate *out)
{
    lg_turn *turn = &out->turn;
    lg_turn_open(e, e->p + TRIAD_A, f, point, turn);
    out->s = turn->phi, out->rate = turn->rate;
    lg_zero(12, out->u[0]);
    for (int i = 0; i < 3; i++)
        out->u[0][3 + i] = -turn->e[i], out->u[1][3 + i] = turn->r[i];
}

/* Gradients of phi along dphi_a and dphi_b. */
static void angle_gradient(const lg_element *e, const lg_turn *at, double on[2][3])
{
    double e1[3], e2[3], n[3], nb[3];
    lg_triad_axis(e->p + TRIAD_A, 0, e1);
    lg_triad_axis(e->p + TRIAD_A, 1, e2);
    double c = lg_dot3(e1, at->v), s = lg_dot3(e2, at->v), square = c * c + s * s;
    for (int i = 0; i < 3; i++)
        n[i] = (c * e2[i] - s * e1[i]) / square;
    lg_cross(n, at->v, on[0]);
    lg_mulT3(at->Rab, n, nb);
    lg_cross(at->e1, nb, on[1]);
}

static void angle_slopes(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, const double law[3],
                         double dtau[2][6])
{
    double of_phi[2][3], of_rate[2][3];
    angle_gradient(e, &at->turn, of_phi);
    lg_cross(at->turn.e, at->turn.omega, of_rate[0]);
    lg_cross(f[1]->omega, at->turn.r, of_rate[1]);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++)
            dtau[j][3 + i] = law[1] * of_phi[j][i] + law[2] * of_rate[j][i];
}

static void angle_add_turning(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                              lg_quarters K[2][2])
{
    (void)e, (void)f;
    double hat[9], Rba[9], A[9];
    lg_hat3(at->turn.r, hat);
    lg_quarters_add(&K[1][1], LG_RR, tau, hat);
    lg_hat3(at->turn.e, hat);
    lg_transpose3(at->turn.Rab, Rba);
    lg_mul33(Rba, hat, A);
    lg_quarters_add(&K[1][0], LG_RR, -tau, A);
}

const lg_coordinate_type lg_coordinate_angle = {
    .first = 1, .end = {2, 2}, .open = angle_open, .slopes = angle_slopes, .add_turning = angle_add_turning};
