/* The waist's functions on a model: bodies write their poses, forces and joints read these and leave wrenches, and
   bodies gather the wrenches. */
#include "model/control.h"
#include "model/force/read.h"
#include "model/tendon.h"
#include "model/witness.h"
#include "system/chain.h"

/* ---- the blocks' own rows ---- */

static void add_own_row(const lg_block *b, const lg_pattern *pattern, int block, const lg_point *at,
                        const lg_wanted *want)
{
    const double *q = at->q + b->q, *v = at->v + b->v, *lam = at->lam ? at->lam + b->own : NULL;
    int values = pattern->own_value[block];
    double B[LG_MAX_NV], K[LG_MAX_NV * LG_MAX_NV] = {0};
    int nv = b->node->nv; /* R^n behind the node has no part in its rows */
    int tangent = lg_wants_slopes(want) && lam;
    const lg_own_rows out = {.phi = want->phi ? want->phi + b->own : NULL,
                             .phidot = want->phidot ? want->phidot + b->own : NULL,
                             .zeta = want->zeta ? want->zeta + b->own : NULL,
                             .B = B,
                             .Z = want->Z ? want->Z + values : NULL,
                             .K = tangent ? K : NULL};
    b->node->unit->own(q, v, lam, &out);
    if (want->B) {
        lg_zero(b->nown * b->nv, want->B + values);
        lg_copy(b->nown * nv, B, want->B + values);
    }
    if (want->Z)
        lg_zero(b->nown * (b->nv - nv), want->Z + values + b->nown * nv);
    if (want->Btlam && lam)
        for (int j = 0; j < nv; j++)
            for (int i = 0; i < b->nown; i++)
                want->Btlam[b->v + j] += B[i + j * b->nown] * lam[i];
    for (const lg_tangent *to = want->tangent; tangent && to < want->tangent + want->ntangents; to++) {
        int ld;
        double *S = lg_matrix_at(to->S, block, &ld);
        lg_chain_add(b, lg_chain_of(to, block), 0, 1, 0, nv, 0, nv, K, nv, S, ld);
    }
}

void lg_model_own_rows(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->nown_blocks; i++)
        if (m->blocks[i].nown)
            add_own_row(&m->blocks[i], &m->pattern, i, at, want);
}

/* ---- the functions of the waist ---- */

/* The functions of a row in a form. */
static inline const lg_body_type *body_in(lg_form form, lg_span bodies)
{
    const lg_body_type *type = bodies.first->type;
    return form != LG_FORM_DYNAMICS && type->in[form] ? type->in[form] : type;
}

static inline const lg_force_type *force_in(lg_form form, lg_forces forces)
{
    const lg_force_type *type = forces.first->type;
    return form != LG_FORM_DYNAMICS && type->in[form] ? type->in[form] : type;
}

static inline lg_status model_move(const lg_model *m, lg_form form, const lg_point *at, lg_level level, lg_reach reach)
{
    lg_span ground = {&m->ground, &m->ground + 1};
    if (level > LG_NO_POSES && (reach == LG_REACH_ALL || m->ground.nactive))
        LG_TRY(lg_ground.kinematics(ground, at, level, reach));
    for (int i = 0; i < m->nbody_spans; i++)
        LG_TRY(body_in(form, m->body_spans[i])->kinematics(m->body_spans[i], at, level, reach));
    return LG_OK;
}

lg_status lg_model_move(const lg_model *m, lg_form form, const lg_point *at, lg_level level, lg_reach reach)
{
    return model_move(m, form, at, level, reach);
}

/* The level of kinematics that forces and rows need. Discrete gradients want rates of rows, and need twists where there
   are no rows as well. */
static lg_level level_of(const lg_model *m, const lg_wanted *want, int forces, int rows)
{
    if (rows && want->zeta)
        return LG_BIASES;
    lg_level level = want->phidot || want->Z ? LG_TWISTS : rows ? LG_POSES : LG_NO_POSES;
    return (forces || want->Btlam) && m->force_level > level ? m->force_level : level;
}

/* Prepares bodies whose inertia is not added, those from a span on, for a tangent. */
static LG_APART void clear_stiffness(const lg_model *m, int first, const lg_point *at)
{
    for (int i = first; i < m->nbody_spans; i++)
        for (const lg_body *b = m->body_spans[i].first; b < m->body_spans[i].end; b++)
            if (b->type->rigid)
                lg_stiffness_clear(lg_body_stiffness(b, at));
}

