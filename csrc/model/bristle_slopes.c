/* Derivatives of bristles: of their memory through a step, and of forces by their memory; see system/memory.h. For each
   contact the scratch holds the matrices of its points (force/transition.h) and, for each frame at each end of the step
   that moves with a block, H and Z (body.h). */
#include "model/bristle_slopes.h"

#include "model/bristles.h"
#include "model/force/transition.h"
#include "model/tangent.h"

enum { STATIONS = LG_STATIONS * sizeof(lg_station) / sizeof(double), BEGINS = STATIONS + 1 };

/* ---- the scratch ---- */

static int points_size(const lg_force *f)
{
    return LG_TRANSITION_SIZE * lg_contact_points(f);
}

static int motion_size(const lg_force *f, int side)
{
    const lg_block *block = f->e.frame[side]->body->block;
    return block ? 12 * block->nv : 0;
}

static int contact_size(const lg_force *f)
{
    return points_size(f) + 2 * (motion_size(f, 0) + motion_size(f, 1));
}

/* Where H and Z of a frame are at one end of the step. */
static double *motion_of(const lg_force *f, double *room, int side, int end)
{
    return room + points_size(f) + (side ? 2 * motion_size(f, 0) : 0) + end * motion_size(f, side);
}

/* A walk over the contacts with bristles. It begins with f = NULL and the scratch of the first one in `here`; NULL: no
   scratch is needed. */
typedef struct visit {
    const lg_force *f;
    double *here; /* the scratch of this contact */
} visit;

/* Goes to the next contact with bristles. Returns whether there is one. */
static int visit_next(const lg_model *m, visit *v)
{
    if (v->f && v->here)
        v->here += contact_size(v->f);
    for (v->f = v->f ? v->f + 1 : m->forces; v->f < m->forces + m->nforces; v->f++)
        if (lg_contact_has_bristles(v->f))
            return 1;
    return 0;
}

static int room(void *self)
{
    const lg_model *m = self;
    int size = BEGINS;
    for (visit v = {0}; visit_next(m, &v);)
        size += contact_size(v.f);
    return size;
}

/* ---- a step ---- */

static void write_motions(const lg_force *f, const lg_point *at, int end, double *here)
{
    for (int side = 0; side < 2; side++) {
        const lg_frame *frame = f->e.frame[side];
        double *H = motion_of(f, here, side, end);
        if (!frame->body->block)
            continue;
        frame->body->type->frames->H(frame, at, H);
        frame->body->type->frames->Z(frame, at, H + 6 * frame->body->block->nv);
    }
}

static lg_status open_start(const lg_model *m, const lg_point *from, lg_ends *start, double *here)
{
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, from, LG_TWISTS, LG_REACH_USED));
    for (visit v = {.here = here}; visit_next(m, &v);) {
        lg_bristle_ends(v.f, from, start++);
        write_motions(v.f, from, 0, v.here);
    }
    return LG_OK;
}

static lg_status open_contact(const lg_force *f, const lg_point *from, const lg_point *to, const lg_ends *start,
                              lg_station *station, double *J)
{
    const double *before = from->mem.values + f->e.mem, *after = to->mem.values + f->e.mem;
    double h = from->q ? to->t - from->t : 0;
    int slides = h > 0 && lg_contact_has_slid(f, before, after);
    lg_ends end;
    lg_bristle_ends(f, to, &end);
    lg_stations_open(slides ? start : NULL, &end, h, station);
    return lg_transition_open(f, station, slides, before, after, J);
}

static lg_status open_step(void *self, const lg_point *from, const lg_point *to, double *room)
{
    const lg_model *m = self;
    lg_ends *start = (lg_ends *)(void *)(to->work + m->motions);
    room[STATIONS] = from->q != NULL;
    if (from->q)
        LG_TRY(open_start(m, from, start, room + BEGINS));
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    for (visit v = {.here = room + BEGINS}; visit_next(m, &v);) {
        write_motions(v.f, to, 1, v.here);
        LG_TRY(open_contact(v.f, from, to, start++, (lg_station *)(void *)room, v.here));
    }
    return LG_OK;
}

/* The changes of both frames at both ends, in the columns of the matrices. */
static void change_ends(const lg_force *f, double *here, int from, const lg_memory_change *change,
                        double ends[LG_END_COLUMNS])
{
    lg_zero(LG_END_COLUMNS, ends);
    for (int side = 0; side < 2; side++)
        for (int end = !from; end < 2; end++) {
            const lg_block *block = f->e.frame[side]->body->block;
            double *out = ends + (2 * side + end) * LG_CHANGE_NUMBERS, *H = motion_of(f, here, side, end);
            for (int j = 0; block && j < block->nv; j++) {
                const double *by_q = H + 6 * j, *by_v = H + 6 * (block->nv + j);
                double dq = change->q[end][block->v + j], dv = change->v[end][block->v + j];
                lg_axpy(6, dq, by_q, out);
                lg_axpy(6, dv, by_q, out + 6);
                lg_axpy(6, dq, by_v, out + 6);
            }
        }
}

