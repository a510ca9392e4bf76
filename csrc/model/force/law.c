/* Wrenches on one or two frames, given by a function of the user: of time and of the frames' poses and twists.
   Derivatives that the user does not give are central differences in x, R exp(e^), x' and omega of each frame. */
#include "model/force/force.h"

static const lg_parameter parameters[] = {
    {"nbodies", "", "1: the function sees the first frame only; 2: both", LG_SCALAR},
};

static lg_status law_check(const lg_element *e, const char **reason)
{
    *reason = e->law.wrench ? "a law acts on one or two bodies" : "a function of time, poses and twists is missing";
    return e->law.wrench && (e->p[0] == 1 || e->p[0] == 2) ? LG_OK : LG_BAD_ARGUMENT;
}

static int law_couples(const lg_element *e)
{
    return e->p[0] == 2 && lg_element_between(e);
}

static void see(const lg_pose *f, lg_kinematics *out)
{
    lg_pose_position(f, out->x);
    lg_copy(9, f->R, out->R);
    lg_copy(3, f->xdot, out->xdot);
    lg_copy(3, f->omega, out->omega);
}

/* R <- R exp(angle e_axis^) */
static void turn_frame(int axis, double angle, double R[9])
{
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        double a = R[3 * i + j], b = R[3 * i + k];
        R[3 * i + j] = c * a + s * b;
        R[3 * i + k] = c * b - s * a;
    }
}

/* Moves a frame along one of the twelve directions: x, rotation, x', omega. Returns the step that the numbers really
   make. */
static double move_frame(int direction, double step, lg_kinematics *at)
{
    int axis = direction % 3;
    if (direction / 3 == 1) {
        turn_frame(axis, step, at->R);
        return step;
    }
    double *value = (direction < 3 ? at->x : direction < 9 ? at->xdot : at->omega) + axis, before = *value;
    *value += step * (1 + fabs(before));
    return *value - before;
}

/* Writes the derivative along one direction of frame j as a column of K or D, row-major. */
static lg_status law_differentiate(const lg_element *e, double t, int n, const lg_kinematics at[2], int j,
                                   int direction, double *out)
{
    lg_kinematics low[2] = {at[0], at[1]}, high[2] = {at[0], at[1]};
    double below[12], above[12];
    double width = move_frame(direction, LG_LAW_STEP, &high[j]) - move_frame(direction, -LG_LAW_STEP, &low[j]);
    LG_TRY(e->law.wrench(e->law.self, t, n, low, below, NULL));
    LG_TRY(e->law.wrench(e->law.self, t, n, high, above, NULL));
    for (int k = 0; k < 6 * n; k++)
        out[6 * n * k + 6 * j + direction % 6] = (above[k] - below[k]) / width;
    return LG_OK;
}

/* Copies the quarters of a 6 x 6 block of a row-major matrix with `columns` columns. */
static void set_quarters(const double *A, int columns, lg_quarters *out)
{
    for (int which = 0; which < 4; which++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                out->A[which][3 * i + j] = A[(3 * (which / 2) + i) * columns + 3 * (which % 2) + j];
    out->has = 1u << LG_XX | 1u << LG_XR | 1u << LG_RX | 1u << LG_RR;
}

static void set_tangent(int n, const double *KD, lg_load *out)
{
    const int columns = 6 * n;
    const double *K = KD, *D = KD + columns * columns;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            set_quarters(K + 6 * (columns * i + j), columns, &out->K[i][j]);
            set_quarters(D + 6 * (columns * i + j), columns, &out->D[i][j]);
        }
}

enum { TANGENT = 2 * 12 * 12 }; /* K and D of two frames */

static lg_status law_with_tangent(const lg_element *e, double t, int n, const lg_kinematics at[2], lg_load *out)
{
    double KD[TANGENT], *K = KD, *D = KD + 36 * n * n;
    LG_TRY(e->law.wrench(e->law.self, t, n, at, out->w[0], e->law.has_tangent ? KD : NULL));
    for (int j = 0; j < n && !e->law.has_tangent; j++)
        for (int direction = 0; direction < 12; direction++)
            LG_TRY(law_differentiate(e, t, n, at, j, direction, direction < 6 ? K : D));
    set_tangent(n, KD, out);
    return LG_OK;
}

/* Without a tangent, what it reads is added by read.c. */
static lg_status law_of_state(const lg_element *e, int n, const lg_point *at, int linear, lg_load *out)
{
    double KD[TANGENT];
    lg_zero(12, out->w[0]);
    LG_TRY(e->law.of_state(e->law.self, e->law.reader, at, n, out->w[0]));
    if (!linear || !e->law.has_tangent)
        return LG_OK;
    LG_TRY(e->law.of_state_tangent(e->law.self, e->law.reader, at, n, KD));
    set_tangent(n, KD, out);
    return LG_OK;
}

static lg_status law_wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear,
                              lg_load *out)
{
    int n = (int)e->p[0];
    lg_kinematics seen[2];
    if (e->law.of_state)
        return law_of_state(e, n, at, linear, out);
    see(f[0], &seen[0]), see(f[1], &seen[1]);
    lg_zero(12, out->w[0]);
    return linear ? law_with_tangent(e, at->t, n, seen, out)
                  : e->law.wrench(e->law.self, at->t, n, seen, out->w[0], NULL);
}

/* The degrees are those of applied forces in inertial axes and of applied torques. */
static int law_degree(const lg_element *e, int moments)
{
    (void)e;
    return moments;
}

const lg_force_type lg_force_law = {
    .info = {.family = "force",
             .name = "force_law",
             .doc = "Forces and moments on one or two bodies, a function of time, poses and twists.",
             .reference = "holzinger2024 (9)",
             .nframes = 2,
             .parameters = parameters,
             .nparameters = 1,
             .uses_law = 1},
    .check = law_check,
    .couples = law_couples,
    .degree = law_degree,
    .needs_twists = 1,
    .wrenches = law_wrenches,
};
