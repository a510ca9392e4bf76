/* Forces of one row, evaluated by its kernel; see force.h. */
#include "model/force/force.h"

#include "model/body/body.h"
#include "model/tangent.h"
#include "system/chain.h"

static lg_status on_coordinate(const lg_force_type *type, const lg_force *force, const lg_point *at, int linear,
                               double law[3])
{
    const lg_frame *f = force->e.frame[0];
    const lg_block *b = f->body->block;
    int q = f->body->type->tree->coordinate(f->body, f->part);
    return type->coordinate(&force->e, at, at->q[b->q + q], at->v[b->v + f->part], linear, law);
}

lg_status lg_force_on_coordinate(const lg_force *force, const lg_point *at, int linear, double law[3])
{
    return on_coordinate(force->type, force, at, linear, law);
}

/* Adds tau on the coordinate of the tree's joint under the frame, with its derivatives. */
static lg_status add_by_coordinate(const lg_force_type *type, const lg_force *force, const lg_point *at,
                                   const lg_wanted *want, int linear)
{
    const lg_element *e = &force->e;
    const lg_body *body = e->frame[0]->body;
    const lg_block *b = body->block;
    int i = e->frame[0]->part;
    double law[3];
    LG_TRY(on_coordinate(type, force, at, linear, law));
    if (want->force)
        want->force[b->v + i] += law[0];
    for (const lg_tangent *to = want->tangent; linear && to < want->tangent + want->ntangents; to++) {
        const lg_chain *chain = lg_chain_of(to, body->index);
        int ld;
        double *S = lg_body_tangent(body, to, &ld);
        lg_chain_add_entry(b, chain, 0, -law[1], i, i, S, ld);
        lg_chain_add_entry(b, chain, 1, -law[2], i, i, S, ld);
    }
    return LG_OK;
}

static void clear_slopes(lg_load *load)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            load->K[i][j].has = load->D[i][j].has = 0;
}

static lg_status add_by_between(const lg_force_type *type, const lg_force *force, const lg_point *at,
                                const lg_wanted *want, int linear)
{
    return lg_force_add_between(force, at, want, linear, type->between);
}

static lg_status add_by_wrenches(const lg_force_type *type, const lg_force *force, const lg_point *at,
                                 const lg_wanted *want, int linear)
{
    const lg_element *e = &force->e;
    lg_pose *pose[2] = {lg_pose_of(e->frame[0], at), e->frame[1] ? lg_pose_of(e->frame[1], at) : NULL};
    lg_load load;
    if (linear)
        clear_slopes(&load);
    LG_TRY(type->wrenches(e, (const lg_pose *const *)pose, at, linear, &load));
    for (int s = 0; s < e->info->nframes; s++)
        lg_axpy(6, 1, load.w[s], pose[s]->wrench[LG_FORCES]);
    if (linear)
        lg_tangent_add(e, at, want, -1, load.K, load.D);
    return LG_OK;
}

/* Writes a force F between two points as wrenches, with dF = A dd + B dd' (NULL: no such part). */
static void spread_force(const double F[3], const double *A, const double *B, lg_load *out)
{
    lg_zero(12, out->w[0]);
    for (int i = 0; i < 2; i++) {
        lg_axpy(3, i ? 1 : -1, F, out->w[i]);
        for (int j = 0; j < 2; j++) {
            if (A)
                lg_quarters_add(&out->K[i][j], LG_XX, i == j ? 1 : -1, A);
            if (B)
                lg_quarters_add(&out->D[i][j], LG_XX, i == j ? 1 : -1, B);
        }
    }
}

/* The wrenches where the frames are, but as if they did not move. */
static lg_status wrenches_at_rest(const lg_force *force, const lg_pose *const f[2], const lg_point *at, int linear,
                                  lg_load *out)
{
    static const double zero[3];
    lg_pose still[2];
    for (int i = 0; i < 2; i++)
        if (f[i]) {
            still[i] = *f[i];
            lg_zero(3, still[i].xdot);
            still[i].omega = zero;
        }
    const lg_pose *seen[2] = {&still[0], f[1] ? &still[1] : NULL};
    LG_TRY(force->type->wrenches(&force->e, seen, at, linear, out));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            out->D[i][j].has = 0;
    return LG_OK;
}

lg_status lg_force_load(const lg_force *force, const lg_point *at, int at_rest, int linear, lg_load *out)
{
    const lg_element *e = &force->e;
    const lg_pose *f[2] = {lg_pose_of(e->frame[0], at), e->frame[1] ? lg_pose_of(e->frame[1], at) : NULL};
    clear_slopes(out);
    if (!f[1] || !force->type->between)
        return at_rest ? wrenches_at_rest(force, f, at, linear, out) : force->type->wrenches(e, f, at, linear, out);
    double d[3], ddot[3], F[3], A[9], B[9];
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++)
        ddot[i] = at_rest ? 0 : f[1]->xdot[i] - f[0]->xdot[i];
    LG_TRY(force->type->between(e, d, ddot, linear, F, A, B));
    spread_force(F, linear ? A : NULL, linear && !at_rest ? B : NULL, out);
    return LG_OK;
}

lg_status lg_force_all(const lg_force_type *type, lg_forces forces, const lg_point *at, const lg_wanted *want)
{
    int linear = lg_wants_slopes(want);
    lg_status (*add)(const lg_force_type *, const lg_force *, const lg_point *, const lg_wanted *, int) =
        type->coordinate ? add_by_coordinate
        : type->between  ? add_by_between
                         : add_by_wrenches;
    for (const lg_force *f = forces.first; f < forces.end; f++)
        LG_TRY(add(type, f, at, want, linear));
    return LG_OK;
}

int lg_force_has_potential(const lg_force *force)
{
    const lg_force_type *type = force->type;
    return type->potential || type->dissipates ||
           (type->conserves && (!type->on_point || type->on_point(&force->e, 0)));
}
