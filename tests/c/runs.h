/* Runs of systems whose couplings do not differ. */
#ifndef RUNS_H
#define RUNS_H

#include "plans.h"
#include "run/run.h"

static inline lg_status open_run(lg_run *run, const lg_system *system, const lg_plan *plan, const lg_method *method,
                                 const lg_option_value *options, const lg_start *start, lg_report *report)
{
    lg_setup setup = {.system = system, .plans = one_plan(plan), .method = method, .options = options, .start = *start};
    return lg_run_open(run, &setup, report);
}

#endif
