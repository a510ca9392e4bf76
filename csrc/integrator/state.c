#include "integrator/state.h"

#include "core/small.h"

const lg_part_info lg_parts[LG_PARTS] = {
#define LG_PART(part, field, name, width, doc) {name, offsetof(lg_state, field)},
    LG_STATE(LG_PART)
#undef LG_PART
};

int lg_part_width(const lg_system *system, lg_part part)
{
    const int widths[LG_PARTS] = {
#define LG_PART(part, field, name, width, doc) system->width,
        LG_STATE(LG_PART)
#undef LG_PART
    };
    return widths[part];
}

void lg_state_layout(lg_state *state, const lg_system *system, int ncarry, lg_arena *arena)
{
    for (int part = 0; part < LG_PARTS; part++)
        *(double **)((char *)state + lg_parts[part].field) =
            lg_arena_doubles(arena, (size_t)lg_part_width(system, (lg_part)part));
    state->carry = lg_arena_doubles(arena, (size_t)ncarry);
}

void lg_state_copy(const lg_system *system, int ncarry, const lg_state *from, lg_state *to)
{
    to->t = from->t;
    for (int part = 0; part < LG_PARTS; part++)
        lg_copy(lg_part_width(system, (lg_part)part), lg_part_of(from, (lg_part)part), lg_part_of(to, (lg_part)part));
    lg_copy(ncarry, from->carry, to->carry);
}
