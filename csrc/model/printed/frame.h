/* Bodies in Euler parameters e that stretch what they turn: their points follow from R_q = n R with n = e.e, which is
   quadratic in e (kinon2024 (111)). */
#ifndef LG_MODEL_PRINTED_FRAME_H
#define LG_MODEL_PRINTED_FRAME_H

#include "model/body/body.h"

/* A body at a point. */
typedef struct lg_stretched {
    const lg_block *block;
    int turns; /* whether it has Euler parameters; if so, e and rate are these and their rates */
    const double *e, *rate;
    int first; /* index of the parameters among the block's velocities */
    double n; /* e.e; 1 without Euler parameters */
} lg_stretched;

lg_stretched lg_stretched_at(const lg_body *body, const lg_point *at);
/* n^degree */
double lg_stretch_power(double n, int degree);

/* Frames in this form, after the kinematics of an evaluation: the functions `pull`, `pull_rate`, and H and Z together;
   bodies without Euler parameters keep their own. */
void lg_printed_pose(const lg_frame *f, const lg_point *at);
void lg_printed_pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out);
void lg_printed_pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row);
void lg_printed_twist(const lg_frame *f, const lg_point *at, double *H, double *Z);
/* A += s d(H^T wrench)/dq at a constant wrench, nv x nv, column-major */
void lg_printed_turning(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *A);

#endif
