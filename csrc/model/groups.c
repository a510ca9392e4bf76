/* The groups of the pattern: the rows of a joint, or a row that several joints of the description share, with their
   parts of B for each block. */
#include "model/private.h"
#include "model/rows.h"

#include <stdio.h>

/* Writes the name of a row of the joint's type, and returns where the next one begins. */
static char *name_row(char *names, const lg_joint *joint, int row)
{
    const char *name = joint->e.name;
    size_t room = strlen(name) + LG_ROW_LABEL;
    if (joint->type->row_label)
        return names + snprintf(names, room, "%s: %s", name, joint->type->row_label(&joint->e, row)) + 1;
    return names + snprintf(names, room, "%s[%d]", name, row) + 1;
}

/* Whether a body can move and turn freely. It can then give its side of a joint any twist, so that the rows of the
   joint, which are independent in the relative twist, are independent on this body alone. Only rows of translations act
   on a point mass, and these are independent in its velocity. */
static int moves_freely(const lg_body *body)
{
    const lg_block *block = body->block;
    return body->type->is_point || block->node->position == LG_POSITION_INERTIAL ||
           block->node->position == LG_POSITION_BODY;
}

/* The part of B of end s of a joint, which all ends of its group on the same body share. None of these moves
   independently of the others, so that the part is sufficient only for a single end. */
static void add_entry(lg_layout *layout, const lg_element_ref *group, const lg_element_ref *end, lg_joint *joint, int s)
{
    const lg_body *body = joint->e.frame[s]->body;
    int together = 0;
    if (!body->block)
        return;
    for (const lg_element_ref *at = group; at < end; at++)
        for (int r = 0; r < 2; r++) {
            const lg_joint *other = at->joint;
            if ((other == joint && r == s) || other->e.frame[r]->body != body)
                continue;
            together = 1;
            joint->adds[s] |= other < joint || (other == joint && r < s);
            if (other->value[r] >= 0)
                joint->value[s] = other->value[r];
        }
    if (joint->value[s] < 0)
        joint->value[s] = lg_layout_entry(layout, body->index, joint->nrows, !together && moves_freely(body));
}

char *lg_model_add_group(lg_model *m, lg_layout *layout, const lg_element_ref *group, const lg_element_ref *end,
                         char *names)
{
    for (const lg_element_ref *at = group; at < end; at++) {
        lg_joint *joint = (lg_joint *)at->joint;
        joint->group = m->pattern.ngroups;
        joint->row = m->pattern.nrows;
        for (const lg_element_ref *other = group; other < end; other++)
            joint->adds_row |= other->joint < joint;
        for (int s = 0; s < 2; s++)
            add_entry(layout, group, end, joint, s);
    }
    const lg_joint *first = group->joint;
    lg_layout_group(layout, first->nrows);
    for (int i = 0; i < first->nrows; i++) {
        m->row_names[first->row + i] = names;
        names = name_row(names, first, first->row_in_type[i]);
    }
    return names;
}

lg_status lg_model_check_groups(const lg_model *m, lg_report *report)
{
    for (int i = 0; i < m->nelements; i++) {
        const lg_joint *joint = m->element_of[i].joint, *before = i ? m->element_of[i - 1].joint : NULL;
        if (joint && lg_joint_continues(joint) && !(before && before->nrows && before->e.info->continues))
            return lg_model_refuse(report, joint->e.name, "there is no row before it that it can share");
    }
    return LG_OK;
}
