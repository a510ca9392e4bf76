/* How the rows B a - zeta = phi'' of accelerations change with q and v at fixed a, in closed form: joint by joint from
   the wrenches of unit multipliers along the motion of their frames (body/arm_jet.h), and for the blocks' own rows,
   whose phi is quadratic in q, from d(phidot)/dq. */
#include "model/acceleration_rows.h"

#include "model/body/arm_jet.h"
#include "model/joint/points.h"

/* ---- for which models ---- */

typedef void row_jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2]);

static row_jets *jets_in(lg_form form, const lg_joint *joint)
{
    const lg_joint_type *type = lg_joint_in(form, joint);
    return type->jets ? type->jets : joint->type->jets;
}

int lg_model_knows_acceleration_rows(const lg_model *m)
{
    for (const lg_joint *joint = m->joints; joint < m->joints + m->njoints; joint++)
        for (int s = 0; joint->nrows && s < 2; s++) {
            const lg_body *body = joint->e.frame[s]->body;
            if (!joint->type->jets || (body->block && !body->type->rigid))
                return 0;
        }
    return 1;
}

/* ---- rows ---- */

static void add_joint(lg_form form, const lg_joint *joint, const lg_point *at, double *of_q, double *of_v)
{
    lg_wrench_jet wrench[LG_MAX_ROWS][2];
    lg_frame_jet end[2];
    lg_arm_jet to[2];
    for (int s = 0; s < 2; s++) {
        lg_arm_jet_open(joint->e.frame[s], at, &to[s], &end[s]);
        for (int i = 0; i < joint->e.info->nrows; i++)
            wrench[i][s].has = 0;
    }
    jets_in(form, joint)(&joint->e, end, wrench);
    for (int s = 0; s < 2; s++)
        for (int i = 0; to[s].arm.block && i < joint->nrows; i++) {
            int value = joint->value[s] + i;
            lg_arm_jet_pull(&to[s], &wrench[joint->row_in_type[i]][s], joint->nrows, of_q + value, of_v + value);
        }
}

static void write_own(const lg_model *m, int block, const lg_point *at, double *of_q, double *of_v)
{
    const lg_block *b = &m->blocks[block];
    const double *q = at->q + b->q;
    int value = m->pattern.own_value[block], n = b->nown * b->node->nv;
    double *const out[] = {of_q + value, of_v + value};
    const double *const rates[] = {at->a + b->v, at->v + b->v};
    for (int i = 0; i < 2; i++)
        b->node->unit->own(q, rates[i], NULL, &(lg_own_rows){.Z = out[i]});
    lg_axpy(n, 1, out[1], out[1]);
}

static int is_plain(lg_form form, const lg_joint *joint)
{
    return lg_points_are_plain(joint) && jets_in(form, joint) == joint->type->jets;
}

/* Poses are written once some joint needs them. */
static lg_status add_joints(const lg_model *m, lg_form form, const lg_point *at, double *of_q, double *of_v)
{
    int moved = 0;
    for (const lg_joint *joint = m->joints; joint < m->joints + m->njoints; joint++) {
        if (!joint->nrows)
            continue;
        if (is_plain(form, joint)) {
            lg_points_accelerate(joint, at, of_q, of_v);
            continue;
        }
        if (!moved)
            LG_TRY(lg_model_move(m, form, at, LG_BIASES, LG_REACH_ROWS));
        moved = 1;
        add_joint(form, joint, at, of_q, of_v);
    }
    return LG_OK;
}

lg_status lg_model_acceleration_rows(const lg_model *m, lg_form form, const lg_point *at, double *of_q, double *of_v)
{
    lg_zero(m->pattern.nvalues, of_q);
    lg_zero(m->pattern.nvalues, of_v);
    LG_TRY(add_joints(m, form, at, of_q, of_v));
    for (int i = 0; i < m->nown_blocks; i++)
        if (m->blocks[i].nown)
            write_own(m, i, at, of_q, of_v);
    lg_model_mask_values(m, at->mem.values, 0, of_q);
    lg_model_mask_values(m, at->mem.values, 0, of_v);
    return LG_OK;
}
