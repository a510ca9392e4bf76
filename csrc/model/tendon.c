/* Tensions of elastic tendons; see tendon.h. */
#include "model/tendon.h"

#include "model/force/coordinate.h"
#include "model/rows.h"
#include "system/chain.h"

/* The parameters of its first piece, before the last one. */
enum { STIFFNESS, DAMPING, LENGTH, OWN = 4 };

static const double *own(const lg_element *e)
{
    return e->p + e->np - OWN;
}

static int goes_on(const lg_force *piece)
{
    return piece->e.p[piece->e.np - 1] != 0;
}

/* ---- the description ---- */

void lg_tendons_layout(lg_model *m, int npieces, lg_arena *arena)
{
    m->tendons = lg_arena_take(arena, (size_t)npieces * sizeof *m->tendons);
    m->tendon_pieces = lg_arena_ints(arena, 7 * (size_t)npieces);
}

/* The width of the largest block. */
static int largest_block(const lg_model *m)
{
    int nv = 0;
    for (int i = 0; i < m->space.nblocks; i++)
        nv = m->blocks[i].nv > nv ? m->blocks[i].nv : nv;
    return nv;
}

lg_tendon_slopes lg_tendon_open(const lg_model *m, const lg_tendon *tendon, double *work)
{
    double *end = work + tendon->work;
    lg_tendon_slopes s = {.pull = end, .by_q = end + tendon->nv, .by_v = end + 2 * tendon->nv};
    s.by_unknown = end + 3 * tendon->nv, s.along = end + 4 * tendon->nv, s.H = end + 5 * tendon->nv;
    s.Z = s.H + 6 * largest_block(m);
    return s;
}

/* The position of a block in the clique, of which it becomes a member; -1: there is no block. */
static int join(const lg_model *m, lg_tendon *tendon, int block, lg_layout *layout)
{
    int i = 0;
    if (block < 0)
        return -1;
    while (i < tendon->nblocks && tendon->block[i] != block)
        i++;
    if (i < tendon->nblocks)
        return i;
    tendon->block[tendon->nblocks] = block;
    tendon->first[tendon->nblocks++] = tendon->nv;
    tendon->nv += m->blocks[block].nv;
    lg_layout_member(layout, block);
    return i;
}

/* Makes the clique, which also couples the two blocks of each piece. */
static void connect(lg_model *m, lg_tendon *tendon, lg_layout *layout)
{
    for (int i = 0; i < 2 * tendon->npieces; i++)
        tendon->member[i] = join(m, tendon, lg_tendon_piece(m, tendon, i / 2)->e.frame[i % 2]->body->index, layout);
    tendon->matrix_block = lg_layout_clique(layout);
    tendon->tension = (size_t)m->system.nwork;
    tendon->work = tendon->tension + 1;
    m->system.nwork += 1 + 5 * tendon->nv + 12 * largest_block(m);
    for (int i = 0; i < tendon->npieces; i++) {
        lg_element *e = (lg_element *)&lg_tendon_piece(m, tendon, i)->e;
        const int *member = tendon->member + 2 * i;
        e->value = tendon->tension;
        for (int s = 0; s < 2; s++)
            for (int t = 0; t < 2; t++)
                if (member[s] >= 0 && member[t] >= 0 && member[s] != member[t])
                    e->matrix_block[s][t] = tendon->matrix_block + (long)tendon->nblocks * member[s] + member[t];
    }
}

/* The forces of the pieces; a tendon has its arrays one after the other behind those of the tendon before. */
static lg_status collect(lg_model *m, lg_report *report)
{
    int *next = m->tendon_pieces;
    for (int i = 0; i < m->nelements; i++) {
        const lg_force *force = m->element_of[i].force, *before = i ? m->element_of[i - 1].force : NULL;
        if (!force || !force->type->piece)
            continue;
        if (goes_on(force) && !(before && before->type->piece))
            return lg_model_refuse(report, force->e.name,
                                   "there is no piece of a tendon before it that it could continue");
        if (!goes_on(force))
            m->tendons[m->ntendons++] = (lg_tendon){.piece = next};
        lg_tendon *tendon = &m->tendons[m->ntendons - 1];
        tendon->piece[tendon->npieces++] = (int)(force - m->forces);
        next++;
    }
    for (lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++) {
        tendon->member = next, tendon->block = next + 2 * tendon->npieces, tendon->first = next + 4 * tendon->npieces;
        next += 6 * tendon->npieces;
    }
    return LG_OK;
}

lg_status lg_tendons_fill(lg_model *m, lg_layout *layout, lg_report *report)
{
    LG_TRY(collect(m, report));
    for (lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++)
        connect(m, tendon, layout);
    return LG_OK;
}

/* ---- tensions ---- */

static const double *parameters_of(const lg_model *m, const lg_tendon *tendon)
{
    return own(&lg_tendon_piece(m, tendon, 0)->e);
}

