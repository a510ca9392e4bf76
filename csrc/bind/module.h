/* The state of the extension module: everything that would otherwise be a global. */
#ifndef LG_BIND_MODULE_H
#define LG_BIND_MODULE_H

#include "bind/python.h"

/* The classes of exceptions; errors.c describes the module's own. */
enum {
    LG_RuntimeError,
    LG_ValueError,
    LG_MemoryError,
    LG_KeyboardInterrupt,
    LG_OWN_EXCEPTIONS,
    LG_IntegrationError = LG_OWN_EXCEPTIONS,
    LG_ConvergenceError,
    LG_SingularError,
    LG_StepSizeError,
    LG_Interrupted,
    LG_EXCEPTION_COUNT
};

typedef struct lg_module {
    PyObject *exception[LG_EXCEPTION_COUNT];
    PyTypeObject *System, *Instant;
} lg_module;

extern struct PyModuleDef lg_module_def; /* complete except for its slots and functions, which init.c sets */
/* The module state of one of the module's types or of a subclass. */
lg_module *lg_module_of(PyTypeObject *type);

/* Each file with a type or functions of its own adds them to the module. -1: an exception is set. */
int lg_add_errors(PyObject *module);
int lg_add_instant(PyObject *module);
int lg_add_system(PyObject *module);
int lg_add_model(PyObject *module);
int lg_add_callable(PyObject *module);
int lg_add_stepper(PyObject *module);
int lg_add_queries(PyObject *module); /* methods of System and Model, which must have been added before */
int lg_add_rows(PyObject *module);
int lg_add_groups(PyObject *module);

/* The functions of init.c's table, in files of their own. */
PyObject *lg_integrate_call(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *lg_adjoint_call(PyObject *module, PyObject *args);
PyObject *lg_ensemble_call(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *lg_equilibrium_call(PyObject *module, PyObject *args);
PyObject *lg_interpolate_call(PyObject *module, PyObject *args);
PyObject *lg_expected_call(PyObject *module, PyObject *args);
PyObject *lg_wrapped_call(PyObject *module, PyObject *args);
PyObject *lg_compiled_call(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *lg_capsule_call(PyObject *module, PyObject *object);
extern const char lg_integrate_doc[], lg_adjoint_doc[], lg_ensemble_doc[], lg_equilibrium_doc[], lg_interpolate_doc[],
    lg_expected_doc[], lg_wrapped_doc[], lg_compiled_doc[], lg_capsule_doc[];

/* Creates a heap type from its spec and adds it under its short name. kept (NULL: not needed): gets a strong reference.
   -1: an exception is set. */
int lg_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, PyTypeObject **kept);

#endif
