/* The angle phi of angle.c with its gradient as u, so that a force of phi has a potential even where the axes of both
   bodies are not parallel, as between bodies without a joint. Where they are, u is that of angle.c.

   With v = R_ab e1 of b, c = e1 . v, s = e2 . v and n = d phi/dv = (c e2 - s e1)/(c^2 + s^2):
       u_a = n x v,   u_b = e1b x R_ab^T n,   dv = v^ dphi_a - R_ab e1b^ dphi_b,
       dn = N dv,     d(R_ab^T n) = R_ab^T (dn - n^ dphi_a) + (R_ab^T n)^ dphi_b,
   with N the second derivative of phi by v. */
#include "model/force/coordinate.h"
#include "model/triad.h"

enum { TRIAD_A, TRIAD_B = 9 }; /* indices of the parameters */

typedef struct twist {
    double n[3], nb[3], N[9]; /* n, R_ab^T n, and the derivative of n by v */
} twist;

static void open_gradient(const lg_element *e, const lg_turn *at, twist *out)
{
    double e1[3], e2[3];
    lg_triad_axis(e->p + TRIAD_A, 0, e1);
    lg_triad_axis(e->p + TRIAD_A, 1, e2);
    double c = lg_dot3(e1, at->v), s = lg_dot3(e2, at->v), square = c * c + s * s;
    double cc = 2 * c * s / (square * square), cs = (s * s - c * c) / (square * square);
    for (int i = 0; i < 3; i++) {
        out->n[i] = (c * e2[i] - s * e1[i]) / square;
        for (int j = 0; j < 3; j++)
            out->N[3 * i + j] = cc * (e1[i] * e1[j] - e2[i] * e2[j]) + cs * (e1[i] * e2[j] + e2[i] * e1[j]);
    }
    lg_mulT3(at->Rab, out->n, out->nb);
}

static void twist_open(const lg_element *e, const lg_pose *const f[2], const lg_point *point, lg_coordinate *out)
{
    lg_turn *turn = &out->turn;
    twist g;
    lg_turn_open(e, e->p + TRIAD_A, f, point, turn);
    open_gradient(e, turn, &g);
    lg_zero(12, out->u[0]);
    lg_cross(g.n, turn->v, out->u[0] + 3);
    lg_cross(turn->e1, g.nb, out->u[1] + 3);
    out->s = turn->phi;
    out->rate = lg_dot3(out->u[0] + 3, f[0]->omega) + lg_dot3(out->u[1] + 3, f[1]->omega);
}

/* The derivatives of both moments u by the turns of both bodies, row-major. */
static void turning(const lg_element *e, const lg_turn *at, double du[2][2][9])
{
    twist g;
    double v[9], e1[9], n[9], nb[9], dv[2][9], dn[9], A[9], B[9], Rba[9];
    open_gradient(e, at, &g);
    lg_hat3(at->v, v), lg_hat3(at->e1, e1), lg_hat3(g.n, n), lg_hat3(g.nb, nb);
    lg_transpose3(at->Rab, Rba);
    lg_copy(9, v, dv[0]);
    lg_mul33(at->Rab, e1, dv[1]);
    for (int i = 0; i < 9; i++)
        dv[1][i] = -dv[1][i];
    for (int j = 0; j < 2; j++) {
        lg_mul33(g.N, dv[j], dn);
        lg_mul33(n, dv[j], du[0][j]); // n x dv - v x dn
        lg_mul33(v, dn, A);
        lg_axpy(9, -1, A, du[0][j]);
        if (j == 0)
            lg_axpy(9, -1, n, dn);
        lg_mul33(Rba, dn, B);
        if (j == 1)
            lg_axpy(9, 1, nb, B);
        lg_mul33(e1, B, du[1][j]);
    }
}

static void twist_slopes(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, const double law[3],
                         double dtau[2][6])
{
    double du[2][2][9];
    turning(e, &at->turn, du);
    for (int j = 0; j < 2; j++) {
        double rate[3], more[3];
        lg_mulT3(du[0][j], f[0]->omega, rate);
        lg_mulT3(du[1][j], f[1]->omega, more);
        for (int i = 0; i < 3; i++)
            dtau[j][3 + i] = law[1] * at->u[j][3 + i] + law[2] * (rate[i] + more[i]);
    }
}

static void twist_add_turning(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                              lg_quarters K[2][2])
{
    (void)f;
    double du[2][2][9];
    turning(e, &at->turn, du);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&K[i][j], LG_RR, tau, du[i][j]);
}

const lg_coordinate_type lg_coordinate_twist = {
    .first = 1, .end = {2, 2}, .open = twist_open, .slopes = twist_slopes, .add_turning = twist_add_turning};