static void open_piece(const lg_force *piece, const lg_point *at, lg_coordinate *out)
{
    const lg_pose *f[2];
    lg_element_poses(&piece->e, at, f);
    piece->type->piece->open(&piece->e, f, at, out);
}

static double length_at(const lg_model *m, const lg_tendon *tendon, const lg_point *at, double *rate)
{
    double length = 0;
    *rate = 0;
    for (int i = 0; i < tendon->npieces; i++) {
        lg_coordinate piece;
        open_piece(lg_tendon_piece(m, tendon, i), at, &piece);
        length += piece.s, *rate += piece.rate;
    }
    return length;
}

/* T, with its derivatives by L and by L'. What is not a number stays so. */
static void tension_at(const lg_model *m, const lg_tendon *tendon, const lg_point *at, double law[3])
{
    const double *p = parameters_of(m, tendon);
    double rate, stretch = length_at(m, tendon, at, &rate) - p[LENGTH];
    law[0] = stretch <= 0 ? 0 : p[STIFFNESS] * stretch + p[DAMPING] * rate;
    int slack = stretch <= 0 || law[0] <= 0;
    if (slack)
        law[0] = 0;
    law[1] = slack ? 0 : p[STIFFNESS], law[2] = slack ? 0 : p[DAMPING];
}

void lg_tendons_pull(const lg_model *m, const lg_point *at)
{
    double law[3];
    for (const lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++) {
        tension_at(m, tendon, at, law);
        at->work[tendon->tension] = law[0];
    }
}

const lg_tendon *lg_tendon_of(const lg_model *m, const lg_force *force)
{
    for (const lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++)
        for (int i = 0; i < tendon->npieces; i++)
            if (lg_tendon_piece(m, tendon, i) == force)
                return tendon;
    return NULL;
}

void lg_tendon_measure(const lg_model *m, const lg_tendon *tendon, const lg_point *at, double *tension, double *length,
                       double *rate)
{
    double law[3];
    tension_at(m, tendon, at, law);
    *tension = law[0];
    *length = length_at(m, tendon, at, rate);
}

int lg_tendon_has_met(const lg_model *m, const lg_force *force, const lg_point *at, lg_report *report)
{
    const lg_tendon *tendon = lg_tendon_of(m, force);
    for (int i = 0; tendon && i < tendon->npieces; i++) {
        const lg_force *f = lg_tendon_piece(m, tendon, i);
        const char *name = lg_tendon_piece(m, tendon, 0)->e.name;
        lg_coordinate piece;
        open_piece(f, at, &piece);
        if (isfinite(piece.s) && isfinite(piece.rate)) /* where circles touch, the rate of the length is infinite */
            continue;
        int is_point = f->type->on_point(&f->e, 0);
        if (!is_point && !f->type->on_point(&f->e, 1))
            lg_report_say(report, "the tendon %.*s, whose pulleys at places %d and %d touch", LG_SHORT(name), i, i + 1);
        else
            lg_report_say(report, "the tendon %.*s, whose place %d lies inside its pulley at place %d", LG_SHORT(name),
                          i + !is_point, i + is_point);
        lg_report_advise(report, "keep them apart by limits of a joint or a contact, or try a smaller h");
        return 1;
    }
    return 0;
}

double lg_tendons_energy(const lg_model *m, const lg_point *at)
{
    double V = 0;
    for (const lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++) {
        const double *p = parameters_of(m, tendon);
        double rate, stretch = length_at(m, tendon, at, &rate) - p[LENGTH];
        V += stretch <= 0 ? 0 : p[STIFFNESS] * stretch * stretch / 2;
    }
    return V;
}

double lg_tendon_between(const lg_model *m, const lg_tendon *tendon, double L0, double L1, double h, double *slope)
{
    const double *p = parameters_of(m, tendon);
    double k = p[STIFFNESS], c = p[DAMPING] / h, low = fmax(L0 - p[LENGTH], 0), high = fmax(L1 - p[LENGTH], 0);
    double T, step = L1 - L0;
    *slope = 0;
    if (low == 0 && high == 0)
        return 0;
    if (low > 0 && high > 0)
        T = k * (low + high) / 2, *slope = k / 2;
    else
        T = k * (high * high - low * low) / (2 * step), *slope = (k * high - T) / step;
    T += c * step, *slope += c;
    if (T > 0)
        return T;
    *slope = 0;
    return 0;
}

/* ---- derivatives ---- */

void lg_tendon_add_product(const lg_model *m, const lg_tendon *tendon, const lg_tendon_slopes *slopes, double s,
                           const lg_tangent *to)
{
    for (int i = 0; i < tendon->nblocks; i++)
        for (int j = 0; j < tendon->nblocks; j++) {
            int ld, rows = m->blocks[tendon->block[i]].nv, columns = m->blocks[tendon->block[j]].nv;
            long block = i == j ? tendon->block[i] : tendon->matrix_block + (long)tendon->nblocks * i + j;
            double *S = lg_matrix_at(to->S, block, &ld);
            for (int k = 0; k < columns; k++)
                lg_axpy(rows, s * slopes->by_unknown[tendon->first[j] + k], slopes->pull + tendon->first[i],
                        S + (size_t)k * (size_t)ld);
        }
}

