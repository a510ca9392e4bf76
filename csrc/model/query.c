/* Queries of a model outside a run: kinematics of frames, reactions of elements. */
#include "model/private.h"

const lg_system *lg_model_system(const lg_model *model)
{
    return &model->system;
}

lg_status lg_model_kinematics(const lg_model *model, int frame, double t, const double *q, const double *v,
                              double *work, lg_kinematics *out)
{
    lg_point at = lg_point_at(t, q, v);
    at.work = work;
    LG_TRY(lg_model_move(model, &at, LG_TWISTS, 1));
    const lg_pose *pose = lg_pose_of(model->frame_of[frame], &at);
    lg_copy(3, pose->x, out->x);
    lg_copy(9, pose->R, out->R);
    lg_copy(3, pose->xdot, out->xdot);
    lg_copy(3, pose->omega, out->omega);
    return LG_OK;
}

lg_status lg_model_reaction(const lg_model *model, int element, int slot, double t, const double *q, const double *v,
                            const double *lam, double *work, double wrench[6])
{
    const lg_joint *joint = model->place_of[element].joint;
    lg_zero(6, wrench);
    if (!joint)
        return LG_OK;
    lg_point at = lg_point_at(t, q, v);
    at.work = work;
    lg_rows rows;
    LG_TRY(lg_model_move(model, &at, LG_POSES, 0));
    const lg_pose *pose[2] = {lg_pose_of(joint->e.frame[0], &at), lg_pose_of(joint->e.frame[1], &at)};
    lg_joint_rows(joint, pose, lam + joint->row, 0, &rows);
    for (int i = 0; i < joint->nrows; i++) {
        const double *J = rows.J[slot] + 6 * i;
        if (i < rows.points)
            lg_axpy(3, -lam[joint->row + i], J, wrench);
        lg_axpy(3, -lam[joint->row + i], J + 3, wrench + 3);
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
