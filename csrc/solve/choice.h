/* The choice of active rows around closed loops: lg_choice in system/system.h.

   As a mechanism moves, the rows that were chosen first can become dependent, although others are not. The rows of a
   loop are then chosen again by pivoting: the row of B with the largest part normal to those taken before comes
   next. */
#ifndef LG_SOLVE_CHOICE_H
#define LG_SOLVE_CHOICE_H

#include "solve/accel.h"

typedef struct lg_choice_scratch {
    double *B, *mem; /* with all rows active */
    double *rows; /* those of one loop, row-major */
    int *column; /* per velocity: its column in `rows` */
    int *taken; /* per row of the loop */
    int columns;
} lg_choice_scratch;

/* Takes nothing for a system without such rows. */
void lg_choice_layout(lg_choice_scratch *rows, const lg_system *system, lg_arena *arena);

/* Makes the matrix of a run watch the pivots of rows that may be inactive, from now on. */
void lg_choice_watch(lg_accel *accel);
/* Whether the choice is to be looked at: pivots were weak, and weaker than at the last look, or there are trees, in
   which a row can vanish, which leaves pivots as they are. Notes in mem where pivots have recovered. */
int lg_choice_is_due(const lg_accel *accel, double *mem);
/* Chooses the rows of every loop again at a point, in mem, if others are much better, and says whether the choice has
   changed. If not, mem notes how weak the pivots are. */
lg_status lg_choice_renew(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point, double *mem, int *changed,
                          lg_report *report);

#endif
