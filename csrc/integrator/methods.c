/* The list of methods. */
#include "integrator/genalpha.h"
#include "integrator/hht.h"
#include "integrator/rkmk.h"

#include <string.h>

/* The coefficients of a method that has no table or rule. */
static const char none = 0;

#define LG_METHOD(name, stepper, coefficients, order, order_lambda, options, noptions, needs, reference, doc)          \
    &(const lg_method){name, &stepper, &coefficients, order, order_lambda, options, noptions, needs, reference, doc},
const lg_method *const lg_methods[] = {
#include "integrator/methods.def"
};
#undef LG_METHOD

const int lg_method_count = sizeof lg_methods / sizeof *lg_methods;

const lg_method *lg_method_find(const char *name)
{
    for (int i = 0; i < lg_method_count; i++)
        if (strcmp(lg_methods[i]->name, name) == 0)
            return lg_methods[i];
    return NULL;
}

const lg_tableau *lg_method_tableau(const lg_method *method)
{
    return method->stepper == &lg_rkmk ? method->coefficients : NULL;
}
