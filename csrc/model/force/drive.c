/* The laws of forces on coordinates; see drive.h. */
#include "model/force/drive.h"

#include "model/curve.h"
#include "model/desired.h"
#include "model/source.h"

/* The parameters of a drive, or of a spring, which follow those of its coordinate. */
enum { TORQUE, STIFFNESS, DAMPING, MOTION, LAST = 4, REST = TORQUE, CURVES = MOTION };
static const double *drive_parameters(const lg_element *e)
{
    const double *p = e->p;
    for (int i = 0; i < e->info->nparameters - LAST; i++)
        p += lg_parameter_count(&e->info->parameters[i]);
    return p;
}

static lg_status drive_check(const lg_element *e, const char **reason)
{
    return lg_desired_check(e, drive_parameters(e) + MOTION, reason);
}

static inline lg_status drive_effort(const lg_element *e, const lg_point *at, double s, double rate, int moves,
                                     double law[3])
{
    const double *p = drive_parameters(e);
    double wish[3];
    LG_TRY(lg_desired(e, p + MOTION, at, wish));
    law[0] = at->load * p[TORQUE] + p[STIFFNESS] * (wish[0] - s) + p[DAMPING] * ((moves ? wish[1] : 0) - rate);
    law[1] = -p[STIFFNESS];
    law[2] = -p[DAMPING];
    return LG_OK;
}

static lg_status drive_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    (void)linear;
    return drive_effort(e, at, s, rate, 1, law);
}

static lg_status drive_at_rest_law(const lg_element *e, const lg_point *at, double s, double rate, int linear,
                                   double law[3])
{
    (void)linear;
    return drive_effort(e, at, s, rate, 0, law);
}

/* The limit stands before the parameters of the drive. */
static lg_status saturate(const lg_element *e, double law[3])
{
    double limit = drive_parameters(e)[-1];
    if (fabs(law[0]) > limit)
        law[0] = copysign(limit, law[0]), law[1] = law[2] = 0;
    return LG_OK;
}

static lg_status saturated_law(const lg_element *e, const lg_point *at, double s, double rate, int linear,
                               double law[3])
{
    LG_TRY(drive_law(e, at, s, rate, linear, law));
    return saturate(e, law);
}

static lg_status saturated_at_rest_law(const lg_element *e, const lg_point *at, double s, double rate, int linear,
                                       double law[3])
{
    LG_TRY(drive_at_rest_law(e, at, s, rate, linear, law));
    return saturate(e, law);
}

double lg_drive_next_kink(const lg_element *e, double t)
{
    return lg_desired_next_kink(e, drive_parameters(e) + MOTION, t);
}

lg_status lg_drive_continuous(const lg_element *e, double begin, double end, lg_report *report)
{
    const lg_course motion = {e, 1, drive_parameters(e) + MOTION, e->p + e->np, LG_PIECE};
    return lg_course_continuous(&motion, begin, end, report);
}

/* ---- springs ---- */

static lg_status spring_check(const lg_element *e, const char **reason)
{
    const double *points = drive_parameters(e) + CURVES;
    *reason = lg_curves_check(points, e->p + e->np, 2);
    if (*reason)
        return LG_BAD_ARGUMENT;
    lg_curve_next(&points);
    lg_curve g = lg_curve_next(&points);
    double slope;
    *reason = "the curve of a damper needs no force at rest: a point (0, 0)";
    return g.n && lg_curve_value(&g, 0, &slope) != 0 ? LG_BAD_ARGUMENT : LG_OK;
}

static lg_status spring_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    (void)at, (void)linear;
    const double *p = drive_parameters(e), *points = p + CURVES;
    lg_curve f = lg_curve_next(&points), g = lg_curve_next(&points);
    double slope = 0, damping = 0, stretch = s - p[REST], tau = p[STIFFNESS] * stretch + p[DAMPING] * rate;
    if (f.n)
        tau += lg_curve_value(&f, stretch, &slope);
    if (g.n)
        tau += lg_curve_value(&g, rate, &damping);
    law[0] = -tau, law[1] = -(p[STIFFNESS] + slope), law[2] = -(p[DAMPING] + damping);
    return LG_OK;
}

static double spring_energy(const lg_element *e, double s)
{
    const double *p = drive_parameters(e), *points = p + CURVES;
    lg_curve f = lg_curve_next(&points);
    double stretch = s - p[REST];
    return p[STIFFNESS] * stretch * stretch / 2 + (f.n ? lg_curve_integral(&f, stretch) : 0);
}

/* ---- stops ---- */

enum { STOP_STIFFNESS, STOP_DAMPING, LOWER, UPPER, STOP }; /* the last parameters of a stop */

static const double *stop_parameters(const lg_element *e)
{
    return e->p + e->np - STOP;
}

static lg_status stop_check(const lg_element *e, const char **reason)
{
    int first = 0;
    for (int i = 0; i < e->info->nparameters - 1; i++)
        first += lg_parameter_count(&e->info->parameters[i]);
    *reason = "a lower limit and a higher upper one expected";
    return e->np == first + 2 && e->p[first] < e->p[first + 1] ? LG_OK : LG_BAD_ARGUMENT;
}

