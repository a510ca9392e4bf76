/* The law shared by all drives, whether between two bodies or on a coordinate of a tree:

       tau = tau0 + P (phi_d(t) - phi) + D (phi_d'(t) - phi')

   with phi_d quadratic in pieces, phi_d = a + b s + c s^2/2, s = t - t_i; or a function of the user. A law gives
   (tau, d tau/d phi, d tau/d phi'). The load factor multiplies tau0 only: the terms of P and D depend on the state, and
   a function of the user may be a spring. */
#ifndef LG_MODEL_FORCE_DRIVE_H
#define LG_MODEL_FORCE_DRIVE_H

#include "model/force/force.h"

/* The last parameters of a drive: torque, stiffness, damping, and the pieces of the desired motion. */
enum { LG_DRIVE_TORQUE, LG_DRIVE_STIFFNESS, LG_DRIVE_DAMPING, LG_DRIVE_MOTION, LG_DRIVE_PIECE = 4 };

/* With the units of what the drive exerts and of the coordinate that it drives. */
#define LG_DRIVE_PARAMETERS(LOAD, COORDINATE)                                                                          \
    {"torque", LOAD, "constant part", 1}, {"stiffness", LOAD "/" COORDINATE, "P", 1},                                  \
        {"damping", LOAD " s/" COORDINATE, "D", 1},                                                                    \
        {"motion", "s, " COORDINATE ", " COORDINATE "/s, " COORDINATE "/s^2",                                          \
         "pieces of the desired motion: begin, coordinate, rate, second rate; or nothing", -1}

/* `first`: the position of the torque among the element's parameters. */
lg_status lg_drive_check(const lg_element *e, int first, const char **reason);
typedef void lg_drive_rule(const lg_element *e, int first, const lg_point *at, double angle, double rate,
                           double law[3]);
lg_drive_rule lg_drive_law, lg_drive_law_at_rest; /* the second: where the desired motion stands still */
double lg_drive_next_kink(const lg_element *e, int first, double t);

/* Whether the element has an external function. */
lg_status lg_outside_check(const lg_element *e, const char **reason);
/* The law of the element's external function; its derivatives, if `linear`, from the function or by differences. */
lg_status lg_outside_law(const lg_element *e, const lg_point *at, double angle, double rate, int linear, double law[3]);

#endif