void lg_tendon_add_end(const lg_frame *f, const lg_point *at, const lg_wanted *want, const double u[6],
                       const double dT[6], double c, const lg_tendon_slopes *part)
{
    (void)want;
    f->body->type->frames->pull(f, at, 1, u, part->pull);
    f->body->type->frames->H(f, at, part->H);
    f->body->type->frames->Z(f, at, part->Z);
    for (int k = 0; k < f->body->block->nv; k++) {
        part->by_q[k] += lg_dot(6, dT, part->H + 6 * k) + c * lg_dot(6, u, part->Z + 6 * k);
        part->by_v[k] += c * lg_dot(6, u, part->H + 6 * k);
    }
}

/* What a tangent is made of: the law of a tendon, and how its ends move. */
typedef struct motion {
    const lg_point *at;
    const lg_wanted *want;
    double law[3];
    lg_tendon_end *add_end;
} motion;

static void add_piece(const lg_model *m, const lg_tendon *tendon, int i, const motion *by, const lg_tendon_slopes *s)
{
    const lg_force *piece = lg_tendon_piece(m, tendon, i);
    const lg_pose *f[2];
    double dT[2][6] = {{0}};
    lg_coordinate length;
    lg_element_poses(&piece->e, by->at, f);
    piece->type->piece->open(&piece->e, f, by->at, &length);
    piece->type->piece->slopes(&piece->e, f, &length, by->law, dT);
    for (int end = 0; end < 2; end++) {
        int member = tendon->member[2 * i + end], first = member < 0 ? 0 : tendon->first[member];
        lg_tendon_slopes part = *s;
        part.pull += first, part.by_q += first, part.by_v += first;
        if (member >= 0)
            by->add_end(piece->e.frame[end], by->at, by->want, length.u[end], dT[end], by->law[2], &part);
    }
}

static void follow_unknowns(const lg_model *m, const lg_tendon *tendon, const lg_tangent *to, const lg_tendon_slopes *s)
{
    for (int i = 0; i < tendon->nblocks; i++) {
        const lg_chain *chain = lg_chain_of(to, tendon->block[i]);
        const lg_block *block = &m->blocks[tendon->block[i]];
        int first = tendon->first[i];
        lg_chain_mul(block, chain, 0, 1, s->by_q + first, s->by_unknown + first);
        lg_chain_mul(block, chain, 1, 1, s->by_v + first, s->along);
        lg_axpy(block->nv, 1, s->along, s->by_unknown + first);
    }
}

void lg_tendons_add(const lg_model *m, const lg_point *at, const lg_wanted *want, lg_tendon_end *add_end)
{
    motion by = {.at = at, .want = want, .add_end = add_end};
    for (const lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++) {
        tension_at(m, tendon, at, by.law);
        if (by.law[1] == 0 && by.law[2] == 0)
            continue;
        lg_tendon_slopes s = lg_tendon_open(m, tendon, at->work);
        lg_zero(3 * tendon->nv, s.pull); // and by_q, by_v
        for (int i = 0; i < tendon->npieces; i++)
            add_piece(m, tendon, i, &by, &s);
        for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
            if (!to->chain)
                continue;
            follow_unknowns(m, tendon, to, &s);
            lg_tendon_add_product(m, tendon, &s, 1, to);
        }
    }
}

/* ---- memory ---- */

/* The angle at an end of a piece, from e1 of the circle there; at a point it is zero. */
static double angle_at(const lg_model *m, const lg_tendon *tendon, int piece, int end, const double *mem)
{
    const lg_element *e = piece < 0 || piece >= tendon->npieces ? NULL : &lg_tendon_piece(m, tendon, piece)->e;
    return e && e->info->nmem ? mem[e->mem + end] : 0;
}

lg_status lg_tendons_commit(const lg_model *m, const double *mem, lg_report *report)
{
    for (const lg_tendon *tendon = m->tendons; tendon < m->tendons + m->ntendons; tendon++)
        for (int i = 0; i <= tendon->npieces; i++) {
            double arc = angle_at(m, tendon, i, 0, mem) - angle_at(m, tendon, i - 1, 1, mem);
            if (!(arc < -1e-9))
                continue;
            lg_report_say(report, "the tendon %.*s has left the pulley at its place %d",
                          LG_SHORT(lg_tendon_piece(m, tendon, 0)->e.name), i);
            lg_report_advise(report, "a tendon cannot leave its pulleys: replace this one by a point, or move it");
            return LG_OVERTURNED;
        }
    return LG_OK;
}
