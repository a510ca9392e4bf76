/* The ground: a body without inertia whose frames stand still. */
#include "model/body/body.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];

static lg_status ground_kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    (void)level;
    const lg_body *b = bodies.first;
    for (int k = 0; k < (reach == LG_REACH_ALL ? b->nframes : b->nactive); k++) {
        const lg_frame *f = &b->frames[k];
        lg_pose *pose = lg_pose_of(f, at);
        pose->origin = f->base;
        lg_copy(3, f->offset, pose->arm);
        lg_zero(3, pose->xdot), lg_zero(3, pose->xdd);
        pose->R = identity;
        pose->omega = pose->omegadot = zero;
        lg_pose_clear(f, pose);
    }
    return LG_OK;
}

const lg_body_type lg_ground = {
    .info = {.family = "body", .name = "ground", .doc = "The ground.", .reference = "docs/models"},
    .kinematics = ground_kinematics,
};
