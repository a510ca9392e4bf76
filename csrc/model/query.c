/* Queries of a model outside a run: kinematics of frames, reactions of elements. */
#include "model/private.h"

const lg_system *lg_model_system(const lg_model *model)
{
    return &model->system;
}

const lg_model *lg_model_of(const lg_system *system)
{
    return system->self;
}

int lg_model_frames(const lg_model *model)
{
    return model->nframes;
}

int lg_model_elements(const lg_model *model)
{
    return model->nelements;
}

lg_status lg_model_kinematics(const lg_model *model, int n, const int frames[], double t, const double *q,
                              const double *v, double *work, lg_kinematics out[])
{
    lg_point at = lg_point_at(t, q, v);
    at.work = work;
    LG_TRY(lg_model_move(model, &at, LG_TWISTS, 1));
    for (int i = 0; i < n; i++) {
        const lg_pose *pose = lg_pose_of(model->frame_of[frames[i]], &at);
        lg_copy(3, pose->x, out[i].x);
        lg_copy(9, pose->R, out[i].R);
        lg_copy(3, pose->xdot, out[i].xdot);
        lg_copy(3, pose->omega, out[i].omega);
    }
    return LG_OK;
}

lg_status lg_model_reaction(const lg_model *model, int element, int slot, const lg_point *at, double wrench[6])
{
    const lg_joint *joint = model->place_of[element].joint;
    lg_zero(6, wrench);
    if (!joint)
        return LG_OK;
    if (at->invariant)
        joint = &model->invariants[joint - model->joints];
    double gathered; /* marks the sums that are wanted; no body gathers them here */
    const lg_wanted want = {.Btlam = &gathered, .force = joint->type->potential ? &gathered : NULL};
    LG_TRY(lg_model_move(model, at, joint->type->potential ? LG_TWISTS : LG_POSES, 0));
    LG_TRY(lg_joint_span((lg_joints){joint, joint + 1}, at, &want));
    lg_pose_residual(joint->e.frame[slot], lg_pose_of(joint->e.frame[slot], at), wrench);
    for (int i = 0; i < 6; i++)
        wrench[i] = -wrench[i];
    return LG_OK;
}

lg_status lg_model_strain(const lg_model *model, int n, const int elements[], const lg_point *at, double *strain,
                          double *stress)
{
    LG_TRY(lg_model_move(model, at, LG_TWISTS, 0));
    for (int i = 0; i < n; i++) {
        const lg_joint *joint = model->place_of[elements[i]].joint;
        if (!joint || !joint->type->strain)
            return LG_BAD_ARGUMENT;
        LG_TRY(joint->type->strain(joint, at, strain + 6 * i, stress + 6 * i));
    }
    return LG_OK;
}

lg_status lg_model_transmitted(const lg_model *model, int element, int link, const lg_point *at, double *forces,
                               double wrench[6])
{
    const lg_body *body = model->place_of[element].body;
    if (!body || !body->type->transmit || link < 0 || link >= body->type->parts(body))
        return LG_BAD_ARGUMENT;
    lg_wanted wanted = {.force = forces, .Btlam = forces + model->space.nv};
    LG_TRY(lg_model_eval(model->system.self, at, &wanted));
    body->type->transmit(body, at, link, wrench);
    return LG_OK;
}

void lg_model_rows(const lg_model *model, int element, int *row, int *nrows, int *mem, int *nmem)
{
    lg_element_place at = model->place_of[element];
    const lg_element *e = at.body ? &at.body->e : at.force ? &at.force->e : &at.joint->e;
    int is_joint = !at.body && !at.force;
    *row = is_joint ? at.joint->row : 0;
    *nrows = is_joint ? at.joint->nrows : 0;
    *mem = e->mem, *nmem = e->info->nmem;
}
