/* Controls: functions of the user, of the state, whose values are efforts in joints, forces and moments on bodies, and
   the rates of states of their own. An evaluation calls them right after the kinematics, and keeps the values in the
   scratch, where the forces (`joint_effort` and so on) and the body of the states take them; the derivatives of the
   values are added here. The values of a sampled control are in memory, from one sample to the next. */
#ifndef LG_MODEL_CONTROL_H
#define LG_MODEL_CONTROL_H

#include "model/private.h"

typedef struct lg_controller { /* const data of the shape of a model */
    lg_control_spec given;
    size_t value, work; /* positions in the scratch: of its values, and of lg_control_work doubles */
    int mem; /* where the memory of a sampled one begins: the number of the last sample plus 1/2 (0: none), values */
    int nforces, *force; /* those that take its values */
    int nefforts; /* how many they take, all before those of its states */
    int states; /* the body of its states; -1: it has none */
    int nblocks, *block; /* the clique of all blocks on which it acts or that it reads */
    long matrix_block; /* the first block of S of this clique */
} lg_controller;

/* Takes the arrays from the arena of the shape; fills them once the frames of elements are known, with the clique of
   each control. LG_BAD_ARGUMENT: the description does not fit. */
void lg_model_layout_controls(lg_model *m, const lg_model_spec *spec, int nforces, lg_arena *arena);
lg_status lg_model_fill_controls(lg_model *m, const lg_model_spec *spec, lg_layout *layout, lg_report *report);

/* Calls one control. */
lg_status lg_control_call(const lg_model *m, const lg_controller *control, const lg_point *at, double *value);
/* Writes the values of all controls. */
lg_status lg_model_control(const lg_model *m, const lg_point *at);
/* The first control whose values are not finite, which it writes; NULL: there is none. Writes zeros if one fails. */
const lg_controller *lg_model_control_not_finite(const lg_model *m, const lg_point *at);
/* Adds the derivatives of the forces by the values of controls, to be called where frames and values are known; the
   values are lost. */
lg_status lg_model_add_controls(const lg_model *m, const lg_point *at, const lg_wanted *want);

/* lg_memory_rules.sample */
lg_status lg_model_sample(void *self, const lg_point *at, double *mem);
double lg_controls_next_sample(const lg_model *m, double t);

#endif
