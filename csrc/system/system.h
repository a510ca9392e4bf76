/* The waist: everything an integrator may know about a model. Compiled models (model/) and systems made of functions
   (system/callback.c) implement it; steppers and solvers use nothing else.

   Equations, with signs: M(q, t) a + gyro(q, v, t) - force(q, v, t) + B(q)^T lam = 0, phi(q, t) = 0, phidot = B v +
   ..., B a = zeta := -(dB/dt) v - explicit time terms. The frames' bias accelerations are part of `gyro`, not of `Ma`.
   Constraint rows are in joint order, followed by the blocks' own rows. */
#ifndef LG_SYSTEM_SYSTEM_H
#define LG_SYSTEM_SYSTEM_H

#include "core/status.h"
#include "sparse/pattern.h"
#include "system/point.h"

/* Forms of a system that differ in their functions alone: lg_system_in. */
typedef enum lg_form {
    LG_FORM_DYNAMICS, /* the one that a model gives */
    LG_FORM_STATICS, /* prescribed motions are taken at rest at time t */
    LG_FORM_BODY_AXES, /* rows of joints and their multipliers are in the axes of bodies */
    LG_FORM_SHERIF, /* gyro of Euler parameters as in sherif2019 (9), which is exact only if e.e' = 0 */
    LG_FORM_COUNT
} lg_form;

enum {
    LG_SYSTEM_CONSTANT_MASS = 1, /* M does not depend on q or t, so its factorisation can be reused */
    LG_SYSTEM_NEEDS_GIL = 2, /* some function calls Python */
    LG_SYSTEM_TREES = 4, /* some blocks of R^n rotate bodies */
    LG_SYSTEM_DIFFERENCED = 8, /* S contains derivatives formed by differences of functions, which take many calls */
    LG_SYSTEM_FIXED_LOADS = 16, /* it does not read the load factor */
    LG_SYSTEM_CONSERVATIVE = 32, /* at rest, `force` is the negative derivative of the potential energy */
    LG_SYSTEM_HAS_POTENTIAL = 64, /* at rest, `force` follows from a potential, which `energy` need not contain */
    LG_SYSTEM_REGULAR_MASS = 128 /* M is constant, and every block of it has an inverse */
};

/* Rows around closed loops of which some imply the others: in every loop as many are active as are independent. The
   others are inactive: their phi, phidot, zeta and their rows of B and Z are zero, and so are their multipliers. A
   system begins with a choice of its own; solve/choice.h makes another where that is nearly dependent. */
typedef struct lg_choice {
    int nloops;
    const int *start; /* per loop, nloops + 1: first row. The rows are those that the pattern lists as masked. */
    const int *inactive; /* per row, whether it is inactive at first */
    int mem; /* where it begins in mem: per row 1 if it is not as at first; then a number of solve/choice.h */
} lg_choice;

/* M^-1 of single blocks without the matrix M, for systems with blocks where that takes less work: trees of links, with
   work that grows linearly with the block's velocities. */
typedef struct lg_inverse_mass {
    int (*size)(void *self, int block); /* doubles of the block's factor; -1: it has none, M has to be formed */
    /* Writes the factor at a point's t and q, which lasts as long as the caller keeps it; point->same_q as in `eval`.
       LG_SINGULAR: M is singular but for round-off, and so is its part from this velocity of the block on. */
    lg_status (*factor)(void *self, const lg_point *point, int block, double *factor, int *deficient);
    /* x = M^-1 x for n right-hand sides of the block's nv values, `ld` apart. The factor holds scratch as well. */
    void (*solve)(void *self, int block, double *factor, int n, int ld, double *x);
} lg_inverse_mass;

/* Functions of the user that give forces, for advice when a step fails. */
typedef struct lg_laws {
    const char *(*name)(void *self, int number); /* of number 0, 1, ...; NULL beyond the last one */
    int (*length)(void *self); /* of their values */
    /* A function that fails leaves no error of the user's behind. */
    lg_status (*value)(void *self, const lg_point *point, int number, double *value);
} lg_laws;

typedef struct lg_system lg_system;
typedef struct lg_steps lg_steps;

struct lg_system {
    void *self;
    const lg_space *space;
    const lg_pattern *pattern;
    unsigned flags;
    const lg_choice *choice; /* NULL: all rows are always active */
    int nmem; /* doubles of memory, which `commit` owns except for those of the choice */
    int nwork; /* doubles of scratch that every point must bring */
    lg_status (*eval)(void *self, const lg_point *point, const lg_wanted *wanted);
    /* The accelerations of a system without constraints; optional, for systems that find them with less work than it
       takes to evaluate the terms and to solve with M. LG_SINGULAR: this way fails, but solving with M may not. */
    lg_status (*accelerate)(void *self, const lg_point *point, double *a);
    const lg_inverse_mass *inverse_mass; /* optional */
    lg_status (*energy)(void *self, const lg_point *point, double *T, double *V); /* optional */
    /* Puts the functions of another form into a copy of the system; optional, for systems that have more than one. */
    void (*form)(lg_form form, lg_system *sibling);
    const lg_steps *steps; /* for methods that solve for the end of a step: step.h; optional */
    double (*next_kink)(void *self, double t); /* first time > t where the data are not smooth; optional, INFINITY */
    /* Updates mem, which belongs to the point `from`, to that of the end of a step (optional). `from` NULL: `to` is a
       start, and mem only the caller's guess. On failure, as LG_TURNED if an element has turned too far in the step,
       the report names the element, and mem is of no use. */
    lg_status (*commit)(void *self, const lg_point *from, const lg_point *to, double *mem, lg_report *report);
    const char *(*row_name)(void *self, int row); /* of a constraint row */
    const char *(*block_name)(void *self, int block); /* the body on a block; optional */
    const char *(*not_finite)(void *self, const lg_point *point); /* the element whose force is not finite; optional */
    const lg_laws *laws; /* optional */
};

/* The same system in another form. It has the same `self`, shape, plans and parameters, and lasts as long as that
   one. */
static inline lg_system lg_system_in(const lg_system *system, lg_form form)
{
    lg_system sibling = *system;
    if (system->form)
        system->form(form, &sibling);
    return sibling;
}

#endif
