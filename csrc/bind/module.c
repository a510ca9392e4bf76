/* The extension module lgint._core: multi-phase initialisation, all state in the module. */
#define LG_IMPORT_NUMPY
#include "bind/module.h"

#include "sparse/linalg.h"

PyDoc_STRVAR(module_doc, "The compiled core. Private: the public face is the package `lgint`. _core.pyi describes it.");

static struct PyModuleDef module_def;

lg_module *lg_module_of(PyTypeObject *type)
{
    for (; type; type = type->tp_base) {
        PyObject *module = NULL;
        if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
            module = ((PyHeapTypeObject *)type)->ht_module;
        if (module && PyModule_GetDef(module) == &module_def)
            return PyModule_GetState(module);
    }
    return NULL;
}

int lg_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, PyTypeObject **slot)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
    if (!type)
        return -1;
    *slot = (PyTypeObject *)type;
    return PyModule_AddType(module, *slot);
}

static int import_numpy(void)
{
    import_array1(-1);
    return 0;
}

static int module_exec(PyObject *module)
{
    if (import_numpy() < 0)
        return -1;
    lg_dense_single_thread();

    int (*const parts[])(PyObject *) = {lg_add_errors,      lg_add_system,      lg_add_model,     lg_add_callable,
                                        lg_add_stepper,     lg_add_rows,        lg_add_integrate, lg_add_ensemble,
                                        lg_add_equilibrium, lg_add_interpolate, lg_add_groups};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0)
            return -1;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    lg_module *state = PyModule_GetState(module);
    for (int i = 0; i < LG_EXCEPTION_COUNT; i++)
        Py_VISIT(state->exception[i]);
    Py_VISIT(state->System);
    Py_VISIT(state->Model);
    Py_VISIT(state->CallableSystem);
    Py_VISIT(state->Stepper);
    return 0;
}

static int module_clear(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    for (int i = 0; i < LG_EXCEPTION_COUNT; i++)
        Py_CLEAR(state->exception[i]);
    Py_CLEAR(state->System);
    Py_CLEAR(state->Model);
    Py_CLEAR(state->CallableSystem);
    Py_CLEAR(state->Stepper);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,   .m_name = "lgint._core",       .m_doc = module_doc,     .m_size = sizeof(lg_module),
    .m_slots = module_slots, .m_traverse = module_traverse, .m_clear = module_clear, .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
