/* Tendons in a step of the conserving form; see element.h. */
#include "model/step/element.h"
#include "model/tangent.h"
#include "system/chain.h"

/* The work of a wrench along the motion of the block under one end, into the slopes of a tendon. */
typedef void pull_end(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out);

static void pull_in_step(const lg_motion *step, const lg_element *e, int end, const double wrench[6], double *out)
{
    lg_motion_pull(step, e->frame[end], wrench, out);
}

static void add_pulled(const lg_pair_step *s, const lg_tendon *tendon, int i, const double wrench[2][6], pull_end *pull,
                       double *out)
{
    const lg_element *e = &lg_tendon_piece(s->motion.m, tendon, i)->e;
    double on_block[LG_MAX_NV];
    for (int end = 0; end < 2; end++) {
        int member = tendon->member[2 * i + end];
        if (member < 0)
            continue;
        pull(&s->motion, e, end, wrench[end], on_block);
        lg_axpy(e->frame[end]->body->block->nv, -1, on_block, out + tendon->first[member]);
    }
}

static void open_piece(const lg_pair_step *s, const lg_force *piece, lg_step_between *b)
{
    lg_step_open(s, &piece->e, lg_step_base_of(&piece->e), piece->type->sees == LG_SEES_DISTANCE, b);
}

/* Adds the lengths of a piece at both ends of the step, and the derivative of that at the end: under a tension of one
   the potential of a piece is its length. */
static lg_status measure_piece(const lg_pair_step *s, const lg_tendon *tendon, int i, double *L0, double *L1,
                               const lg_tendon_slopes *slopes)
{
    const lg_force *piece = lg_tendon_piece(s->motion.m, tendon, i);
    const lg_element_ref of = {.force = piece};
    double *start = s->V + s->motion.m->njoints + (piece - s->motion.m->forces), length, wrench[2][6];
    lg_step_between b;
    lg_exerted end;
    open_piece(s, piece, &b);
    if (!s->motion.pair->same_start)
        LG_TRY(lg_step_potential_at(s, &b, &of, LG_AT_START, start));
    LG_TRY(lg_step_potential_at(s, &b, &of, LG_AT_END, &length));
    *L0 += *start, *L1 += length;
    if (!lg_step_is_linear(s))
        return LG_OK;
    LG_TRY(lg_step_exert_at(s, &b, &of, LG_AT_END, 0, 0, &end));
    lg_relative_spread_at_end(&b.r, end.fm, wrench);
    add_pulled(s, tendon, i, (const double (*)[6])wrench, lg_motion_pull_at_end, slopes->by_q);
    return LG_OK;
}

/* Adds T times what a piece exerts under a tension of one. */
static lg_status add_piece(const lg_pair_step *s, const lg_tendon *tendon, int i, double T,
                           const lg_tendon_slopes *slopes)
{
    const lg_force *piece = lg_tendon_piece(s->motion.m, tendon, i);
    const lg_element_ref of = {.force = piece};
    double wrench[2][6];
    lg_step_between b;
    lg_exerted unit, exerted = {{0}, {0}};
    double *noise = s->motion.wanted->noise, before = noise ? *noise : 0;
    open_piece(s, piece, &b);
    LG_TRY(lg_step_exert_in_step(s, &b, &of, 1, 0, s->V + s->motion.m->njoints + (piece - s->motion.m->forces), &unit));
    if (lg_step_is_linear(s)) {
        lg_relative_spread(&b.r, unit.fm, wrench);
        add_pulled(s, tendon, i, (const double (*)[6])wrench, pull_in_step, slopes->pull);
    }
    if (noise)
        *noise = before + T * (*noise - before);
    lg_step_add_part(s, T, &unit, &exerted);
    lg_step_add_wrenches(s, &b, LG_FORCES, &exerted);
    lg_step_add_tangent(s, &b, -1, &exerted);
    return LG_OK;
}

lg_status lg_step_add_tendon(const lg_pair_step *s, const lg_tendon *tendon)
{
    const lg_model *m = s->motion.m;
    lg_tendon_slopes slopes = lg_tendon_open(m, tendon, s->at.work);
    double L0 = 0, L1 = 0, slope;
    s->at.work[tendon->tension] = 1;
    lg_zero(2 * tendon->nv, slopes.pull); // and by_q
    for (int i = 0; i < tendon->npieces; i++)
        LG_TRY(measure_piece(s, tendon, i, &L0, &L1, &slopes));
    double T = lg_tendon_between(m, tendon, L0, L1, s->motion.pair->h, &slope);
    for (int i = 0; i < tendon->npieces; i++)
        LG_TRY(add_piece(s, tendon, i, T, &slopes));
    if (!lg_step_is_linear(s) || slope == 0)
        return LG_OK;
    for (int i = 0; i < tendon->nblocks; i++)
        lg_chain_mul(&m->blocks[tendon->block[i]], &s->motion.wanted->chain[tendon->block[i]], 0, 1,
                     slopes.by_q + tendon->first[i], slopes.by_unknown + tendon->first[i]);
    const lg_tangent to = {s->motion.wanted->S, s->motion.wanted->chain};
    lg_tendon_add_product(m, tendon, &slopes, slope, &to);
    return LG_OK;
}
