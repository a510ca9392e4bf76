/* Shares of parameters in weighted terms; see shares.h. With the weights of forces as velocities, the velocity at a
   point X of a body changes by R (omega_w x dX). */
#include "model/shares.h"

#include "model/force/force.h"
#include "model/joint/points.h"
#include "model/part.h"
#include "model/share.h"

#include <stdlib.h>

enum { AT_END = 6 }; /* slopes at an end: by base, by offset */

/* ---- which derivatives have closed forms ---- */

int lg_shares_have_parameter(const lg_influence *in, int parameter)
{
    int owner = lg_influence_owner(in, parameter), at = parameter - (int)in->start[owner];
    lg_element_ref element = in->m->element_of[owner];
    if (element.body) {
        const lg_body_shares *shares = element.body->type->shares;
        return shares && (!shares->has || shares->has(element.body, at));
    }
    if (element.joint) {
        const lg_joint_shares *shares = element.joint->type->shares;
        return shares && (!shares->has || shares->has(&element.joint->e, at));
    }
    const lg_force_shares *shares = element.force->type->shares;
    return shares && (!shares->has || shares->has(&element.force->e, at));
}

/* Whether the points of a body's frames turn with one rotation matrix, or stand still. */
static int is_rigid_at(const lg_body *body)
{
    return body->block ? body->type->rigid || body->type->tree : !body->type->is_support;
}

/* Whether there is a closed form of the derivatives by the point at an end. */
static int has_end(const lg_influence *in, int end)
{
    lg_element_ref element = in->m->element_of[end / 2];
    if (!is_rigid_at(lg_element_at(element)->frame[end % 2]->body))
        return 0;
    if (element.force)
        return element.force->type->shares != NULL;
    return element.joint && !in->m->pattern.nmasked && lg_points_coincide(element.joint);
}

int lg_terms_are_linear(const lg_influence *in, int end)
{
    lg_element_ref element = in->m->element_of[end / 2];
    const lg_body *body = lg_element_at(element)->frame[end % 2]->body;
    if (body->block && !is_rigid_at(body))
        return 0;
    if (element.force)
        return element.force->type->shares && !element.force->type->between;
    return element.joint && element.joint->e.info->locked;
}

/* Whether closed forms give the derivative along this direction. */
static int has_all(const lg_influence *in, const lg_direction *direction)
{
    for (int i = 0; i < direction->nvalues; i++)
        if (!lg_shares_have_parameter(in, direction->parameter[i]))
            return 0;
    for (int i = 0; i < direction->nends; i++)
        if (!has_end(in, direction->end[i]))
            return 0;
    return direction->nvalues + direction->nends > 0;
}

/* ---- opening ---- */

typedef struct opening {
    lg_shares *shares;
    const lg_influence *in;
    int n, nterms;
} opening;

static int count_ends(const lg_model *part)
{
    return 2 * (part->nforces + part->njoints);
}

static void layout(void *self, lg_arena *arena)
{
    const opening *o = self;
    lg_shares *s = o->shares;
    size_t n = (size_t)o->n, nends = 2 * (size_t)(o->in->nforces + o->in->njoints);
    lg_part_layout(o->in, arena->base ? &s->part : NULL, &s->parameters, arena);
    s->moves = lg_arena_take(arena, nends);
    s->has = lg_arena_take(arena, n);
    s->first = lg_arena_ints(arena, n + 1);
    s->at = lg_arena_ints(arena, (size_t)o->nterms);
    s->rate = lg_arena_doubles(arena, (size_t)o->nterms);
}

/* Number of an end among those of the part. */
static int new_end(const lg_influence *in, int end)
{
    lg_element_ref at = in->m->element_of[end / 2];
    int element =
        at.force ? in->new_force[at.force - in->m->forces] : in->nforces + in->new_joint[at.joint - in->m->joints];
    return 2 * element + end % 2;
}