/* By how much the coordinate is beyond a limit, negative below the lower one. */
static double beyond(const double *p, double s)
{
    return s < p[LOWER] ? s - p[LOWER] : s > p[UPPER] ? s - p[UPPER] : 0;
}

static lg_status stop_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    (void)at, (void)linear;
    const double *p = stop_parameters(e);
    double d = beyond(p, s), tau = p[STOP_STIFFNESS] * d + p[STOP_DAMPING] * rate;
    int pushes = d * tau > 0;
    law[0] = pushes ? -tau : 0;
    law[1] = pushes ? -p[STOP_STIFFNESS] : 0;
    law[2] = pushes ? -p[STOP_DAMPING] : 0;
    return LG_OK;
}

static double stop_energy(const lg_element *e, double s)
{
    const double *p = stop_parameters(e);
    double d = beyond(p, s);
    return p[STOP_STIFFNESS] * d * d / 2;
}

/* ---- loads ---- */

/* The position of the source among the parameters, of which it is the last one but its data. */
static int load_source(const lg_element *e)
{
    int first = 0;
    for (int i = 0; i < e->info->nparameters - 2; i++)
        first += lg_parameter_count(&e->info->parameters[i]);
    return first;
}

static lg_status load_check(const lg_element *e, const char **reason)
{
    return lg_source_check(e, load_source(e), 1, reason);
}

static lg_status load_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    (void)s, (void)rate, (void)linear;
    LG_TRY(lg_source_value(e, load_source(e), 1, at, law));
    law[0] *= at->load;
    law[1] = law[2] = 0;
    return LG_OK;
}

double lg_load_next_kink(const lg_element *e, double t)
{
    return lg_source_next_kink(e, load_source(e), t);
}

/* ---- functions of the user ---- */

static lg_status outside_check(const lg_element *e, const char **reason)
{
    *reason = "a function of time, coordinate and rate is missing";
    return e->law.torque ? LG_OK : LG_BAD_ARGUMENT;
}

/* The derivative of the user's function by x_i, a central difference. */
static lg_status outside_slope(const lg_element *e, const lg_point *at, const double x[2], int i, double *out)
{
    double step = LG_LAW_STEP * (1 + fabs(x[i])), low[2] = {x[0], x[1]}, high[2] = {x[0], x[1]}, below, above;
    low[i] -= step, high[i] += step;
    LG_TRY(e->law.torque(e->law.self, at->t, low[0], low[1], &below, NULL));
    LG_TRY(e->law.torque(e->law.self, at->t, high[0], high[1], &above, NULL));
    *out = (above - below) / (high[i] - low[i]);
    return LG_OK;
}

/* Without a tangent, what it reads is added by read.c. */
static lg_status outside_law_of_state(const lg_element *e, const lg_point *at, int linear, double law[3])
{
    law[1] = law[2] = 0;
    LG_TRY(e->law.of_state(e->law.self, e->law.reader, at, 0, law));
    return linear && e->law.has_tangent ? e->law.of_state_tangent(e->law.self, e->law.reader, at, 0, law + 1) : LG_OK;
}

static lg_status outside_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    double x[2] = {s, rate};
    if (e->law.of_state)
        return outside_law_of_state(e, at, linear, law);
    int has_tangent = e->law.has_tangent;
    LG_TRY(e->law.torque(e->law.self, at->t, s, rate, law, linear && has_tangent ? law + 1 : NULL));
    if (!linear || has_tangent)
        return LG_OK;
    LG_TRY(outside_slope(e, at, x, 0, law + 1));
    return outside_slope(e, at, x, 1, law + 2);
}

static lg_status pull_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    LG_TRY(outside_law(e, at, s, rate, linear, law));
    for (int i = 0; i < (linear ? 3 : 1); i++)
        law[i] = -law[i];
    return LG_OK;
}

lg_status lg_effort_check(const lg_element *e, const char **reason)
{
    *reason = "there is no such value of a control";
    return e->value ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status effort_law(const lg_element *e, const lg_point *at, double s, double rate, int linear, double law[3])
{
    (void)s, (void)rate, (void)linear;
    law[0] = at->work[e->value];
    law[1] = law[2] = 0;
    return LG_OK;
}

const lg_law_type lg_law_drive = {.rule = drive_law, .at_rest = drive_at_rest_law, .check = drive_check};
const lg_law_type lg_law_saturated = {.rule = saturated_law, .at_rest = saturated_at_rest_law, .check = drive_check};
const lg_law_type lg_law_load = {.rule = load_law, .check = load_check};
const lg_law_type lg_law_spring = {.rule = spring_law, .check = spring_check, .energy = spring_energy};
const lg_law_type lg_law_stop = {.rule = stop_law, .check = stop_check, .energy = stop_energy};
const lg_law_type lg_law_outside = {.rule = outside_law, .check = outside_check};
const lg_law_type lg_law_pull = {.rule = pull_law, .check = outside_check};
const lg_law_type lg_law_effort = {.rule = effort_law, .check = lg_effort_check};
