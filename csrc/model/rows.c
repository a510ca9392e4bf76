/* The rows of all families as one list, and whether a description of a model fits them. */
#include "model/rows.h"

#include <stdio.h>

#include "model/body/bodies.h"
#include "model/force/forces.h"
#include "model/joint/joints.h"
#include "model/private.h"

/* ---- the rows of all families, numbered bodies, forces, joints ---- */

int lg_element_count(void)
{
    return lg_body_type_count + lg_force_type_count + lg_joint_type_count;
}

const lg_element_info *lg_row_info(int row)
{
    if (row < lg_body_type_count)
        return &lg_body_types[row]->info;
    row -= lg_body_type_count;
    return row < lg_force_type_count ? &lg_force_types[row]->info : &lg_joint_types[row - lg_force_type_count]->info;
}

lg_element_info lg_element_describe(int index)
{
    return *lg_row_info(index);
}

int lg_row_find(const char *name)
{
    for (int row = 0; row < lg_element_count(); row++)
        if (strcmp(lg_row_info(row)->name, name) == 0)
            return row;
    return -1;
}

int lg_row_is_body(int row)
{
    return row < lg_body_type_count;
}

int lg_row_is_support(int row)
{
    return lg_row_is_body(row) && lg_body_types[row]->is_support;
}

int lg_row_is_force(int row)
{
    return !lg_row_is_body(row) && row < lg_body_type_count + lg_force_type_count;
}

int lg_row_is_joint(int row)
{
    return row >= lg_body_type_count + lg_force_type_count;
}

/* ---- what is wrong with a description ---- */

lg_status lg_model_refuse(lg_report *report, const char *name, const char *reason)
{
    lg_report_say(report, "%.*s: %s", LG_SHORT(name ? name : "model"), reason);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

static int parameter_count(const lg_element_info *info)
{
    int count = 0;
    for (int i = 0; i < info->nparameters; i++)
        count += info->parameters[i].rows > 0 ? lg_parameter_count(&info->parameters[i]) : 0;
    return count;
}

static int takes_the_rest(const lg_element_info *info)
{
    return info->nparameters > 0 && info->parameters[info->nparameters - 1].rows < 0;
}

static lg_status refuse_parameter(lg_report *report, const char *name, const lg_parameter *parameter,
                                  const char *expected, int count, double given)
{
    char got[32] = "";
    if (count == 1)
        snprintf(got, sizeof got, ", got %g", given);
    lg_report_say(report, "%.*s: %s: %s expected%s", LG_SHORT(name), parameter->name, expected, got);
    report->status = LG_BAD_ARGUMENT;
    return LG_BAD_ARGUMENT;
}

lg_status lg_check_parameters(const lg_element_info *info, const char *name, int n, const double *values,
                              lg_report *report)
{
    for (const lg_parameter *p = info->parameters; p < info->parameters + info->nparameters; p++) {
        int count = p->rows < 0 ? n : lg_parameter_count(p);
        const char *expected = lg_parameter_expected(p, count, values);
        if (expected)
            return refuse_parameter(report, name, p, expected, count, *values);
        values += count, n -= count;
    }
    return LG_OK;
}

lg_status lg_check_spec(const lg_model_spec *spec, lg_report *report)
{
    if (spec->nblocks < 1)
        return lg_model_refuse(report, NULL, "there is no body");
    LG_TRY(lg_layout_check(spec->nblocks, spec->blocks, 0, report));
    for (int i = 0; i < spec->nframes; i++) {
        int block = spec->frames[i].block;
        if (block < -1 - spec->nelements || block >= spec->nblocks)
            return lg_model_refuse(report, "frame", "no such block");
    }
    return LG_OK;
}

lg_status lg_check_element(const lg_model_spec *spec, const lg_element_spec *e, int row, lg_report *report)
{
    const lg_element_info *info = lg_row_info(row);
    int expected = parameter_count(info);
    if (takes_the_rest(info) ? e->nparameters < expected : e->nparameters != expected)
        return lg_model_refuse(report, e->name, "wrong number of parameters");
    LG_TRY(lg_check_parameters(info, e->name, e->nparameters, e->parameters, report));
    if (e->implied >> info->nrows || e->loop < 0 || e->loop > spec->nelements)
        return lg_model_refuse(report, e->name, "no such constraint row in a loop");
    for (int i = 0; i < info->nframes; i++)
        if (e->frames[i] < 0 || e->frames[i] >= spec->nframes)
            return lg_model_refuse(report, e->name, "no such frame");
    for (int i = 0; i < e->nreads; i++)
        if (e->reads[i] < 0 || e->reads[i] >= spec->nblocks || !e->law.of_state)
            return lg_model_refuse(report, e->name, "no such block to read, or no function that reads it");
    if (!lg_row_is_body(row))
        return LG_OK;
    int block = spec->frames[e->frames[0]].block;
    if (lg_row_is_support(row) ? block > -2 : block < 0)
        return lg_model_refuse(report, e->name,
                               lg_row_is_support(row) ? "a support has no block" : "the ground has no inertia");
    return LG_OK;
}