static void add_term(lg_shares *s, int *n, int at, double rate)
{
    s->at[*n] = at, s->rate[*n] = rate;
    *n += rate != 0;
}

static void fill_terms(const lg_influence *in, const lg_direction *direction, lg_shares *s, int *n)
{
    for (int i = 0; i < direction->nvalues; i++)
        add_term(s, n, (int)(lg_part_value(in, &s->part, direction->parameter[i]) - s->parameters), direction->rate[i]);
    for (int i = 0; i < direction->nends; i++) {
        int end = new_end(in, direction->end[i]);
        s->moves[end] = 1;
        for (int k = 0; k < AT_END; k++)
            add_term(s, n, s->nparameters + AT_END * end + k, direction->motion[AT_END * i + k]);
    }
}

/* All parameters and ends of the directions that have closed forms, as one direction. */
static void merge(const lg_influence *in, int n, const lg_direction *directions, int *parameter, int *end,
                  lg_direction *all)
{
    *all = (lg_direction){.size = 1, .parameter = parameter, .end = end};
    for (const lg_direction *one = directions; one < directions + n; one++) {
        if (!has_all(in, one))
            continue;
        memcpy(parameter + all->nvalues, one->parameter, (size_t)one->nvalues * sizeof *parameter);
        memcpy(end + all->nends, one->end, (size_t)one->nends * sizeof *end);
        all->nvalues += one->nvalues, all->nends += one->nends;
    }
}

static lg_status open_merged(lg_shares *s, lg_influence *in, int n, const lg_direction *directions,
                             const lg_direction *merged, lg_report *report)
{
    opening o = {s, in, n, merged->nvalues + AT_END * merged->nends};
    LG_TRY(lg_influence_of(in, merged, report));
    LG_TRY(lg_arena_open(&s->memory, layout, &o));
    lg_part_copy(in, &s->part, s->parameters);
    s->count = n;
    s->nchanged = in->nchanged, s->nframes = in->nframes;
    s->nparameters = (int)in->nparameters;
    s->nslopes = s->nparameters + AT_END * count_ends(&s->part);
    for (int i = 0, nterms = 0; i < n; i++) {
        s->has[i] = (char)has_all(in, &directions[i]);
        if (s->has[i])
            fill_terms(in, &directions[i], s, &nterms);
        s->first[i + 1] = nterms;
    }
    return LG_OK;
}

lg_status lg_shares_open(lg_shares *s, lg_influence *in, int n, const lg_direction *directions, lg_report *report)
{
    size_t nvalues = 1, nends = 1;
    for (int i = 0; i < n; i++)
        nvalues += (size_t)directions[i].nvalues, nends += (size_t)directions[i].nends;
    int *numbers = malloc((nvalues + nends) * sizeof *numbers);
    if (!numbers)
        return LG_NO_MEMORY;
    lg_direction merged;
    merge(in, n, directions, numbers, numbers + nvalues, &merged);
    lg_status status = open_merged(s, in, n, directions, &merged, report);
    free(numbers);
    return status;
}

void lg_shares_close(lg_shares *s)
{
    lg_arena_close(&s->memory);
}

int lg_shares_room(const lg_shares *s)
{
    return s->nslopes + AT_END * count_ends(&s->part);
}

/* ---- virtual velocities ---- */

static const lg_element *element_at(const lg_model *part, int i)
{
    return i < part->nforces ? &part->forces[i].e : &part->joints[i - part->nforces].e;
}

/* The twists of all ends with the weights of forces as velocities: 6 each, zero on what does not move. */
static lg_status write_twists(const lg_shares *s, const lg_point *point, const double *weights, double *twists)
{
    const lg_model *part = &s->part;
    lg_point at = *point;
    at.v = weights;
    LG_TRY(lg_model_move(part, LG_FORM_DYNAMICS, &at, LG_TWISTS, LG_REACH_USED));
    for (int i = 0; i < part->nforces + part->njoints; i++) {
        const lg_element *e = element_at(part, i);
        for (int end = 0; end < e->info->nframes; end++) {
            const lg_pose *pose = lg_pose_of(e->frame[end], &at);
            double *twist = twists + 6 * (2 * i + end);
            if (!e->frame[end]->body->block)
                continue;
            lg_copy(3, pose->xdot, twist);
            lg_copy(3, pose->omega, twist + 3);
        }
    }
    return LG_OK;
}

