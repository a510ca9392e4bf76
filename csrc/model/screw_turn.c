/* The rotation R_a^T R_b has two unit quaternions p and -p. Their logarithms on S^3, rotation vectors of less than a
   full turn, differ by a full turn: |w| and 2 pi - |w| about opposite axes. Along a motion p is continuous, and so is
   its logarithm as long as it does not reach the full turn, p = -1. The memory of an element is p at the last accepted
   step: in a step the right sign is the one that makes the scalar product with it positive, as long as the rotation
   changes by less than half a turn. Steps are accepted up to a quarter turn, unless the rates at both ends indicate a
   further turn.

   Near the full turn T^-1 on SE(3) grows without bounds, as 1/sin(|w|/2). */
#include "model/screw_turn.h"

#include "core/small.h"
#include "group/rotation.h"

static const double certain = 0.70710678118654752; /* cos(pi/4): p . p0 after a quarter turn */
static const double furthest = -0.96592582628906829; /* cos(330/2 degrees) */
static const double tie = 1e-9; /* rad */

/* How much nearer to the reference the logarithm of p is than that of -p: with w = log(p) and n = w/|w|, |w - 2 pi n -
   w0|^2 - |w - w0|^2 = 4 pi (pi - |w| + n . w0). A -p that is too near to the full turn is never chosen. */
static double preference(const double p[4], const double reference[3])
{
    double w[3];
    if (-p[0] < furthest)
        return LG_PI;
    lg_s3_log(p, w);
    double angle = lg_norm3(w);
    return LG_PI - angle + lg_dot3(w, reference) / angle;
}

static void reverse(double p[4])
{
    for (int i = 0; i < 4; i++)
        p[i] = -p[i];
}

static void normalise(double p[4])
{
    double inverse = 1 / sqrt(lg_dot4(p, p));
    for (int i = 0; i < 4; i++)
        p[i] *= inverse;
}

int lg_screw_turn_continues(const double *const d[2], const double *mem, double p[4])
{
    lg_so3_turn_between(d[0], d[1], p);
    double along = mem ? lg_dot4(p, mem) : 0;
    if (along < 0)
        reverse(p);
    return along != 0;
}

void lg_screw_turn_choose(const double reference[3], double p[4])
{
    normalise(p);
    if (p[0] < 0)
        reverse(p);
    if (preference(p, reference) < 0)
        reverse(p);
}

/* The unit quaternion at the end of a step, or at a start. */
static void unit_turn_of(const lg_screw_turn *turn, const double *mem, double p[4])
{
    if (lg_screw_turn_continues(turn->d, mem, p))
        normalise(p);
    else
        lg_screw_turn_choose(turn->reference, p);
}

/* Whether it has been turned too far: at p, or between p0 and p, which have passed -1 on different sides. */
static int is_overturned(const double p0[4], const double p[4])
{
    return p[0] < furthest || (p0[0] < 0 && p[0] < 0 && lg_dot3(p0 + 1, p + 1) < 0);
}

/* Whether a step has turned by less than a quarter turn, and its rates by less than half a turn more or less:
   else whole turns may have been lost. Rates of less than a quarter turn differ by less than that. */
static int is_certain(const double p0[4], const double p[4], const double rate0[3], const double rate[3], double h)
{
    double inverse[4] = {p0[0], -p0[1], -p0[2], -p0[3]}, change[4], w[3], turned[3];
    if (lg_dot4(p0, p) < certain)
        return 0;
    for (int i = 0; i < 3; i++)
        turned[i] = 0.5 * h * (rate0[i] + rate[i]);
    if (lg_dot3(turned, turned) < 2)
        return 1;
    lg_quat_mul(inverse, p, change);
    lg_s3_log(change, w);
    lg_axpy(3, -1, turned, w);
    return lg_norm3(w) < LG_PI;
}

static lg_status accept(const lg_screw_turn *turn, const double p[4], double *mem, lg_report *report)
{
    if (is_overturned(mem, p)) {
        lg_report_say(report, "the %s of %.*s have turned by more than 330 degrees against each other", turn->parts,
                      LG_SHORT(turn->name));
        return LG_OVERTURNED;
    }
    lg_copy(4, p, mem);
    lg_copy(3, turn->rate, mem + 4);
    return LG_OK;
}

lg_status lg_screw_turn_step(const lg_screw_turn *turn, double h, double *mem, lg_report *report)
{
    double p[4];
    int remembers = lg_dot4(mem, mem) > 0;
    unit_turn_of(turn, mem, p);
    if (remembers && !is_certain(mem, p, mem + 4, turn->rate, h)) {
        lg_report_say(report, "in one step the %s of %.*s turn by more than a quarter turn against each other",
                      turn->parts, LG_SHORT(turn->name));
        return LG_TURNED;
    }
    return accept(turn, p, mem, report);
}

lg_status lg_screw_turn_start(const lg_screw_turn *turn, double *mem, lg_report *report)
{
    double p[4];
    unit_turn_of(turn, mem, p);
    if (lg_dot4(mem, mem) == 0 && preference(p, turn->reference) < tie) {
        lg_report_say(report, "%.*s starts half a turn from its %s, in either direction", LG_SHORT(turn->name),
                      turn->rest);
        lg_report_advise(report, "give it a %s that is nearer to one of both directions", turn->rest);
        return LG_BAD_ARGUMENT;
    }
    return accept(turn, p, mem, report);
}
