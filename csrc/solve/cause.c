/* Naming the cause of a failure; see cause.h. */
#include "solve/cause.h"

#include <math.h>

static const char *name_of_block(const lg_system *system, int block)
{
    const char *name = system->block_name ? system->block_name(system->self, block) : NULL;
    return name && name[0] ? name : NULL;
}

/* Names a velocity and its body. If bodies have no names, the velocity's number counts over the whole system. */
static void report_velocity(const lg_system *system, const char *before, int velocity, lg_report *report)
{
    const lg_block *block = system->space->block;
    int i = 0;
    while (i + 1 < system->space->nblocks && velocity >= block[i + 1].v)
        i++;
    const char *name = name_of_block(system, i);
    if (name)
        lg_report_say(report, "%svelocity %d of %.*s", before, velocity - block[i].v, LG_SHORT(name));
    else
        lg_report_say(report, "%svelocity %d", before, velocity);
    report->block = i + 1;
}

void lg_report_row(const lg_system *system, const char *before, int row, lg_report *report)
{
    int nv = system->space->nv;
    if (row < nv)
        report_velocity(system, before, row, report);
    else
        lg_report_say(report, "%s%s", before, system->row_name(system->self, (row - nv) % system->pattern->nrows));
}

static int are_finite(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

/* The part of a block's state that is not finite at a point, or NULL. */
static const char *not_finite_in(const lg_block *b, const lg_point *point)
{
    if (!are_finite(b->nq, point->q + b->q))
        return "coordinates";
    if (!are_finite(b->nv, point->v + b->v))
        return "velocities";
    return point->a && !are_finite(b->nv, point->a + b->v) ? "accelerations" : NULL;
}

void lg_report_not_finite(const lg_system *system, const lg_point *point, int row, lg_report *report)
{
    for (int i = 0; i < system->space->nblocks; i++) {
        const char *what = not_finite_in(&system->space->block[i], point), *name = name_of_block(system, i);
        if (!what)
            continue;
        if (name)
            lg_report_say(report, "%s of %.*s", what, LG_SHORT(name));
        else
            lg_report_say(report, "%s of block %d", what, i);
        report->block = i + 1;
        return;
    }

    if (!(system->not_finite && system->not_finite(system->self, point, report)) && row >= 0)
        lg_report_row(system, "", row, report);
}

void lg_report_newton(const lg_system *system, const lg_point *point, lg_status status, const lg_newton_result *result,
                      lg_report *report)
{
    report->iteration = result->iterations;
    report->residual = result->residual;
    if (status == LG_OK)
        report->what[0] = report->advice[0] = '\0', report->block = 0;
    else if (status == LG_NO_CONVERGENCE)
        lg_report_row(system, "the largest residual is in ", result->worst, report);
    else if (status == LG_NOT_FINITE)
        lg_report_not_finite(system, point, result->worst, report);
}

/* The first node kind of a free body without a singularity; formulations are named after the node of a free body. */
static const char *regular_kind(void)
{
    for (int i = 0; i < lg_node_count; i++)
        if (lg_nodes[i]->position == LG_POSITION_INERTIAL && !lg_nodes[i]->regular)
            return lg_nodes[i]->name;
    return NULL;
}

void lg_report_angles(const lg_system *system, int block, double distance, lg_report *report)
{
    const char *name = system->block_name ? system->block_name(system->self, block) : "a block";
    const char *other = regular_kind();
    lg_report_say(report, "the angles of %.*s are near their singularity (cosine %.1e)%s%s%s", LG_SHORT(name), distance,
                  other ? "; " : "", other ? other : "", other ? " has none" : "");
    report->block = block + 1;
}
