/* Rows of closed loops that may be inactive: their list, and what an evaluation leaves of them. */
#include "model/private.h"

/* ---- the list ---- */

void lg_model_layout_choice(lg_model *m, int nloops, int nmasked, lg_arena *arena)
{
    m->loop_start = lg_arena_ints(arena, (size_t)nloops + 1);
    m->inactive = lg_arena_ints(arena, (size_t)nmasked);
}

static void add_rows(lg_model *m, const lg_joint *joint, unsigned implied, lg_layout *layout)
{
    for (int i = 0; i < joint->nrows; i++) {
        m->inactive[m->pattern.nmasked] = (int)(implied >> i & 1);
        lg_layout_mask(layout, joint->group, i);
    }
}

void lg_model_fill_choice(lg_model *m, const lg_model_spec *spec, int nloops, lg_layout *layout)
{
    for (int loop = 1; loop <= nloops; loop++) {
        for (int i = 0; i < spec->nelements; i++)
            if (spec->elements[i].loop == loop && m->element_of[i].joint && !lg_joint_continues(m->element_of[i].joint))
                add_rows(m, m->element_of[i].joint, spec->elements[i].implied, layout);
        m->loop_start[loop] = m->pattern.nmasked;
    }
    m->choice = (lg_choice){nloops, m->loop_start, m->inactive, m->system.nmem};
    m->system.nmem += m->pattern.nmasked ? m->pattern.nmasked + 1 : 0;
}

/* ---- inactive rows of an evaluation ---- */

static int is_inactive(const lg_model *m, const double *mem, int i)
{
    return m->choice.inactive[i] != (mem && mem[m->choice.mem + i] != 0);
}

/* Clears a row of a group in values with the layout of B. */
static void clear_row(const lg_pattern *p, int group, int row, double *values)
{
    int rows = p->group_row[group + 1] - p->group_row[group];
    for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++)
        for (int j = 0; j < p->nv[p->group_block[e]]; j++)
            values[p->group_value[e] + row - p->group_row[group] + j * rows] = 0;
}

void lg_model_mask_values(const lg_model *m, const double *mem, double one, double *values)
{
    const lg_pattern *p = &m->pattern;
    for (int i = 0; values && i < p->nmasked; i++) {
        int inactive = is_inactive(m, mem, i);
        values[p->mask_value + i] = inactive ? one : 0;
        if (inactive)
            clear_row(p, p->masked_group[i], p->masked_row[i], values);
    }
}

void lg_model_mask_rows(const lg_model *m, const double *mem, double *rows)
{
    for (int i = 0; rows && i < m->pattern.nmasked; i++)
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
