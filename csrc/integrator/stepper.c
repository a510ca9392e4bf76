/* What all steppers share. */
#include "integrator/stepper.h"

#include "core/small.h"

#include <float.h>
#include <math.h>

static int finite(int n, const double *x)
{
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad |= !(fabs(x[i]) <= DBL_MAX);
    return !bad;
}

lg_status lg_stepper_accept(const lg_stepper *self, lg_state *state, double h, const double *q, const double *v,
                            const double *a, const double *lam)
{
    int nq = self->system->space->nq, nv = self->system->space->nv, nrows = self->system->pattern->nrows;
    if (!finite(nq, q) || !finite(nv, v) || !finite(nv, a) || !finite(nrows, lam))
        return LG_NOT_FINITE;

    lg_copy(nq, q, state->q);
    lg_copy(nv, v, state->v);
    lg_copy(nv, a, state->a);
    lg_copy(nrows, lam, state->lam);
    state->t += h;
    return LG_OK;
}
