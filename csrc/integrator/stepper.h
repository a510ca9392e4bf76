/* What the loop knows about a method: a row (name, order, options) and a stepper (its functions). */
#ifndef LG_INTEGRATOR_STEPPER_H
#define LG_INTEGRATOR_STEPPER_H

#include "core/arena.h"
#include "integrator/option.h"
#include "integrator/state.h"
#include "integrator/tableau.h"
#include "solve/accel.h"
#include "solve/linearised.h"

/* Where Tait-Bryan angles came nearest to their singularity. */
typedef struct lg_nearest {
    double cosine; /* of the middle angle; 1: nothing has such angles */
    double t;
    const char *name; /* of the body; NULL: it has none */
} lg_nearest;

/* Where the rates of a block were most along the gradient of its own row, such as the unit length of Euler
   parameters. */
typedef struct lg_parasite {
    int sought; /* the rule has rates of this kind, and the system such rows */
    double ratio; /* of that part to the largest rates that the block had before */
    double t;
    const char *name; /* of the body; NULL: it has none */
} lg_parasite;

typedef struct lg_stats {
    long steps, newton_iterations, jacobians, factorisations, evaluations, dense_fallbacks;
    long newton_factorisations; /* those of Newton's method; the others are of masses */
    long rejected, failed; /* steps that were rejected; those of them that failed */
    long retries; /* steps that failed and were tried again at half their size */
    const char *newton; /* the variant of Newton's method in use, such as "auto"; NULL: none */
    lg_nearest nearest; /* at the start and at the ends of all steps */
    lg_parasite parasite; /* at the ends of all steps */
} lg_stats;

typedef struct lg_stepper lg_stepper;
typedef struct lg_stepper_type lg_stepper_type;
typedef struct lg_method lg_method;
typedef struct lg_stepper_sensitivities lg_stepper_sensitivities; /* sensitivities.h */

/* What the next step needs beside the parts of a state, in doubles at the front of state->carry. */
typedef struct lg_stepper_carry {
    int (*count)(const lg_stepper *self); /* its length, after `prepare` */
    /* Writes that of a first step, after state->t, q, v and consistent a and lam have been set. */
    lg_status (*reset)(lg_stepper *self, lg_state *state);
    /* Takes over the `count` numbers of the carry with which a run of other options or of an older version has ended;
       returns 0 if they do not belong to this method with these options. NULL: all numbers, as they are. */
    int (*adopt)(const lg_stepper *self, int count, const double *given, double *carry);
} lg_stepper_carry;

/* A family of methods with momenta as part of the state, which solve for the end of a step (system/step.h). The carry
   begins with them, nv numbers. The steps go on over a kink at which one ends, with the accelerations and multipliers
   of that step, and can do without those of a start, which are NaN if they are not determined. */
typedef struct lg_stepper_momenta {
    const char *needs; /* what a system must be, in words, to which the names of formulations are added */
    /* The first block that does not meet `needs`, or -1; after `prepare`. Reports it if other options would do. */
    int (*first_unfit)(lg_stepper *self);
} lg_stepper_momenta;

/* Solutions embedded in a step: one at its end, which tells its error, and a curve inside it that is more accurate than
   one through its ends: y(s) - y(0) = s (F_0 + (1 - s) (F_1 + s (F_2 + ...))), s from 0 to 1, for y the local
   coordinates theta from the start and v. */
typedef struct lg_stepper_embedded {
    /* Error of the step that has just succeeded from `before`: q - q^ in local coordinates, then v - v^ (nv each),
       where ^ is the embedded solution. Called only for methods with control options. */
    lg_status (*error)(lg_stepper *self, const lg_state *before, double h, double *error);
    /* Writes the F, as many as self->curve says, for the step of size h that has been accepted, before the next one
       begins. NULL: there is never a curve. */
    lg_status (*write)(lg_stepper *self, const lg_state *before, const lg_state *after, double h, double *F);
} lg_stepper_embedded;

struct lg_stepper_type {
    const char *name;
    size_t size; /* of the stepper's struct, which begins with an lg_stepper */
    lg_coupling coupling; /* of its matrix; the same for all steppers among which a row chooses */
    const lg_stepper_carry *carry; /* NULL: states are all that a step needs */
    const lg_stepper_momenta *momenta; /* NULL: of another family, which runs every system */
    /* Another stepper if the system or the options ask for it; names an option that contradicts this. NULL: never. */
    lg_status (*choose)(const lg_method *method, const lg_system *system, const lg_option_value *options,
                        const lg_stepper_type **stepper, lg_report *report);
    /* Checks options together and derives coefficients; names what is wrong in report->what. */
    lg_status (*prepare)(lg_stepper *self);
    void (*layout)(lg_stepper *self, lg_arena *arena); /* carves all arrays; also used to measure them */
    /* One step of size h. Writes the new state, state->t included, only on success and leaves it unchanged on
       failure. */
    lg_status (*step)(lg_stepper *self, lg_state *state, double h);
    const lg_stepper_embedded *embedded; /* NULL: there are none */
    const lg_stepper_sensitivities *sensitivities; /* NULL: its steps have no derivatives */
    void (*close)(lg_stepper *self); /* frees what the arena does not hold; NULL: nothing */
};

