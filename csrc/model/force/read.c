/* Derivatives of laws by what they read; see read.h. */
#include "model/force/read.h"

#include "model/body/body.h"
#include "model/near_state.h"
#include "system/chain.h"

enum { EXERTED = 12, LEVELS = 2 }; /* two wrenches; by q and by v */

typedef struct reading {
    const lg_force *force;
    const lg_point *at;
    lg_near_state state;
    double *slopes, *along; /* of what is exerted, by the velocities of a block and by its unknown, column by column */
} reading;

/* The largest number of velocities of a block that is read. */
static int read_width(const lg_reads *reads)
{
    int width = 0;
    for (int i = 0; i < reads->n; i++) {
        int nv = reads->space->block[reads->block[i]].nv;
        width = nv > width ? nv : width;
    }
    return width;
}

size_t lg_reads_work(const lg_reads *reads)
{
    return lg_near_state_work(reads->space) + 2 * EXERTED * (size_t)read_width(reads);
}

/* ---- the clique ---- */

/* Position of a block in the clique that is not finished yet; -1: it is not a member. */
static int find_member(const lg_layout *layout, int block)
{
    int first = layout->clique_start[layout->pattern->ncliques];
    for (int i = first; i < layout->nmembers; i++)
        if (layout->clique_block[i] == block)
            return i - first;
    return -1;
}

static void add_member(lg_layout *layout, int block)
{
    if (block >= 0 && find_member(layout, block) < 0)
        lg_layout_member(layout, block);
}

void lg_reads_join(lg_layout *layout, lg_force *force, long *matrix_block)
{
    const lg_reads *reads = force->reads;
    lg_element *e = &force->e;
    int n = e->info->nframes, under[2];
    for (int s = 0; s < n; s++)
        add_member(layout, e->frame[s]->body->index);
    for (int i = 0; i < reads->n; i++)
        add_member(layout, reads->block[i]);
    long members = layout->nmembers - layout->clique_start[layout->pattern->ncliques], first = layout->nmatrix_blocks;
    for (int s = 0; s < n; s++)
        under[s] = find_member(layout, e->frame[s]->body->index);
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < reads->n; i++)
            matrix_block[s * reads->n + i] = first + members * under[s] + find_member(layout, reads->block[i]);
        for (int j = 0; j < n; j++)
            e->matrix_block[s][j] = first + members * under[s] + under[j];
    }
    lg_layout_clique(layout);
}

/* ---- differences ---- */

static reading open_reading(const lg_force *force, const lg_point *at)
{
    const lg_space *space = force->reads->space;
    reading r = {force, at, lg_near_state_open(space, at, at->work + force->reads->work), NULL, NULL};
    r.slopes = r.state.theta + space->nv;
    r.along = r.slopes + EXERTED * read_width(force->reads);
    return r;
}

/* How many values it exerts: an effort on a coordinate, or wrenches on all frames. */
static int exerted_values(const reading *r)
{
    return r->force->type->coordinate ? 1 : 6 * r->force->e.info->nframes;
}

/* What the law exerts on frames that stay, in the state near that of the point. */
static lg_status exert_near(const reading *r, double *out)
{
    const lg_element *e = &r->force->e;
    lg_point point = lg_near_state_point(&r->state);
    if (r->force->type->coordinate) {
        double law[3];
        LG_TRY(r->force->type->coordinate(e, &point, 0, 0, 0, law));
        out[0] = law[0];
        return LG_OK;
    }
    const lg_pose *pose[2];
    lg_load load;
    lg_element_poses(e, r->at, pose);
    LG_TRY(r->force->type->wrenches(e, pose, &point, 0, &load));
    lg_copy(exerted_values(r), load.w[0], out);
    return LG_OK;
}

static lg_status read_differentiate(const reading *r, int level, const lg_block *block)
{
    int n = exerted_values(r);
    double low[EXERTED], high[EXERTED];
    for (int k = 0; k < block->nv; k++) {
        double down = lg_near_state_move(&r->state, level, block->v + k, -LG_LAW_STEP);
        LG_TRY(exert_near(r, low));
        double up = lg_near_state_move(&r->state, level, block->v + k, LG_LAW_STEP);
        LG_TRY(exert_near(r, high));
        lg_near_state_return(&r->state, level, block->v + k);
        for (int i = 0; i < n; i++)
            r->slopes[n * k + i] = (high[i] - low[i]) / (up - down);
    }
    return LG_OK;
}

/* S of the block under one frame, which is not the ground, with the block that is read. */
static void add_on_frame(const reading *r, int side, int read, const lg_block *block, const lg_tangent *to)
{
    const lg_reads *reads = r->force->reads;
    const lg_frame *f = r->force->e.frame[side];
    int n = exerted_values(r), ld;
    double *S = lg_matrix_at(to->S, reads->matrix_block[side * reads->n + read], &ld);
    for (int k = 0; k < block->nv; k++)
        if (r->force->type->coordinate)
            S[f->part + (size_t)k * ld] -= r->along[k];
        else
            f->body->type->frames->pull(f, r->at, -1, r->along + n * k + 6 * side, S + (size_t)k * ld);
}

static lg_status add_read(const reading *r, int read, int level, const lg_wanted *want)
{
    int index = r->force->reads->block[read], known = 0;
    const lg_block *block = &r->force->reads->space->block[index];
    for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
        const lg_chain *chain = lg_chain_of(to, index);
        if (chain->k[level] == 0)
            continue;
        if (!known++)
            LG_TRY(read_differentiate(r, level, block));
        lg_chain_mul(block, chain, level, exerted_values(r), r->slopes, r->along);
        for (int side = 0; side < r->force->e.info->nframes; side++)
            if (r->force->e.frame[side]->body->block)
                add_on_frame(r, side, read, block, to);
    }
    return LG_OK;
}

lg_status lg_reads_add(lg_forces forces, const lg_point *at, const lg_wanted *want)
{
    for (const lg_force *force = forces.first; force < forces.end; force++) {
        if (!force->reads)
            continue;
        reading r = open_reading(force, at);
        for (int read = 0; read < force->reads->n; read++)
            for (int level = 0; level < LEVELS; level++)
                LG_TRY(add_read(&r, read, level, want));
    }
    return LG_OK;
}
