/* What the loop knows of a method: a row (name, order, options) and a stepper (its verbs). */
#ifndef LG_INTEGRATOR_STEPPER_H
#define LG_INTEGRATOR_STEPPER_H

#include "core/arena.h"
#include "integrator/state.h"
#include "integrator/tableau.h"
#include "solve/accel.h"
#include "system/system.h"

/* ---- options: the only list of them; Python names, docs and error texts are made from it ---- */

typedef enum lg_option_type {
    LG_OPTION_NUMBER,
    LG_OPTION_INTEGER,
    LG_OPTION_FLAG,
    LG_OPTION_CHOICE,
    LG_OPTION_VECTOR /* a number for all entries, or an array that goes its own way: see lg_control_set */
} lg_option_type;

typedef struct lg_option_default {
    double number; /* NaN: none, unless it is a choice */
    int choice; /* index into the choices, or -1 for a number */
} lg_option_default;

typedef struct lg_option_value {
    double number;
    int choice; /* as in the default */
    int given; /* by the caller, be it the default's value */
} lg_option_value;

typedef struct lg_option {
    const char *name;
    lg_option_type type;
    lg_option_default initial;
    double low, high; /* closed range of a number */
    const char *choices; /* "full|modified"; a NUMBER may have choices too, such as "optimal" */
    const char *doc; /* one sentence */
    int field; /* LG_FIELD: where its value stands among those of the method */
} lg_option;

/* The values of a method's options are a struct of lg_option_value beside the method, or an array: the number of a
   member of that struct. */
#define LG_FIELD(type, member) (int)(offsetof(type, member) / sizeof(lg_option_value))

typedef struct lg_option_rows {
    const lg_option *row;
    int count; /* of the rows */
    int nvalues; /* of the struct, which may have members that no row of this method sets */
} lg_option_rows;

#define LG_OPTION_ROWS(rows, type) {rows, sizeof rows / sizeof *rows, (int)(sizeof(type) / sizeof(lg_option_value))}

/* ---- run-time objects ---- */

typedef struct lg_stats {
    long steps, newton_iterations, jacobians, factorisations, evaluations, dense_fallbacks;
    long rejected, failed; /* steps that were taken back; how many of them because they could not be carried out */
    const char *newton; /* the method of Newton that is used, "full" or "modified"; NULL: none */
} lg_stats;

typedef struct lg_stepper lg_stepper;
typedef struct lg_method lg_method;

typedef struct lg_stepper_type {
    const char *name;
    size_t size; /* of the struct that begins with an lg_stepper */
    int adds_rates; /* explicit: knows what to do with node kinds that have qdot */
    /* Checks options together and derives coefficients; names the culprit in report->what. */
    lg_status (*prepare)(lg_stepper *self);
    void (*layout)(lg_stepper *self, lg_arena *arena); /* carve everything; also measures */
    int (*carry_count)(const lg_stepper *self); /* doubles at the front of state->carry; NULL: none */
    /* state->t, q, v and the consistent a and lam have been set: makes the carry of a first step. NULL: nothing to do. */
    lg_status (*reset)(lg_stepper *self, lg_state *state);
    /* One step of size h, state->t included. Writes the new state only on success; on failure it is as it was. */
    lg_status (*step)(lg_stepper *self, lg_state *state, double h);
    /* Error of the step that has just succeeded from `before`: q - q^ in local coordinates, then v - v^ (nv each), where
       ^ is the embedded solution. Asked of methods with control options only. */
    lg_status (*error)(lg_stepper *self, const lg_state *before, double h, double *error);
    void (*close)(lg_stepper *self); /* frees what the arena does not hold; NULL: nothing */
} lg_stepper_type;

struct lg_stepper {
    const lg_stepper_type *type;
    const lg_method *method;
    const lg_system *system;
    const lg_plan *plan;
    const lg_option_value *options; /* method->options->nvalues: the struct of options beside the method */
    lg_accel accel; /* index-1 accelerations; its matrix serves the stepper too, after a reset */
    lg_stats stats;
    lg_report report;
};

/* After a failed step: names the body whose coordinates are at their singularity, or so near that a solve failed. */
void lg_report_coordinates(const lg_system *system, const lg_state *state, double h, lg_status status,
                           lg_report *report);

/* LG_NOT_FINITE if there is a NaN or an infinite number in a state. */
lg_status lg_check_finite(const lg_system *system, const double *q, const double *v, const double *a,
                          const double *lam);

/* The end of a step: q, its rotations polished, v, a, lam become the state at state->t + h, or LG_NOT_FINITE, or
   LG_COORDINATES if those of a body are singular. */
lg_status lg_stepper_accept(lg_stepper *self, lg_state *state, double h, const double *q, const double *v,
                            const double *a, const double *lam);

typedef struct lg_control_options lg_control_options;

/* The control options of a method that has them, else NULL. */
const lg_control_options *lg_stepper_control(const lg_stepper *self);
/* Whether error control chooses the steps: a tolerance was given. */
int lg_stepper_adapts(const lg_stepper *self);

struct lg_method { /* one row of methods.def */
    const char *name;
    const lg_stepper_type *stepper;
    const lg_tableau *tableau; /* of a Runge-Kutta method, else NULL */
    const void *coefficients; /* what the stepper of another expects: a parameter rule */
    int order; /* of q, v and the multipliers */
    const lg_option_rows *options;
    /* Rows whose options choose the stepper: sets it, or names what contradicts the choice; NULL: always `stepper`. */
    lg_status (*choose)(const lg_method *self, const lg_option_value *options, const lg_stepper_type **stepper,
                        lg_report *report);
    const char *reference;
    const char *doc;
};

/* Rows of methods.def in order. */
extern const lg_method *const lg_methods[];
extern const int lg_method_count;
const lg_method *lg_method_find(const char *name); /* NULL if there is none */
/* An option of a row, or NULL. */
const lg_option *lg_method_option(const lg_method *method, const char *name);
/* The defaults of all options, nvalues of them. */
void lg_method_defaults(const lg_method *method, lg_option_value *values);

#endif