struct lg_stepper {
    const lg_stepper_type *type;
    const lg_method *method;
    const lg_system *system; /* in the form that `prepare` has chosen */
    lg_system sibling; /* the system if that is not the one of dynamics */
    lg_plans plans; /* those that lg_stepper_needs names */
    const lg_plan *plan; /* the one for its coupling */
    int curve; /* how many F, of 2 nv numbers each, its row can write for the curve inside a step; 0: there is none */
    const lg_option_value *options; /* method->options->nvalues: the method's struct of options */
    lg_accel accel; /* index-1 accelerations; its matrix serves the stepper too, after a reset */
    double
        *coarse; /* 2 nv: the error against a second, coarser solution, which `error` sets too; NULL: there is none */
    long factorisations, fallbacks; /* of matrices of its own, fall-backs to dense ones among them */
    int nparameters; /* by which the states of the run are differentiated */
    int backwards; /* by the adjoint of its steps, so that states have no derivatives */
    lg_linearised linear; /* of such a run */
    double *mem; /* scratch for the memory of the system at the end of a step */
    int replaced; /* the state has been replaced since the last step, to which everything kept beside the carry
                     belongs */
    lg_stats stats;
    lg_report report;
};

/* Makes the steps those of a system in another form, in `prepare`. */
void lg_stepper_take_form(lg_stepper *self, lg_form form);

/* Notes whether the coordinates q at time t are nearer to a singularity than those before. */
void lg_nearest_note(lg_nearest *nearest, const lg_system *system, double t, const double *q);

/* Names of the formulations in Euler parameters, "euler_parameters": they are named after the node of a free body. */
void lg_list_unit_formulations(char *text, size_t size);

/* After a failed step: names the body whose coordinates are singular, or so nearly singular that a solve failed. */
void lg_report_coordinates(const lg_system *system, const lg_state *state, double h, lg_status status,
                           lg_report *report);

/* Whether a method is explicit: its matrix is that of the masses. It supports node kinds with qdot. */
int lg_stepper_is_explicit(const lg_stepper_type *type);

/* Whether a run of a method needs the plan of a pattern for a coupling. Plans for masses and for tangents differ only
   if elements couple blocks that neither M nor a constraint does. */
int lg_stepper_needs(const lg_stepper_type *type, const lg_pattern *pattern, lg_coupling coupling);

/* Factors a matrix of the stepper's own, names the row of a singular one, and counts it and its fall-back. */
lg_status lg_stepper_factor(lg_stepper *self, lg_matrix *matrix);

/* LG_NOT_FINITE if a state contains a NaN or an infinite number. */
lg_status lg_check_finite(const lg_system *system, const double *q, const double *v, const double *a,
                          const double *lam);

/* Ends a step by the displacement theta (nv; NULL: h v): q, with its rotations polished, v, a and lam become the state
   at state->t + h, and the memory of the system that of this state. LG_NOT_FINITE if they are not finite,
   LG_COORDINATES if the coordinates of a body are singular, LG_TURNED if an element has turned too far; the state is
   then as before. */
lg_status lg_stepper_accept(lg_stepper *self, lg_state *state, double h, const double *theta, const double *q,
                            const double *v, const double *a, const double *lam);

typedef struct lg_control_options lg_control_options;

/* The control options of a method that has them, else NULL. */
const lg_control_options *lg_stepper_control(const lg_stepper *self);
/* Whether the error of each step is estimated: a tolerance was given. */
int lg_stepper_estimates(const lg_stepper *self);
/* Whether that error chooses the steps: control is not "none". */
int lg_stepper_adapts(const lg_stepper *self);
/* How often a step that fails may be halved; -1: the method has no such option. */
int lg_stepper_retries(const lg_stepper *self);

/* The data of generalized-alpha: alpha_m and alpha_f as functions of its damping. */
typedef struct lg_alpha_rule {
    void (*of)(double damping, double alpha[2]);
} lg_alpha_rule;

typedef struct lg_momentum_rule lg_momentum_rule;

struct lg_method { /* one row of methods.def */
    const char *name;
    const lg_stepper_type *stepper;
    const void *data; /* what its stepper reads: an lg_tableau, an lg_alpha_rule, an lg_momentum_rule, or nothing */
    int order; /* of q, v and the multipliers */
    const lg_option_rows *options;
    const char *reference;
    const char *doc;
};

/* The rows' steppers, options and rules, each defined in the file of its method. */
#define LG_METHOD(name, type, order, list, reference, doc)                                                             \
    extern const lg_stepper_type type;                                                                                 \
    extern const lg_option_rows list;
#define LG_RUNGE_KUTTA(name, type, table, order, list, reference, doc)                                                 \
    LG_METHOD(name, type, order, list, reference, doc)
#define LG_ALPHA(name, type, rule, order, list, reference, doc)                                                        \
    LG_METHOD(name, type, order, list, reference, doc)                                                                 \
    extern const lg_alpha_rule rule;
#define LG_MOMENTUM(name, type, rule, order, list, reference, doc)                                                     \
    LG_METHOD(name, type, order, list, reference, doc)                                                                 \
    extern const lg_momentum_rule rule;
#include "integrator/methods.def"
#undef LG_METHOD
#undef LG_RUNGE_KUTTA
#undef LG_ALPHA
#undef LG_MOMENTUM

#endif
