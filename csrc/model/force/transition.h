/* Derivatives of the memory of bristles at the end of a step: by how both frames lie and move at both ends, and by the
   memory at its start. */
#ifndef LG_MODEL_TRANSITION_H
#define LG_MODEL_TRANSITION_H

#include "model/force/contact.h"

/* Columns: the numbers of changes of frame a at the start of the step and at its end, the same of b (mutual.h), then
   the memory of the point. */
enum {
    LG_CHANGE_NUMBERS = sizeof(lg_frame_change) / sizeof(double),
    LG_END_COLUMNS = 4 * LG_CHANGE_NUMBERS,
    LG_TRANSITION_COLUMNS = LG_END_COLUMNS + LG_BRISTLE_NUMBERS,
    LG_TRANSITION_SIZE = LG_BRISTLE_NUMBERS * LG_TRANSITION_COLUMNS
};

typedef struct lg_station { /* a part of the step */
    lg_mutual at;
    double by_ends[LG_END_COLUMNS][LG_MUTUAL_NUMBERS];
} lg_station;

enum { LG_STATIONS = 2 * LG_FEW_PARTS }; /* the last one is the end of the step */

/* The stations of a step of size h > 0; from NULL: the end alone, as a start. */
void lg_stations_open(const lg_ends *from, const lg_ends *to, double h, lg_station station[LG_STATIONS]);
/* The derivatives of the numbers of each point from z on, one matrix of LG_TRANSITION_SIZE after the other,
   column-major. before, after: the memory at both ends; slides: the path between them matters to those that slide. */
lg_status lg_transition_open(const lg_force *force, const lg_station station[LG_STATIONS], int slides,
                             const double *before, const double *after, double *J);

/* The memory at the end of a step, from that at its start, of a contact that is a little different from another one
   with the parameters p_0 and the ends from_0 and to_0: to the first order, on the branch of that one, to which `after`
   belongs. h = 0: a start, without from and from_0. */
lg_status lg_transition_beside(const lg_force *force, const double *p_0, const lg_ends *from, const lg_ends *to,
                               const lg_ends *from_0, const lg_ends *to_0, double h, const double *before,
                               const double *after, double *mem);

#endif
