#include "bind/errors.h"

/* ---- the classes ---- */

static PyObject *add_class(PyObject *module, const char *name, const char *doc, PyObject *base)
{
    PyObject *attributes = Py_BuildValue("{s:O,s:O,s:O}", "report", Py_None, "result", Py_None, "trajectory", Py_None);
    if (!attributes)
        return NULL;
    PyObject *class = PyErr_NewExceptionWithDoc(name, doc, base, attributes);
    Py_DECREF(attributes);
    if (class && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, class) < 0)
        Py_CLEAR(class);
    return class;
}

#define ADD_CLASS(name, base, doc)                                                                                     \
    if (!(exception[LG_##name] = add_class(module, "lgint." #name, doc, base)))                                        \
        return -1;

int lg_add_errors(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    PyObject **exception = state->exception;
    LG_EXCEPTIONS(ADD_CLASS)
    exception[LG_ValueError] = Py_NewRef(PyExc_ValueError);
    exception[LG_MemoryError] = Py_NewRef(PyExc_MemoryError);
    return 0;
}

/* ---- from a status to an exception ---- */

static PyObject *class_of(const lg_module *module, lg_status status)
{
    static const int classes[] = {
#define LG_STATUS(name, message, exception, advice) LG_##exception,
#include "core/status.def"
#undef LG_STATUS
    };
    return module->exception[classes[status]];
}

static PyObject *message_of(lg_status status, const lg_report *report)
{
    char text[LG_MESSAGE_SIZE];
    lg_status_message(status, report, text);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *report_dict(lg_status status, const lg_report *report)
{
    static const lg_report nowhere;
    const lg_report *r = report ? report : &nowhere;
    PyObject *what = PyUnicode_DecodeUTF8(r->what, (Py_ssize_t)strlen(r->what), "replace");
    return Py_BuildValue("{s:s,s:l,s:d,s:d,s:i,s:d,s:N}", "status", lg_status_name(status), "step", r->step, "t", r->t,
                         "h", r->h, "iteration", r->iteration, "residual", r->residual, "what", what);
}

static int attach(PyObject *error, lg_status status, const lg_report *report, PyObject *result)
{
    PyObject *dict = report_dict(status, report);
    int done = dict ? PyObject_SetAttrString(error, "report", dict) : -1;
    Py_XDECREF(dict);
    if (done == 0 && result)
        done = PyObject_SetAttrString(error, "result", result);
    return done;
}

PyObject *lg_error_of(const lg_module *module, lg_status status, const lg_report *report, PyObject *result)
{
    PyObject *message = message_of(status, report);
    if (!message)
        return NULL;
    PyObject *error = PyObject_CallOneArg(class_of(module, status), message);
    Py_DECREF(message);
    if (error && attach(error, status, report, result) < 0)
        Py_CLEAR(error);
    return error;
}

/* Sets the attributes `report` and `result` on the exception that is already raised, if it accepts attributes. */
static void attach_to_raised(lg_status status, const lg_report *report, PyObject *result)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (result && attach(value, status, report, result) < 0)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

PyObject *lg_raise(const lg_module *module, lg_status status, const lg_report *report, PyObject *result)
{
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
            attach_to_raised(status, report, result);
            return NULL;
        }
        PyErr_Clear();
        status = LG_INTERRUPTED;
    }

    PyObject *error = lg_error_of(module, status, report, result);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *lg_raise_after(const lg_module *module, lg_status status, const lg_report *report,
                         PyObject *(*make)(void *self), void *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = make(self);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    lg_raise(module, status, report, result);
    Py_XDECREF(result);
    return NULL;
}
