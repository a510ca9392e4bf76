/* The rows of joints in the printed form (frame.h). */
#ifndef LG_MODEL_PRINTED_ROWS_H
#define LG_MODEL_PRINTED_ROWS_H

#include "model/private.h"

/* The multipliers for an evaluation of the joints, whose outputs lg_printed_rows completes. */
void lg_printed_multipliers(const lg_model *m, const lg_point *at, const double *lam, double *out);

/* Turns what an evaluation has written for the rows of joints into the terms of rows with stretched directions: Btlam,
   B, phidot and Z, whichever are wanted, and S. phi: the rows there. S needs B, and Z needs phidot and B. */
void lg_printed_rows(const lg_model *m, const lg_point *at, const double *lam, const double *phi,
                     const lg_wanted *want);

#endif
