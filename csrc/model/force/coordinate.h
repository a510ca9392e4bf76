/* A scalar coordinate s of two frames with the rate s' = u . twists, so that a force tau on it exerts the wrenches tau
   u. Its derivatives are

       K = u (d tau/ds ds + d tau/ds' ds')^T + tau du,   D = d tau/ds' u u^T,

   where ds, ds' and du are derivatives by the poses. ds is u only where s' is exactly the derivative of s; the angle of
   a joint that is not quite closed has another gradient. */
#ifndef LG_MODEL_FORCE_COORDINATE_H
#define LG_MODEL_FORCE_COORDINATE_H

#include "model/force/force.h"
#include "model/turn.h"

typedef struct lg_wrap_circle { /* at one end of a tendon's piece; see wrap.c for the formulas */
    double r, theta, e1[3], e2[3], rho[3], tau[3]; /* rho and tau are zero for a point */
} lg_wrap_circle;

typedef struct lg_wrap { /* a piece with both circles, at given poses */
    lg_wrap_circle of[2];
    double d[3], D[3], l, t[3]; /* d between the centres */
    double J[2][2], mu[2], f[3], arm[2][3], M[2][3]; /* M = rho x arm, inertial */
} lg_wrap;

typedef struct lg_coordinate {
    double s, rate;
    double u[2][6];
    lg_turn turn; /* of an angle or a twist */
    double c[3], y[3]; /* of a slide, or direction and separation rate of a distance */
    double theta[2]; /* of a wrap: the angles at which it leaves both circles */
    lg_wrap wrap; /* what its `open` has solved for, which its derivatives take */
} lg_coordinate;

typedef struct lg_coordinate_type {
    int first,
        end[2]; /* the parts of u at each frame that are not zero, from `first` to before `end`; 0: force, 1: moment */
    void (*open)(const lg_element *e, const lg_pose *const f[2], const lg_point *point, lg_coordinate *out);
    /* The derivative of tau by the poses, for the law (tau, d tau/ds, d tau/ds'); writes these parts only. */
    void (*slopes)(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, const double law[3],
                   double dtau[2][6]);
    void (*add_turning)(const lg_element *e, const lg_pose *const f[2], const lg_coordinate *at, double tau,
                        lg_quarters K[2][2]); /* K += tau du */
} lg_coordinate_type;

extern const lg_coordinate_type lg_coordinate_angle, lg_coordinate_twist, lg_coordinate_slide, lg_coordinate_distance,
    lg_coordinate_wrap;

/* The first parameter of forces on slides. */
#define LG_SLIDE_PARAMETERS                                                                                            \
    {"axis", "", "direction of the slide", LG_VECTOR(3), .valid = LG_UNIT_VECTOR, .axes = LG_FIRST_AXES}

#endif
