/* The state of the extension module: everything that would otherwise be a global. */
#ifndef LG_BIND_MODULE_H
#define LG_BIND_MODULE_H

#include "bind/python.h"

typedef struct lg_module {
    PyObject *IntegrationError, *ConvergenceError, *SingularError, *StepSizeError, *Interrupted;
    PyTypeObject *System, *Model, *CallableSystem, *Stepper;
} lg_module;

/* The state behind one of our types or a subclass of it. */
lg_module *lg_module_of(PyTypeObject *type);

/* Each file with a type or functions of its own adds them to the module. -1: an exception is set. */
int lg_add_errors(PyObject *module);
int lg_add_system(PyObject *module);
int lg_add_model(PyObject *module);
int lg_add_callable(PyObject *module);
int lg_add_stepper(PyObject *module);
int lg_add_rows(PyObject *module);
int lg_add_integrate(PyObject *module);
int lg_add_interpolate(PyObject *module);
int lg_add_groups(PyObject *module);

/* Creates a heap type from its spec, adds it under its short name and keeps a strong reference in *slot. */
int lg_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, PyTypeObject **slot);

#endif
