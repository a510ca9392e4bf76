/* Contacts that a step has passed; see pass.h. Between the ends of a step frames move as lg_path says. No point of a
   shape is faster than some speed V, so that a point with the gap g is not in touch for a time g/V. */
#include "model/pass.h"

#include "model/force/contact.h"
#include "model/force/mutual.h"

/* Depths below this part of the way of a step count as touching in passing: they are beyond what the cubic knows. */
static const double grazing = 1e-3;
/* The least part of a step between two looks. */
static const double least_look = 1. / 64;
/* As many half revolutions in a step are seen. */
static const double most_turns = 100;

typedef struct passage {
    const lg_force *force;
    int k; /* the point */
    double h;
    lg_mutual from, to;
    lg_path path;
    double V;
    double turns; /* half revolutions in the step, from 1 to most_turns: looks are as many times closer */
} passage;

typedef struct sight { /* of a point */
    const lg_mutual *mutual;
    double gap, speed; /* an upper bound of it */
    double n[3], z[3], u[3]; /* as in touch.h; the relative velocity */
    double arm[2][3]; /* to the point of its shape, from x_a and x_b in the axes of a and b */
} sight;

static int can_pass(const lg_force *f)
{
    return f->type->shapes && !f->type->shapes->is_on_plane;
}

int lg_model_can_pass(const lg_model *m)
{
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (can_pass(f))
            return 1;
    return 0;
}

/* Returns 0 if there is no normal. */
static int look(const passage *p, const lg_mutual *at, sight *out)
{
    lg_touch touch;
    if (lg_contact_touch(p->force, p->k, at->y, at->S, &touch) != LG_OK)
        return 0;
    out->mutual = at;
    out->gap = touch.gap;
    out->speed = lg_norm3(at->rate) + lg_norm3(at->turn) * (lg_norm3(touch.z) + fabs(touch.gap));
    lg_copy(3, touch.n, out->n);
    lg_copy(3, touch.z, out->z);
    lg_copy(3, at->rate, out->u);
    lg_add_cross(at->turn, touch.z, out->u);
    double up = 0.5 * (p->k < LG_POINTS_OF_box ? touch.gap : -touch.gap); // corners of a second box are below
    lg_axpy(3, up, touch.n, touch.z);
    lg_mulT3(at->S, touch.z, out->arm[0]);
    lg_copy(3, touch.p, out->arm[1]);
    lg_axpy(3, up, touch.n, out->arm[1]);
    return 1;
}

/* The gap at a part s of the step; 0 if it has no normal. */
static double gap_at(const passage *p, double s, double n[3])
{
    lg_mutual at;
    lg_touch touch;
    lg_path_at(&p->path, s, &at);
    if (lg_contact_touch(p->force, p->k, at.y, at.S, &touch) != LG_OK)
        return 0;
    lg_copy(3, touch.n, n);
    return touch.gap;
}

/* The greatest depth on the way; *when: where it is, as a part of the step; n: the normal there. */
static double greatest_depth(const passage *p, double *when, double n[3])
{
    double depth = 0, found[3] = {0};
    for (double s = 0; s < 1;) {
        double gap = gap_at(p, s, found);
        if (-gap > depth) {
            depth = -gap, *when = s;
            lg_copy(3, found, n);
        }
        s += fmax(gap / (p->h * p->V), least_look / p->turns);
    }
    return depth;
}

/* Whether bodies turn so far that the velocity of a point changes by this: the second one, or the first one with an arm
   to the point. */
static int turns_far(const passage *p, const sight *at)
{
    double by_turn[3];
    lg_cross(at->mutual->turn, at->z, by_turn);
    return p->h * lg_norm3(at->mutual->w[1]) > 1 ||
           (p->h * lg_norm3(at->mutual->turn) > 1 && fabs(lg_dot3(at->n, by_turn)) > 0.1 * fabs(lg_dot3(at->n, at->u)));
}

/* Whether the contact has pushed a point back within the step, whose stages have met it: the point is on the side from
   which it came, and the normal at the greatest depth has turned its velocity round. */
