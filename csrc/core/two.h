/* Two numbers that every processor can add and multiply at once. */
#ifndef LG_CORE_TWO_H
#define LG_CORE_TWO_H

#include "core/small.h"

typedef double lg_two __attribute__((vector_size(16), may_alias));

static LG_INLINE lg_two lg_load_two(const double *at)
{
    lg_two x;
    memcpy(&x, at, sizeof x);
    return x;
}

static LG_INLINE void lg_store_two(double *at, lg_two x)
{
    memcpy(at, &x, sizeof x);
}

/* r = p q, the quaternion product. The components of p are read one by one, those of q by pairs. */
static inline void lg_quat_mul(const double p[4], const double q[4], double r[4])
{
    lg_two a = lg_load_two(q), b = lg_load_two(q + 2), across_a = {a[1], a[0]}, across_b = {b[1], b[0]};
    lg_two x = {-p[1], p[1]}, y = {-p[2], p[2]};
    lg_store_two(r, p[0] * a + x * across_a + y * b - p[3] * across_b);
    lg_store_two(r + 2, p[0] * b + x * across_b - y * a + p[3] * across_a);
}

/* S += k A X, 3 x 3 and all three column-major; the columns of A are contiguous. S does not overlap A or X. */
static inline void lg_add_product3(double k, const double *restrict A, const double *restrict X, int ldx,
                                   double *restrict S, int ld)
{
    lg_two a0 = lg_load_two(A), a1 = lg_load_two(A + 3), a2 = lg_load_two(A + 6);
    for (int j = 0; j < 3; j++, X += ldx, S += ld) {
        double x = k * X[0], y = k * X[1], z = k * X[2];
        lg_store_two(S, lg_load_two(S) + (a0 * x + a1 * y + a2 * z));
        S[2] += A[2] * x + A[5] * y + A[8] * z;
    }
}

#endif
