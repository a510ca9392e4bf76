/* Wrenches on one or two frames by a function of time, their poses and twists that comes from outside. What it does not
   give of its derivatives is taken by central differences: along x, R exp(e^), x', omega of each frame. */
#include "model/element.h"

static const lg_parameter parameters[] = {
    {"bodies", "", "1: the function sees the first frame only; 2: both", 1},
};

static lg_status check(const lg_element *e, const char **reason)
{
    *reason = e->law.wrench ? "a law acts on one body or on two" : "a function of time, poses and twists is missing";
    return e->law.wrench && (e->p[0] == 1 || e->p[0] == 2) ? LG_OK : LG_BAD_ARGUMENT;
}

static int couples(const lg_element *e)
{
    return e->p[0] == 2 && e->frame[0]->block >= 0 && e->frame[1]->block >= 0;
}

static void see(const lg_frame *f, lg_kinematics *out)
{
    lg_copy(3, f->x, out->x);
    lg_copy(9, f->R, out->R);
    lg_copy(3, f->xdot, out->xdot);
    lg_copy(3, f->omega, out->omega);
}

/* R <- R exp(angle e_axis^) */
static void turn(int axis, double angle, double R[9])
{
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        double a = R[3 * i + j], b = R[3 * i + k];
        R[3 * i + j] = c * a + s * b;
        R[3 * i + k] = c * b - s * a;
    }
}

/* Moves one of the twelve directions: x, rotation, x', omega. The step taken, as it is stored. */
static double move(int direction, double step, lg_kinematics *at)
{
    int axis = direction % 3;
    if (direction / 3 == 1) {
        turn(axis, step, at->R);
        return step;
    }
    double *place = (direction < 3 ? at->x : direction < 9 ? at->xdot : at->omega) + axis, before = *place;
    *place += step * (1 + fabs(before));
    return *place - before;
}

/* The derivative along one direction of frame j into column d of K or D. */
static lg_status differentiate(const lg_element *e, double t, int n, const lg_kinematics at[2], int j, int direction,
                               double out[2][2][36])
{
    lg_kinematics low[2] = {at[0], at[1]}, high[2] = {at[0], at[1]};
    double below[12], above[12];
    double width = move(direction, LG_LAW_STEP, &high[j]) - move(direction, -LG_LAW_STEP, &low[j]);
    LG_TRY(e->law.wrench(e->law.self, t, n, low, below));
    LG_TRY(e->law.wrench(e->law.self, t, n, high, above));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++)
            out[i][j][6 * (direction % 6) + k] = (above[6 * i + k] - below[6 * i + k]) / width;
    return LG_OK;
}

static lg_status tangent(const lg_element *e, double t, int n, const lg_kinematics at[2], lg_load *out)
{
    out->has_K = out->has_D = 1;
    lg_zero(4 * 36, out->K[0][0]);
    lg_zero(4 * 36, out->D[0][0]);
    if (e->law.has_tangent)
        return e->law.wrench_tangent(e->law.self, t, n, at, out->K, out->D);
    for (int j = 0; j < n; j++)
        for (int direction = 0; direction < 12; direction++)
            LG_TRY(differentiate(e, t, n, at, j, direction, direction < 6 ? out->K : out->D));
    return LG_OK;
}

static lg_status force(const lg_element *e, const lg_frame f[2], const lg_point *at, int linear, lg_load *out)
{
    int n = (int)e->p[0];
    lg_kinematics seen[2];
    see(&f[0], &seen[0]), see(&f[1], &seen[1]);
    out->has_K = out->has_D = 0;
    lg_zero(12, out->w[0]);
    LG_TRY(e->law.wrench(e->law.self, at->t, n, seen, out->w[0]));
    return linear ? tangent(e, at->t, n, seen, out) : LG_OK;
}

const lg_element_type lg_force_law = {
    .name = "force_law",
    .doc = "Forces and moments on one or two bodies, a function of time, poses and twists.",
    .reference = "holzinger2024 (9)",
    .nframes = 2,
    .parameters = parameters,
    .nparameters = 1,
    .check = check,
    .couples = couples,
    .force = force,
};
