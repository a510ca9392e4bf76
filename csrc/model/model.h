/* A compiled model: blocks, frames and elements, const after creation, seen by integrators only as an lg_system. */
#ifndef LG_MODEL_MODEL_H
#define LG_MODEL_MODEL_H

#include "model/parameter.h"
#include "system/layout.h"
#include "system/probe.h"

/* A function of time given by the user: n values at t, in rows of at most six. */
typedef struct lg_time_function {
    lg_status (*call)(void *self, double t, int n, double *value);
    void *self;
} lg_time_function;

/* Pose and twist of a frame: inertial position and velocity of its point, rotation (row-major), body angular
   velocity. */
typedef struct lg_kinematics {
    double x[3], R[9], xdot[3], omega[3];
} lg_kinematics;

/* A force law given by the user: wrenches (force in inertial, moment in body axes) on n frames, or the torque in a
   joint. Tangents, NULL where they are not wanted: dw = K dpose + D dtwist, where K and then D are 6n x 6n, row-major;
   d tau/d angle and d tau/d rate. Without them the element uses differences. A law of the whole state has `of_state`
   instead, for the wrenches on n frames or, with n = 0, the torque in a joint at a point, and their tangents. */
typedef struct lg_law {
    void *self;
    int has_tangent;
    void *reader; /* of the model, which laws of the state are given: lg_model_set_reader */
    lg_status (*of_state)(void *self, void *reader, const lg_point *at, int n, double *value); /* NULL: of its frames */
    lg_status (*of_state_tangent)(void *self, void *reader, const lg_point *at, int n, double *slopes);
    lg_status (*wrench)(void *self, double t, int n, const lg_kinematics at[], double *w, double *KD);
    lg_status (*torque)(void *self, double t, double angle, double rate, double *tau, double *slopes);
} lg_law;

#define LG_LAW_STEP 6e-6 /* of central differences, near the cube root of the rounding error */

/* A point that elements attach to. Block -1 is the ground, -2 the first support of the description, -3 the second and
   so on. The point is at `base` + x(q) + R(q) offset, base being where a rotation-only block has its fixed point (zero
   on all others; the ground's points are base + offset). On a block that carries many frames it is on `part`: on a tree
   at x + R offset of that link. */
typedef struct lg_frame_spec {
    int block, part;
    double base[3], offset[3];
} lg_frame_spec;

typedef struct lg_element_spec {
    const char *type; /* a row of bodies.def, forces.def or joints.def */
    const char *name;
    int frames[2]; /* indices; the second is ignored by types with one frame */
    int nparameters;
    const double *parameters;
    lg_time_function function; /* call NULL: none */
    lg_law law; /* all NULL: none */
    int loop; /* a number from 1 on that joints have in common whose rows imply one another; 0: none */
    unsigned
        implied; /* bit i: others imply constraint row i, which is inactive at first; without a loop it is omitted */
    int nreads; /* of a law of the state without a tangent: */
    const int *reads; /* the blocks on which it depends, each once */
} lg_element_spec;

/* A control given by the user: n values at a point, which elements with the parameter "value" take. `reader` is that of
   the model; `states` are the control's own, NULL if it has none. */
typedef struct lg_control_spec {
    const char *name;
    int nvalues;
    double every; /* the period with which it is sampled, at multiples of it; 0: it is called in every evaluation */
    int nreads; /* the velocities, ascending, along which its values may change, they or their displacements */
    const int *reads;
    void *self;
    int has_tangent;
    lg_status (*value)(void *self, void *reader, const lg_point *at, const double *states, int n, double *value);
    /* Derivatives by displacements and then by velocities, n x nv each, row-major; it may write the values again.
       Without it: central differences. */
    lg_status (*tangent)(void *self, void *reader, const lg_point *at, const double *states, int n, double *value,
                         double *slopes);
} lg_control_spec;

typedef struct lg_model_spec {
    int nblocks, nframes, nelements;
    const lg_block_spec *blocks;
    const lg_frame_spec *frames;
    const lg_element_spec *elements;
    void (*forget)(void); /* drops the error that a function of the user left when it failed; optional */
    int ncontrols;
    const lg_control_spec *controls;
    unsigned flags; /* of the system: LG_SYSTEM_NEEDS_GIL */
} lg_model_spec;

typedef struct lg_model lg_model;

/* Copies the whole specification. On failure report->what names the element or block and the reason. */
lg_status lg_model_create(const lg_model_spec *spec, lg_model **model, lg_report *report);
/* The model of the same shape with other parameters of all elements: n numbers, in the order of the description. It
   uses arrays of the model that lg_model_create made, which is freed last; the model in between, if this is a variant
   of a variant, may be freed before. A parameter on which the shape depends, such as the axes of a load, cannot
   change. */
lg_status lg_model_vary(const lg_model *origin, size_t n, const double *parameters, lg_model **model,
                        lg_report *report);

/* How a model changes with one number p, by which one differentiates. */
typedef struct lg_direction {
    double size; /* of p, or of what it is added to: steps of differences are fractions of it */
    int nvalues; /* parameters that change with p */
    const int *parameter; /* their numbers among those of all elements in the order of the description, */
    const double *rate; /* their derivatives by p */
    int nends;
    const int *end; /* of elements: twice the number of the element, and 1 for its second frame */
    const double *motion; /* derivatives by p of base and offset of the frames there, six for each */
} lg_direction;

