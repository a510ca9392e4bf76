#include "integrator/methods.h"

#include "integrator/momentum_rule.h"

#include <string.h>

#define LG_ROW(title, type, of, p, list, source, text)                                                                 \
    &(const lg_method){                                                                                                \
        .name = title, .stepper = &type, .data = of, .order = p, .options = &list, .reference = source, .doc = text},
#define LG_METHOD(title, type, ...) LG_ROW(title, type, NULL, __VA_ARGS__)
#define LG_RUNGE_KUTTA(title, type, tableau, ...) LG_ROW(title, type, &tableau, __VA_ARGS__)
#define LG_ALPHA(title, type, rule, ...) LG_ROW(title, type, &rule, __VA_ARGS__)
#define LG_MOMENTUM(title, type, rule, ...) LG_ROW(title, type, &rule, __VA_ARGS__)
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

/* Those of all rows that have one. */
static const lg_tableau *const tableaux[] = {
#define LG_METHOD(...)
#define LG_ALPHA(...)
#define LG_MOMENTUM(...)
#define LG_RUNGE_KUTTA(name, type, table, ...) &table,
#include "integrator/methods.def"
#undef LG_METHOD
#undef LG_ALPHA
#undef LG_MOMENTUM
#undef LG_RUNGE_KUTTA
};

const lg_tableau *lg_method_tableau(const lg_method *method)
{
    for (size_t i = 0; i < sizeof tableaux / sizeof *tableaux; i++)
        if (tableaux[i] == method->data)
            return tableaux[i];
    return NULL;
}

int lg_method_error_order(const lg_method *method)
{
    const lg_tableau *tableau = lg_method_tableau(method);
    if (!tableau)
        return method->order + 1;
    return lg_stepper_is_explicit(method->stepper) ? method->order : tableau->order_hat + 1;
}

const lg_momentum_rule *lg_method_momentum(const lg_method *method)
{
    return method->stepper->momenta ? method->data : NULL;
}

const lg_method *lg_method_steadier(const lg_method *method)
{
    const lg_momentum_rule *rule = lg_method_momentum(method), *steadier = rule ? rule->steadier : NULL;
    for (int i = 0; steadier && i < lg_method_count; i++)
        if (lg_methods[i]->data == steadier)
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
