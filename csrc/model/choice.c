/* Rows of closed loops that may be inactive, and nonholonomic rows, which every evaluation has: their list, and what an
   evaluation leaves of the former. */
#include "model/private.h"

/* ---- the list ---- */

void lg_model_layout_choice(lg_model *m, int nloops, int nmasked, lg_arena *arena)
{
    m->loop_start = lg_arena_ints(arena, (size_t)nloops + 1);
    m->inactive = lg_arena_ints(arena, (size_t)nmasked);
}

static void choice_add_rows(lg_model *m, const lg_joint *joint, unsigned implied, lg_layout *layout)
{
    for (int i = 0; i < joint->nrows; i++) {
        m->inactive[m->pattern.nmasked] = (int)(implied >> i & 1);
        lg_layout_mask(layout, joint->group, i);
    }
}

/* The number of a row in the list so far; -1: it is in no loop. */
static int number_in_loops(const lg_pattern *p, int row)
{
    int i = p->nmasked - p->nnonholonomic - 1;
    while (i >= 0 && p->masked_row[i] != row)
        i--;
    return i;
}

/* Nonholonomic rows follow; a row of a loop is listed twice. */
static void add_nonholonomic(lg_model *m, const lg_joint *joint, lg_layout *layout)
{
    for (int i = 0; i < joint->nrows; i++)
        if (lg_joint_is_nonholonomic(joint, i)) {
            m->inactive[m->pattern.nmasked] = number_in_loops(&m->pattern, joint->row + i);
            lg_layout_nonholonomic(layout, joint->group, i);
        }
}

void lg_model_fill_choice(lg_model *m, const lg_model_spec *spec, int nloops, lg_layout *layout)
{
    for (int loop = 1; loop <= nloops; loop++) {
        for (int i = 0; i < spec->nelements; i++)
            if (spec->elements[i].loop == loop && m->element_of[i].joint && !lg_joint_continues(m->element_of[i].joint))
                choice_add_rows(m, m->element_of[i].joint, spec->elements[i].implied, layout);
        m->loop_start[loop] = m->pattern.nmasked;
    }
    m->choice = (lg_choice){nloops, m->loop_start, m->inactive, m->system.nmem};
    m->system.nmem += m->pattern.nmasked ? m->pattern.nmasked + 1 : 0;
    for (const lg_joint *joint = m->joints; joint < m->joints + m->njoints; joint++)
        add_nonholonomic(m, joint, layout);
}

/* ---- inactive rows of an evaluation ---- */

static int chosen_rows(const lg_model *m)
{
    return m->pattern.nmasked - m->pattern.nnonholonomic;
}

static int is_inactive(const lg_model *m, const double *mem, int i)
{
    if (i >= chosen_rows(m))
        return m->inactive[i] >= 0 && is_inactive(m, mem, m->inactive[i]);
    return m->choice.inactive[i] != (mem && mem[m->choice.mem + i] != 0);
}

void lg_model_mask_values(const lg_model *m, const double *mem, double one, double *values)
{
    const lg_pattern *p = &m->pattern;
    if (!values)
        return;
    lg_zero(p->nmasked, values + p->mask_value);
    for (int i = 0; i < p->nmasked; i++)
        if (is_inactive(m, mem, i))
            lg_pattern_mask(p, i, one, values);
}

void lg_model_mask_rows(const lg_model *m, const double *mem, double *rows)
{
    for (int i = 0; rows && i < chosen_rows(m); i++)
        if (is_inactive(m, mem, i))
            rows[m->pattern.masked_row[i]] = 0;
}

void lg_model_mask(const lg_model *m, const lg_point *at, const lg_wanted *want)
{
    lg_model_mask_rows(m, at->mem.values, want->phi);
    lg_model_mask_rows(m, at->mem.values, want->phidot);
    lg_model_mask_rows(m, at->mem.values, want->zeta);
    lg_model_mask_values(m, at->mem.values, 1, want->B);
    lg_model_mask_values(m, at->mem.values, 0, want->Z);
}
