/* The choice of active rows around closed loops: lg_choice in system/system.h.

   As a mechanism moves, the rows that were chosen first can become dependent while others stay independent. The rows of
   a loop are then chosen again by pivoting: the next row taken is that row of B which has the largest part normal to
   the rows taken before. */
#ifndef LG_SOLVE_CHOICE_H
#define LG_SOLVE_CHOICE_H

#include "solve/accel.h"

typedef struct lg_choice_scratch {
    double *B, *phi, *mem; /* evaluated with all rows active */
    double *rows; /* the rows of one loop, row-major */
    int *column; /* per velocity: its column in `rows` */
    int *taken; /* per row of the loop: whether it has been taken */
    int columns;
} lg_choice_scratch;

/* Takes no memory for a system without such rows. */
void lg_choice_layout(lg_choice_scratch *rows, const lg_system *system, lg_arena *arena);

/* Whether a solve has failed in a way that other active rows may avoid. */
static inline int lg_choice_may_help(lg_status status)
{
    return status == LG_SINGULAR || status == LG_NO_CONVERGENCE;
}

/* Makes the matrix of a run watch the pivots of rows that may be inactive, from now on. */
void lg_choice_watch(lg_accel *accel);
/* Whether the rows should be compared again: pivots are weak, and weaker than at the last comparison, or there are
   trees, in which a row can vanish without any effect on the pivots. Notes in mem if pivots have recovered. */
int lg_choice_is_due(const lg_accel *accel, double *mem);
/* Chooses the rows of every loop again at a point if others are much better, in mem, and says whether the choice has
   changed. If it has not, mem notes how weak the pivots are. */
lg_status lg_choice_renew(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point, double *mem, int *changed,
                          lg_report *report);
/* LG_CONTRADICTORY, with the name of a row in the report, if inactive rows are violated at a point and active ones
   are not. */
lg_status lg_choice_check(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point, lg_report *report);

#endif
