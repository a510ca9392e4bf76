/* Outcomes of runs; see outcome.h. */
#include "run/outcome.h"

#include "core/small.h"

#include <stdlib.h>

lg_status lg_outcome_open(lg_outcome *outcome, const lg_system *system, int extra, int ncarry)
{
    lg_record none = lg_record_of(system, extra);
    *outcome = (lg_outcome){.states = none, .end = none, .stats.nearest.cosine = 1};
    LG_TRY(lg_record_reserve(&outcome->end, 1));
    if (ncarry && !(outcome->carry = malloc((size_t)ncarry * sizeof *outcome->carry)))
        return LG_NO_MEMORY;
    outcome->ncarry = ncarry;
    return LG_OK;
}

void lg_outcome_reach(lg_outcome *outcome, const lg_state *state, double h, double error)
{
    outcome->end.count = 0;
    (void)lg_record_add(&outcome->end, state, h, error);
    if (outcome->ncarry)
        lg_copy(outcome->ncarry, state->carry, outcome->carry);
}

void lg_outcome_close(lg_outcome *outcome)
{
    lg_record_close(&outcome->states);
    lg_record_close(&outcome->knots);
    lg_record_close(&outcome->end);
    free(outcome->carry);
    outcome->carry = NULL;
    outcome->ncarry = 0;
}
