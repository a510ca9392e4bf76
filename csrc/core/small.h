/* Inline algebra of 3-vectors, 3x3 matrices and quaternions.
   3x3 matrices are row-major (as NumPy stores them); quaternions are scalar first (w, x, y, z).
   Outputs may not alias inputs unless the comment says so. */
#ifndef LG_CORE_SMALL_H
#define LG_CORE_SMALL_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LG_PI 3.14159265358979323846

/* A kernel that is compiled into each caller, where its sizes are constants. */
#define LG_INLINE inline __attribute__((always_inline))

/* Calls a kernel for n numbers, which for one rigid body are six: its loops are unrolled then. */
#define LG_OFTEN_SIX(n, kernel, ...)                                                                                   \
    do {                                                                                                               \
        if ((n) == 6)                                                                                                  \
            kernel(6, __VA_ARGS__);                                                                                    \
        else                                                                                                           \
            kernel(n, __VA_ARGS__);                                                                                    \
    } while (0)

/* A function that is never inlined: its callers would otherwise save its registers even on paths that do not call
   it. */
#define LG_APART __attribute__((noinline))

/* In a loop over `counter`, keeps the compiler from doing two passes at once: values that have just been stored one by
   one could be loaded as a pair only after they have reached the cache. */
#define LG_ONE_BY_ONE(counter) __asm__ volatile("" : "+r"(counter))

/* *x, loaded by itself: for a value whose neighbours have just been stored one by one. */
static inline double lg_read(const double *x)
{
    return *(const volatile double *)x;
}

static inline double lg_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double lg_dot4(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static inline double lg_dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double lg_norm3(const double a[3])
{
    return sqrt(lg_dot3(a, a));
}

/* Three numbers are copied one by one: those that have just been computed stay in registers. */
static inline void lg_copy(int n, const double *a, double *c)
{
    if (__builtin_constant_p(n) && n == 3) {
        double x = a[0], y = a[1], z = a[2];
        c[0] = x, c[1] = y, c[2] = z;
        return;
    }
    memcpy(c, a, (size_t)n * sizeof(double));
}

static inline void lg_zero(int n, double *c)
{
    memset(c, 0, (size_t)n * sizeof(double));
}

/* c += s a */
static inline void lg_axpy(int n, double s, const double *a, double *c)
{
    for (int i = 0; i < n; i++)
        c[i] += s * a[i];
}

/* out += s M x, M (n, n) in columns */
static LG_INLINE void lg_add_mapped(int n, double s, const double *restrict M, const double *restrict x,
                                    double *restrict out)
{
    for (int j = 0; j < n; j++)
        lg_axpy(n, s * x[j], M + n * j, out);
}

/* out += s M^T x */
static inline void lg_add_mapped_back(int n, double s, const double *M, const double *x, double *out)
{
    for (int j = 0; j < n; j++)
        out[j] += s * lg_dot(n, M + n * j, x);
}

/* c = a x b */
static inline void lg_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* c += a x b */
static inline void lg_add_cross(const double a[3], const double b[3], double c[3])
{
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* Of two numbers, neither of which is a NaN. */
static inline double lg_larger(double a, double b)
{
    return a > b ? a : b;
}

/* The largest absolute value, or NaN if there is one. Without their signs, doubles are ordered like the integers with
   the same bits, with every NaN above all numbers. */
static inline double lg_max_abs(int n, const double *x)
{
    const uint64_t size = ~(uint64_t)0 >> 1;
    uint64_t largest = 0, bits;
    for (int i = 0; i < n; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        bits &= size;
        largest = bits > largest ? bits : largest;
    }
    double result;
    memcpy(&result, &largest, sizeof result);
    return result;
}

/* Whether no absolute value exceeds a bound; stops at the first one that does. */
static inline int lg_within(int n, const double *x, double bound)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= bound))
            return 0;
    return 1;
}

static inline double lg_sum(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* The piece between n ascending numbers in which x lies: the last i <= n - 2 with at[i] <= x, or 0. */
static inline long lg_piece_of(long n, const double *at, double x)
{
    long low = 0, high = n - 1;
    while (high - low > 1) {
        long middle = low + (high - low) / 2;
        if (at[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether all of n numbers are finite. They are if their sum is; if it is not, the sum may have overflowed. */
static inline int lg_all_finite(int n, const double *x)
{
    const double *at = x, *end = x + n;
    double even = 0, odd = n & 1 ? *at++ : 0;
    for (; at < end; at += 2) {
        even += at[0];
        odd += at[1];
        LG_ONE_BY_ONE(at);
    }
    if (isfinite(even + odd))
        return 1;
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

/* A = a^, the matrix of b -> a x b */
static inline void lg_hat3(const double a[3], double A[9])
{
    A[0] = 0, A[1] = -a[2], A[2] = a[1];
    A[3] = a[2], A[4] = 0, A[5] = -a[0];
    A[6] = -a[1], A[7] = a[0], A[8] = 0;
}

/* c = A b */
static inline void lg_mul3(const double A[9], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = A[3 * i] * b[0] + A[3 * i + 1] * b[1] + A[3 * i + 2] * b[2];
}

/* c = A^T b */
static inline void lg_mulT3(const double A[9], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = A[i] * b[0] + A[3 + i] * b[1] + A[6 + i] * b[2];
}

/* c = A b for a column-major 3 x m A */
static inline void lg_mul_columns(int m, const double *A, const double *b, double c[3])
{
    lg_zero(3, c);
    for (int j = 0; j < m; j++)
        lg_axpy(3, b[j], A + 3 * j, c);
}

/* C = A B */
static inline void lg_mul33(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* C = A^T B */
static inline void lg_mulT33(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/* B = A^T */
static inline void lg_transpose3(const double A[9], double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[3 * j + i] = A[3 * i + j];
}

static inline void lg_identity3(double A[9])
{
    A[0] = 1, A[1] = 0, A[2] = 0;
    A[3] = 0, A[4] = 1, A[5] = 0;
    A[6] = 0, A[7] = 0, A[8] = 1;
}

/* r = p*, the inverse of a unit quaternion */
static inline void lg_quat_conjugate(const double p[4], double r[4])
{
    r[0] = p[0], r[1] = -p[1], r[2] = -p[2], r[3] = -p[3];
}

/* c = R(p) b for a unit quaternion */
static inline void lg_quat_rotate(const double p[4], const double b[3], double c[3])
{
    double w = p[0], x = p[1], y = p[2], z = p[3];
    double f = 2 * (y * b[2] - z * b[1]), g = 2 * (z * b[0] - x * b[2]), h = 2 * (x * b[1] - y * b[0]);
    c[0] = b[0] + w * f + (y * h - z * g);
    c[1] = b[1] + w * g + (z * f - x * h);
    c[2] = b[2] + w * h + (x * g - y * f);
}

/* R(p) for a unit quaternion */
static inline void lg_quat_matrix(const double p[4], double R[9])
{
    double x = p[1], y = p[2], z = p[3], x2 = 2 * x, y2 = 2 * y, z2 = 2 * z, w = p[0];
    double xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    double wx = w * x2, wy = w * y2, wz = w * z2;
    R[0] = 1 - (yy + zz), R[1] = xy - wz, R[2] = xz + wy;
    R[3] = xy + wz, R[4] = 1 - (xx + zz), R[5] = yz - wx;
    R[6] = xz - wy, R[7] = yz + wx, R[8] = 1 - (xx + yy);
}

#endif