/* The same model with derivatives by n numbers: system->sensitivity. It uses the arrays of the other one, which is
   freed last. */
lg_status lg_model_differentiate(const lg_model *origin, int n, const lg_direction *directions, lg_model **model,
                                 lg_report *report);
/* What laws of the state are given as their reader; to be called before the model is used. */
void lg_model_set_reader(lg_model *model, void *reader);
void lg_model_free(lg_model *model);
const lg_system *lg_model_system(const lg_model *model);

/* ---- queries of parts of a system that lg_model_system has returned; see system/probe.h ---- */

typedef struct lg_query_part {
    int element, slot, link;
    const int *list; /* frames or elements */
    int count; /* of the list */
    double *forces; /* scratch of six values per velocity */
} lg_query_part;

/* x (3), R (9), xdot (3) and omega (3) of the frames in part->list, in one pass. */
lg_status lg_model_kinematics(lg_probe *probe, const lg_query_part *part);
/* x (3) of these frames. */
lg_status lg_model_positions(lg_probe *probe, const lg_query_part *part);
/* Inertial accelerations (3) and angular ones in body axes (3) of the frames in part->list, at a point with a. */
lg_status lg_model_accelerations(lg_probe *probe, const lg_query_part *part);
/* d(x', omega)/dv (6 x nv) of the frame in part->slot, with x' inertial and omega in body axes, and x'' and omega' (6)
   at v' = 0. */
lg_status lg_model_jacobian(lg_probe *probe, const lg_query_part *part);
/* Wrench (6; force in inertial axes, moment in body axes) with which a joint, part->element, acts on its frame in
   part->slot 0 or 1: -J^T lam, so that M a + gyro = force + the sum of these, and the forces of a joint with
   compliance, which `force` has already. Zero for other elements. */
lg_status lg_model_reaction(lg_probe *probe, const lg_query_part *part);
/* Inertial force and moment (6) that a force, part->element, exerts on its frame in part->slot, the position (3) of
   that frame, and the power there. A force on a coordinate acts on the link, at its frame; its power is that of both
   partners of the joint. */
lg_status lg_model_exerted(lg_probe *probe, const lg_query_part *part);
/* The inertial force and moment (6) that the joint of a link exerts on it, at the link's origin, without the component
   along the joint's axis; those of a support on what is attached to it, at its point (link 0). The probe's point is one
   of a motion (a and lam included), the element a tree or a support. */
lg_status lg_model_transmitted(lg_probe *probe, const lg_query_part *part);
/* The gap at a point of a contact, part->element, by its number part->slot; the point (3), the normal (3) out of the
   second body and the force (3) on the first one, in inertial axes. */
lg_status lg_model_contact(lg_probe *probe, const lg_query_part *part);
/* The tension, the length and its rate of the elastic tendon of which part->element is a piece. */
lg_status lg_model_tendon(lg_probe *probe, const lg_query_part *part);
/* Strains and stresses (6 each) of the edges in part->list, at a point with lam. */
lg_status lg_model_strain(lg_probe *probe, const lg_query_part *part);
/* First constraint row of an element and how many it has; its first value in mem and how many it has there. */
lg_status lg_model_rows(const lg_system *system, int element, int numbers[4], lg_report *report);

/* ---- the rows of bodies.def, forces.def and joints.def, for builders, docs and error texts ---- */

struct lg_element;

typedef struct lg_element_info {
    const char *family; /* "body", "force" or "joint" */
    const char *name, *doc, *reference;
    /* Joints of two triads, else NULL: the axes along which the points cannot separate, a digit each; the axes of the
       first and the second body that stay normal to each other, two digits per pair. */
    const char *locked, *pairs;
    int npairs; /* number of these pairs */
    int nframes, nrows, nmem;
    int nnonholonomic; /* how many of the rows, the last ones, are of velocity alone: their phi is zero */
    /* Numbers of its memory at each point, if it follows the motion as bristles do, with derivatives (system/memory.h);
       the first of them is zero where bodies are apart. */
    int follows;
    int has_kinks; /* a force that, or whose slope, jumps somewhere along the motion of its frames, as where a contact
                      begins or at a point of a curve */
    int continues; /* its last parameter says whether it continues the element before it: a term of a row, which adds to
                      that of the joint before, or a piece of a tendon */
    int uses_law; /* it has a law, whose derivatives are formed by differences if it has no tangent */
    int uses_control; /* how many values of a control it takes, from the one on that its last parameter names; a body
                         one for each velocity */
    const lg_parameter *parameters;
    int nparameters; /* descriptors, not values */
    const double *example; /* valid values, for tests of rows whose descriptors do not say what is valid; NULL: none */
    int nexample;
    /* Of rows whose function of the user is a motion: LG_JUMPED, with a report, if it jumps in an accepted step where
       it must not. */
    lg_status (*continuous)(const struct lg_element *e, double begin, double end, lg_report *report);
} lg_element_info;

int lg_element_count(void);
lg_element_info lg_element_describe(int index);

#endif
