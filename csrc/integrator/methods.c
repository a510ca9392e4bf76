/* The list of methods. */
#include "integrator/genalpha/genalpha.h"
#include "integrator/hht.h"
#include "integrator/rkmk.h"

#include <string.h>

#define LG_RUNGE_KUTTA(title, table, p, list, count, source, text)                                                     \
    &(const lg_method){.name = title,                                                                                  \
                       .stepper = &lg_rkmk,                                                                            \
                       .tableau = &table,                                                                              \
                       .order = p,                                                                                     \
                       .options = list,                                                                                \
                       .noptions = count,                                                                              \
                       .reference = source,                                                                            \
                       .doc = text},
#define LG_METHOD(title, type, rule, p, list, count, choice, source, text)                                             \
    &(const lg_method){.name = title,                                                                                  \
                       .stepper = &type,                                                                               \
                       .coefficients = &rule,                                                                          \
                       .order = p,                                                                                     \
                       .options = list,                                                                                \
                       .noptions = count,                                                                              \
                       .choose = choice,                                                                               \
                       .reference = source,                                                                            \
                       .doc = text},
const lg_method *const lg_methods[] = {
#include "integrator/methods.def"
};
#undef LG_RUNGE_KUTTA
#undef LG_METHOD

const int lg_method_count = sizeof lg_methods / sizeof *lg_methods;

const lg_method *lg_method_find(const char *name)
{
    for (int i = 0; i < lg_method_count; i++)
        if (strcmp(lg_methods[i]->name, name) == 0)
            return lg_methods[i];
    return NULL;
}

int lg_method_option(const lg_method *method, const char *name)
{
    for (int i = 0; i < method->noptions; i++)
        if (strcmp(method->options[i].name, name) == 0)
            return i;
    return -1;
}

lg_option_value lg_option_initial(const lg_option *option)
{
    return (lg_option_value){option->initial.number, option->initial.choice, 0};
}