static void change_ends_back(const lg_force *f, double *here, int from, const double ends[LG_END_COLUMNS],
                             const lg_memory_change *adjoint)
{
    for (int side = 0; side < 2; side++)
        for (int end = !from; end < 2; end++) {
            const lg_block *block = f->e.frame[side]->body->block;
            const double *w = ends + (2 * side + end) * LG_CHANGE_NUMBERS, *H = motion_of(f, here, side, end);
            for (int j = 0; block && j < block->nv; j++) {
                const double *by_q = H + 6 * j, *by_v = H + 6 * (block->nv + j);
                adjoint->q[end][block->v + j] += lg_dot(6, by_q, w) + lg_dot(6, by_v, w + 6);
                adjoint->v[end][block->v + j] += lg_dot(6, by_q, w + 6);
            }
        }
}

static void follow_point(const double *J, const double ends[LG_END_COLUMNS], double *m)
{
    double out[LG_BRISTLE_NUMBERS] = {0};
    for (int i = 0; i < LG_TRANSITION_COLUMNS; i++)
        lg_axpy(LG_BRISTLE_NUMBERS, i < LG_END_COLUMNS ? ends[i] : m[LG_BRISTLE_Z + i - LG_END_COLUMNS],
                J + LG_BRISTLE_NUMBERS * i, out);
    m[LG_BRISTLE_TOUCH] = 0;
    lg_copy(LG_BRISTLE_NUMBERS, out, m + LG_BRISTLE_Z);
}

static void follow_point_back(const double *J, double ends[LG_END_COLUMNS], double *m)
{
    double w[LG_BRISTLE_NUMBERS];
    lg_copy(LG_BRISTLE_NUMBERS, m + LG_BRISTLE_Z, w);
    m[LG_BRISTLE_TOUCH] = 0;
    for (int i = 0; i < LG_END_COLUMNS; i++)
        ends[i] += lg_dot(LG_BRISTLE_NUMBERS, J + LG_BRISTLE_NUMBERS * i, w);
    for (int i = 0; i < LG_BRISTLE_NUMBERS; i++)
        m[LG_BRISTLE_Z + i] = lg_dot(LG_BRISTLE_NUMBERS, J + LG_BRISTLE_NUMBERS * (LG_END_COLUMNS + i), w);
}

static void follow(void *self, double *room, const lg_memory_change *change)
{
    const lg_model *m = self;
    double ends[LG_END_COLUMNS];
    for (visit v = {.here = room + BEGINS}; visit_next(m, &v);) {
        change_ends(v.f, v.here, room[STATIONS] != 0, change, ends);
        for (int k = 0; k < lg_contact_points(v.f); k++)
            follow_point(v.here + LG_TRANSITION_SIZE * k, ends, change->mem + v.f->e.mem + LG_BRISTLE_MEMORY * k);
    }
}

static void follow_back(void *self, double *room, const lg_memory_change *adjoint)
{
    const lg_model *m = self;
    double ends[LG_END_COLUMNS];
    for (visit v = {.here = room + BEGINS}; visit_next(m, &v);) {
        lg_zero(LG_END_COLUMNS, ends);
        for (int k = 0; k < lg_contact_points(v.f); k++)
            follow_point_back(v.here + LG_TRANSITION_SIZE * k, ends, adjoint->mem + v.f->e.mem + LG_BRISTLE_MEMORY * k);
        change_ends_back(v.f, v.here, room[STATIONS] != 0, ends, adjoint);
    }
}

/* ---- forces ---- */

static void open_mutual(const lg_force *f, const lg_point *at, const lg_pose *pose[2], lg_mutual *out)
{
    lg_element_poses(&f->e, at, pose);
    lg_mutual_open(pose, 0, out);
}

static lg_status add_force(void *self, const lg_point *at, const double *dmem, double s, double *out)
{
    const lg_model *m = self;
    const lg_pose *pose[2];
    lg_mutual seen;
    lg_load load;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED));
    for (visit v = {0}; visit_next(m, &v);) {
        open_mutual(v.f, at, pose, &seen);
        LG_TRY(lg_contact_add_held(v.f, at->mem.values + v.f->e.mem, dmem + v.f->e.mem, &seen));
        lg_mutual_spread(&seen, &v.f->e, pose, 0, &load);
        for (int side = 0; side < 2; side++) {
            const lg_body *body = v.f->e.frame[side]->body;
            if (body->block)
                body->type->frames->pull(v.f->e.frame[side], at, s, load.w[side], out + body->block->v);
        }
    }
    return LG_OK;
}

