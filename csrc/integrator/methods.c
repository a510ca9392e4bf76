#include "integrator/methods.h"

#include <string.h>

#define LG_ROW(title, type, p, list, source, text, ...)                                                                \
    &(const lg_method){                                                                                                \
        .name = title, .stepper = &type, .order = p, .options = &list, .reference = source, .doc = text, __VA_ARGS__},
#define LG_METHOD(title, type, p, list, source, text) LG_ROW(title, type, p, list, source, text, .rule = NULL)
#define LG_RUNGE_KUTTA(title, type, table, p, list, source, text)                                                      \
    LG_ROW(title, type, p, list, source, text, .tableau = &table)
#define LG_ALPHA(title, type, function, p, list, source, text)                                                         \
    LG_ROW(title, type, p, list, source, text, .rule = function)
#define LG_MOMENTUM(title, type, of, p, list, source, text) LG_ROW(title, type, p, list, source, text, .momentum = &of)
const lg_method *const lg_methods[] = {
#include "integrator/methods.def"
};
#undef LG_METHOD
#undef LG_RUNGE_KUTTA
#undef LG_ALPHA
#undef LG_MOMENTUM

const int lg_method_count = sizeof lg_methods / sizeof *lg_methods;

const lg_method *lg_method_find(const char *name)
{
    for (int i = 0; i < lg_method_count; i++)
        if (strcmp(lg_methods[i]->name, name) == 0)
            return lg_methods[i];
    return NULL;
}

const lg_method *lg_method_steadier(const lg_method *method)
{
    const lg_momentum_rule *steadier = method->momentum ? method->momentum->steadier : NULL;
    for (int i = 0; steadier && i < lg_method_count; i++)
        if (lg_methods[i]->momentum == steadier)
            return lg_methods[i];
    return NULL;
}

void lg_method_list(const char *option, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < lg_method_count; i++)
        if (!option || lg_option_find(lg_methods[i]->options, option))
            lg_text_list(text, size, lg_methods[i]->name);
}

void lg_option_list(const lg_method *method, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < method->options->count; i++)
        lg_text_list(text, size, method->options->row[i].name);
}

void lg_method_defaults(const lg_method *method, lg_option_value *values)
{
    memset(values, 0, (size_t)method->options->nvalues * sizeof *values);
    for (int i = 0; i < method->options->count; i++) {
        const lg_option *option = &method->options->row[i];
        values[option->field] = (lg_option_value){.number = option->initial.number, .choice = option->initial.choice};
    }
}
