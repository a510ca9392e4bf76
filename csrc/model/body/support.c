/* A support: a frame whose position and attitude in space are given, at rest or as functions of time. It has no block.
   With the pose at rest x0, R0 and the motion (d, psi),

       x = x0 + d,   R = exp(psi) R0,   omega = R0^T T(psi) psi',   omega' = R0^T (T(psi) psi'' + T(psi)' psi'),

   T(psi) w = w - cosc psi x w + sincc psi x (psi x w), so that T' psi' is, with s = psi.psi',
   -s cosc_d psi x psi' + s sincc_d psi x (psi x psi') + sincc psi' x (psi x psi'). */
#include "group/rotation.h"
#include "model/body/body.h"
#include "model/desired.h"
#include "model/source.h"

enum { POSITION = 0, ROTATION = 3, FIXED = 12 }; /* indices of the parameters */
enum { VALUE, RATE, SECOND, LEVELS, WIDTH = 6 }; /* rows of a motion: (d, psi) and its derivatives */

static const lg_parameter parameters[] = {
    {"position", "m", "position at rest, from which a motion is measured", LG_VECTOR(3)},
    {"rotation", "", "rotation at rest, from which a motion is measured", LG_MATRIX(3, 3), .valid = LG_ROTATION},
    {"kinks", "s", "ascending times at which the second derivative of the motion jumps", LG_REST},
};

typedef struct pose {
    double motion[LEVELS][WIDTH];
    double x[3], xdot[3], xdd[3], R[9], omega[3], omegadot[3];
} pose; /* numbers only */

static pose *pose_of(const lg_body *b, const lg_point *at)
{
    return (pose *)(void *)(at->work + b->work);
}

static size_t support_nwork(const lg_body *b)
{
    (void)b;
    return sizeof(pose) / sizeof(double);
}

static lg_status support_check(const lg_body *b, const char **reason)
{
    const double *kinks = b->e.p + FIXED;
    *reason = NULL;
    for (int i = 1; i < b->e.np - FIXED; i++)
        if (!(kinks[i] > kinks[i - 1]))
            *reason = "the kinks of a motion must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* The values of its function, those of the side of t_in where a kink is. */
static lg_status support_function(const lg_element *e, const lg_point *at, double *motion)
{
    double t = at->t;
    for (const double *kink = e->p + FIXED; kink < e->p + e->np; kink++)
        t = lg_beside_kink(t, *kink, at->t_in);
    return e->function.call(e->function.self, t, LEVELS * WIDTH, motion);
}

static lg_status support_continuous(const lg_element *e, double begin, double end, lg_report *report)
{
    return lg_course_continuous(&(lg_course){.e = e, .n = WIDTH}, begin, end, report);
}

static lg_status support_motion(lg_span bodies, const lg_point *at)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        double *motion = pose_of(b, at)->motion[0];
        if (b->e.function.call)
            LG_TRY(support_function(&b->e, at, motion));
        else
            lg_zero(LEVELS * WIDTH, motion);
    }
    return LG_OK;
}

static void stand_still(lg_span bodies, const lg_point *at)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        lg_zero((LEVELS - RATE) * WIDTH, pose_of(b, at)->motion[RATE]);
}

/* w = T(psi) psi' and its rate */
static void support_turn(const double psi[3], const double rate[3], const double second[3], double w[3], double wdot[3])
{
    double y = lg_dot3(psi, psi), s = lg_dot3(psi, rate), r[3], rr[3], bend[3];
    lg_angle x = lg_angle_of(y);
    lg_hat_apply(psi, -x.cosc, x.sincc, rate, w);
    lg_hat_apply(psi, -x.cosc, x.sincc, second, wdot);
    lg_cross(psi, rate, r);
    lg_cross(psi, r, rr);
    lg_cross(rate, r, bend);
    for (int i = 0; i < 3; i++)
        wdot[i] += s * (lg_sincc_d(y) * rr[i] - x.cosc_d * r[i]) + x.sincc * bend[i];
}

