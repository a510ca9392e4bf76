#include "system/layout.h"

static lg_status refuse(lg_report *report, const char *kind, const char *reason)
{
    lg_report_say(report, "%.*s: %s", LG_SHORT(kind), reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

static const lg_node *node_of(const lg_block_spec *block, int factor)
{
    return lg_node_find(block->factor[factor].kind);
}

/* A kind with rows of its own has rates that its coordinates define; R^n alone can follow it. */
static lg_status check_factor(const lg_block_spec *block, int i, lg_report *report)
{
    const lg_factor_spec *factor = &block->factor[i];
    const lg_node *node = node_of(block, i);
    if (!node)
        return refuse(report, factor->kind, "there is no such kind of block");
    if (!node->nv && factor->n < 1)
        return refuse(report, factor->kind, "the dimension n of a block must be positive");
    if (node->nv && factor->n)
        return refuse(report, factor->kind,
                      "a block of this kind has no dimension n; linear coordinates are a factor (\"Rn\", n)");
    if (i > 0 && (node->nown || (node->nv && node_of(block, 0)->nown)))
        return refuse(report, node->nown ? factor->kind : block->factor[0].kind,
                      "a kind with rows of its own must be the first factor, and only R^n can follow it");
    return LG_OK;
}

lg_status lg_layout_check(int nblocks, const lg_block_spec *blocks, int nrows, lg_report *report)
{
    lg_space total = {.nrows = nrows};
    for (int i = 0; i < nblocks; i++) {
        long long nq = 0, nv = 0;
        if (blocks[i].nfactors < 1)
            return refuse(report, "block", "a block needs a factor");
        for (int k = 0; k < blocks[i].nfactors; k++) {
            LG_TRY(check_factor(&blocks[i], k, report));
            nq += lg_node_nq(node_of(&blocks[i], k), blocks[i].factor[k].n);
            nv += lg_node_nv(node_of(&blocks[i], k), blocks[i].factor[k].n);
        }
        if (!lg_space_count(&total, nq, nv))
            return refuse(report, blocks[i].factor[0].kind, "too many coordinates: the matrices would be too large");
    }
    return LG_OK;
}

int lg_layout_factors(int nblocks, const lg_block_spec *blocks)
{
    int factors = 0;
    for (int i = 0; i < nblocks; i++)
        factors += blocks[i].nfactors;
    return factors;
}

int lg_layout_own_rows(int nblocks, const lg_block_spec *blocks)
{
    int rows = 0;
    for (int i = 0; i < nblocks; i++)
        rows += node_of(&blocks[i], 0)->nown;
    return rows;
}

void lg_layout_take(lg_layout *layout, lg_arena *arena, lg_layout_sizes sizes)
{
    size_t nblocks = (size_t)sizes.nblocks, ngroups = (size_t)sizes.ngroups, nentries = (size_t)sizes.nentries;
    layout->block = lg_arena_take(arena, nblocks * sizeof *layout->block);
    layout->factor = lg_arena_take(arena, (size_t)sizes.nfactors * sizeof *layout->factor);
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
    *layout->space = (lg_space){.linear = 1, .block = layout->block, .factor = layout->factor};
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

/* The block with its factors, which begins where the space ends so far. */
static lg_block block_of(lg_layout *layout, const lg_block_spec *spec, int index)
{
    lg_space *space = layout->space;
    lg_block block = {.node = node_of(spec, 0),
                      .factor = layout->factor + space->nfactors,
                      .nfactors = spec->nfactors,
                      .linear = 1,
                      .q = space->nq,
                      .v = space->nv,
                      .m = space->nm};
    block.nown = block.node->nown;
    for (int i = 0; i < spec->nfactors; i++) {
        const lg_node *node = node_of(spec, i);
        int n = spec->factor[i].n, nq = lg_node_nq(node, n), nv = lg_node_nv(node, n), end = block.nv + nv;
        int first = node->position == LG_POSITION_INERTIAL ? block.nv + node->attitude_v : block.nv;
        layout->factor[space->nfactors++] = (lg_factor){
            node, n, nq, nv, block.q + block.nq, block.v + block.nv, index, n && spec->nfactors > 1 ? end : first, end};
        block.nq += nq, block.nv += nv;
        block.linear &= node->linear;
        space->singular |= node->regular != NULL;
    }
    return block;
}

void lg_layout_blocks(lg_layout *layout, int nblocks, const lg_block_spec *blocks)
{
    lg_space *space = layout->space;
    for (int i = 0; i < nblocks; i++) {
        lg_block block = block_of(layout, &blocks[i], i);
        layout->block[i] = block;
        layout->nv[i] = block.nv, layout->nown[i] = block.nown, layout->v_start[i] = block.v;
        lg_space_count(space, block.nq, block.nv);
        space->linear &= block.linear;
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

void lg_layout_nonholonomic(lg_layout *layout, int group, int row)
{
    lg_layout_mask(layout, group, row);
    layout->pattern->nnonholonomic++;
}

void lg_layout_member(lg_layout *layout, int block)
{
    layout->clique_block[layout->nmembers++] = block;
}

long lg_layout_clique(lg_layout *layout)
{
    int clique = layout->pattern->ncliques++;
    long n = layout->nmembers - layout->clique_start[clique], first = layout->nmatrix_blocks;
    layout->clique_start[clique + 1] = layout->nmembers;
    layout->nmatrix_blocks += n * n;
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