/* ---- points ---- */

/* out += s a x b */
static void add_scaled_cross(double s, const double a[3], const double b[3], double out[3])
{
    double c[3];
    lg_cross(a, b, c);
    lg_axpy(3, s, c, out);
}

/* The derivative by X of s force.R (turn x X). */
static void add_turning(const double *R, double s, const double force[3], const double *turn, double slopes[3])
{
    double g[3];
    lg_mulT3(R, force, g);
    add_scaled_cross(s, g, turn, slopes);
}

/* That of s force.(x + R X), by x as well. */
static void add_point(const double *R, double s, const double force[3], double slopes[AT_END])
{
    double g[3];
    lg_mulT3(R, force, g);
    lg_axpy(3, s, force, slopes);
    lg_axpy(3, s, g, slopes + 3);
}

/* That of s force.x'' at v' = 0, where x'' = R (omega x (omega x X) + omega' x X). */
static void add_bias(const lg_pose *pose, double s, const double force[3], double slopes[3])
{
    double g[3], across[3];
    lg_mulT3(pose->R, force, g);
    lg_cross(g, pose->omega, across);
    add_scaled_cross(s, across, pose->omega, slopes);
    add_scaled_cross(s, g, pose->omegadot, slopes);
}

/* An end of a joint whose first rows are s x of its point; lam NULL: B^T lam has no weight. */
static void add_joint_end(const lg_pose *pose, double s, const double *twist, const double *lam,
                          const lg_term_weights *rows, double slopes[AT_END])
{
    if (lam)
        add_turning(pose->R, s, lam, twist + 3, slopes + 3);
    if (rows->phi)
        add_point(pose->R, s, rows->phi, slopes);
    if (rows->phidot)
        add_turning(pose->R, s, rows->phidot, pose->omega, slopes + 3);
    if (rows->zeta)
        add_bias(pose, s, rows->zeta, slopes + 3);
}

static lg_status add_joint(const lg_shares *s, int i, const lg_point *at, const lg_term_weights *weights,
                           const double *twists, double *slopes)
{
    const lg_joint *joint = &s->part.joints[i];
    const lg_joint_shares *shares = joint->type->shares;
    const lg_term_weights rows = {.phi = weights->phi ? weights->phi + joint->row : NULL,
                                  .phidot = weights->phidot ? weights->phidot + joint->row : NULL,
                                  .zeta = weights->zeta ? weights->zeta + joint->row : NULL};
    int weighs = (weights->forces || weights->reactions) && at->lam, first = 2 * (s->part.nforces + i);
    const lg_pose *pose[2];
    lg_element_poses(&joint->e, at, pose);
    if (shares)
        LG_TRY(shares->write(joint, pose, at, &rows, weights->forces ? twists : NULL,
                             slopes + (joint->e.p - s->parameters)));
    for (int side = 0; side < 2; side++)
        if (s->moves[first + side])
            add_joint_end(lg_pose_of(joint->e.frame[side], at), side ? 1 : -1, twists + 6 * side,
                          weighs ? at->lam + joint->row : NULL, &rows,
                          slopes + s->nparameters + AT_END * (first + side));
    return LG_OK;
}

/* The end of a force that does not depend on where it is. */
static lg_status add_fixed_end(const lg_force *force, const lg_pose *const f[2], const lg_point *at,
                               const double *twist, double slopes[AT_END])
{
    lg_load load = {0};
    LG_TRY(force->type->wrenches(&force->e, f, at, 0, &load));
    add_turning(f[0]->R, -1, load.w[0], twist + 3, slopes + 3);
    return LG_OK;
}