static inline void add_inertia(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->ninertia_spans; i++)
        if (!m->body_spans[i].first->type->is_support)
            body_in(form, m->body_spans[i])->inertia(m->body_spans[i], at, want);
    if (m->ninertia_spans < m->nbody_spans && lg_wants_slopes(want))
        clear_stiffness(m, m->ninertia_spans, at);
}

/* Adds the forces on frames, or those on coordinates of trees. */
static inline lg_status add_forces(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want,
                                   int on_coordinates)
{
    for (int i = 0; i < m->nforce_spans; i++)
        if ((m->force_spans[i].first->type->coordinate != NULL) == on_coordinates)
            LG_TRY(lg_force_span(force_in(form, m->force_spans[i]), m->force_spans[i], at, want));
    return LG_OK;
}

/* Adds all joints or, without `rows`, only those that exert forces. */
static inline lg_status add_joints(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want, int rows)
{
    const lg_joints *spans = m->joint_spans;
    for (int i = 0; i < m->njoint_spans; i++)
        if (rows || spans[i].first->type->compliance)
            LG_TRY(lg_joint_span(lg_joint_in(form, spans[i].first), spans[i], at, want));
    return LG_OK;
}

lg_status lg_model_add_reads(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->nforce_spans; i++)
        LG_TRY(lg_reads_add(m->force_spans[i], at, want));
    return LG_OK;
}

static void gather(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    for (int i = 0; i < m->nbody_spans; i++)
        if (!m->body_spans[i].first->type->is_support)
            m->body_spans[i].first->type->gather(m->body_spans[i], at, want);
}

/* Whether forces or rows are wanted; a tangent needs both. */
static int wants_forces(const lg_wanted *want)
{
    return want->force || lg_wants_slopes(want);
}

static int wants_rows(const lg_model *m, const lg_wanted *want)
{
    return m->space.nrows &&
           (want->Btlam || want->phi || want->phidot || want->zeta || want->B || want->Z || lg_wants_slopes(want));
}

/* The frames whose poses are needed if nothing else reads them: rows alone leave out bodies without rows. */
static lg_reach reach_of(const lg_wanted *want)
{
    int more = want->force || want->Btlam || want->Ma || want->gyro || want->ntangents;
    return more ? LG_REACH_USED : LG_REACH_ROWS;
}

static inline lg_status move_for(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want,
                                 lg_reach reach)
{
    return model_move(m, form, at, level_of(m, want, wants_forces(want), wants_rows(m, want)), reach);
}

/* Forces and joints leave their wrenches on the frames. */
static inline lg_status model_add_wrenches(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want)
{
    int forces = wants_forces(want), rows = wants_rows(m, want);
    if (forces)
        LG_TRY(add_forces(m, form, at, want, 0));
    return rows || forces ? add_joints(m, form, at, want, rows) : LG_OK;
}

/* Bodies take the wrenches, and blocks add their own rows. */
static inline lg_status collect(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want)
{
    int forces = wants_forces(want);
    if (forces || want->Btlam)
        gather(m, at, want);
    if (wants_rows(m, want))
        lg_model_own_rows(m, at, want);
    if (forces && m->coordinate_forces)
        LG_TRY(add_forces(m, form, at, want, 1));
    if (m->ntendons && lg_wants_slopes(want))
        lg_tendons_add(m, at, want, lg_tendon_add_end);
    return m->laws_read && lg_wants_slopes(want) ? lg_model_add_reads(m, at, want) : LG_OK;
}

/* Values in the scratch that forces take. */
static inline lg_status set_values(const lg_model *m, const lg_point *at)
{
    if (m->ntendons)
        lg_tendons_pull(m, at);
    return m->ncontrols ? lg_model_control(m, at) : LG_OK;
}

/* Inline, so that each form is a function of its own, without a choice in it. */
static inline lg_status eval(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want)
{
    lg_wanted slopes;
    LG_TRY(move_for(m, form, at, want, reach_of(want)));
    if (wants_forces(want))
        LG_TRY(set_values(m, at));
    if (want->Ma || want->gyro || want->ntangents)
        add_inertia(m, form, at, want);
    if (want->ntangents > 1) { // inertia has filled the matrices of masses, which may lack the blocks between bodies
        slopes = *want, slopes.ntangents = lg_count_slopes(want);
        want = &slopes;
    }
    LG_TRY(model_add_wrenches(m, form, at, want));
    LG_TRY(collect(m, form, at, want));
    if (m->ncontrols && lg_wants_slopes(want))
        LG_TRY(lg_model_add_controls(m, at, want));
    if (m->pattern.nmasked)
        lg_model_mask(m, at, want);
    return LG_OK;
}

