/* Butcher tableaux as exact numbers, or as decimals where the exact ones are not known. */
#ifndef LG_INTEGRATOR_TABLEAU_H
#define LG_INTEGRATOR_TABLEAU_H

#include <stddef.h>

/* (num + root3 sqrt(3) + root6 sqrt(6)) / den, of which at most one root is there, or a decimal; all zero is zero. */
typedef struct lg_ratio {
    long long num, den;
    int root3, root6;
    const char *digits; /* of a decimal, as the source prints it; NULL: a ratio */
    double rounded; /* the decimal */
} lg_ratio;

int lg_ratio_is_zero(lg_ratio ratio);
double lg_ratio_value(lg_ratio ratio);
/* "0", "1/3", "(3 - 1*sqrt(3))/6": returns the length, as snprintf does. */
int lg_ratio_text(lg_ratio ratio, char *text, size_t room);

enum {
    LG_STAGES = 12,
    LG_CURVE_STAGES = 3, /* further ones, for dense output */
    LG_CURVE_DEGREE = 7,
    LG_POINTS = LG_STAGES + 1 + LG_CURVE_STAGES
};

/* Dense output: further stages behind that at the end of the step, and the weights of the last four of the vectors F
   with y(s) = y_0 + s (F_0 + (1 - s) (F_1 + s (F_2 + (1 - s) (F_3 + ...)))), s from 0 to 1. The first three follow from
   both ends. */
typedef struct lg_tableau_curve {
    lg_ratio c[LG_CURVE_STAGES], A[LG_CURVE_STAGES][LG_POINTS], D[LG_CURVE_DEGREE - 3][LG_POINTS];
} lg_tableau_curve;

typedef struct lg_tableau {
    int stages; /* rows of A; of a half-explicit method, those of the points whose constraints are used included */
    int order_hat; /* of the embedded solution, 0 if there is none; the order of b stands in the row of the method */
    const lg_ratio *A; /* stages x stages, row by row; strictly lower triangular in explicit methods */
    lg_ratio b[LG_STAGES], b_hat[LG_STAGES], c[LG_STAGES];
    lg_ratio d[LG_STAGES]; /* of the multipliers; half-explicit methods only */
    int order_low; /* of b_low, a second embedded solution; 0: there is none */
    lg_ratio b_low[LG_STAGES];
    const lg_tableau_curve *curve; /* NULL: dense output follows from both ends of a step alone */
} lg_tableau;

/* The tables that rows of methods.def name. */
#define LG_METHOD(...)
#define LG_ALPHA(...)
#define LG_MOMENTUM(...)
#define LG_RUNGE_KUTTA(name, type, table, ...) extern const lg_tableau table;
#include "integrator/methods.def"
#undef LG_METHOD
#undef LG_ALPHA
#undef LG_MOMENTUM
#undef LG_RUNGE_KUTTA

#endif