/* An end of a force between two points: the power of F is that along the difference of their velocities. */
static lg_status add_end_between(const lg_force *force, const lg_pose *const f[2], const double twists[12], int side,
                                 double slopes[AT_END])
{
    double d[3], ddot[3], along[3], F[3], A[9], B[9], of_d[3], of_ddot[3], s = side ? -1 : 1;
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++) {
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
        along[i] = twists[6 + i] - twists[i];
    }
    LG_TRY(force->type->between(&force->e, d, ddot, 1, F, A, B));
    lg_mulT3(A, along, of_d);
    lg_mulT3(B, along, of_ddot);
    add_turning(f[side]->R, s, F, twists + 6 * side + 3, slopes + 3);
    add_point(f[side]->R, s, of_d, slopes);
    add_turning(f[side]->R, s, of_ddot, f[side]->omega, slopes + 3);
    return LG_OK;
}

/* ---- all slopes ---- */

static lg_status add_force(const lg_shares *s, int i, const lg_point *at, const double *twists, double *slopes)
{
    const lg_force *force = &s->part.forces[i];
    double *own = slopes + (force->e.p - s->parameters), *ends = slopes + s->nparameters + 2 * AT_END * i;
    const lg_pose *pose[2];
    lg_element_poses(&force->e, at, pose);
    force->type->shares->write(&force->e, pose, at, twists, own);
    for (int k = 0; k < force->e.np; k++)
        own[k] = -own[k];
    for (int side = 0; side < force->e.info->nframes; side++) {
        if (!s->moves[2 * i + side])
            continue;
        if (force->type->between)
            LG_TRY(add_end_between(force, pose, twists, side, ends + AT_END * side));
        else
            LG_TRY(add_fixed_end(force, pose, at, twists, ends));
    }
    return LG_OK;
}

static lg_level level_of(const lg_shares *s, const lg_term_weights *weights)
{
    if (s->part.njoints)
        return weights->zeta ? LG_BIASES : LG_TWISTS;
    return s->part.nforces ? s->part.force_level : LG_NO_POSES;
}

static lg_status write_slopes(const lg_shares *s, const lg_point *at, const lg_term_weights *weights, double *twists,
                              double *slopes)
{
    const lg_model *part = &s->part;
    const double *along = weights->forces ? weights->forces : weights->reactions;
    if (along && part->nforces + part->njoints > 0)
        LG_TRY(write_twists(s, at, along, twists));
    LG_TRY(lg_model_move(part, LG_FORM_DYNAMICS, at, level_of(s, weights), LG_REACH_USED));
    for (const lg_body *body = part->bodies; along && body < part->bodies + s->nchanged; body++)
        body->type->shares->write(body, at, weights, slopes + (body->e.p - s->parameters));
    for (int i = 0; weights->forces && i < part->nforces; i++)
        LG_TRY(add_force(s, i, at, twists + 12 * i, slopes));
    for (int i = 0; i < part->njoints; i++)
        LG_TRY(add_joint(s, i, at, weights, twists + 12 * (part->nforces + i), slopes));
    return LG_OK;
}

lg_status lg_shares_weigh(const lg_shares *s, const lg_point *point, const lg_term_weights *weights, double factor,
                          double *room, double *gradient)
{
    int along = weights->forces || weights->reactions, rows = weights->phi || weights->phidot || weights->zeta;
    lg_point at = *point;
    at.same_q = 0;
    if (!(along && s->part.nbodies + s->part.nforces > 0) && !(rows && s->part.njoints > 0))
        return LG_OK;
    lg_zero(lg_shares_room(s), room);
    LG_TRY(write_slopes(s, &at, weights, room + s->nslopes, room));
    for (int k = 0; k < s->count; k++) {
        double sum = 0;
        for (int i = s->first[k]; i < s->first[k + 1]; i++)
            sum += s->rate[i] * room[s->at[i]];
        gradient[k] += factor * sum;
    }
    return LG_OK;
}
