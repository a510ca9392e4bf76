/* Butcher tableaux as exact numbers. */
#ifndef LG_INTEGRATOR_TABLEAU_H
#define LG_INTEGRATOR_TABLEAU_H

#include <stddef.h>

/* (num + root3 sqrt(3) + root6 sqrt(6)) / den, of which at most one root is there; all zero is zero. */
typedef struct lg_ratio {
    long long num, root3, den, root6;
} lg_ratio;

double lg_ratio_value(lg_ratio ratio);
/* "0", "1/3", "(3 - 1*sqrt(3))/6": returns the length, as snprintf does. */
int lg_ratio_text(lg_ratio ratio, char *text, size_t room);

enum { LG_STAGES = 8 };

typedef struct lg_tableau {
    int stages; /* rows of A; of a half-explicit method, those of the points whose constraints are used included */
    int order_hat; /* of the embedded solution, 0 if there is none; the order of b stands in the row of the method */
    lg_ratio A[LG_STAGES][LG_STAGES]; /* strictly lower triangular in explicit methods */
    lg_ratio b[LG_STAGES], b_hat[LG_STAGES], c[LG_STAGES];
    lg_ratio d[LG_STAGES]; /* of the multipliers; half-explicit methods only */
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
