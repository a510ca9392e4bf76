/* The terms of a point; see eval.h. Elements are evaluated one by one and with dense matrices, since this form serves
   for comparison with the paper, not for speed. */
#include "model/printed/eval.h"

#include "model/printed/load.h"
#include "model/printed/rows.h"
#include "model/tangent.h"
#include "model/tendon.h"
#include "system/chain.h"

static lg_status write_frames(const lg_model *m, const lg_point *at)
{
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED));
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        for (const lg_frame *f = b->frames; b->block && f < b->frames + b->nactive; f++)
            lg_printed_pose(f, at);
    return LG_OK;
}

/* ---- wrenches ---- */

static void pull_wrenches(const lg_element *e, const lg_point *at, const double w[2][6], double *out)
{
    for (int i = 0; out && i < e->info->nframes; i++)
        if (lg_element_moves(e, i))
            lg_printed_pull(e->frame[i], at, 1, w[i], out + e->frame[i]->body->block->v);
}

/* The derivatives of a frame's pose and twist by q_m: H and Z + c H, since v follows q_m with c = 2/h. */
typedef struct printed_motion {
    double pose[6 * LG_MAX_NV], twist[6 * LG_MAX_NV];
} printed_motion;

static void open_motion(const lg_frame *f, const lg_point *at, const lg_wanted *want, printed_motion *out)
{
    const lg_body *b = f->body;
    const lg_chain *chain = lg_chain_of(want->tangent, b->index);
    lg_printed_twist(f, at, out->pose, out->twist);
    lg_axpy(6 * b->block->nv, chain->k[1] / chain->k[0], out->pose, out->twist);
}

/* S += s H_i^T dw_i for the block under frame j, with dw_i = K dpose + D dtwist (D NULL: none). */
static void add_matrix_block(const lg_element *e, const lg_wanted *want, double s, int i, int j,
                             const printed_motion to[2], const lg_quarters *K, const lg_quarters *D)
{
    const lg_body *a = e->frame[i]->body, *b = e->frame[j]->body;
    double Y[6 * LG_MAX_NV] = {0}, A[LG_MAX_NV * LG_MAX_NV];
    int n = a->block->nv, m = b->block->nv;
    if (!K->has && !(D && D->has))
        return;
    lg_quarters_mul_add(K, m, to[j].pose, Y);
    if (D)
        lg_quarters_mul_add(D, m, to[j].twist, Y);
    for (int k = 0; k < m; k++)
        for (int l = 0; l < n; l++)
            A[l + n * k] = s * lg_dot(6, to[i].pose + 6 * l, Y + 6 * k);
    lg_tangent_add_block(e, want->tangent->S, want->tangent->chain, i, j, A);
}

/* S += s d(H^T w)/du */
static void add_wrench_tangent(const lg_element *e, const lg_point *at, const lg_wanted *want, double s,
                               const double w[2][6], const lg_quarters K[2][2], const lg_quarters D[2][2])
{
    printed_motion to[2];
    for (int j = 0; j < e->info->nframes; j++) {
        double A[LG_MAX_NV * LG_MAX_NV] = {0};
        if (!lg_element_moves(e, j))
            continue;
        open_motion(e->frame[j], at, want, &to[j]);
        lg_printed_turning(e->frame[j], at, s, w[j], A);
        lg_tangent_add_block(e, want->tangent->S, want->tangent->chain, j, j, A);
    }
    for (int i = 0; i < e->info->nframes; i++)
        for (int j = 0; j < e->info->nframes; j++)
            if (lg_element_moves(e, i) && lg_element_moves(e, j))
                add_matrix_block(e, want, s, i, j, to, &K[i][j], D ? &D[i][j] : NULL);
}

/* ---- elements ---- */

static void printed_add_wrenches(const lg_element *e, const lg_point *at, const lg_wanted *want, const lg_load *load)
{
    pull_wrenches(e, at, load->w, want->force);
    if (want->ntangents)
        add_wrench_tangent(e, at, want, -1, load->w, load->K, load->D);
}

static lg_status eval_force(const lg_force *force, const lg_point *at, const lg_wanted *want)
{
    const lg_element *e = &force->e;
    lg_load load;
    LG_TRY(lg_force_load(force, at, 0, want->ntangents, &load));
    if (force->type->degree) {
        const int degree[] = {force->type->degree(e, 0), force->type->degree(e, 1)};
        lg_printed_load(e, degree, at, want, want->ntangents, &load);
    }
    printed_add_wrenches(e, at, want, &load);
    return LG_OK;
}

