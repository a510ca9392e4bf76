/* What the rows of methods.def name, each defined in the file of its method. */
#ifndef LG_INTEGRATOR_METHODS_H
#define LG_INTEGRATOR_METHODS_H

#include "integrator/stepper.h"

#define LG_METHOD(name, type, order, list, reference, doc)                                                             \
    extern const lg_stepper_type type;                                                                                 \
    extern const lg_option_rows list;
#define LG_RUNGE_KUTTA(name, type, table, order, list, reference, doc)                                                 \
    LG_METHOD(name, type, order, list, reference, doc)                                                                 \
    extern const lg_tableau table;
#define LG_ALPHA(name, type, rule, order, list, reference, doc)                                                        \
    LG_METHOD(name, type, order, list, reference, doc)                                                                 \
    extern lg_alpha_rule rule;
#define LG_MOMENTUM(name, type, rule, order, list, reference, doc)                                                     \
    LG_METHOD(name, type, order, list, reference, doc)                                                                 \
    extern const lg_momentum_rule rule;
#include "integrator/methods.def"
#undef LG_METHOD
#undef LG_RUNGE_KUTTA
#undef LG_ALPHA
#undef LG_MOMENTUM

#endif
