/* Queries of a model outside of steps: kinematics of frames, wrenches of elements. */
#include "model/force/contact.h"
#include "model/tendon.h"

const lg_system *lg_model_system(const lg_model *model)
{
    return &model->system;
}

static lg_status check_index(lg_report *report, const char *what, int index, int count)
{
    if (index >= 0 && index < count)
        return LG_OK;
    lg_report_say(report, "%s must be from 0 to %d, given %d", what, count - 1, index);
    return LG_BAD_ARGUMENT;
}

static lg_status refuse_element(lg_report *report, int element, const char *what)
{
    lg_report_say(report, "element %d is not %s", element, what);
    return LG_BAD_ARGUMENT;
}

lg_status lg_model_kinematics(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_TWISTS, LG_REACH_ALL));
    for (int i = 0; i < part->count; i++) {
        LG_TRY(check_index(&probe->report, "frame", part->list[i], model->nframes));
        const lg_pose *pose = lg_pose_of(model->frame_of[part->list[i]], &probe->point);
        lg_pose_position(pose, probe->out[0] + 3 * i);
        lg_copy(9, pose->R, probe->out[1] + 9 * i);
        lg_copy(3, pose->xdot, probe->out[2] + 3 * i);
        lg_copy(3, pose->omega, probe->out[3] + 3 * i);
    }
    return LG_OK;
}

lg_status lg_model_positions(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_POSES, LG_REACH_ALL));
    for (int i = 0; i < part->count; i++) {
        LG_TRY(check_index(&probe->report, "frame", part->list[i], model->nframes));
        lg_pose_position(lg_pose_of(model->frame_of[part->list[i]], &probe->point), probe->out[0] + 3 * i);
    }
    return LG_OK;
}

/* The twist of a frame on a block is linear in v, so that its derivative is that at v' = 0 and the twist that v' itself
   would give. */
lg_status lg_model_accelerations(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    lg_point at = probe->point;
    LG_TRY(lg_model_move(model, probe->form, &at, LG_BIASES, LG_REACH_ALL));
    for (int i = 0; i < part->count; i++) {
        LG_TRY(check_index(&probe->report, "frame", part->list[i], model->nframes));
        const lg_pose *pose = lg_pose_of(model->frame_of[part->list[i]], &at);
        lg_copy(3, pose->xdd, probe->out[0] + 3 * i);
        lg_copy(3, pose->omegadot, probe->out[1] + 3 * i);
    }
    at.v = at.a;
    LG_TRY(lg_model_move(model, probe->form, &at, LG_TWISTS, LG_REACH_ALL));
    for (int i = 0; i < part->count; i++) {
        const lg_frame *f = model->frame_of[part->list[i]];
        if (f->body->block) {
            lg_axpy(3, 1, lg_pose_of(f, &at)->xdot, probe->out[0] + 3 * i);
            lg_axpy(3, 1, lg_pose_of(f, &at)->omega, probe->out[1] + 3 * i);
        }
    }
    return LG_OK;
}

lg_status lg_model_jacobian(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    const lg_point *at = &probe->point;
    double *J = probe->out[0], *bias = probe->out[1], *H = part->forces;
    LG_TRY(check_index(&probe->report, "frame", part->slot, model->nframes));
    const lg_frame *f = model->frame_of[part->slot];
    const lg_block *b = f->body->block;
    LG_TRY(lg_model_move(model, probe->form, at, LG_BIASES, LG_REACH_ALL));
    lg_copy(3, lg_pose_of(f, at)->xdd, bias);
    lg_copy(3, lg_pose_of(f, at)->omegadot, bias + 3);
    lg_zero(6 * model->space.nv, J);
    if (b)
        f->body->type->frames->H(f, at, H);
    for (int i = 0; b && i < 6; i++)
        for (int j = 0; j < b->nv; j++)
            J[i * model->space.nv + b->v + j] = H[i + 6 * j];
    return LG_OK;
}

lg_status lg_model_reaction(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    const lg_point *at = &probe->point;
    double *wrench = probe->out[0];
    LG_TRY(check_index(&probe->report, "element", part->element, model->nelements));
    LG_TRY(check_index(&probe->report, "slot", part->slot, 2));
    const lg_joint *joint = model->element_of[part->element].joint;
    lg_zero(6, wrench);
    if (!joint)
        return LG_OK;
    double gathered; /* marks the sums that are wanted; no body gathers them here */
    const lg_wanted want = {.Btlam = &gathered, .force = joint->type->compliance ? &gathered : NULL};
    LG_TRY(lg_model_move(model, probe->form, at, joint->type->compliance ? LG_TWISTS : LG_POSES, LG_REACH_USED));
    LG_TRY(lg_joint_span(lg_joint_in(probe->form, joint), (lg_joints){joint, joint + 1}, at, &want));
    lg_pose_residual(joint->e.frame[part->slot], lg_pose_of(joint->e.frame[part->slot], at), wrench);
    for (int i = 0; i < 6; i++)
        wrench[i] = -wrench[i];
    return LG_OK;
}

/* The wrench of a force on the coordinate of a tree's joint: its components are those of the twist of the frame per
   rate of the coordinate, as the frame is on the joint's axis. */
static lg_status along_coordinate(const lg_force *force, lg_probe *probe, const lg_query_part *part)
{
    const lg_frame *f = force->e.frame[0];
    const lg_point *at = &probe->point;
    const lg_block *b = f->body->block;
    double law[3];
    LG_TRY(lg_force_on_coordinate(force, at, 0, law));
    for (int i = 0; i < 6; i++) {
        double unit[6] = {0};
        unit[i] = 1;
        lg_zero(b->nv, part->forces);
        f->body->type->frames->pull(f, at, law[0], unit, part->forces);
        lg_pose_of(f, at)->wrench[LG_FORCES][i] = part->forces[f->part];
    }
    *probe->out[2] = law[0] * at->v[b->v + f->part];
    return LG_OK;
}

