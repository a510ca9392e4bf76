/* The end of a step of Radau IIA methods; see step.h. */
#include "core/small.h"
#include "integrator/radau/step.h"
#include "solve/project.h"

lg_status lg_radau_finish(lg_radau_stepper *r)
{
    const lg_system *system = r->base.system;
    const lg_radau_stage *last = &r->stage[lg_radau_stages(&r->numbers) - 1];
    lg_accel *accel = &r->base.accel;
    lg_copy(system->space->nq, last->q, r->q_end);
    lg_copy(system->space->nv, last->v, r->v_end);
    lg_point end = lg_radau_point(r, lg_radau_stages(&r->numbers) - 1);
    end.q = r->q_end, end.v = r->v_end, end.a = end.lam = NULL;
    if (!system->pattern->nrows)
        return lg_accel_solve(accel, &end, r->a_end, r->lam_end, &r->base.report);
    return lg_project_end(accel, LG_PROJECT_POSITION | LG_PROJECT_VELOCITY, &end, r->q_end, r->v_end, NULL, r->a_end,
                          r->lam_end, &r->base.report);
}
