/* The plan of a matrix: order of elimination, fill, and the address of everything that is added to it. It is made once
   for a pattern and a coupling. */
#ifndef LG_SPARSE_PLAN_H
#define LG_SPARSE_PLAN_H

#include "core/status.h"
#include "sparse/pattern.h"

typedef struct lg_plan lg_plan; /* const after creation; threads share it */

/* What S holds, which decides who couples with whom, and therefore the fill. Two bodies that are connected by stiffness
   or damping only are not coupled in a matrix of masses. */
typedef enum lg_coupling {
    LG_COUPLING_MASS, /* M: the first nmass_cliques of the pattern; the others are left out of the matrix */
    LG_COUPLING_TANGENTS, /* derivatives by q, v and a: all cliques */
    LG_COUPLING_GROUPS, /* derivatives of discrete gradients: the blocks of group g are clique ncliques + g */
    LG_COUPLINGS
} lg_coupling;

lg_status lg_plan_create(const lg_pattern *pattern, lg_coupling coupling, lg_plan **plan);
void lg_plan_free(lg_plan *plan);
/* What lg_plan_create is made of: the plan of a pattern with exactly the cliques that it has, and no Schur complement;
   and what drops the Schur complement of a plan. */
lg_status lg_plan_make(const lg_pattern *pattern, lg_coupling coupling, lg_plan **plan);
void lg_plan_drop_schur(lg_plan *plan);
/* The plans of a system by their coupling; NULL: not needed. */
typedef struct lg_plans {
    const lg_plan *of[LG_COUPLINGS];
} lg_plans;
int lg_plan_is_of_masses(const lg_plan *plan); /* whether it is one for LG_COUPLING_MASS */
long lg_plan_values(const lg_plan *plan); /* doubles in the matrix: the measure of fill */
int lg_plan_fronts(const lg_plan *plan); /* nodes of the elimination graph */
/* Multiplications of a factorisation and of a solution. */
void lg_plan_operations(const lg_plan *plan, double *factor, double *solve);

#endif