static int was_pushed_back(const passage *p, const sight *before, const sight *after, const double n[3])
{
    double approach = -lg_dot3(before->n, before->u), kick = lg_dot3(n, after->u) - lg_dot3(n, before->u);
    return lg_dot3(before->n, after->n) > 0 && kick > 0.5 * fabs(approach) && !turns_far(p, before) &&
           !turns_far(p, after);
}

static double half_turns(const passage *p)
{
    double turns = 1;
    for (int i = 0; i < 2; i++)
        turns = fmax(turns, lg_norm3(p->path.of[i].turn) / LG_PI);
    return fmin(turns, most_turns);
}

/* Whether the way of a point that is apart at the end of a step, as `p->to` says, leads through the other shape. */
static int has_passed(passage *p, double *when)
{
    sight before, after;
    double n[3] = {0};
    if (!look(p, &p->to, &after) || !look(p, &p->from, &before))
        return 0;
    p->V = 1.5 * fmax(before.speed, after.speed);
    p->turns = half_turns(p);
    return before.gap > 0 && greatest_depth(p, when, n) > grazing * p->h * p->V / p->turns &&
           !was_pushed_back(p, &before, &after, n);
}

/* How far a point has moved as the body sees it to which it does not belong: in the axes of its own body it rests. */
static double distance_gone(const sight *from, const sight *to)
{
    double gone = 0;
    for (int body = 0; body < 2; body++) {
        double d[3];
        lg_copy(3, to->arm[body], d);
        lg_axpy(3, -1, from->arm[body], d);
        gone = fmax(gone, lg_norm3(d));
    }
    return gone;
}

/* Whether a point that was apart at the start of a step lies deeper in the other shape than it can have come: edges
   have passed through each other. A step too long for a contact may end deep in it, but far from its start as well. */
static int has_jumped(const passage *p)
{
    sight before, after;
    return look(p, &p->to, &after) && look(p, &p->from, &before) && before.gap >= 0 &&
           -after.gap > 2 * fmax(p->h * fmax(before.speed, after.speed), distance_gone(&before, &after));
}

/* Points that are apart at the end of a step and may have been in touch in it, or in touch and deeper than they move in
   it. */
static void judge(const passage *p, int *may_pass, int *may_jump)
{
    sight end;
    int looked = look(p, &p->to, &end), far = looked && fabs(end.gap) >= 2 * p->h * end.speed;
    *may_pass = looked && end.gap > 0 && !far;
    *may_jump = far && end.gap < 0;
}

static lg_status check_point(const lg_model *m, passage *p, const lg_point *from, const lg_point *to, lg_report *report)
{
    const lg_pose *f[2];
    lg_ends start, end;
    double when = 0;
    int may_pass, may_jump;
    judge(p, &may_pass, &may_jump);
    if (!may_pass && !may_jump)
        return LG_OK;
    lg_element_poses(&p->force->e, to, f);
    lg_ends_copy(f, &end);
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, from, LG_TWISTS, LG_REACH_USED));
    lg_element_poses(&p->force->e, from, f);
    lg_ends_copy(f, &start);
    lg_mutual_open(f, 0, &p->from);
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    lg_path_open(&start, &end, p->h, &p->path);
    int passed = may_pass && has_passed(p, &when), jumped = may_jump && has_jumped(p);
    if (passed)
        lg_report_say(report, "the contact %.*s is in touch at t = %.9g and apart at both ends of the step",
                      LG_SHORT(p->force->e.name), from->t + when * p->h);
    if (jumped)
        lg_report_say(report, "edges of the contact %.*s have passed through each other by t = %.9g",
                      LG_SHORT(p->force->e.name), to->t);
    return passed ? LG_PASSED : jumped ? LG_CROSSED : LG_OK;
}

lg_status lg_model_check_passed(const lg_model *m, const lg_point *from, const lg_point *to, lg_report *report)
{
    for (const lg_force *force = m->forces; force < m->forces + m->nforces; force++) {
        const lg_pose *f[2];
        if (!can_pass(force) || !lg_contact_is_stiff(force))
            continue;
        for (int k = 0; k < lg_contact_points(force); k++) {
            passage p = {.force = force, .k = k, .h = to->t - from->t};
            lg_element_poses(&force->e, to, f);
            lg_mutual_open(f, 0, &p.to);
            LG_TRY(check_point(m, &p, from, to, report));
        }
    }
    return LG_OK;
}
