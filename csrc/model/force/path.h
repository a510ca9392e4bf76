/* How the two frames of an element move through a step, from their poses and twists at its ends. */
#ifndef LG_MODEL_PATH_H
#define LG_MODEL_PATH_H

#include "model/force/mutual.h"

typedef struct lg_end { /* a frame at one end of a step, as in lg_pose */
    double x[3], xdot[3], R[9], omega[3];
} lg_end;

typedef struct lg_ends { /* both frames */
    lg_end of[2];
} lg_ends;

enum { LG_ENDS_SIZE = sizeof(lg_ends) / sizeof(double) };

typedef struct lg_way { /* of a frame: it turns evenly, and its point `centre` follows the cubic through both ends */
    double turn[3], centre[3]; /* in its own axes; all revolutions included */
    lg_end from, to; /* x and xdot are those of the centre */
} lg_way;

typedef struct lg_path {
    double h;
    lg_way of[2];
} lg_path;

typedef struct lg_way_change { /* along a change of the frame at both ends; x and x' are those of the centre */
    double turn[3], centre[3];
    lg_frame_change from, to;
} lg_way_change;

void lg_ends_copy(const lg_pose *const f[2], lg_ends *out);
void lg_ends_open(const lg_ends *ends, lg_mutual *out);

/* Through a step of size h > 0, with any number of revolutions of either frame. */
void lg_path_open(const lg_ends *from, const lg_ends *to, double h, lg_path *out);
/* At a part s of it. */
void lg_path_at(const lg_path *path, double s, lg_mutual *out);
void lg_path_ends(const lg_path *path, double s, lg_ends *out);

/* How the way of a frame changes along changes of it at both ends, where rates that are means stay so. */
void lg_way_change_open(const lg_path *path, int side, const lg_frame_change *from, const lg_frame_change *to,
                        lg_way_change *out);
/* The change of the frame at a part s; at: where it is there. */
void lg_way_change_at(const lg_path *path, int side, const lg_way_change *change, double s, const lg_end *at,
                      lg_frame_change *out);

#endif
