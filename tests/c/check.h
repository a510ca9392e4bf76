/* The whole test framework: a failed check is reported with its file and line and counted, and the test continues.

       static void test_something(void) { CHECK(1 + 1 == 2); CHECK_CLOSE(sin(0.1), 0.0998334166, 1e-10); }
       int main(void) { RUN(test_something); return check_result(); } */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_count, check_failures;

static inline void check_report(int ok, const char *file, int line, const char *what)
{
    check_count++;
    if (ok)
        return;
    check_failures++;
    printf("%s:%d: %s\n", file, line, what);
}

static inline void check_close(double a, double b, double tolerance, const char *file, int line, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "%s: %.17g and %.17g differ by %.3g > %.3g", what, a, b, fabs(a - b), tolerance);
    check_report(fabs(a - b) <= tolerance, file, line, text); /* false for NaN */
}

#define CHECK(condition) check_report((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_CLOSE(a, b, tolerance) check_close(a, b, tolerance, __FILE__, __LINE__, #a " = " #b)
#define CHECK_TEXT(a, b) check_report(strcmp(a, b) == 0, __FILE__, __LINE__, #a " = " #b)

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        int before = check_failures;                                                                                   \
        test();                                                                                                        \
        printf("%-4s %s\n", check_failures == before ? "ok" : "FAIL", #test);                                          \
    } while (0)

static inline int check_result(void)
{
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0 || check_count == 0;
}

/* Random numbers that are the same on every platform: splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [-1, 1) */
static inline double random_number(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-52 - 1;
}

/* n of them, times a scale */
static inline void draws(uint64_t *state, int n, double scale, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = scale * random_number(state);
}

/* From low to high, both included */
static inline int random_int(uint64_t *state, int low, int high)
{
    return low + (int)(random_bits(state) % (uint64_t)(high - low + 1));
}

/* The largest difference of n numbers; NaN if one is. */
static inline double distance(int n, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= worst))
            worst = fabs(a[i] - b[i]);
    return worst;
}

/* The 2-norm of a difference of n numbers. */
static inline double apart(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

#endif
