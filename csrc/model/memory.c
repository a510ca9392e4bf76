/* The memory of a model: angles about joints through full turns, each one number (turn.h), and what other elements
   keep. Motions that functions of the user give are checked here as well, since a jump ends a run after a step.

   An angle that has turned by more than half a turn in a step is accepted only if it agrees, within a quarter turn,
   with the integral of the rates at both ends, with accelerations where they are known:

       h/2 (phi'_0 + phi'_1) + h^2/12 (phi''_0 - phi''_1) */
#include "model/bristles.h"
#include "model/pass.h"
#include "model/tendon.h"
#include "model/turn.h"

static const double quarter = LG_PI / 2;

/* Force i, or joint i - nforces, and the functions of its memory; NULL: it has none. */
static const lg_element_memory *memory_of(const lg_model *m, int i, const lg_element **e)
{
    const lg_force *force = i < m->nforces ? &m->forces[i] : NULL;
    const lg_joint *joint = force ? NULL : &m->joints[i - m->nforces];
    *e = force ? &force->e : &joint->e;
    return force ? force->type->memory : joint->type->memory;
}

/* The triads of the angle that it keeps in memory; NULL: none. */
static const double *angle_of(const lg_model *m, int i, const lg_element **e)
{
    const lg_element_memory *memory = memory_of(m, i, e);
    return memory && memory->triads ? memory->triads(*e) : NULL;
}

/* Brings the angle of an element to the end of a step. Returns whether it has turned by more than half a turn. */
static int turn_on(const lg_element *e, const double *triads, const lg_pose *const pose[2], const lg_point *to,
                   double *phi)
{
    double before = *phi;
    lg_turn turn;
    lg_turn_open(e, triads, pose, to, &turn);
    *phi = turn.phi;
    return fabs(*phi - before) > 2 * quarter;
}

/* Takes the share of one end of a step from what has been turned. */
static lg_status subtract(const lg_model *m, const lg_point *end, double half, double bend, double *turned)
{
    const lg_element *e;
    const lg_pose *pose[2];
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, end, LG_BIASES, LG_REACH_USED));
    for (int i = 0; i < m->nforces + m->njoints; i++) {
        const double *triads = angle_of(m, i, &e);
        if (!triads)
            continue;
        double rates[2];
        lg_element_poses(e, end, pose);
        lg_turn_rates(e, triads, pose, end, rates);
        turned[e->mem] -= half * rates[0] + (isfinite(rates[1]) ? bend * rates[1] : 0);
    }
    return LG_OK;
}

static lg_status check_rates(const lg_model *m, const lg_point *from, const lg_point *to, const double *mem,
                             lg_report *report)
{
    double h = to->mem.age, *rest = to->work + m->turned;
    const lg_element *e;
    for (int i = 0; i < m->system.nmem; i++)
        rest[i] = mem[i] - from->mem.values[i];
    LG_TRY(subtract(m, from, h / 2, h * h / 12, rest));
    LG_TRY(subtract(m, to, h / 2, -h * h / 12, rest));
    for (int i = 0; i < m->nforces + m->njoints; i++) {
        if (!angle_of(m, i, &e))
            continue;
        double turn = mem[e->mem] - from->mem.values[e->mem], off = rest[e->mem];
        if (fabs(turn) <= 2 * quarter || fabs(off) <= quarter)
            continue;
        lg_report_say(report, "the angle of %.*s turned by %.3g rad in one step, by its rates by %.3g rad",
                      LG_SHORT(e->name), turn, turn - off);
        return LG_TURNED;
    }
    return LG_OK;
}

/* *far: some angle has turned by more than half a turn. */
static lg_status commit_elements(const lg_model *m, const lg_point *from, const lg_point *to, double *mem, int *far,
                                 lg_report *report)
{
    const lg_element *e;
    const lg_pose *pose[2];
    for (int i = 0; i < m->nforces + m->njoints; i++) {
        const lg_element_memory *memory = memory_of(m, i, &e);
        if (!memory)
            continue;
        const double *triads = memory->triads ? memory->triads(e) : NULL;
        lg_element_poses(e, to, pose);
        if (triads)
            *far |= turn_on(e, triads, pose, to, mem + e->mem);
        if (memory->commit)
            LG_TRY(memory->commit(e, pose, from, to, mem + e->mem, report));
    }
    return LG_OK;
}

static const lg_element *element_of(const lg_model *m, int i)
{
    const lg_element_ref *ref = &m->element_of[i];
    return ref->body ? &ref->body->e : ref->force ? &ref->force->e : &ref->joint->e;
}

static int is_motion(const lg_element *e)
{
    return e->function.call && e->info->continuous;
}

int lg_model_has_motions(const lg_model *m)
{
    for (int i = 0; i < m->nelements; i++)
        if (is_motion(element_of(m, i)))
            return 1;
    return 0;
}

static lg_status check_motions(const lg_model *m, const lg_point *from, const lg_point *to, lg_report *report)
{
    for (int i = 0; from && m->has_motions && i < m->nelements; i++) {
        const lg_element *e = element_of(m, i);
        if (is_motion(e))
            LG_TRY(e->info->continuous(e, from->t, to->t, report));
    }
    return LG_OK;
}

lg_status lg_model_commit(void *self, const lg_point *from, const lg_point *to, double *mem, lg_report *report)
{
    const lg_model *m = self;
    int far = 0;
    LG_TRY(check_motions(m, from, to, report));
    if (!m->system.nmem && !(from && m->can_pass))
        return LG_OK;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    LG_TRY(commit_elements(m, from, to, mem, &far, report));
    if (from) {
        LG_TRY(lg_tendons_commit(m, mem, report));
        LG_TRY(lg_model_follow(m, from, to, mem));
    }
    if (from && m->can_pass)
        LG_TRY(lg_model_check_passed(m, from, to, report));
    return from && from->a && to->a && far ? check_rates(m, from, to, mem, report) : LG_OK;
}
