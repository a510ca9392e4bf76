/* The inside of a model, shared by model.c (which builds it) and assemble.c (which evaluates it). */
#ifndef LG_MODEL_PRIVATE_H
#define LG_MODEL_PRIVATE_H

#include "core/arena.h"
#include "model/element.h"

/* Elements that have one verb, in the order they were added. */
typedef struct lg_list {
    int count;
    int *element;
} lg_list;

struct lg_model {
    lg_system system;
    lg_space space;
    lg_pattern pattern;
    lg_arena arena; /* owns all of the arrays below */
    int nframes, nelements;
    lg_block *blocks;
    lg_frame_place *frames;
    lg_element *elements;
    lg_list inertia, force, rows, commit, carriers;
    char **row_names;
    const char **bodies; /* per block: the name of what gives it inertia, or NULL */
};

/* The kinematics pass of the carriers: what frames on them read. Comes before any frame is opened. */
void lg_model_carry(const lg_model *m, const lg_point *at);

/* The rows that the model has of an element: the verb `rows`, less those dropped. */
void lg_element_rows(const lg_element *e, const lg_frame f[2], const double *lam, unsigned want, lg_rows *out);

/* The verbs of the waist on a model, assemble.c. */
lg_status lg_model_eval(void *self, const lg_point *point, const lg_wanted *wanted);
lg_status lg_model_energy(void *self, const lg_point *point, double *T, double *V);
double lg_model_next_kink(void *self, double t);
lg_status lg_model_commit(void *self, const lg_point *point, double *mem);

#endif
