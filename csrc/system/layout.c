#include "system/layout.h"

static lg_status refuse(lg_report *report, const char *kind, const char *reason)
{
    lg_report_say(report, "%.*s: %s", LG_SHORT(kind), reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

lg_status lg_layout_check(int nblocks, const lg_block_spec *blocks, int nrows, lg_report *report)
{
    lg_space total = {.nrows = nrows};
    for (int i = 0; i < nblocks; i++) {
        const lg_node *node = lg_node_find(blocks[i].kind);
        if (!node)
            return refuse(report, blocks[i].kind, "there is no such kind of block");
        if (blocks[i].n < (node->nv ? 0 : 1))
            return refuse(report, blocks[i].kind, "the dimension n of a block must be positive");
        if (!lg_space_count(&total, node, blocks[i].n))
            return refuse(report, blocks[i].kind, "too many coordinates, the matrices would be too large");
    }
    return LG_OK;
}

int lg_layout_own_rows(int nblocks, const lg_block_spec *blocks)
{
    int rows = 0;
    for (int i = 0; i < nblocks; i++)
        rows += lg_node_find(blocks[i].kind)->nown;
    return rows;
}

void lg_layout_take(lg_layout *layout, lg_arena *arena, lg_layout_sizes sizes)
{
    size_t nblocks = (size_t)sizes.nblocks, ngroups = (size_t)sizes.ngroups, nentries = (size_t)sizes.nentries;
    layout->block = lg_arena_take(arena, nblocks * sizeof *layout->block);
    layout->nv = lg_arena_ints(arena, nblocks);
    layout->nown = lg_arena_ints(arena, nblocks);
    layout->v_start = lg_arena_ints(arena, nblocks + 1);
    layout->own_row = lg_arena_ints(arena, nblocks);
    layout->own_value = lg_arena_ints(arena, nblocks);
    layout->group_row = lg_arena_ints(arena, ngroups + 1);
    layout->group_start = lg_arena_ints(arena, ngroups + 1);
    layout->group_block = lg_arena_ints(arena, nentries);
    layout->group_value = lg_arena_ints(arena, nentries);
    layout->group_sufficient = lg_arena_ints(arena, nentries);
    layout->clique_start = lg_arena_ints(arena, (size_t)sizes.ncliques + 1);
    layout->clique_block = lg_arena_ints(arena, (size_t)sizes.nmembers);
    layout->masked_row = lg_arena_ints(arena, (size_t)sizes.nmasked);
    layout->masked_group = lg_arena_ints(arena, (size_t)sizes.nmasked);
    *layout->space = (lg_space){.linear = 1, .block = layout->block};
    *layout->pattern = (lg_pattern){
        .nv = layout->nv,
        .nown = layout->nown,
        .v_start = layout->v_start,
        .own_row = layout->own_row,
        .own_value = layout->own_value,
        .group_row = layout->group_row,
        .group_start = layout->group_start,
        .group_block = layout->group_block,
        .group_value = layout->group_value,
        .group_sufficient = layout->group_sufficient,
        .clique_start = layout->clique_start,
        .clique_block = layout->clique_block,
        .masked_row = layout->masked_row,
        .masked_group = layout->masked_group,
    };
}

void lg_layout_blocks(lg_layout *layout, int nblocks, const lg_block_spec *blocks)
{
    lg_space *space = layout->space;
    for (int i = 0; i < nblocks; i++) {
        const lg_node *node = lg_node_find(blocks[i].kind);
        int n = blocks[i].n, nq = lg_node_nq(node, n), nv = lg_node_nv(node, n);
        layout->block[i] = (lg_block){node, n, nq, nv, node->nown, space->nq, space->nv, 0, space->nm};
        layout->nv[i] = nv, layout->nown[i] = node->nown, layout->v_start[i] = space->nv;
        lg_space_count(space, node, n);
        space->linear &= node->linear;
    }
    layout->v_start[nblocks] = space->nv;
    space->nblocks = layout->pattern->nblocks = nblocks;
}

int lg_layout_entry(lg_layout *layout, int block, int nrows, int sufficient)
{
    int value = layout->pattern->nvalues, entry = layout->nentries++;
    layout->group_block[entry] = block;
    layout->group_value[entry] = value;
    layout->group_sufficient[entry] = sufficient;
    layout->pattern->nvalues += nrows * layout->nv[block];
    return value;
}

int lg_layout_group(lg_layout *layout, int nrows)
{
    lg_pattern *p = layout->pattern;
    int row = p->nrows, next = ++p->ngroups;
    p->nrows += nrows;
    layout->group_row[next] = p->nrows;
    layout->group_start[next] = layout->nentries;
    return row;
}

void lg_layout_mask(lg_layout *layout, int group, int row)
{
    int i = layout->pattern->nmasked++;
    layout->masked_row[i] = layout->group_row[group] + row;
    layout->masked_group[i] = group;
}

void lg_layout_member(lg_layout *layout, int block)
{
    layout->clique_block[layout->nmembers++] = block;
}

long lg_layout_clique(lg_layout *layout)
{
    int clique = layout->pattern->ncliques++;
    long n = layout->nmembers - layout->clique_start[clique], first = layout->nmeetings;
    layout->clique_start[clique + 1] = layout->nmembers;
    layout->nmeetings += n * n;
    return first;
}

long lg_layout_mass_clique(lg_layout *layout)
{
    layout->pattern->nmass_cliques++;
    return lg_layout_clique(layout);
}

void lg_layout_finish(lg_layout *layout)
{
    lg_pattern *p = layout->pattern;
    for (int i = 0; i < p->nblocks; i++) {
        lg_block *block = &layout->block[i];
        block->own = layout->own_row[i] = p->nrows;
        layout->own_value[i] = p->nvalues;
        p->nrows += block->nown;
        p->nvalues += block->nown * block->nv;
    }
    p->mask_value = p->nvalues;
    p->nvalues += p->nmasked;
    layout->space->nrows = p->nrows;
}
