/* The length of a piece of a tendon between two points or circles, measured from a point, or from a direction e1 on a
   circle. It runs round a circle with the right hand about its axis e3, frictionless, and leaves it
   where it is normal to the radius. With the angle theta of this point from e1, rho and tau the radial and the
   tangential unit vector there, c the centre and r the radius (0: a point),

       D = c_b + r_b rho_b - c_a - r_a rho_a,   l = |D|,   t = D/l,
       s = l + r_a theta_a - r_b theta_b,       D . rho_a = D . rho_b = 0,   D . tau_a, D . tau_b > 0,

   so that the sum over all pieces of a tendon is its length, arcs included. Where D lies in the planes of both circles
   it is exact, and s does not depend on theta to first order. Elsewhere the projection of D to the plane of a circle is
   its tangent. The gradient is that of s + mu . (D . rho_a, D . rho_b) at constant theta,

       J^T mu = -ds/dtheta,   f = t + mu_a rho_a + mu_b rho_b:   force f on b, -f on a,
       moments rho_a x (mu_a D - r_a f),   rho_b x (mu_b D + r_b f),

   with J the derivatives of the conditions by theta. Its derivatives are those of these equations. The angles at the
   last accepted step are memory. */
#include "model/force/wrap.h"

#include "model/force/coordinate.h"
#include "model/triad.h"

enum { A, B, ENDS };
enum { RADII = 18 }; /* the parameters begin with both triads and both radii */
enum { SWEEPS = 3, ITERATIONS = 30 };

/* ---- where it leaves ---- */

static void open_circle(const lg_element *e, const lg_pose *f, int end, lg_wrap_circle *c)
{
    double axis[3];
    *c = (lg_wrap_circle){.r = e->p[RADII + end]};
    if (c->r == 0) // the body need not turn
        return;
    lg_triad_axis(e->p + 9 * end, 0, axis);
    lg_mul3(f->R, axis, c->e1);
    lg_triad_axis(e->p + 9 * end, 1, axis);
    lg_mul3(f->R, axis, c->e2);
}

static void turn_to(lg_wrap_circle *c, double theta)
{
    double cosine = cos(theta), sine = sin(theta);
    c->theta = theta;
    for (int i = 0; i < 3; i++) {
        c->rho[i] = cosine * c->e1[i] + sine * c->e2[i];
        c->tau[i] = cosine * c->e2[i] - sine * c->e1[i];
    }
}

/* Turns to where the line from a point touches the circle; `to`: from the centre to the point. Not a number if it is
   inside. */
static void aim(lg_wrap_circle *c, int end, const double to[3])
{
    if (c->r == 0)
        return;
    double x = lg_dot3(to, c->e1), y = lg_dot3(to, c->e2), open = acos(c->r / sqrt(x * x + y * y));
    turn_to(c, atan2(y, x) + (end == A ? -open : open));
}

static void set_distance(lg_wrap *w)
{
    for (int i = 0; i < 3; i++)
        w->D[i] = w->d[i] + w->of[B].r * w->of[B].rho[i] - w->of[A].r * w->of[A].rho[i];
}

static void set_conditions(lg_wrap *w)
{
    const lg_wrap_circle *a = &w->of[A], *b = &w->of[B];
    w->J[A][A] = a->r == 0 ? 1 : lg_dot3(w->D, a->tau);
    w->J[A][B] = b->r * lg_dot3(b->tau, a->rho);
    w->J[B][A] = -a->r * lg_dot3(a->tau, b->rho);
    w->J[B][B] = b->r == 0 ? 1 : lg_dot3(w->D, b->tau);
}

/* x = J^-1 b, or J^-T b */
static void solve(const lg_wrap *w, int transposed, const double b[ENDS], double x[ENDS])
{
    double upper = transposed ? w->J[B][A] : w->J[A][B], lower = transposed ? w->J[A][B] : w->J[B][A];
    double det = w->J[A][A] * w->J[B][B] - upper * lower;
    x[A] = (w->J[B][B] * b[A] - upper * b[B]) / det;
    x[B] = (w->J[A][A] * b[B] - lower * b[A]) / det;
}

/* Both circles in turn, and then Newton's method, which ends after a step whose square is round-off. */
static void find_angles(lg_wrap *w)
{
    lg_wrap_circle *a = &w->of[A], *b = &w->of[B];
    double to[3], change[ENDS];
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < 3; i++)
            to[i] = w->d[i] + b->r * b->rho[i];
        aim(a, A, to);
        for (int i = 0; i < 3; i++)
            to[i] = a->r * a->rho[i] - w->d[i];
        aim(b, B, to);
    }
    for (int i = 0; i < ITERATIONS; i++) {
        set_distance(w);
        set_conditions(w);
        const double off[ENDS] = {lg_dot3(w->D, a->rho), lg_dot3(w->D, b->rho)};
        solve(w, 0, off, change);
        for (int end = 0; end < ENDS; end++)
            if (w->of[end].r != 0)
                turn_to(&w->of[end], w->of[end].theta - change[end]);
        if (!(fabs(change[A]) + fabs(change[B]) > 1e-9))
            break;
    }
}

