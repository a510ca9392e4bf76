/* What an element exerts in a step; see element.h. */
#include "model/step/element.h"

#include "model/tangent.h"
#include "system/gonzalez.h"

int lg_step_base_of(const lg_element *e)
{
    return lg_element_moves(e, 0) && !lg_element_moves(e, 1);
}

/* The square of the length that makes angles comparable with distances: the distance of the points and their arms, or 1
   if that is hardly more than the round-off of positions, as between bodies that are joined at their centres. */
static double square_length(const lg_pair_step *s, const lg_element *e, const lg_relative *r)
{
    double l2 = lg_dot3(r->r[LG_AT_START], r->r[LG_AT_START]), least = 1e-6 * (1 + s->largest);
    for (int i = 0; i < 2; i++)
        l2 += lg_element_moves(e, i) ? lg_dot3(e->frame[i]->offset, e->frame[i]->offset) : 0;
    return l2 > least * least ? l2 : 1;
}

void lg_step_open(const lg_pair_step *s, const lg_element *e, int base, int by_distance, lg_step_between *out)
{
    lg_relative *r = &out->r;
    lg_relative_open(&s->motion, e, base, by_distance, r);
    out->e = e;
    out->l2 = square_length(s, e, r);
    for (int i = 0; i < 6; i++)
        out->Wy[i] = (i < 3 ? 1 : out->l2) * r->y[i];
    out->N = lg_dot(6, r->y, out->Wy);
    out->shortest = LG_GONZALEZ_SHORT * sqrt(out->l2);
    if (s->motion.wanted->turned && !by_distance && lg_motion_overturns(&s->motion, e))
        *s->motion.wanted->turned = e->name;
}

static int is_short(const lg_step_between *b)
{
    return !(b->N > b->shortest * b->shortest);
}

void lg_step_add_part(const lg_pair_step *s, double sign, const lg_exerted *B, lg_exerted *A)
{
    lg_axpy(6, sign, B->fm, A->fm);
    if (lg_step_is_linear(s))
        lg_axpy(36, sign, B->G, A->G);
}

void lg_step_set_slopes(const lg_pair_step *s, const lg_relative *r, const lg_quarters *K, const lg_quarters *D,
                        double G[36])
{
    double rate[36];
    lg_zero(36, G);
    lg_quarters_mul_add(K, 6, r->middle, G);
    if (!D || !D->has)
        return;
    for (int i = 0; i < 36; i++)
        rate[i] = r->change[i] / s->motion.pair->h;
    lg_quarters_mul_add(D, 6, rate, G);
}

void lg_step_add_noise(const lg_pair_step *s, const lg_step_between *b, double sizes)
{
    if (s->motion.wanted->noise)
        *s->motion.wanted->noise += lg_gonzalez_noise(sizes, b->N, b->shortest);
}

void lg_step_add_correction(const lg_pair_step *s, const lg_step_between *b, double c, const lg_exerted *g,
                            const double at_end[6], lg_exerted *out)
{
    for (int j = 0; j < 6 && lg_step_is_linear(s) && !is_short(b); j++) {
        const double *dy = b->r.change + 6 * j;
        double excess = at_end[j] - lg_dot(6, g->fm, dy) - lg_dot(6, b->r.y, g->G + 6 * j);
        lg_axpy(6, lg_gonzalez_slope(c, b->N, excess, 2 * lg_dot(6, b->Wy, dy)), b->Wy, out->G + 6 * j);
        lg_axpy(3, c, dy, out->G + 6 * j);
        lg_axpy(3, c * b->l2, dy + 3, out->G + 6 * j + 3);
    }
    lg_axpy(6, c, b->Wy, out->fm);
}

void lg_step_add_wrenches(const lg_pair_step *s, const lg_step_between *b, int sum, const lg_exerted *p)
{
    double wrench[2][6];
    lg_relative_spread(&b->r, p->fm, wrench);
    for (int i = 0; i < 2; i++)
        lg_motion_add_wrench(&s->motion, b->e->frame[i], sum, wrench[i]);
}

