/* The functions of a system under held forces: those of the other system, plus the forces; see held.h. */
#include "system/held.h"

#include "core/small.h"
#include "system/optional.h"

static const lg_system *inner_of(void *self)
{
    return &((lg_held *)self)->inner[LG_FORM_DYNAMICS];
}

static void add_force(const lg_held *held, double *out)
{
    if (held->force && out)
        lg_axpy(held->system.space->nv, 1, held->force, out);
}

/* ---- evaluations, one function for each form ---- */

static inline lg_status held_evaluate(const lg_held *held, lg_form form, const lg_point *point, const lg_wanted *wanted)
{
    const lg_system *inner = &held->inner[form];
    LG_TRY(inner->eval(inner->self, point, wanted));
    add_force(held, wanted->force);
    return LG_OK;
}

#define EVAL(name, form)                                                                                               \
    static lg_status eval_##name(void *self, const lg_point *point, const lg_wanted *wanted)                           \
    {                                                                                                                  \
        return held_evaluate(self, form, point, wanted);                                                               \
    }
LG_EACH_FORM(EVAL)

#define EVAL_ENTRY(name, form) [form] = eval_##name,
static lg_evaluate *const eval_in[] = {LG_EACH_FORM(EVAL_ENTRY)};

static void take_form(lg_form form, lg_system *sibling)
{
    sibling->eval = eval_in[form];
}

/* Accelerations that a system finds by itself lack the forces; solving with M includes them. */
static lg_status accelerate(void *self, const lg_point *point, double *a)
{
    const lg_system *inner = inner_of(self);
    return ((lg_held *)self)->force ? LG_SINGULAR : inner->accelerate(inner->self, point, a);
}

/* ---- steps between two states ---- */

static size_t nwork(void *self)
{
    const lg_system *inner = inner_of(self);
    return inner->steps->nwork(inner->self);
}

static inline lg_status evaluate_pair(void *self, lg_gradients gradients, const lg_pair *pair,
                                      const lg_pair_wanted *wanted)
{
    const lg_system *inner = inner_of(self);
    LG_TRY(inner->steps->pair[gradients](inner->self, pair, wanted));
    add_force(self, wanted->force);
    return LG_OK;
}

#define PAIR(name, gradients)                                                                                          \
    static lg_status pair_##name(void *self, const lg_pair *pair, const lg_pair_wanted *wanted)                        \
    {                                                                                                                  \
        return evaluate_pair(self, gradients, pair, wanted);                                                           \
    }
LG_EACH_GRADIENTS(PAIR)

static lg_status kinetic(void *self, lg_kinetics kinetics, const lg_pair *pair, const lg_kinetic_wanted *wanted)
{
    const lg_system *inner = inner_of(self);
    return inner->steps->kinetic(inner->self, kinetics, pair, wanted);
}

static int without_step(void *self, lg_gradients gradients, lg_kinetics kinetics)
{
    const lg_system *inner = inner_of(self);
    return inner->steps->without_step(inner->self, gradients, kinetics);
}

#define PAIR_ENTRY(name, gradients) [gradients] = pair_##name,
static const lg_steps steps = {
    .nwork = nwork,
    .pair = {LG_EACH_GRADIENTS(PAIR_ENTRY)},
    .kinetic = kinetic,
    .without_step = without_step,
};

/* ---- everything else is passed on ---- */

static int mass_size(void *self, int block)
{
    const lg_system *inner = inner_of(self);
    return inner->inverse_mass->size(inner->self, block);
}

static lg_status mass_factor(void *self, const lg_point *point, int block, double *factor, int *deficient)
{
    const lg_system *inner = inner_of(self);
    return inner->inverse_mass->factor(inner->self, point, block, factor, deficient);
}

static void mass_solve(void *self, int block, double *factor, int n, int ld, double *x)
{
    const lg_system *inner = inner_of(self);
    inner->inverse_mass->solve(inner->self, block, factor, n, ld, x);
}

static const lg_inverse_mass inverse_mass = {.size = mass_size, .factor = mass_factor, .solve = mass_solve};

static lg_status energy(void *self, const lg_point *point, double *T, double *V)
{
    const lg_system *inner = inner_of(self);
    return inner->energy(inner->self, point, T, V);
}

static double next_kink(void *self, double t)
{
    const lg_system *inner = inner_of(self);
    return inner->next_kink(inner->self, t);
}

static lg_status held_commit(void *self, const lg_point *from, const lg_point *to, double *mem, lg_report *report)
{
    const lg_system *inner = inner_of(self);
    return inner->memory.commit(inner->self, from, to, mem, report);
}

static lg_status memory_error(void *self, const lg_point *from, const lg_point *to, double rtol, double atol,
                              lg_memory_error *error)
{
    const lg_system *inner = inner_of(self);
    return inner->memory.error(inner->self, from, to, rtol, atol, error);
}

static lg_status sample(void *self, const lg_point *point, double *mem)
{
    const lg_system *inner = inner_of(self);
    return inner->memory.sample(inner->self, point, mem);
}

static const char *row_name(void *self, int row)
{
    const lg_system *inner = inner_of(self);
    return inner->row_name(inner->self, row);
}

static const char *block_name(void *self, int block)
{
    const lg_system *inner = inner_of(self);
    return inner->block_name(inner->self, block);
}

static int not_finite(void *self, const lg_point *point, lg_report *report)
{
    const lg_system *inner = inner_of(self);
    return inner->not_finite(inner->self, point, report);
}

static const char *law_name(void *self, int number)
{
    const lg_system *inner = inner_of(self);
    return inner->laws->name(inner->self, number);
}

static int law_length(void *self)
{
    const lg_system *inner = inner_of(self);
    return inner->laws->length(inner->self);
}

static lg_status law_value(void *self, const lg_point *point, int number, double *value)
{
    const lg_system *inner = inner_of(self);
    return inner->laws->value(inner->self, point, number, value);
}

static const lg_laws laws = {law_name, law_length, law_value};

void lg_held_open(lg_held *held, const lg_system *system)
{
    for (int form = 0; form < LG_FORM_COUNT; form++)
        held->inner[form] = lg_system_in(system, (lg_form)form);
    held->force = NULL;
    held->system = *system;
    lg_system *s = &held->system;
    s->self = held;
    s->eval = eval_dynamics;
    s->accelerate = system->accelerate ? accelerate : NULL;
    s->inverse_mass = system->inverse_mass ? &inverse_mass : NULL;
    s->energy = system->energy ? energy : NULL;
    s->form = take_form;
    s->steps = system->steps ? &steps : NULL;
    s->next_kink = system->next_kink ? next_kink : NULL;
    s->memory.commit = system->memory.commit ? held_commit : NULL;
    s->memory.error = system->memory.error ? memory_error : NULL;
    s->memory.sample = system->memory.sample ? sample : NULL;
    s->memory.slopes = NULL;
    s->row_name = row_name;
    s->block_name = system->block_name ? block_name : NULL;
    s->not_finite = system->not_finite ? not_finite : NULL;
    s->laws = system->laws ? &laws : NULL;
    s->sensitivity = NULL;
}
