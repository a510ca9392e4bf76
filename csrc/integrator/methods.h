/* The table of methods. */
#ifndef LG_INTEGRATOR_METHODS_H
#define LG_INTEGRATOR_METHODS_H

#include "integrator/stepper.h"

/* Rows of methods.def in order. */
extern const lg_method *const lg_methods[];
extern const int lg_method_count;
const lg_method *lg_method_find(const char *name); /* NULL: no method has this name */
/* The data of a method by its family: NULL if it belongs to another one. */
const lg_tableau *lg_method_tableau(const lg_method *method);
/* The error of a step that it estimates is O(h^this): that of its embedded solution, or else its own. */
int lg_method_error_order(const lg_method *method);
const lg_momentum_rule *lg_method_momentum(const lg_method *method);
const lg_method *lg_method_steadier(const lg_method *method); /* the one with its steadier rule; NULL: there is none */
/* Lists of names for messages, into a text: all methods, or those that have an option; all options of a method. */
void lg_method_list(const char *option, char *text, size_t size);
void lg_option_list(const lg_method *method, char *text, size_t size);
/* The defaults of all options, nvalues of them. */
void lg_method_defaults(const lg_method *method, lg_option_value *values);

#endif
