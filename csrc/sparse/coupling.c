/* The plans of a system, one for each coupling; see plan.h. */
#include "sparse/fronts.h"
#include "sparse/schur.h"

#include <stdlib.h>
#include <string.h>

/* The pattern's cliques, then those of the groups. */
static void join_groups(const lg_pattern *p, int *start, int *block, lg_pattern *coupled)
{
    int members = p->clique_start[p->ncliques];
    memcpy(start, p->clique_start, (size_t)p->ncliques * sizeof(int));
    memcpy(block, p->clique_block, (size_t)members * sizeof(int));
    for (int g = 0; g <= p->ngroups; g++)
        start[p->ncliques + g] = members + p->group_start[g];
    memcpy(block + members, p->group_block, (size_t)p->group_start[p->ngroups] * sizeof(int));
    coupled->clique_start = start, coupled->clique_block = block;
    coupled->ncliques += p->ngroups;
}

static lg_status create_with_groups(const lg_pattern *p, lg_plan **plan)
{
    lg_pattern coupled = *p;
    int *start = malloc((size_t)(p->ncliques + p->ngroups + 1) * sizeof(int));
    int *block = malloc((size_t)(p->clique_start[p->ncliques] + p->group_start[p->ngroups] + 1) * sizeof(int));
    lg_status status = LG_NO_MEMORY;
    if (start && block) {
        join_groups(p, start, block, &coupled);
        status = lg_plan_make(&coupled, LG_COUPLING_GROUPS, plan);
    }
    free(start), free(block);
    return status;
}

lg_status lg_plan_create(const lg_pattern *pattern, lg_coupling coupling, lg_plan **plan)
{
    *plan = NULL;
    if (coupling == LG_COUPLING_GROUPS)
        return create_with_groups(pattern, plan);
    lg_pattern coupled = *pattern;
    if (coupling == LG_COUPLING_MASS)
        coupled.ncliques = pattern->nmass_cliques;
    LG_TRY(lg_plan_make(&coupled, coupling, plan));
    lg_status status = coupling == LG_COUPLING_MASS ? lg_schur_plan_create(&coupled, *plan) : LG_OK;
    if (status != LG_OK) {
        lg_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}