/* The wrenches of a force on its frames, at present twists, and the power of the one in the slot. */
static lg_status on_frames(const lg_force *force, lg_probe *probe, const lg_query_part *part)
{
    const lg_element *e = &force->e;
    const lg_point *at = &probe->point;
    for (int s = 0; s < e->info->nframes; s++)
        lg_zero(6, lg_pose_of(e->frame[s], at)->wrench[LG_FORCES]);
    LG_TRY(lg_force_span(force->type, (lg_forces){force, force + 1}, at, &(lg_wanted){NULL}));
    const lg_pose *pose = lg_pose_of(e->frame[part->slot], at);
    *probe->out[2] = lg_dot3(pose->wrench[LG_FORCES], pose->xdot) + lg_dot3(pose->wrench[LG_FORCES] + 3, pose->omega);
    return LG_OK;
}

lg_status lg_model_exerted(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(check_index(&probe->report, "element", part->element, model->nelements));
    const lg_force *force = model->element_of[part->element].force;
    if (!force)
        return refuse_element(&probe->report, part->element, "a force");
    LG_TRY(check_index(&probe->report, "slot", part->slot, force->e.info->nframes));
    lg_force formed = *force;
    if (force->type->in[probe->form])
        formed.type = force->type->in[probe->form];
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_TWISTS, LG_REACH_ALL));
    lg_tendons_pull(model, &probe->point);
    LG_TRY((formed.type->coordinate ? along_coordinate : on_frames)(&formed, probe, part));
    const lg_pose *pose = lg_pose_of(force->e.frame[part->slot], &probe->point);
    lg_copy(3, pose->wrench[LG_FORCES], probe->out[0]);
    lg_mul3(pose->R, pose->wrench[LG_FORCES] + 3, probe->out[0] + 3);
    lg_pose_position(pose, probe->out[1]);
    return LG_OK;
}

lg_status lg_model_contact(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    lg_contact_point touch;
    LG_TRY(check_index(&probe->report, "element", part->element, model->nelements));
    const lg_force *force = model->element_of[part->element].force;
    if (!force || !force->type->shapes)
        return refuse_element(&probe->report, part->element, "a contact");
    LG_TRY(check_index(&probe->report, "slot", part->slot, lg_contact_points(force)));
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_TWISTS, LG_REACH_ALL));
    LG_TRY(lg_contact_at(force, &probe->point, part->slot, &touch));
    *probe->out[0] = touch.gap;
    lg_copy(3, touch.point, probe->out[1]);
    lg_copy(3, touch.normal, probe->out[2]);
    lg_copy(3, touch.force, probe->out[3]);
    return LG_OK;
}

lg_status lg_model_tendon(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(check_index(&probe->report, "element", part->element, model->nelements));
    const lg_force *force = model->element_of[part->element].force;
    const lg_tendon *tendon = force ? lg_tendon_of(model, force) : NULL;
    if (!tendon)
        return refuse_element(&probe->report, part->element, "a piece of an elastic tendon");
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_TWISTS, LG_REACH_ALL));
    lg_tendon_measure(model, tendon, &probe->point, probe->out[0], probe->out[1], probe->out[2]);
    return LG_OK;
}

lg_status lg_model_strain(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(lg_model_move(model, probe->form, &probe->point, LG_TWISTS, LG_REACH_USED));
    for (int i = 0; i < part->count; i++) {
        int element = part->list[i];
        LG_TRY(check_index(&probe->report, "element", element, model->nelements));
        const lg_joint *joint = model->element_of[element].joint;
        if (!joint || !joint->type->compliance)
            return refuse_element(&probe->report, element, "an edge of a rod");
        LG_TRY(joint->type->compliance->strain(joint, &probe->point, probe->out[0] + 6 * i, probe->out[1] + 6 * i));
    }
    return LG_OK;
}

lg_status lg_model_transmitted(lg_probe *probe, const lg_query_part *part)
{
    const lg_model *model = probe->system->self;
    LG_TRY(check_index(&probe->report, "element", part->element, model->nelements));
    const lg_body *body = model->element_of[part->element].body;
    if (!body || !body->type->transmit)
        return refuse_element(&probe->report, part->element, "a tree or a support");
    LG_TRY(check_index(&probe->report, "link", part->link, body->type->parts(body)));
    const lg_wanted wanted = {.force = part->forces, .Btlam = part->forces + model->space.nv};
    LG_TRY(probe->system->eval(probe->system->self, &probe->point, &wanted));
    body->type->transmit(body, &probe->point, part->link, probe->out[0]);
    return LG_OK;
}

lg_status lg_model_rows(const lg_system *system, int element, int numbers[4], lg_report *report)
{
    const lg_model *model = system->self;
    LG_TRY(check_index(report, "element", element, model->nelements));
    lg_element_ref at = model->element_of[element];
    const lg_element *e = at.body ? &at.body->e : at.force ? &at.force->e : &at.joint->e;
    int is_joint = !at.body && !at.force;
    numbers[0] = is_joint ? at.joint->row : 0;
    numbers[1] = is_joint && !lg_joint_continues(at.joint) ? at.joint->nrows : 0;
    numbers[2] = e->mem;
    numbers[3] = e->info->nmem;
    return LG_OK;
}
