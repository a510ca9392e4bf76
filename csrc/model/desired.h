/* The desired motion s_d(t) of a coordinate, with its rate and second rate: a function of the user, or quadratic in
   pieces, s_d = a + b r + c r^2/2, r = t - t_i. A piece is a row (t_i, a, b, c) of parameters; the first one also holds
   before its time, and the last one has no end. Without pieces it is zero. Where a function gives the motion, the
   pieces only mark times at which its second rate jumps. */
#ifndef LG_MODEL_DESIRED_H
#define LG_MODEL_DESIRED_H

#include "model/element.h"

enum { LG_PIECE_BEGIN, LG_PIECE_COORDINATE, LG_PIECE_RATE, LG_PIECE_SECOND_RATE, LG_PIECE };

/* The motion of the element's function. */
lg_status lg_desired_function(const lg_element *e, const double *first, const lg_point *at, double motion[3]);

/* The pieces are the parameters from `first` to the last one of the element; t_in selects the piece. */
static inline lg_status lg_desired(const lg_element *e, const double *first, const lg_point *at, double motion[3])
{
    const double *piece = first, *end = e->p + e->np;
    if (e->function.call)
        return lg_desired_function(e, first, at, motion);
    if (piece == end) {
        lg_zero(3, motion);
        return LG_OK;
    }
    while (piece + LG_PIECE < end && piece[LG_PIECE + LG_PIECE_BEGIN] <= at->t_in)
        piece += LG_PIECE;
    double since = at->t - piece[LG_PIECE_BEGIN], second = piece[LG_PIECE_SECOND_RATE];
    motion[0] = piece[LG_PIECE_COORDINATE] + since * (piece[LG_PIECE_RATE] + since * second / 2);
    motion[1] = piece[LG_PIECE_RATE] + since * second;
    motion[2] = second;
    return LG_OK;
}

lg_status lg_desired_check(const lg_element *e, const double *first, const char **reason);
/* The beginning of the first piece after t. */
double lg_desired_next_kink(const lg_element *e, const double *first, double t);

enum { LG_COURSE_LEVELS = 3, LG_COURSE_WIDTH = 6 }; /* value and two derivatives; the largest number of values */

/* A motion of n values that a function of the user gives, with the times at which it and its rate may jump. */
typedef struct lg_course {
    const lg_element *e;
    int n;
    const double *kinks, *end; /* every `stride` numbers there is one; NULL: it may jump nowhere */
    int stride;
} lg_course;

/* LG_JUMPED, with the element and the time in the report, if a value or a rate jumps between two times. Where they
   differ by more than the trapezoidal sum of their derivatives, the interval is halved towards the larger difference,
   which vanishes where the function is continuous, and stays at a jump. */
lg_status lg_course_continuous(const lg_course *m, double begin, double end, lg_report *report);

#endif