#define EVAL(name, form)                                                                                               \
    static lg_status eval_##name(void *self, const lg_point *at, const lg_wanted *want)                                \
    {                                                                                                                  \
        return eval(self, form, at, want);                                                                             \
    }
LG_EACH_FORM(EVAL)

#define ENTRY(name, form) [form] = eval_##name,
static lg_evaluate *const eval_in[] = {LG_EACH_FORM(ENTRY)};

lg_evaluate *lg_model_eval_in(lg_form form)
{
    return eval_in[form];
}

void lg_model_form(lg_form form, lg_system *sibling)
{
    const lg_model *m = sibling->self;
    sibling->eval = eval_in[form];
    sibling->sensitivity = m->sensitivity ? &m->sensitivity[form] : NULL;
}

lg_status lg_model_add_wrenches(const lg_model *m, lg_form form, const lg_point *at, const lg_wanted *want)
{
    LG_TRY(move_for(m, form, at, want, LG_REACH_USED));
    if (m->ntendons && wants_forces(want))
        lg_tendons_pull(m, at);
    if (lg_wants_slopes(want))
        clear_stiffness(m, 0, at);
    return model_add_wrenches(m, form, at, want);
}

lg_status lg_model_collect(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    return collect(m, LG_FORM_DYNAMICS, at, want);
}

/* The wrenches of forces alone, on frames that move; `gathered` is where bodies would gather them, and where forces on
   coordinates of trees are. */
static LG_APART lg_status add_force_wrenches(const lg_model *m, const lg_point *at, double *gathered)
{
    const lg_wanted forces = {.force = gathered};
    LG_TRY(model_move(m, LG_FORM_DYNAMICS, at, m->force_level, LG_REACH_USED));
    LG_TRY(set_values(m, at));
    LG_TRY(add_forces(m, LG_FORM_DYNAMICS, at, &forces, 0));
    LG_TRY(add_joints(m, LG_FORM_DYNAMICS, at, &forces, 0));
    if (m->system.inverse_mass)
        lg_zero(m->space.nv, gathered);
    return m->coordinate_forces ? add_forces(m, LG_FORM_DYNAMICS, at, &forces, 1) : LG_OK;
}

static inline lg_status accelerate_span(lg_span bodies, const lg_point *at, double *a)
{
    const lg_body_alone *alone = bodies.first->type->alone;
    return alone ? alone->accelerate(bodies, at, a) : LG_OK;
}

static LG_APART lg_status accelerate_spans(const lg_model *m, const lg_point *at, double *a)
{
    for (int i = 0; i < m->nbody_spans; i++)
        LG_TRY(accelerate_span(m->body_spans[i], at, a));
    return LG_OK;
}

/* Every body finds its acceleration from the wrenches on its frames: nothing couples the accelerations of two
   blocks. */
lg_status lg_model_accelerate(void *self, const lg_point *at, double *a)
{
    const lg_model *m = self;
    return m->nbody_spans == 1 ? accelerate_span(m->body_spans[0], at, a) : accelerate_spans(m, at, a);
}

lg_status lg_model_accelerate_under_wrenches(void *self, const lg_point *at, double *a)
{
    LG_TRY(add_force_wrenches(self, at, a));
    return lg_model_accelerate(self, at, a);
}

/* ---- M^-1 of single blocks ---- */

static int inverse_size(void *self, int block)
{
    const lg_body *b = lg_model_body_on(self, block);
    return b->type->alone ? b->type->alone->mass->size(b) : -1;
}

static lg_status inverse_factor(void *self, const lg_point *at, int block, double *factor, int *deficient)
{
    const lg_body *b = lg_model_body_on(self, block);
    if (!b->type->alone->mass->factor)
        return LG_OK;
    if (!at->same_q)
        LG_TRY(b->type->kinematics((lg_span){b, b + 1}, at, LG_NO_POSES, LG_REACH_USED));
    return b->type->alone->mass->factor(b, at, factor, deficient);
}

static void inverse_solve(void *self, int block, double *factor, int n, int ld, double *x)
{
    const lg_body *b = lg_model_body_on(self, block);
    b->type->alone->mass->solve(b, factor, n, ld, x);
}

const lg_inverse_mass lg_model_inverse_mass = {.size = inverse_size, .factor = inverse_factor, .solve = inverse_solve};

