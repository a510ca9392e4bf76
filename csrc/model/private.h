/* The inside of a model: written by build.c, copied for other parameters by vary.c, evaluated by assemble.c, queried by
   query.c. */
#ifndef LG_MODEL_PRIVATE_H
#define LG_MODEL_PRIVATE_H

#include "core/arena.h"
#include "model/body/body.h"
#include "model/force/force.h"
#include "model/joint/joint.h"
#include "system/optional.h"
#include "system/sensitivity.h"

/* An element of the description: its family's record. One of the three is not NULL. */
typedef struct lg_element_ref {
    const lg_body *body;
    const lg_force *force;
    const lg_joint *joint;
} lg_element_ref;

struct lg_model {
    lg_system system;

    /* What depends on the shape alone: arrays that models with other parameters share. `shape` owns them; it is empty
       in those models. */
    lg_arena shape;
    lg_space space;
    lg_pattern pattern;
    lg_choice choice;
    int *loop_start, *inactive; /* its arrays; per nonholonomic row its number among those of loops, or -1 */
    lg_block *blocks;
    char **row_names;
    int *body_on; /* per block: the number of its body */

    /* Records and parameters, which `records` owns. Records are sorted by row, those of one row in the order in which
       they were added; one span for each row in use. */
    lg_arena records;
    lg_body ground, *bodies;
    lg_force *forces;
    lg_joint *joints;
    lg_dead_load *loads; /* those that bodies add themselves, sorted by body */
    lg_frame *frames; /* sorted by body */
    double vertical[3]; /* the direction of gravity, zero if there is none */
    int nbody_spans, nforce_spans, njoint_spans;
    lg_span *body_spans;
    lg_forces *force_spans;
    lg_joints *joint_spans;
    int ninertia_spans,
        nown_blocks; /* whose inertia and own rows are evaluated: all but in parts of a model (part.h) */
    int nbodies, nforces, njoints, nframes, nelements;
    size_t turned; /* position in the scratch of room for the memory: memory.c */
    size_t motions; /* the same for motions of contacts with bristles: bristles.c */
    int nbristled; /* how many these are */
    unsigned given_flags; /* as in lg_model_spec, and so is `forget` */
    void (*forget)(void);
    int coordinate_forces; /* some forces act on coordinates of trees */
    int can_pass; /* some contacts may be passed in a step (pass.h) */
    int has_motions; /* functions of the user give some motions, which must not jump */
    int laws_read; /* some laws depend on blocks that they read */
    lg_level force_level; /* the kinematics that forces need, those of joints with compliance included */
    int ncontrols;
    struct lg_controller *controls; /* control.h; a part of the shape */
    int ntendons, *tendon_pieces;
    struct lg_tendon *tendons; /* tendon.h; a part of the shape */
    void *reader; /* lg_model_set_reader */
    struct lg_derivatives *derivatives; /* by parameters, sensitivity.c; NULL: none */
    const lg_sensitivity *sensitivity; /* for each form; NULL: none */

    /* In the order of the description. */
    const lg_frame **frame_of;
    lg_element_ref *element_of;
};

static inline const lg_body *lg_model_body_on(const lg_model *m, int block)
{
    return &m->bodies[m->body_on[block]];
}

/* The functions of the waist on a model, assemble.c, pair.c and memory.c. Accelerations are found without wrenches, or
   with those of forces and joints or of links of trees. */
lg_status lg_model_accelerate(void *self, const lg_point *point, double *a);
lg_status lg_model_accelerate_under_wrenches(void *self, const lg_point *point, double *a);
lg_status lg_model_energy(void *self, const lg_point *point, double *T, double *V);
double lg_model_next_kink(void *self, double t);
lg_status lg_model_commit(void *self, const lg_point *from, const lg_point *to, double *mem, lg_report *report);
int lg_model_has_motions(const lg_model *m);
void lg_model_form(lg_form form, lg_system *sibling);
lg_evaluate *lg_model_eval_in(lg_form form); /* the function `eval` of that form */
/* For each form, what a model has without derivatives by parameters, sensitivity.c; NULL: nothing. */
const lg_sensitivity *lg_model_rows_alone(const lg_model *m);
/* Frees derivatives by parameters, sensitivity.c; NULL: nothing. */
void lg_model_free_derivatives(struct lg_derivatives *derivatives);
extern const lg_inverse_mass lg_model_inverse_mass;
/* Those of steps, pair.c. */
extern const lg_steps lg_model_steps;
/* Adds the blocks' own rows to all outputs. */
void lg_model_own_rows(const lg_model *m, const lg_point *at, const lg_wanted *want);
/* An evaluation of everything but the inertia of bodies, in two parts: forces and joints leave their wrenches on the
   frames; bodies take the wrenches, and blocks add their own rows. */
lg_status lg_model_add_wrenches(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want);
lg_status lg_model_collect(const lg_model *m, const lg_point *at, const lg_wanted *want);
/* Adds the derivatives of laws by what they read, at poses with twists. */
lg_status lg_model_add_reads(const lg_model *m, const lg_point *at, const lg_wanted *want);
/* Writes the dead loads that bodies add themselves, and the direction of gravity. */
void lg_model_fill_loads(lg_model *m);
/* Writes the traits of joints with compliance, and the level of kinematics that forces need; traits.c. */
void lg_model_fill_traits(lg_model *m);
/* Fills m->system once all else is filled, system.c. */
void lg_model_fill_system(lg_model *m);
/* Groups of the pattern, groups.c: adds that of some elements of the description, whose joints share it, and the names
   of its rows, behind which it returns; refuses joints that share a row that does not exist. */
char *lg_model_add_group(lg_model *m, lg_layout *layout, const lg_element_ref *group, const lg_element_ref *end,
                         char *names);
lg_status lg_model_check_groups(const lg_model *m, lg_report *report);
enum { LG_ROW_LABEL = 32 }; /* largest number of characters that a row's name adds to its element's */
/* Rows of closed loops that may be inactive, choice.c: the arrays of the choice; the list, loop by loop, whose memory
   follows that of all elements. */
void lg_model_layout_choice(lg_model *m, int nloops, int nmasked, lg_arena *arena);
void lg_model_fill_choice(lg_model *m, const lg_model_spec *spec, int nloops, lg_layout *layout);
/* Clears inactive rows in all outputs of an evaluation; in values with the layout of B, with `one` instead of
   their pivots; and in a vector of rows. NULL: nothing. */
void lg_model_mask(const lg_model *m, const lg_point *at, const lg_wanted *want);
void lg_model_mask_values(const lg_model *m, const double *mem, double one, double *values);
void lg_model_mask_rows(const lg_model *m, const double *mem, double *rows);
/* The kinematics pass. */
lg_status lg_model_move(const lg_model *m, lg_form form, const lg_point *at, lg_level level, lg_reach reach);
/* LG_BAD_ARGUMENT, with the element and the reason in the report: if the parameters of an element make no sense, or if
   it does not fit its bodies; if frames, forces or joints do not. */
lg_status lg_check_body(const lg_body *body, lg_report *report);
lg_status lg_check_force(const lg_force *force, lg_report *report);
lg_status lg_check_joint(const lg_joint *joint, lg_report *report);
lg_status lg_model_check(const lg_model *m, lg_report *report);
int lg_model_not_finite(void *self, const lg_point *point, lg_report *report);
extern const lg_laws lg_model_laws; /* laws.c */

#endif
