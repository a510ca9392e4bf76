/* The laws of a force tau on a scalar coordinate s, for every kind of coordinate. Each gives (tau, d tau/ds, d
   tau/ds').

   A drive:   tau = tau0 + P (s_d(t) - s) + D (s_d'(t) - s')
              with the desired motion s_d of desired.h; a saturated one is cut off at +-limit.
   A load:    tau = tau(t), constant, from a table or a function of time (source.h).
   A spring:  tau = -(k (s - s0) + f(s - s0) + c s' + g(s')), where f and g are curves (curve.h), with the potential
              k (s - s0)^2/2 + the integral of f.
   A stop:    tau = -(k d + c s') where s is beyond a limit by d, if that pushes back, else 0; potential k d^2/2.
   Outside:   a function of the user; a pull is one that gives -tau.
   An effort: a value of a control, whose derivatives the control adds itself.

   The load factor multiplies tau0 and loads only: the terms of P and D depend on the state, and a function of the
   user may be a spring. */
#ifndef LG_MODEL_FORCE_DRIVE_H
#define LG_MODEL_FORCE_DRIVE_H

#include "model/force/force.h"

/* The last parameters of a drive, with the units of what it exerts and of its coordinate. */
#define LG_DRIVE_PARAMETERS(LOAD, COORDINATE)                                                                          \
    {"torque", LOAD, "constant part", LG_SCALAR}, {"stiffness", LOAD "/" COORDINATE, "P", LG_SCALAR},                  \
        {"damping", LOAD " s/" COORDINATE, "D", LG_SCALAR},                                                            \
    {                                                                                                                  \
        "motion", "s, " COORDINATE ", " COORDINATE "/s, " COORDINATE "/s^2",                                           \
            "pieces of the desired motion: begin, coordinate, rate, second rate; or nothing", LG_REST                  \
    }

/* Before them stands that of a saturated drive. */
#define LG_LIMIT_PARAMETER(LOAD) {"saturation", LOAD, "the largest effort", LG_SCALAR, .valid = LG_POSITIVE}

/* Those of a spring. */
#define LG_SPRING_PARAMETERS(LOAD, COORDINATE)                                                                         \
    {"rest", COORDINATE, "coordinate without force", LG_SCALAR}, {"stiffness", LOAD "/" COORDINATE, "k", LG_SCALAR},   \
        {"damping", LOAD " s/" COORDINATE, "c", LG_SCALAR},                                                            \
    {                                                                                                                  \
        "curves", COORDINATE ", " LOAD "; " COORDINATE "/s, " LOAD,                                                    \
            "the points of f and of g: each 0, or a count and that many coordinates and forces", LG_REST               \
    }

/* Those of a stop. */
#define LG_STOP_PARAMETERS(LOAD, COORDINATE)                                                                           \
    {"stiffness", LOAD "/" COORDINATE, "k", LG_SCALAR, .valid = LG_POSITIVE},                                          \
        {"damping", LOAD " s/" COORDINATE, "c", LG_SCALAR, .valid = LG_NONNEGATIVE},                                   \
    {                                                                                                                  \
        "limits", COORDINATE, "lower and upper limit of the coordinate", LG_REST                                       \
    }

/* Writes tau and, with `linear`, its derivatives by s and s' at a point with this coordinate and rate. Those of a
   function of the user come from its tangent, or are central differences. */
typedef lg_status lg_law_rule(const lg_element *e, const lg_point *at, double s, double rate, int linear,
                              double law[3]);

typedef struct lg_law_type {
    lg_law_rule *rule;
    lg_law_rule *at_rest; /* with a desired motion that stands still; NULL: there is none */
    lg_status (*check)(const lg_element *e, const char **reason);
    double (*energy)(const lg_element *e, double s); /* NULL: it has no potential */
} lg_law_type;

extern const lg_law_type lg_law_drive, lg_law_saturated, lg_law_load, lg_law_spring, lg_law_stop, lg_law_outside,
    lg_law_pull, lg_law_effort;

double lg_drive_next_kink(const lg_element *e, double t);
/* It may jump at its kinks. */
lg_status lg_drive_continuous(const lg_element *e, double begin, double end, lg_report *report);
double lg_load_next_kink(const lg_element *e, double t);
lg_status lg_effort_check(const lg_element *e, const char **reason); /* whether it takes values of a control */

#endif