static void support_move(const lg_body *b, pose *p)
{
    const double *R0 = b->e.p + ROTATION, *const *level =
                                              (const double *const[]){p->motion[0], p->motion[1], p->motion[2]};
    double E[9], w[3], wdot[3];
    for (int i = 0; i < 3; i++) {
        p->x[i] = b->e.p[POSITION + i] + level[VALUE][i];
        p->xdot[i] = level[RATE][i];
        p->xdd[i] = level[SECOND][i];
    }
    lg_so3_exp(level[VALUE] + 3, E);
    lg_mul33(E, R0, p->R);
    support_turn(level[VALUE] + 3, level[RATE] + 3, level[SECOND] + 3, w, wdot);
    lg_mulT3(R0, w, p->omega);
    lg_mulT3(R0, wdot, p->omegadot);
}

/* x = x_b + R X,  x' = x_b' + R (omega x X),  x'' = x_b'' + R (omega' x X + omega x (omega x X)) */
static void write_frame(const pose *p, const lg_frame *f, lg_pose *to)
{
    double y[3], a[3], Ry[3], Ra[3];
    lg_cross(p->omega, f->offset, y);
    lg_cross(p->omega, y, a);
    lg_add_cross(p->omegadot, f->offset, a);
    to->origin = p->x;
    lg_mul3(p->R, f->offset, to->arm);
    lg_mul3(p->R, y, Ry);
    lg_mul3(p->R, a, Ra);
    for (int i = 0; i < 3; i++) {
        to->xdot[i] = p->xdot[i] + Ry[i];
        to->xdd[i] = p->xdd[i] + Ra[i];
    }
    to->R = p->R, to->omega = p->omega, to->omegadot = p->omegadot;
}

static void support_move_frames(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        int n = lg_body_reach(b, level, reach);
        if (n)
            support_move(b, pose_of(b, at));
        for (const lg_frame *f = b->frames; f < b->frames + n; f++) {
            write_frame(pose_of(b, at), f, lg_pose_of(f, at));
            lg_pose_clear(f, lg_pose_of(f, at));
        }
    }
}

static lg_status support_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    if (level > LG_NO_POSES)
        LG_TRY(support_motion(bodies, at));
    support_move_frames(bodies, at, level, reach);
    return LG_OK;
}

static lg_status support_kinematics_at_rest(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    if (level > LG_NO_POSES) {
        LG_TRY(support_motion(bodies, at));
        stand_still(bodies, at);
    }
    support_move_frames(bodies, at, level, reach);
    return LG_OK;
}

static int support_parts(const lg_body *b)
{
    (void)b;
    return 1;
}

/* The force and the moment, about its point, with which the support acts on what is attached to it. */
static void support_transmit(const lg_body *b, const lg_point *at, int part, double wrench[6])
{
    (void)part;
    const pose *p = pose_of(b, at);
    lg_zero(6, wrench);
    for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++) {
        const lg_pose *end = lg_pose_of(f, at);
        double w[6], moment[3];
        lg_pose_residual(f, end, w);
        lg_mul3(p->R, w + 3, moment);
        lg_add_cross(end->arm, w, moment);
        lg_axpy(3, 1, w, wrench);
        lg_axpy(3, 1, moment, wrench + 3);
    }
}

static double support_next_kink(const lg_body *b, double t)
{
    for (const double *kink = b->e.p + FIXED; kink < b->e.p + b->e.np; kink++)
        if (*kink > t)
            return *kink;
    return INFINITY;
}

static const lg_body_type at_rest = {.kinematics = support_kinematics_at_rest};

const lg_body_type lg_support = {
    .info = {.family = "body",
             .name = "support",
             .doc = "A frame in space, at rest or in a given motion.",
             .reference = "docs/models",
             .nframes = 1,
             .continuous = support_continuous,
             .parameters = parameters,
             .nparameters = 3},
    .in = {[LG_FORM_STATICS] = &at_rest},
    .is_support = 1,
    .check = support_check,
    .parts = support_parts,
    .nwork = support_nwork,
    .kinematics = support_kinematics,
    .transmit = support_transmit,
    .next_kink = support_next_kink,
};