/* Writes the joint's rows of B, and of Z if wanted, for the body under one frame. */
static void write_rows(const lg_joint *joint, const lg_point *at, int side, const lg_rows *rows, const lg_wanted *want)
{
    const lg_frame *f = joint->e.frame[side];
    int nv = f->body->block->nv, n = joint->nrows, adds = joint->adds[side];
    for (int i = 0; i < n; i++) {
        double B[LG_MAX_NV] = {0}, Z[LG_MAX_NV] = {0};
        lg_printed_pull(f, at, 1, rows->J[side] + 6 * i, B);
        if (want->Z) {
            lg_printed_pull(f, at, 1, rows->Z[side] + 6 * i, Z);
            lg_printed_pull_rate(f, at, rows->J[side] + 6 * i, Z);
        }
        for (int k = 0; k < nv; k++) {
            int to = joint->value[side] + i + k * n;
            if (want->B)
                want->B[to] = (adds ? want->B[to] : 0) + B[k];
            if (want->Z)
                want->Z[to] = (adds ? want->Z[to] : 0) + Z[k];
        }
    }
}

/* Rows on rotations do not act on positions. */
static void fill_rotation_rows(const lg_joint *joint, int with_Z, lg_rows *rows)
{
    for (int side = 0; side < 2; side++)
        for (int i = rows->points; i < joint->nrows; i++) {
            lg_zero(3, rows->J[side] + 6 * i);
            if (with_Z)
                lg_zero(3, rows->Z[side] + 6 * i);
        }
}

/* A row of phi or phidot; several joints may add to it. */
static void put_value(const lg_joint *joint, int i, double value, double *values)
{
    values[joint->row + i] = (joint->adds_row ? values[joint->row + i] : 0) + value;
}

static lg_status eval_rows(const lg_joint *joint, const lg_point *at, const lg_wanted *want)
{
    const lg_element *e = &joint->e;
    const lg_pose *f[2];
    double w[2][6] = {{0}};
    lg_rows rows;
    lg_element_poses(e, at, f);
    int rows_alone = !want->phidot && !want->B && !want->Z && !want->ntangents;
    unsigned wish = (rows_alone ? LG_ROWS_W : LG_ROWS_J) | (want->Z ? LG_ROWS_Z : 0u);
    LG_TRY(lg_joint_rows(joint->type, joint, f, at, wish | (want->ntangents ? LG_ROWS_K : 0u), &rows));
    for (int i = 0; i < joint->nrows; i++)
        put_value(joint, i, rows.phi[i], want->phi);
    if (rows.reduced) {
        pull_wrenches(e, at, (const double (*)[6])rows.w, want->Btlam);
        return LG_OK;
    }
    fill_rotation_rows(joint, want->Z != NULL, &rows);
    for (int i = 0; i < joint->nrows; i++) {
        double rate = 0;
        for (int side = 0; side < 2; side++) {
            const double *J = rows.J[side] + 6 * i;
            rate += lg_dot3(J, f[side]->xdot) + lg_dot3(J + 3, f[side]->omega);
            lg_axpy(6, at->lam[joint->row + i], J, w[side]);
        }
        if (want->phidot)
            put_value(joint, i, rate, want->phidot);
    }
    for (int side = 0; side < 2; side++)
        if (lg_element_moves(e, side) && (want->B || want->Z))
            write_rows(joint, at, side, &rows, want);
    pull_wrenches(e, at, w, want->Btlam);
    if (want->ntangents)
        add_wrench_tangent(e, at, want, 1, w, rows.K, NULL);
    return LG_OK;
}

static lg_status eval_joint(const lg_joint *joint, const lg_point *at, const lg_wanted *want)
{
    double V;
    lg_load load;
    if (joint->type->compliance) {
        LG_TRY(joint->type->compliance->exert(joint, at, 1, want->ntangents, &V, &load));
        printed_add_wrenches(&joint->e, at, want, &load);
    }
    return joint->nrows ? eval_rows(joint, at, want) : LG_OK;
}

/* Twists follow q_m too. */
static void add_tendon_end(const lg_frame *f, const lg_point *at, const lg_wanted *want, const double u[6],
                           const double dT[6], double c, const lg_tendon_slopes *part)
{
    printed_motion to;
    open_motion(f, at, want, &to);
    lg_printed_pull(f, at, 1, u, part->pull);
    for (int k = 0; k < f->body->block->nv; k++)
        part->by_q[k] += lg_dot(6, dT, to.pose + 6 * k) + c * lg_dot(6, u, to.twist + 6 * k);
}

lg_status lg_printed_eval(const lg_model *m, const lg_point *at, const double *lam, double *scaled,
                          const lg_wanted *want)
{
    lg_point point = *at;
    point.lam = scaled;
    LG_TRY(write_frames(m, &point));
    lg_printed_multipliers(m, &point, lam, scaled);
    lg_tendons_pull(m, &point); // the tension in the middle
    if (want->force)
        lg_zero(m->space.nv, want->force);
    if (want->Btlam)
        lg_zero(m->space.nv, want->Btlam);
    for (int i = 0; i < m->nforces; i++)
        LG_TRY(eval_force(&m->forces[i], &point, want));
    for (int i = 0; i < m->njoints; i++)
        LG_TRY(eval_joint(&m->joints[i], &point, want));
    if (lg_wants_slopes(want))
        lg_tendons_add(m, &point, want, add_tendon_end);
    lg_model_own_rows(m, &point, want);
    lg_printed_rows(m, &point, lam, want->phi, want);
    return LG_OK;
}
