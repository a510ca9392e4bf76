/* Derivatives of weighted terms by all parameters at once, where rows have them in closed form: those by the parameters
   of an element, and by the points at which it acts. Each element is evaluated once for all parameters that change it;
   a parameter adds up the shares of what changes with it. */
#ifndef LG_MODEL_SHARES_H
#define LG_MODEL_SHARES_H

#include "model/influence.h"
#include "system/sensitivity.h"

typedef struct lg_shares {
    lg_arena memory;
    int count; /* of all derivatives */
    lg_model part; /* of the elements that change, as they are (part.h) */
    double *parameters; /* theirs */
    int nchanged; /* bodies of the part that change */
    int nframes; /* of the part */
    /* Slopes: derivatives by each of these parameters, and behind them by base and offset at both ends of each force
       and joint, six for each end. */
    int nparameters, nslopes;
    char *moves; /* per end: whether some parameter moves it */
    int *first; /* per derivative, and one more: its terms */
    int *at; /* per term: a slope, */
    double *rate; /* and its factor */
    char *has; /* per derivative: whether it is the sum of its terms; others have none */
} lg_shares;

/* Whether there is a closed form of the derivatives by a parameter. */
int lg_shares_have_parameter(const lg_influence *in, int parameter);
/* Whether terms are linear in the point at an end, as those of loads and of masks of axes (joints.def) are. */
int lg_terms_are_linear(const lg_influence *in, int end);
/* Opens those of all n directions that have closed forms. `in` is left at none of them. */
lg_status lg_shares_open(lg_shares *s, lg_influence *in, int n, const lg_direction *directions, lg_report *report);
void lg_shares_close(lg_shares *s);
/* The doubles of scratch that lg_shares_weigh needs. */
int lg_shares_room(const lg_shares *s);
/* Adds `factor` times the derivatives of the weighted terms to those entries of the gradient, in the form for dynamics.
   The point's scratch begins as that of the part, whose poses are behind that of the system. */
lg_status lg_shares_weigh(const lg_shares *s, const lg_point *point, const lg_term_weights *weights, double factor,
                          double *room, double *gradient);

#endif
