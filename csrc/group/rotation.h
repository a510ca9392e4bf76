/* Kernels for rotations, shared by the node kinds. Storages: matrix (row-major), unit quaternion (w, x, y, z), rotation
   vector. Outputs may not alias inputs unless the comment says so. */
#ifndef LG_GROUP_ROTATION_H
#define LG_GROUP_ROTATION_H

#include "core/small.h"
#include "group/series.h"

/* A = I + a w^ + b w^2, row-major; -a gives the transpose. Every function of w^ that occurs here has this form. */
static inline void lg_hat_matrix(const double w[3], double a, double b, double A[9])
{
    double x = w[0], y = w[1], z = w[2];
    double xy = b * x * y, xz = b * x * z, yz = b * y * z, ax = a * x, ay = a * y, az = a * z;
    A[0] = 1 - b * (y * y + z * z), A[1] = xy - az, A[2] = xz + ay;
    A[3] = xy + az, A[4] = 1 - b * (x * x + z * z), A[5] = yz - ax;
    A[6] = xz - ay, A[7] = yz + ax, A[8] = 1 - b * (x * x + y * y);
}

/* c = (I + a w^ + b w^2) u */
static inline void lg_hat_apply(const double w[3], double a, double b, const double u[3], double c[3])
{
    double x = lg_read(w), y = lg_read(w + 1), z = lg_read(w + 2);
    double p = lg_read(u), q = lg_read(u + 1), r = lg_read(u + 2);
    double f = y * r - z * q, g = z * p - x * r, h = x * q - y * p;
    c[0] = p + a * f + b * (y * h - z * g);
    c[1] = q + a * g + b * (z * f - x * h);
    c[2] = r + a * h + b * (x * g - y * f);
}

/* R = exp(w) */
void lg_so3_exp(const double w[3], double R[9]);
/* R = R0 exp(w) for the angle `x` = |w|; R may be R0. Round-off accumulates until R is polished. */
static inline void lg_so3_turn(const double R0[9], const double w[3], const lg_angle *x, double R[9])
{
    double E[9];
    lg_hat_matrix(w, x->sinc, x->cosc, E);
    lg_two e0 = {E[0], E[1]}, e1 = {E[3], E[4]}, e2 = {E[6], E[7]};
    for (int i = 0; i < 9; i += 3) { // each row of R follows from the same row of R0
        double a = R0[i], b = R0[i + 1], c = R0[i + 2], last = a * E[2] + b * E[5] + c * E[8];
        lg_store_two(R + i, a * e0 + b * e1 + c * e2);
        R[i + 2] = last;
    }
}

/* Makes R orthogonal to the last bits, given that it is orthogonal up to round-off. */
void lg_so3_polish(double R[9]);
/* R = R0 exp(w), polished; R may be R0. */
void lg_so3_retract(const double R0[9], const double w[3], double R[9]);
/* A positive multiple of a unit quaternion of R, which turns by more than a right angle. */
void lg_so3_quaternion(const double R[9], double p[4]);
/* A positive multiple of one of the two unit quaternions of R0^T R1. */
static inline void lg_so3_turn_between(const double R0[9], const double R1[9], double p[4])
{
    double R[9];
    lg_mulT33(R0, R1, R);
    double trace = R[0] + R[4] + R[8];
    if (trace > 0) {
        p[0] = 1 + trace, p[1] = R[7] - R[5], p[2] = R[2] - R[6], p[3] = R[3] - R[1];
        return;
    }
    double copy[9]; // so that R never leaves the registers above
    lg_copy(9, R, copy);
    lg_so3_quaternion(copy, p);
}

/* w = log(R0^T R1), |w| <= pi */
void lg_so3_difference(const double R0[9], const double R1[9], double w[3]);

/* The same for unit quaternions. */
static inline void lg_s3_turn(const double p0[4], const double w[3], const lg_angle *x, double p[4])
{
    double e[4] = {x->half_cos, x->half_sin * w[0], x->half_sin * w[1], x->half_sin * w[2]}, r[4];
    lg_quat_mul(p0, e, r);
    lg_copy(4, r, p);
}

/* w = log(p), |w| < 2 pi; log(-p) has the opposite axis and turns by 2 pi - |w|. The length of p does not matter. */
void lg_s3_log(const double p[4], double w[3]);
void lg_s3_polish(double p[4]);
void lg_s3_retract(const double p0[4], const double w[3], double p[4]);
/* w of the shorter rotation, |w| <= pi; p1 and -p1 give the same w. */
void lg_s3_difference(const double p0[4], const double p1[4], double w[3]);

/* psi = psi0 o w, the rotation vector of R(psi0) exp(w) with |psi| <= pi; psi may be psi0. */
void lg_rv_turn(const double psi0[3], const double w[3], const lg_angle *x, double psi[3]);
void lg_rv_retract(const double psi0[3], const double w[3], double psi[3]);
void lg_rv_difference(const double psi0[3], const double psi1[3], double w[3]);
void lg_rv_matrix(const double psi[3], double R[9]);

/* T(w) v and T^-1(w) v, given the angle |w|. */
static inline void lg_so3_tangent_mul_at(const double w[3], const lg_angle *x, const double v[3], double c[3])
{
    lg_hat_apply(w, -x->cosc, x->sincc, v, c);
}

static inline void lg_so3_tangent_solve_at(const double w[3], const lg_angle *x, const double v[3], double c[3])
{
    lg_hat_apply(w, 0.5, x->cotc, v, c);
}

/* T(w) v and T^-1(w) v, and both matrices, column-major */
void lg_so3_tangent_mul(const double w[3], const double v[3], double c[3]);
void lg_so3_tangent_solve(const double w[3], const double v[3], double c[3]);
void lg_so3_tangent(const double w[3], double T[9]);
void lg_so3_tangent_inv(const double w[3], double Tinv[9]);

#endif