/* motion += the change (dx, dphi) of the frame of one side along velocities w, as the other frame sees it. */
static void add_motion(const lg_force *f, const lg_point *at, int side, const double *w, const lg_mutual *seen,
                       const double R_b[9], double motion[6])
{
    const lg_frame *frame = f->e.frame[side];
    const lg_block *block = frame->body->block;
    double small[6 * LG_MAX_NV], moved[6] = {0}, out[LG_MUTUAL_NUMBERS], *H = small;
    lg_frame_change change = {.x = {0}};
    if (!block)
        return;
    if (block->nv > LG_MAX_NV)
        H = at->work; // as tangents use it
    frame->body->type->frames->H(frame, at, H);
    for (int j = 0; j < block->nv; j++)
        lg_axpy(6, w[block->v + j], H + 6 * j, moved);
    lg_copy(3, moved, change.x);
    lg_copy(3, moved + 3, change.turn);
    lg_mutual_change(seen, R_b, side, &change, out);
    lg_axpy(6, 1, out, motion);
}

static lg_status add_force_back(void *self, const lg_point *at, const double *w, double s, double *mem)
{
    const lg_model *m = self;
    const lg_pose *pose[2];
    lg_mutual seen;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED));
    for (visit v = {0}; visit_next(m, &v);) {
        double motion[6] = {0};
        open_mutual(v.f, at, pose, &seen);
        for (int side = 0; side < 2; side++)
            add_motion(v.f, at, side, w, &seen, pose[1]->R, motion);
        LG_TRY(lg_contact_held_back(v.f, &seen, at->mem.values + v.f->e.mem, s, motion, mem + v.f->e.mem));
    }
    return LG_OK;
}

/* Bristles that are bent to their limit come back to it from twice as far, where the force is the same. */
static lg_status stretch_contact(const lg_force *f, const lg_mutual *at, const double *mem, double *factor)
{
    enum { MOST = LG_BRISTLE_MEMORY * 2 * LG_POINTS_OF_box };
    static const double far = 2, round_off = 1e-9;
    double found[MOST];
    lg_copy(f->e.info->nmem, mem, found);
    for (int k = LG_BRISTLE_Z; k < f->e.info->nmem; k += LG_BRISTLE_MEMORY)
        lg_axpy(3, far - 1, mem + k, found + k);
    LG_TRY(lg_contact_renew(f, at, found));
    for (int k = LG_BRISTLE_Z; k < f->e.info->nmem; k += LG_BRISTLE_MEMORY) {
        double bent = lg_norm3(mem + k);
        for (int i = k; i < k + 3 && bent > 0 && lg_norm3(found + k) <= (1 + round_off) * bent; i++)
            factor[i] = far;
    }
    return LG_OK;
}

static lg_status stretch(void *self, const lg_point *at, double *factor)
{
    const lg_model *m = self;
    const lg_pose *pose[2];
    lg_mutual seen;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED));
    for (visit v = {0}; visit_next(m, &v);) {
        open_mutual(v.f, at, pose, &seen);
        LG_TRY(stretch_contact(v.f, &seen, at->mem.values + v.f->e.mem, factor + v.f->e.mem));
    }
    return LG_OK;
}

const lg_memory_slopes lg_bristle_slopes = {.room = room,
                                            .open = open_step,
                                            .follow = follow,
                                            .follow_back = follow_back,
                                            .force = add_force,
                                            .force_back = add_force_back,
                                            .stretch = stretch};

/* ---- parameters ---- */

lg_status lg_bristles_move(const lg_model *m, int n, const lg_force *const *contacts, const lg_point *from,
                           const lg_point *to, lg_bristle_step *steps)
{
    if (from->q)
        LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, from, LG_TWISTS, LG_REACH_USED));
    for (int i = 0; from->q && i < n; i++)
        lg_bristle_ends(contacts[i], from, &steps[i].from);
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    for (int i = 0; i < n; i++)
        lg_bristle_ends(contacts[i], to, &steps[i].to);
    return LG_OK;
}

lg_status lg_bristles_add(const lg_force *contact, const lg_bristle_step *step, const lg_force *origin,
                          const lg_bristle_step *step_0, const lg_point *from, const lg_point *to, double weight,
                          double *mem)
{
    double now[LG_BRISTLE_MEMORY * 2 * LG_POINTS_OF_box], h = from->q ? to->t - from->t : 0;
    int first = origin->e.mem;
    LG_TRY(lg_transition_beside(contact, origin->e.p, &step->from, &step->to, &step_0->from, &step_0->to, h,
                                from->mem.values + first, to->mem.values + first, now));
    for (int i = 0; i < origin->e.info->nmem; i++)
        mem[first + i] += i % LG_BRISTLE_MEMORY == LG_BRISTLE_TOUCH ? 0 : weight * now[i];
    return LG_OK;
}