void lg_step_add_tangent(const lg_pair_step *s, const lg_step_between *b, double sign, const lg_exerted *p)
{
    if (lg_step_is_linear(s))
        lg_relative_add(&b->r, &s->motion, b->e, sign, p->fm, p->G);
}

/* ---- potentials ---- */

lg_status lg_step_potential_at(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of, int where,
                               double *V)
{
    const lg_pose *f[2];
    lg_relative_put(&b->r, b->e, &s->at, where, 0);
    if (of->joint)
        return of->joint->type->compliance->exert(of->joint, &s->at, 0, 0, V, NULL);
    lg_element_poses(b->e, &s->at, f);
    *V = of->force->type->potential(b->e, f, &s->at);
    return LG_OK;
}

lg_status lg_step_exert_at(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of, int where,
                           int moving, int linear, lg_exerted *out)
{
    int end = 1 - b->r.base;
    double V;
    lg_load load;
    lg_relative_put(&b->r, b->e, &s->at, where, moving);
    if (of->joint)
        LG_TRY(of->joint->type->compliance->exert(of->joint, &s->at, moving, linear, &V, &load));
    else
        LG_TRY(lg_force_load(of->force, &s->at, !moving, linear, &load));
    lg_copy(6, load.w[end], out->fm);
    if (linear)
        lg_step_set_slopes(s, &b->r, &load.K[end][end], &load.D[end][end], out->G);
    return LG_OK;
}

/* Corrects `out` to the negative gradient of the potential in the step; V0: the potential at the start. */
static lg_status correct_potential(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of,
                                   double *V0, const lg_exerted *g, lg_exerted *out)
{
    double V1, noise = lg_norm3(g->fm) * (s->largest + sqrt(b->l2)) + lg_norm3(g->fm + 3);
    lg_exerted end;
    if (!s->motion.pair->same_start)
        LG_TRY(lg_step_potential_at(s, b, of, LG_AT_START, V0));
    LG_TRY(lg_step_potential_at(s, b, of, LG_AT_END, &V1));
    if (lg_step_is_linear(s))
        LG_TRY(lg_step_exert_at(s, b, of, LG_AT_END, 0, 0, &end));
    double c = lg_gonzalez(*V0 - V1, lg_dot(6, g->fm, b->r.y), b->N, b->shortest);
    lg_step_add_noise(s, b, fabs(*V0) + fabs(V1) + noise);
    lg_step_add_correction(s, b, c, g, end.fm, out);
    return LG_OK;
}

lg_status lg_step_exert_in_step(const lg_pair_step *s, const lg_step_between *b, const lg_element_ref *of,
                                int has_potential, int moves, double *V0, lg_exerted *out)
{
    lg_exerted rest;
    LG_TRY(lg_step_exert_at(s, b, of, LG_AT_MIDDLE, moves, lg_step_is_linear(s), out));
    if (!has_potential)
        return LG_OK;
    if (moves)
        LG_TRY(lg_step_exert_at(s, b, of, LG_AT_MIDDLE, 0, lg_step_is_linear(s), &rest));
    return correct_potential(s, b, of, V0, moves ? &rest : out, out);
}

lg_status lg_step_add_force(const lg_pair_step *s, const lg_force *force, double *V0)
{
    const lg_force_type *type = force->type;
    const lg_element_ref of = {.force = force};
    lg_step_between b;
    lg_exerted out;
    lg_step_open(s, &force->e, lg_step_base_of(&force->e), type->sees == LG_SEES_DISTANCE, &b);
    LG_TRY(
        lg_step_exert_in_step(s, &b, &of, type->potential != NULL, type->needs_twists || !type->potential, V0, &out));
    lg_step_add_wrenches(s, &b, LG_FORCES, &out);
    lg_step_add_tangent(s, &b, -1, &out);
    return LG_OK;
}
