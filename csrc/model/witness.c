/* Watching a law; see witness.h. */
#include "model/witness.h"

#include "core/small.h"

static lg_status note(lg_witness *w, lg_status status, int n, const double *value)
{
    if (status == LG_NOT_FINITE || (status == LG_OK && !lg_all_finite(n, value))) {
        w->n = n;
        lg_copy(n, value, w->value);
    }
    return status;
}

static lg_status watched_of_state(void *self, void *reader, const lg_point *at, int n, double *value)
{
    lg_witness *w = self;
    return note(w, w->law->of_state(w->law->self, reader, at, n, value), n ? 6 * n : 1, value);
}

static lg_status watched_wrench(void *self, double t, int n, const lg_kinematics at[], double *value, double *KD)
{
    lg_witness *w = self;
    return note(w, w->law->wrench(w->law->self, t, n, at, value, KD), 6 * n, value);
}

static lg_status watched_torque(void *self, double t, double angle, double rate, double *tau, double *slopes)
{
    lg_witness *w = self;
    return note(w, w->law->torque(w->law->self, t, angle, rate, tau, slopes), 1, tau);
}

lg_law lg_law_watched(const lg_law *law, lg_witness *witness)
{
    lg_law watched = {.self = witness, .has_tangent = law->has_tangent, .reader = law->reader};
    *witness = (lg_witness){.law = law};
    watched.of_state = law->of_state ? watched_of_state : NULL;
    watched.wrench = law->wrench ? watched_wrench : NULL;
    watched.torque = law->torque ? watched_torque : NULL;
    return watched;
}
