#include "model/ends.h"

lg_point lg_step_point(const lg_pair *pair, const double *q, const double *v)
{
    lg_point at = lg_point_at(pair->t + 0.5 * pair->h, q, v);
    at.lam = pair->lam, at.mem.values = pair->mem, at.work = pair->work;
    return at;
}

lg_point lg_step_end(const lg_pair *pair, const double *v)
{
    lg_point at = lg_step_point(pair, pair->q1, v);
    at.t = pair->t + pair->h;
    return at;
}

void lg_step_chains(const lg_model *m, const lg_pair *pair, const lg_chain *end, lg_chain *middle)
{
    for (int i = 0; i < m->space.nblocks; i++) {
        double k = end[i].k[0];
        const double *X = end[i].X[0];
        middle[i] = (lg_chain){.k = {0.5 * k, k / pair->h, 0}, .X = {X, X, NULL}};
    }
}

lg_status lg_step_rows(const lg_model *m, lg_form form, const lg_point *at, double *phi, double *B)
{
    lg_wanted want = {.phi = phi, .B = B};
    if (!m->space.nrows || (!phi && !B))
        return lg_model_move(m, form, at, LG_POSES, LG_REACH_USED);
    LG_TRY(lg_model_add_wrenches(m, form, at, &want));
    return lg_model_collect(m, at, &want);
}

void lg_step_slips(const lg_model *m, const lg_pair *pair, const lg_pair_wanted *wanted, const double *phidot,
                   double *B, double *Z, double *part)
{
    const lg_pattern *p = &m->pattern;
    for (int i = 0; wanted->phi && i < p->nnonholonomic; i++) {
        int row = lg_pattern_nonholonomic(p, i);
        wanted->phi[row] = pair->h * phidot[row];
    }
    if (!wanted->B)
        return;
    lg_pattern_mask_nonholonomic(p, 0, wanted->B);
    lg_pattern_part(p, B, part);
    lg_axpy(p->nvalues, 1, part, wanted->B);
    lg_pattern_part(p, Z, part);
    lg_axpy(p->nvalues, 0.5 * pair->h, part, wanted->B);
}