static void open_wrap(const lg_element *e, const lg_pose *const f[2], lg_wrap *w)
{
    double slope[ENDS];
    for (int end = 0; end < ENDS; end++)
        open_circle(e, f[end], end, &w->of[end]);
    lg_pose_between(f[A], f[B], w->d);
    find_angles(w);
    set_distance(w);
    set_conditions(w);
    w->l = lg_norm3(w->D);
    for (int i = 0; i < 3; i++)
        w->t[i] = w->D[i] / w->l;
    slope[A] = -w->of[A].r * (1 - lg_dot3(w->t, w->of[A].tau));
    slope[B] = w->of[B].r * (1 - lg_dot3(w->t, w->of[B].tau));
    solve(w, 1, slope, w->mu);
    for (int i = 0; i < 3; i++)
        w->f[i] = w->t[i] + w->mu[A] * w->of[A].rho[i] + w->mu[B] * w->of[B].rho[i];
    for (int end = 0; end < ENDS; end++) {
        for (int i = 0; i < 3; i++)
            w->arm[end][i] = w->mu[end] * w->D[i] + (end == A ? -1 : 1) * w->of[end].r * w->f[i];
        lg_cross(w->of[end].rho, w->arm[end], w->M[end]);
    }
}

void lg_wrap_angles(const double d[3], const double triad[2][9], const double radius[2], double theta[2],
                    double *length)
{
    lg_wrap w;
    lg_copy(3, d, w.d);
    for (int end = 0; end < ENDS; end++) {
        w.of[end] = (lg_wrap_circle){.r = radius[end]};
        lg_triad_axis(triad[end], 0, w.of[end].e1);
        lg_triad_axis(triad[end], 1, w.of[end].e2);
    }
    find_angles(&w);
    set_distance(&w);
    *length = lg_norm3(w.D);
    for (int end = 0; end < ENDS; end++)
        theta[end] = remainder(w.of[end].theta, 2 * LG_PI);
}

/* The turns of the angles come from the memory. */
static void wrap_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_coordinate *out)
{
    lg_wrap *w = &out->wrap;
    open_wrap(e, f, w);
    out->s = w->l, out->rate = 0;
    for (int end = 0; end < ENDS; end++) {
        double *u = out->u[end], theta = w->of[end].theta, before = at->mem.values ? at->mem.values[e->mem + end] : 0;
        lg_zero(6, u);
        out->theta[end] = theta + 2 * LG_PI * round((before - theta) / (2 * LG_PI));
        out->s += (end == A ? 1 : -1) * w->of[end].r * out->theta[end];
        for (int i = 0; i < 3; i++)
            u[i] = end == A ? -w->f[i] : w->f[i];
        out->rate += lg_dot3(u, f[end]->xdot);
        if (w->of[end].r == 0)
            continue;
        lg_mulT3(f[end]->R, w->M[end], u + 3);
        out->rate += lg_dot3(u + 3, f[end]->omega);
    }
}

/* ---- derivatives ---- */

typedef struct change { /* along one motion of the ends */
    double w[ENDS][3]; /* turns, inertial */
    double theta[ENDS], rho[ENDS][3], tau[ENDS][3], D[3], t[3], f[3];
} change;

/* d(rho), d(tau) and d(D) from the turns and from d(theta); `out->D` holds the change of d. */
static void move_circles(const lg_wrap *w, change *out, double D[3])
{
    lg_copy(3, out->D, D);
    for (int end = 0; end < ENDS; end++) {
        const lg_wrap_circle *c = &w->of[end];
        lg_cross(out->w[end], c->rho, out->rho[end]);
        lg_cross(out->w[end], c->tau, out->tau[end]);
        lg_axpy(3, out->theta[end], c->tau, out->rho[end]);
        lg_axpy(3, -out->theta[end], c->rho, out->tau[end]);
        lg_axpy(3, end == A ? -c->r : c->r, out->rho[end], D);
    }
}

/* The changes of the angles keep the conditions. */
static void follow_conditions(const lg_wrap *w, change *out)
{
    double D[3], off[ENDS];
    out->theta[A] = out->theta[B] = 0;
    move_circles(w, out, D);
    for (int end = 0; end < ENDS; end++)
        off[end] = -lg_dot3(D, w->of[end].rho) - lg_dot3(w->D, out->rho[end]);
    solve(w, 0, off, out->theta);
    move_circles(w, out, D);
    lg_copy(3, D, out->D);
}

