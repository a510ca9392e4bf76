/* The extension module lgint._core: multi-phase initialisation from the parts that the other files add. */
#define LG_IMPORT_NUMPY
#include "bind/module.h"
#include "sparse/linalg.h"

static int module_exec(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    lg_dense_single_thread();

    int (*const parts[])(PyObject *) = {lg_add_errors,  lg_add_instant, lg_add_system, lg_add_model, lg_add_callable,
                                        lg_add_stepper, lg_add_queries, lg_add_rows,   lg_add_groups};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0)
            return -1;
    return 0;
}

static PyMethodDef module_functions[] = {
    {"integrate", LG_KEYWORDS(lg_integrate_call), lg_integrate_doc},
    {"adjoint", lg_adjoint_call, METH_VARARGS, lg_adjoint_doc},
    {"ensemble", LG_KEYWORDS(lg_ensemble_call), lg_ensemble_doc},
    {"equilibrium", lg_equilibrium_call, METH_VARARGS, lg_equilibrium_doc},
    {"interpolate", lg_interpolate_call, METH_VARARGS, lg_interpolate_doc},
    {"expected", lg_expected_call, METH_VARARGS, lg_expected_doc},
    {"wrapped", lg_wrapped_call, METH_VARARGS, lg_wrapped_doc},
    {"compiled", LG_KEYWORDS(lg_compiled_call), lg_compiled_doc},
    {"capsule", lg_capsule_call, METH_O, lg_capsule_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    lg_module_def.m_slots = module_slots;
    lg_module_def.m_methods = module_functions;
    return PyModuleDef_Init(&lg_module_def);
}
