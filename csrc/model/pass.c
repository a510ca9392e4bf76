/* Contacts that a step has passed; see pass.h. Between the ends of a step the first frame moves relative to the second
   one along the cubic through places and velocities at both, and turns evenly. No point of a shape is faster than some
   speed V, so that a point with the gap g is not in touch for a time g/V. */
#include "model/pass.h"

#include "group/rotation.h"
#include "model/force/contact.h"
#include "model/force/mutual.h"

/* Depths below this part of the way of a step count as touching in passing: they are beyond what the cubic knows. */
static const double grazing = 1e-3;
/* The least part of a step between two looks. */
static const double least_look = 1. / 64;

typedef struct passage {
    const lg_force *force;
    int k; /* the point */
    double h;
    lg_mutual from, to;
    double turn[3]; /* in the axes of the first frame */
    double V;
} passage;

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

/* The gap of a point and an upper bound of its speed; 0 if it has no normal. */
static int look(const passage *p, const lg_mutual *at, double *gap, double *speed, double u[3])
{
    lg_touch touch;
    if (lg_contact_touch(p->force, p->k, at->y, at->S, &touch) != LG_OK)
        return 0;
    *gap = touch.gap;
    *speed = lg_norm3(at->rate) + lg_norm3(at->turn) * (lg_norm3(touch.z) + fabs(touch.gap));
    lg_copy(3, at->rate, u);
    lg_add_cross(at->turn, touch.z, u);
    return 1;
}

/* The gap at a part s of the step. */
static double gap_at(const passage *p, double s)
{
    const lg_mutual *a = &p->from, *b = &p->to;
    double r = 1 - s, y[3], turn[3], R[9], S[9];
    lg_touch touch;
    for (int i = 0; i < 3; i++) {
        y[i] = r * r * ((1 + 2 * s) * a->y[i] + s * p->h * a->rate[i]) +
               s * s * ((1 + 2 * r) * b->y[i] - r * p->h * b->rate[i]);
        turn[i] = s * p->turn[i];
    }
    lg_so3_exp(turn, R);
    lg_mul33(a->S, R, S);
    return lg_contact_touch(p->force, p->k, y, S, &touch) == LG_OK ? touch.gap : 0;
}

/* The greatest depth on the way; *when: where it is, as a part of the step. */
static double greatest_depth(const passage *p, double *when)
{
    double depth = 0;
    for (double s = 0; s < 1;) {
        double gap = gap_at(p, s);
        if (-gap > depth)
            depth = -gap, *when = s;
        s += fmax(gap / (p->h * p->V), least_look);
    }
    return depth;
}

/* Whether the way of a point that is apart at the end of a step, as `p->to` says, leads through the other shape. */
static int has_passed(passage *p, const lg_pose *const f[2], double *when)
{
    double gap, speed, before[3], after[3], end;
    lg_mutual_open(f, 0, &p->from);
    if (!look(p, &p->to, &gap, &end, after) || !look(p, &p->from, &gap, &speed, before))
        return 0;
    p->V = 1.5 * fmax(speed, end);
    lg_so3_difference(p->from.S, p->to.S, p->turn);
    int forth = lg_dot3(before, after) > 0 || lg_norm3(p->turn) > 1; /* it has not just come back */
    return gap > 0 && forth && greatest_depth(p, when) > grazing * p->h * p->V;
}

/* Whether a point that was apart at the start of a step lies deeper in the other shape than it can have come: edges
   have passed through each other. */
static int has_jumped(passage *p, const lg_pose *const f[2])
{
    double gap, speed, u[3], depth, end;
    lg_mutual_open(f, 0, &p->from);
    return look(p, &p->to, &depth, &end, u) && look(p, &p->from, &gap, &speed, u) && gap >= 0 &&
           -depth > 2 * p->h * fmax(speed, end);
}

/* Points that are apart at the end of a step and may have been in touch in it, or in touch and deeper than they move in
   it. */
static void judge(const passage *p, int *may_pass, int *may_jump)
{
    double gap, speed, u[3];
    int looked = look(p, &p->to, &gap, &speed, u), far = looked && fabs(gap) >= 2 * p->h * speed;
    *may_pass = looked && gap > 0 && !far;
    *may_jump = far && gap < 0;
}

static lg_status check_point(const lg_model *m, passage *p, const lg_point *from, const lg_point *to, lg_report *report)
{
    const lg_pose *f[2];
    double when = 0;
    int may_pass, may_jump;
    judge(p, &may_pass, &may_jump);
    if (!may_pass && !may_jump)
        return LG_OK;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, from, LG_TWISTS, 0));
    lg_element_poses(&p->force->e, from, f);
    int passed = may_pass && has_passed(p, f, &when), jumped = may_jump && has_jumped(p, f);
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, 0));
    if (passed)
        lg_report_say(report, "the contact %.*s is in touch at t = %.9g and apart at both ends of the step",
                      LG_SHORT(p->force->e.name), from->t + when * p->h);
    if (jumped)
        lg_report_say(report, "edges of the contact %.*s have passed through each other by t = %.9g",
                      LG_SHORT(p->force->e.name), to->t);
    return passed || jumped ? LG_PASSED : LG_OK;
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