/* d(mu), from the equation for mu. */
static void follow_multipliers(const lg_wrap *w, const change *by, double dmu[ENDS])
{
    const lg_wrap_circle *a = &w->of[A], *b = &w->of[B];
    const double dJ[ENDS][ENDS] = {{lg_dot3(by->D, a->tau) + lg_dot3(w->D, by->tau[A]),
                                    b->r * (lg_dot3(by->tau[B], a->rho) + lg_dot3(b->tau, by->rho[A]))},
                                   {-a->r * (lg_dot3(by->tau[A], b->rho) + lg_dot3(a->tau, by->rho[B])),
                                    lg_dot3(by->D, b->tau) + lg_dot3(w->D, by->tau[B])}};
    double right[ENDS];
    for (int end = 0; end < ENDS; end++) {
        double along = lg_dot3(by->t, w->of[end].tau) + lg_dot3(w->t, by->tau[end]);
        right[end] = (end == A ? 1 : -1) * w->of[end].r * along - dJ[A][end] * w->mu[A] - dJ[B][end] * w->mu[B];
    }
    solve(w, 1, right, dmu);
}

/* The change of the gradient, wrenches on a and b with moments in inertial axes. */
static void follow_gradient(const lg_wrap *w, change *by, double du[ENDS][6])
{
    double dmu[ENDS];
    follow_conditions(w, by);
    double dl = lg_dot3(w->t, by->D);
    for (int i = 0; i < 3; i++)
        by->t[i] = (by->D[i] - dl * w->t[i]) / w->l;
    follow_multipliers(w, by, dmu);
    lg_copy(3, by->t, by->f);
    for (int end = 0; end < ENDS; end++) {
        lg_axpy(3, dmu[end], w->of[end].rho, by->f);
        lg_axpy(3, w->mu[end], by->rho[end], by->f);
    }
    for (int end = 0; end < ENDS; end++) {
        double sign = end == A ? -1 : 1, arm[3];
        for (int i = 0; i < 3; i++) {
            du[end][i] = sign * by->f[i];
            arm[i] = dmu[end] * w->D[i] + w->mu[end] * by->D[i] + sign * w->of[end].r * by->f[i];
        }
        lg_cross(by->rho[end], w->arm[end], du[end] + 3);
        lg_add_cross(w->of[end].rho, arm, du[end] + 3);
    }
}

/* How many components of a wrench or a pose an end has: a point has no moment. */
static int components(const lg_wrap *w, int end)
{
    return w->of[end].r == 0 ? 3 : 6;
}

/* The derivative of the gradient on end i by the pose of end j: [i][j], 6 x 6, column-major; of points 3 rows or
   columns. */
static void second_derivatives(const lg_wrap *w, const lg_pose *const f[2], double du[ENDS][ENDS][36])
{
    for (int j = 0; j < ENDS; j++)
        for (int k = 0; k < components(w, j); k++) {
            double unit[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, on[ENDS][6];
            change by = {.D = {0}};
            if (k < 3)
                by.D[k] = j == A ? -1 : 1;
            else
                lg_mul3(f[j]->R, unit, by.w[j]);
            follow_gradient(w, &by, on);
            for (int i = 0; i < ENDS; i++) {
                double turned[3]; // of the moment, in the axes of its body
                lg_copy(3, on[i], du[i][j] + 6 * k);
                if (components(w, i) == 3)
                    continue;
                lg_cross(by.w[i], w->M[i], turned);
                lg_axpy(3, -1, turned, on[i] + 3);
                lg_mulT3(f[i]->R, on[i] + 3, du[i][j] + 6 * k + 3);
            }
        }
}

static void wrap_slopes(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, const double law[3],
                        double dtau[2][6])
{
    double du[ENDS][ENDS][36];
    const lg_wrap *w = &at->wrap;
    (void)e;
    second_derivatives(w, f, du);
    for (int j = 0; j < ENDS; j++)
        for (int k = 0; k < components(w, j); k++) {
            dtau[j][k] = law[1] * at->u[j][k];
            for (int i = 0; i < ENDS; i++) {
                const double *slope = du[i][j] + 6 * k;
                dtau[j][k] += law[2] * lg_dot3(slope, f[i]->xdot);
                if (components(w, i) == 6)
                    dtau[j][k] += law[2] * lg_dot3(slope + 3, f[i]->omega);
            }
        }
}

static void wrap_add_turning(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                             lg_quarters K[2][2])
{
    double du[ENDS][ENDS][36], quarter[9];
    const lg_wrap *w = &at->wrap;
    (void)e;
    second_derivatives(w, f, du);
    for (int i = 0; i < ENDS; i++)
        for (int j = 0; j < ENDS; j++)
            for (int which = 0; which < 4; which++) {
                if (components(w, i) < 6 * (which / 2) || components(w, j) < 6 * (which % 2))
                    continue;
                for (int n = 0; n < 9; n++)
                    quarter[n] = du[i][j][6 * (3 * (which % 2) + n % 3) + 3 * (which / 2) + n / 3];
                lg_quarters_add(&K[i][j], which, tau, quarter);
            }
}

const lg_coordinate_type lg_coordinate_wrap = {
    .first = 0, .end = {2, 2}, .open = wrap_open, .slopes = wrap_slopes, .add_turning = wrap_add_turning};
