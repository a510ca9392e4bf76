/* How far bodies turn in a step; see step.h. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/cause.h"

#include <math.h>

/* The angle between two attitudes. */
static double angle_between(const lg_node *node, const double *q0, const double *q1)
{
    double R0[9], R1[9], trace = 0;
    node->rotation(q0, R0);
    node->rotation(q1, R1);
    for (int i = 0; i < 9; i++)
        trace += R0[i] * R1[i];
    return acos(fmax(-1, fmin(1, 0.5 * (trace - 1))));
}

/* How far a body turns: by its local coordinates if they are those of a rotation, else from stage to stage. */
static double turn_of(const lg_radau_stepper *r, const lg_factor *f)
{
    double most = 0, sum = 0;
    const double *q = r->start->q + f->q;
    for (int i = 0; i < lg_radau_stages(&r->numbers); i++) {
        const lg_radau_stage *s = &r->stage[i];
        if (f->node->linear) {
            sum += angle_between(f->node, q, s->q + f->q);
            q = s->q + f->q;
        } else {
            const double *axis = s->theta + f->v + f->node->attitude_v;
            most = fmax(most, sqrt(lg_dot(f->node->attitude_n, axis, axis)));
        }
    }
    return fmax(most, sum);
}

/* Names what is not finite at the end of the step. */
static lg_status refuse_stages(lg_radau_stepper *r)
{
    lg_point end = lg_radau_point(r, lg_radau_stages(&r->numbers) - 1);
    lg_report_not_finite(r->base.system, &end, -1, &r->base.report);
    return LG_NOT_FINITE;
}

lg_status lg_radau_check_turns(lg_radau_stepper *r, double most)
{
    const lg_system *system = r->base.system;
    const lg_space *space = system->space;
    for (const lg_factor *f = space->factor, *end = f + space->nfactors; f < end; f++) {
        double turn = f->node->rotation ? turn_of(r, f) : 0;
        if (turn <= most)
            continue;
        if (!isfinite(turn))
            return refuse_stages(r);
        r->base.report = (lg_report){0}; // of the projection before
        const char *name = system->block_name ? system->block_name(system->self, f->block) : "a block";
        lg_report_say(&r->base.report, "%.*s turns by %.3g rad in a step, where half a turn is the most",
                      LG_SHORT(name), turn);
        return LG_TURNED;
    }
    return LG_OK;
}
