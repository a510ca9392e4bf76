/* With d = x_b - x_a, the velocities x' of both points and the inertial angular velocities w = R omega, the relative
   motion of two bodies is

       r = x_b' - x_a' - w~ x d,   w~ = alpha_a w_a + alpha_b w_b,   alpha_a + alpha_b = 1,      s = w_b - w_a,

   which no common translation or rotation changes. The wrenches nu are the derivatives of (r . r + l^2 s . Pi s)/2 by
   the twists,

       forces -r, r;   moments -alpha_i d x r -+ l^2 Pi s,

   so that they balance, and nu . twists = r . r + l^2 s . Pi s. The shares alpha are 1/2, or 1 for the body that turns
   if the other end is a point mass, whose turning has no meaning (l = 0), or is at rest. In the latter case r is the
   velocity of the body's point that is at the fixed end, and Pi = 1 - g g^T leaves out rotations about the vertical g
   through that end. Between two points that do not turn only the part of r along d is invariant:
   r = d (d . u)/(d . d), u = x_b' - x_a'. An element on one body alone, its weight, has s = w and no r. */
#include "model/relative.h"

#include "model/body/body.h"

static int is_point(const lg_frame *f)
{
    return f->body->block && f->body->type->is_point;
}

/* Which end turns d, and how much angles count. */
static void open_shares(const lg_element *e, const double vertical[3], double l2, lg_relative *a)
{
    int both = e->info->nframes == 2, turning[2] = {lg_frame_turns(e->frame[0]), both && lg_frame_turns(e->frame[1])};
    int to_ground = !both || !e->frame[0]->body->block || !e->frame[1]->body->block;
    int to_point = is_point(e->frame[0]) || (both && is_point(e->frame[1]));
    a->slides = both;
    a->radial = both && !turning[0] && !turning[1];
    a->square = to_point ? 0 : l2;
    for (int i = 0; i < 2; i++) {
        a->alpha[i] = both && turning[i] ? (turning[1 - i] ? 0.5 : 1) : 0;
        a->sign[i] = both && i == 0 ? -1 : 1;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a->turning[3 * i + j] = a->square * ((i == j) - (to_ground ? vertical[i] * vertical[j] : 0));
}

static void open_motion(const lg_element *e, const lg_pose *const f[2], lg_relative *a)
{
    lg_zero(3, a->d), lg_zero(3, a->u), lg_zero(3, a->s), lg_zero(3, a->mean);
    for (int i = 0; i < e->info->nframes; i++) {
        a->R[i] = f[i]->R;
        lg_mul3(f[i]->R, f[i]->omega, a->w[i]);
        lg_axpy(3, a->sign[i], f[i]->x, a->d);
        lg_axpy(3, a->sign[i], f[i]->xdot, a->u);
        lg_axpy(3, a->sign[i], a->w[i], a->s);
        lg_axpy(3, a->alpha[i], a->w[i], a->mean);
    }
}

static void set_sliding(lg_relative *a)
{
    lg_zero(3, a->r);
    if (!a->slides)
        return;
    if (a->radial) {
        double square = lg_dot3(a->d, a->d);
        lg_axpy(3, square > 0 ? lg_dot3(a->d, a->u) / square : 0, a->d, a->r);
        return;
    }
    lg_copy(3, a->u, a->r);
    lg_add_cross(a->d, a->mean, a->r);
}

/* The moment -alpha d x r +- l^2 Pi s on end i, inertial. */
static void moment_on(const lg_relative *a, int i, double M[3])
{
    lg_mul3(a->turning, a->s, M);
    for (int k = 0; k < 3; k++)
        M[k] *= a->sign[i];
    double arm[3] = {-a->alpha[i] * a->d[0], -a->alpha[i] * a->d[1], -a->alpha[i] * a->d[2]};
    lg_add_cross(arm, a->r, M);
}

void lg_relative_open(const lg_element *e, const lg_pose *const f[2], const double vertical[3], double l2,
                      lg_relative *out)
{
    double M[3];
    open_shares(e, vertical, l2, out);
    open_motion(e, f, out);
    set_sliding(out);
    out->power = 0;
    for (int i = 0; i < e->info->nframes; i++) {
        moment_on(out, i, M);
        for (int k = 0; k < 3; k++)
            out->wrench[i][k] = out->sign[i] * out->r[k];
        lg_mulT3(out->R[i], M, out->wrench[i] + 3);
        out->power += lg_dot3(out->wrench[i], f[i]->xdot) + lg_dot3(out->wrench[i] + 3, f[i]->omega);
    }
}

/* ---- derivatives ---- */

/* d r = X dx + P dphi + U dx' + W domega and d s = Y dphi + V domega, of one end; dd = sign dx */
typedef struct slopes {
    double X[9], P[9], U[9], W[9], Y[9], V[9];
} slopes;

/* dw = R domega - w^ R dphi */
static void angular_slopes(const lg_relative *a, int j, double dw[9])
{
    double hat[9];
    lg_hat3(a->w[j], hat);
    lg_mul33(hat, a->R[j], dw);
    for (int k = 0; k < 9; k++)
        dw[k] = -dw[k];
}

static void scale(double s, const double A[9], double B[9])
{
    for (int k = 0; k < 9; k++)
        B[k] = s * A[k];
}

/* Of r = d (d . u)/(d . d), by dd and du. What the former adds along d, d u^T dd/(d . d) and a multiple of d d^T dd, is
   left out: it scales nu, and nu enters P dq/N with N = h^2 nu . twists. */
static void radial_slopes(const lg_relative *a, double by_d[9], double by_u[9])
{
    double square = lg_dot3(a->d, a->d), along = lg_dot3(a->d, a->u);
    lg_zero(9, by_d), lg_zero(9, by_u);
    for (int i = 0; i < 3 && square > 0; i++) {
        by_d[4 * i] = along / square;
        for (int j = 0; j < 3; j++)
            by_u[3 * i + j] = a->d[i] * a->d[j] / square;
    }
}

static void open_slopes(const lg_relative *a, int j, slopes *out)
{
    double dw[9], hat[9], by_d[9], by_u[9];
    angular_slopes(a, j, dw);
    scale(a->sign[j], dw, out->Y);
    scale(a->sign[j], a->R[j], out->V);
    lg_zero(9, out->X), lg_zero(9, out->P), lg_zero(9, out->U), lg_zero(9, out->W);
    if (!a->slides)
        return;
    if (a->radial) {
        radial_slopes(a, by_d, by_u);
    } else {
        lg_hat3(a->mean, hat);
        scale(-1, hat, by_d);
        lg_identity3(by_u);
    }
    scale(a->sign[j], by_d, out->X);
    scale(a->sign[j], by_u, out->U);
    double arm[3] = {a->alpha[j] * a->d[0], a->alpha[j] * a->d[1], a->alpha[j] * a->d[2]};
    lg_hat3(arm, hat);
    lg_mul33(hat, dw, out->P);
    lg_mul33(hat, a->R[j], out->W);
}

/* The derivative of the moment on end i, in the axes of its body, for the slopes `dr`, `ds` and `dd` (NULL: none). */
static void add_moment(const lg_relative *a, int i, int which, const double *dr, const double *ds, const double *dd,
                       lg_quarters *out)
{
    double sum[9] = {0}, A[9], hat[9],
           arm[3] = {-a->alpha[i] * a->d[0], -a->alpha[i] * a->d[1], -a->alpha[i] * a->d[2]};
    lg_hat3(arm, hat);
    lg_mul33(hat, dr, sum);
    if (ds) {
        lg_mul33(a->turning, ds, A);
        lg_axpy(9, a->sign[i], A, sum);
    }
    if (dd) {
        lg_hat3(a->r, hat);
        lg_axpy(9, a->alpha[i] * *dd, hat, sum);
    }
    lg_mulT33(a->R[i], sum, A);
    lg_quarters_add(out, which, 1, A);
}

static void add_slopes(const lg_relative *a, int i, int j, lg_quarters *K, lg_quarters *D)
{
    slopes at;
    open_slopes(a, j, &at);
    K->has = D->has = 0;
    lg_quarters_add(K, LG_XX, a->sign[i], at.X);
    lg_quarters_add(K, LG_XR, a->sign[i], at.P);
    add_moment(a, i, LG_RX, at.X, NULL, a->slides ? &a->sign[j] : NULL, K);
    add_moment(a, i, LG_RR, at.P, at.Y, NULL, K);
    lg_quarters_add(D, LG_XX, a->sign[i], at.U);
    lg_quarters_add(D, LG_XR, a->sign[i], at.W);
    add_moment(a, i, LG_RX, at.U, NULL, NULL, D);
    add_moment(a, i, LG_RR, at.W, at.V, NULL, D);
    if (i == j) { // the moment in body axes turns with the body
        double hat[9];
        lg_hat3(a->wrench[i] + 3, hat);
        lg_quarters_add(K, LG_RR, 1, hat);
    }
}

void lg_relative_tangent(const lg_element *e, const lg_relative *a, lg_quarters K[2][2], lg_quarters D[2][2])
{
    for (int i = 0; i < e->info->nframes; i++)
        for (int j = 0; j < e->info->nframes; j++)
            add_slopes(a, i, j, &K[i][j], &D[i][j]);
}