lg_status lg_model_energy(void *self, const lg_point *at, double *T, double *V)
{
    const lg_model *m = self;
    const lg_pose *pose[2];
    *T = *V = 0;
    /* dead loads have frames that are not active */
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_ALL));
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (b->type->energy)
            b->type->energy(b, at, T, V);
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++) {
        lg_element_poses(&f->e, at, pose);
        *V += f->type->potential && !f->type->piece ? f->type->potential(&f->e, pose, at) : 0;
    }
    *V += m->ntendons ? lg_tendons_energy(m, at) : 0;
    for (const lg_joint *j = m->joints; j < m->joints + m->njoints; j++)
        if (j->type->compliance) {
            double stored;
            LG_TRY(j->type->compliance->exert(j, at, 0, 0, &stored, NULL));
            *V += stored;
        }
    return LG_OK;
}

double lg_model_next_kink(void *self, double t)
{
    const lg_model *m = self;
    double next = lg_controls_next_sample(m, t);
    for (const lg_body *b = m->bodies; b < m->bodies + m->nbodies; b++)
        if (b->type->next_kink)
            next = fmin(next, b->type->next_kink(b, t));
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (f->type->next_kink)
            next = fmin(next, f->type->next_kink(&f->e, t));
    for (const lg_joint *j = m->joints; j < m->joints + m->njoints; j++)
        if (j->type->next_kink)
            next = fmin(next, j->type->next_kink(&j->e, t));
    return next;
}

/* The sum of the absolute values of the forces on the frames of an element. */
static double sum_of_forces(const lg_element *e, const lg_point *at)
{
    double sum = 0;
    for (int s = 0; s < e->info->nframes; s++)
        for (int i = 0; i < 6; i++)
            sum += fabs(lg_pose_of(e->frame[s], at)->wrench[LG_FORCES][i]);
    return sum;
}

/* Whether everything that the force adds to the wrenches of its frames, or to its coordinate, is finite; with what a
   law of the user has returned. */
static int has_finite_force(const lg_force *f, const lg_point *at, lg_witness *witness)
{
    const lg_wanted nothing = {0};
    lg_force watched = *f;
    double law[3] = {0}, dead[6];
    lg_status status;
    watched.e.law = lg_law_watched(&f->e.law, witness);
    if (f->added_by_body)
        return f->type->dead(&f->e, dead) && lg_all_finite(6, dead);
    if (f->type->coordinate)
        status = lg_force_on_coordinate(&watched, at, 0, law);
    else
        status = lg_force_span(f->type, (lg_forces){&watched, &watched + 1}, at, &nothing);
    double sum = f->type->coordinate ? law[0] : sum_of_forces(&f->e, at);
    return status != LG_NOT_FINITE && isfinite(sum);
}

/* The same for a joint with compliance. */
static int has_finite_stress(const lg_joint *j, const lg_point *at)
{
    double force; /* bodies would gather it */
    const lg_wanted forces = {.force = &force};
    lg_status status = lg_joint_span(j->type, (lg_joints){j, j + 1}, at, &forces);
    return status != LG_NOT_FINITE && isfinite(sum_of_forces(&j->e, at));
}

static int report_control(const lg_model *m, const lg_point *at, lg_report *report)
{
    const lg_controller *c = lg_model_control_not_finite(m, at);
    if (c)
        lg_report_force(report, c->given.name, c->given.nvalues, at->work + c->value);
    return c != NULL;
}

static int report_force(const lg_model *m, const lg_point *at, lg_report *report)
{
    lg_witness law;
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++) {
        if (has_finite_force(f, at, &law))
            continue;
        if (!lg_tendon_has_met(m, f, at, report))
            lg_report_force(report, f->e.name, law.n, law.value);
        return 1;
    }
    return 0;
}

static int report_stress(const lg_model *m, const lg_point *at, lg_report *report)
{
    for (const lg_joint *j = m->joints; j < m->joints + m->njoints; j++)
        if (j->type->compliance && !has_finite_stress(j, at)) {
            lg_report_force(report, j->e.name, 0, NULL);
            return 1;
        }
    return 0;
}

int lg_model_not_finite(void *self, const lg_point *at, lg_report *report)
{
    const lg_model *m = self;
    if (lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED) != LG_OK)
        return 0;
    lg_tendons_pull(m, at);
    return report_control(m, at, report) || report_force(m, at, report) || report_stress(m, at, report);
}
