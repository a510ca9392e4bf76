/* Poses, twists and wrenches of two frames relative to each other; see mutual.h. With xi = R_b^T (dx_a - dx_b), alpha =
   R_ba dphi_a and beta = dphi_b, and the same for twists,

       dy = xi + y^ beta,                    dphi = alpha - beta,
       drate = xi' + v^ beta - w_b^ dy + y^ beta',   dturn = alpha' - beta' - w_a^ dphi,

   and, with f and m the changes of F and m along these,

       d(R_b F) = R_b (f - F^ beta),   d(R_ba^T m) = R_ba^T (dm + m^ dphi),
       d(m + y x F) = dm - F^ dy + y^ f. */
#include "model/force/mutual.h"

#include "model/body/body.h"

void lg_mutual_open_pose(const lg_pose *const f[2], lg_mutual *out)
{
    double d[3];
    lg_pose_between(f[1], f[0], d);
    lg_mulT3(f[1]->R, d, out->y);
    lg_mulT33(f[1]->R, f[0]->R, out->S);
}

void lg_mutual_open(const lg_pose *const f[2], int linear, lg_mutual *out)
{
    double ddot[3];
    lg_mutual_open_pose(f, out);
    for (int i = 0; i < 3; i++)
        ddot[i] = f[0]->xdot[i] - f[1]->xdot[i];
    lg_mulT3(f[1]->R, ddot, out->v);
    lg_mul3(out->S, f[0]->omega, out->w[0]);
    lg_copy(3, f[1]->omega, out->w[1]);
    lg_cross(out->y, out->w[1], out->rate);
    for (int i = 0; i < 3; i++) {
        out->rate[i] += out->v[i];
        out->turn[i] = out->w[0][i] - out->w[1][i];
    }
    lg_zero(6, out->Fm);
    if (linear)
        lg_zero(36, out->K), lg_zero(36, out->D);
}

/* One column of the derivatives: the change of (F, m) along dy, dphi, drate and dturn. */
static void along(const lg_mutual *at, const double pose[6], const double twist[6], double out[6])
{
    lg_zero(6, out);
    for (int j = 0; j < 6; j++) {
        if (pose[j] != 0)
            lg_axpy(6, pose[j], at->K + 6 * j, out);
        if (twist[j] != 0)
            lg_axpy(6, twist[j], at->D + 6 * j, out);
    }
}

/* The unknowns in the axes of b, three each. */
enum { XI, ALPHA, BETA, XI_RATE, ALPHA_RATE, BETA_RATE };

/* dy, dphi, drate and dturn along a unit vector of one of them. */
static void motion(const lg_mutual *at, int which, const double u[3], double pose[6], double twist[6])
{
    lg_zero(6, pose), lg_zero(6, twist);
    double *by = which >= XI_RATE ? twist : pose;
    if (which % 3 == XI)
        lg_copy(3, u, by);
    else if (which % 3 == ALPHA)
        lg_copy(3, u, by + 3);
    else {
        lg_cross(at->y, u, by);
        lg_axpy(3, -1, u, by + 3);
    }
    if (which == BETA)
        lg_cross(at->v, u, twist);
    if (which >= XI_RATE)
        return;
    lg_add_cross(pose, at->w[1], twist);
    lg_cross(pose + 3, at->w[0], twist + 3);
}

void lg_mutual_change(const lg_mutual *at, const double R_b[9], int side, const lg_frame_change *of,
                      double out[LG_MUTUAL_NUMBERS])
{
    int turn = side ? BETA : ALPHA;
    const int which[] = {XI, turn, XI_RATE, XI_RATE + turn};
    const double *const given[] = {of->x, of->turn, of->xdot, of->omega};
    double u[3], pose[6], twist[6], sign = side ? -1 : 1;
    lg_zero(LG_MUTUAL_NUMBERS, out);
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            lg_mulT3(R_b, given[i], u);
        else if (side == 0)
            lg_mul3(at->S, given[i], u);
        else
            lg_copy(3, given[i], u);
        motion(at, which[i], u, pose, twist);
        lg_axpy(6, i % 2 == 0 ? sign : 1, pose, out);
        lg_axpy(6, i % 2 == 0 ? sign : 1, twist, out + 6);
    }
}

/* The changes of all four vectors of the wrenches, in the axes of b: on a and on b. */
static void wrench_slopes(const lg_mutual *at, int which, const double u[3], double on_a[6], double on_b[6])
{
    const double *F = at->Fm, *m = at->Fm + 3;
    double pose[6], twist[6];
    motion(at, which, u, pose, twist);
    along(at, pose, twist, on_a);
    lg_copy(6, on_a, on_b);
    lg_add_cross(pose, F, on_b + 3);
    lg_add_cross(at->y, on_a, on_b + 3);
    for (int i = 0; i < 6; i++)
        on_b[i] = -on_b[i];
    lg_add_cross(m, pose + 3, on_a + 3);
    if (which != BETA)
        return;
    lg_add_cross(u, F, on_a);
    lg_add_cross(F, u, on_b);
}

static void put_column(lg_quarters *out, int which, int j, double sign, const double x[3])
{
    out->has |= 1u << which;
    for (int i = 0; i < 3; i++)
        out->A[which][3 * i + j] = sign * x[i];
}

/* Writes the derivatives of both wrenches by the three components of a vector of frame `side`, of which `part` 0 is
   linear and 1 angular. units: those components in the axes of b. */
static void put_columns(const lg_mutual *at, const lg_pose *const f[2], int which, const double units[9], int side,
                        int part, lg_quarters out[2][2])
{
    double sign = side == 1 && part == 0 ? -1 : 1, on_a[6], on_b[6], x[3];
    for (int j = 0; j < 3; j++) {
        wrench_slopes(at, which, units + 3 * j, on_a, on_b);
        lg_mul3(f[1]->R, on_a, x);
        put_column(&out[0][side], LG_XX + part, j, sign, x);
        lg_mulT3(at->S, on_a + 3, x);
        put_column(&out[0][side], LG_RX + part, j, sign, x);
        lg_mul3(f[1]->R, on_b, x);
        put_column(&out[1][side], LG_XX + part, j, sign, x);
        put_column(&out[1][side], LG_RX + part, j, sign, on_b + 3);
    }
}

void lg_mutual_spread(const lg_mutual *at, const lg_element *e, const lg_pose *const f[2], int linear, lg_load *out)
{
    double moment[3], units[3][9];
    lg_mul3(f[1]->R, at->Fm, out->w[0]);
    lg_mulT3(at->S, at->Fm + 3, out->w[0] + 3);
    lg_copy(3, at->Fm + 3, moment);
    lg_add_cross(at->y, at->Fm, moment);
    for (int i = 0; i < 3; i++) {
        out->w[1][i] = -out->w[0][i];
        out->w[1][3 + i] = -moment[i];
    }
    if (!linear)
        return;
    lg_copy(9, f[1]->R, units[XI]);
    lg_transpose3(at->S, units[ALPHA]);
    lg_identity3(units[BETA]);
    for (int side = 0; side < 2; side++)
        for (int part = 0; part < 2; part++) {
            int which = part == 0 ? XI : side == 0 ? ALPHA : BETA;
            if (!e->frame[side]->body->block)
                continue;
            put_columns(at, f, which, units[which], side, part, out->K);
            put_columns(at, f, XI_RATE + which, units[which], side, part, out->D);
        }
}
