/* The constraint rows of a rod's edge. */
#ifndef LG_MODEL_ROD_ROWS_H
#define LG_MODEL_ROD_ROWS_H

#include "model/joint/rod_strain.h"

/* Writes phi, phidot, zeta, B and Z, whichever are wanted; f: the poses of the frames. */
void lg_edge_write_rows(const lg_joint *joint, const lg_strained *k, const lg_point *at, const lg_pose *const f[2],
                        const lg_wanted *want);
/* phi and J of all rows of the type, for steps between two states. */
void lg_edge_rows(const lg_element *e, const lg_strained *k, int with_Z, lg_rows *out);

#endif
