/* The waist: everything an integrator may know about a model. Compiled models (model/) and systems made of functions
   (system/callback.c) implement it; steppers and solvers use nothing else.

   Equations, with signs: M(q, t) a + gyro(q, v, t) - force(q, v, t) + B(q)^T lam = 0, phi(q, t) = 0, phidot = B v +
   ..., B a = zeta := -(dB/dt) v - explicit time terms. The frames' bias accelerations are part of `gyro`, not of `Ma`.
   Constraint rows are in joint order, followed by the blocks' own rows. */
#ifndef LG_SYSTEM_SYSTEM_H
#define LG_SYSTEM_SYSTEM_H

#include "core/status.h"
#include "sparse/pattern.h"
#include "system/memory.h"
#include "system/point.h"

/* Forms of a system that differ in their functions alone: lg_system_in. */
typedef enum lg_form {
    LG_FORM_DYNAMICS, /* the one that a model gives */
    LG_FORM_STATICS, /* prescribed motions are taken at rest at time t */
    LG_FORM_BODY_AXES, /* rows of joints and their multipliers are in the axes of bodies */
    LG_FORM_SHERIF, /* gyro of Euler parameters as in sherif2019 (9), which is exact only if e.e' = 0 */
    LG_FORM_COUNT
} lg_form;

/* All of them, with the ends of the names of their functions. */
#define LG_EACH_FORM(X)                                                                                                \
    X(dynamics, LG_FORM_DYNAMICS)                                                                                      \
    X(statics, LG_FORM_STATICS) X(body_axes, LG_FORM_BODY_AXES) X(sherif, LG_FORM_SHERIF)

enum {
    LG_SYSTEM_CONSTANT_MASS = 1, /* M does not depend on q or t, so its factorisation can be reused */
    LG_SYSTEM_NEEDS_GIL = 2, /* some function calls Python */
    LG_SYSTEM_TREES = 4, /* some blocks of R^n rotate bodies */
    LG_SYSTEM_DIFFERENCED = 8, /* S contains derivatives formed by differences of functions, which take many calls */
    LG_SYSTEM_FIXED_LOADS = 16, /* it does not read the load factor */
    LG_SYSTEM_CONSERVATIVE = 32, /* at rest, `force` is the negative derivative of the potential energy */
    LG_SYSTEM_HAS_POTENTIAL = 64, /* at rest, `force` follows from a potential, which `energy` need not contain */
    LG_SYSTEM_REGULAR_MASS = 128, /* M is constant, and every block of it has an inverse */
    LG_SYSTEM_FIXED_ROWS = 256 /* constraint rows do not depend on time at fixed q and v */
};

/* Optional parts: optional.h, step.h, sensitivity.h. */
typedef struct lg_choice lg_choice;
typedef struct lg_inverse_mass lg_inverse_mass;
typedef struct lg_laws lg_laws;
typedef struct lg_sensitivity lg_sensitivity;
typedef struct lg_steps lg_steps;
typedef struct lg_system lg_system;
typedef lg_status lg_evaluate(void *self, const lg_point *point, const lg_wanted *wanted);

struct lg_system {
    void *self;
    const lg_space *space;
    const lg_pattern *pattern;
    unsigned flags;
    const lg_choice *choice; /* of redundant rows; NULL: all rows are always active */
    int nmem; /* doubles of memory, which `memory.commit` owns except for those of the choice */
    lg_memory_rules memory;
    int nwork; /* doubles of scratch that every point must bring */
    lg_evaluate *eval;
    /* Accelerations without constraints, with less work than by M; optional. LG_SINGULAR: solving with M may do. */
    lg_status (*accelerate)(void *self, const lg_point *point, double *a);
    const lg_inverse_mass *inverse_mass; /* optional */
    lg_status (*energy)(void *self, const lg_point *point, double *T, double *V); /* optional */
    /* Puts the functions of another form into a copy of the system; optional, for systems that have more than one. */
    void (*form)(lg_form form, lg_system *sibling);
    const lg_steps *steps; /* for methods that solve for the end of a step: step.h; optional */
    double (*next_kink)(void *self, double t); /* first time > t where the data are not smooth; optional, INFINITY */
    const char *control; /* the name of its first control, because of which it has no `steps`; NULL: it has none */
    const char *(*row_name)(void *self, int row); /* of a constraint row */
    const char *(*block_name)(void *self, int block); /* the body on a block; optional */
    int (*not_finite)(void *self, const lg_point *point, lg_report *report); /* names a force that is; optional */
    const lg_laws *laws; /* the user's functions; optional */
    const lg_sensitivity *sensitivity; /* derivatives that only runs with sensitivities need; optional */
};

/* The same system in another form, with the same `self`, shape, plans and parameters, for as long as that one lasts. */
static inline lg_system lg_system_in(const lg_system *system, lg_form form)
{
    lg_system sibling = *system;
    if (system->form)
        system->form(form, &sibling);
    return sibling;
}

#endif
