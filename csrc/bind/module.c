/* The state of the extension module; see module.h. */
#include "bind/module.h"

PyDoc_STRVAR(module_doc, "The compiled core. Private: the public face is the package `lgint`. _core.pyi describes it.");

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    lg_module *state = PyModule_GetState(module);
    for (int i = 0; i < LG_EXCEPTION_COUNT; i++)
        Py_VISIT(state->exception[i]);
    Py_VISIT(state->System);
    Py_VISIT(state->Instant);
    return 0;
}

static int module_clear(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    for (int i = 0; i < LG_EXCEPTION_COUNT; i++)
        Py_CLEAR(state->exception[i]);
    Py_CLEAR(state->System);
    Py_CLEAR(state->Instant);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

struct PyModuleDef lg_module_def = {
    PyModuleDef_HEAD_INIT,         .m_name = "lgint._core", .m_doc = module_doc,   .m_size = sizeof(lg_module),
    .m_traverse = module_traverse, .m_clear = module_clear, .m_free = module_free,
};

lg_module *lg_module_of(PyTypeObject *type)
{
    for (; type; type = type->tp_base) {
        PyObject *module = NULL;
        if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
            module = ((PyHeapTypeObject *)type)->ht_module;
        if (module && PyModule_GetDef(module) == &lg_module_def)
            return PyModule_GetState(module);
    }
    return NULL;
}

int lg_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, PyTypeObject **kept)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
    int done = type ? PyModule_AddType(module, type) : -1;
    if (kept)
        *kept = type;
    else
        Py_XDECREF(type);
    return done;
}
