/* Derivatives of the memory through a step; see remembered.h. */
#include "solve/remembered.h"

#include "core/small.h"

lg_status lg_linearised_open_memory(lg_linearised *l, const lg_point *from, const lg_point *to)
{
    const lg_system *system = l->accel->system;
    return system->memory.slopes->open(system->self, from, to, l->step);
}

/* l->mem: the derivatives of the memory at the end of a step by parameter k alone. */
static lg_status remember(lg_linearised *l, const lg_point *from, const lg_point *to, int k)
{
    const lg_system *system = l->accel->system;
    lg_point begin = *from, end = *to;
    begin.work = end.work = l->work;
    lg_zero(system->nmem, l->mem);
    return k < lg_sensitivity_count(system) ? system->sensitivity->remember(system->self, k, &begin, &end, l->mem)
                                            : LG_OK;
}

lg_status lg_linearised_follow_memory(lg_linearised *l, const lg_point *from, const lg_point *to, int k,
                                      const lg_memory_change *change)
{
    const lg_system *system = l->accel->system;
    LG_TRY(remember(l, from, to, k));
    system->memory.slopes->follow(system->self, l->step, change);
    lg_axpy(system->nmem, 1, l->mem, change->mem);
    return LG_OK;
}

lg_status lg_linearised_follow_memory_back(lg_linearised *l, const lg_point *from, const lg_point *to, int count,
                                           const lg_memory_change *adjoint, double *gradient)
{
    const lg_system *system = l->accel->system;
    for (int k = 0; k < count; k++) {
        LG_TRY(remember(l, from, to, k));
        gradient[k] += lg_dot(system->nmem, adjoint->mem, l->mem);
    }
    system->memory.slopes->follow_back(system->self, l->step, adjoint);
    return LG_OK;
}
