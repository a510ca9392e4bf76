/* Exceptions of the core; see errors.h. */
#include "bind/errors.h"

/* ---- the classes ---- */

typedef struct class_row {
    const char *name;
    int base; /* its base class, which comes before it in the table */
    const char *doc;
} class_row;

static const class_row rows[LG_EXCEPTION_COUNT] = {
    [LG_IntegrationError] =
        {"lgint.IntegrationError", LG_RuntimeError,
         "A run failed. `report` is a dict (status, step, t, h, iteration, residual, what, and `block`, the number of\n"
         "the block of coordinates that `what` names, or None), `result` and `trajectory` hold everything up to the\n"
         "last accepted step."},
    [LG_ConvergenceError] = {"lgint.ConvergenceError", LG_IntegrationError,
                             "Newton's method did not converge, or a value became infinite."},
    [LG_SingularError] = {"lgint.SingularError", LG_IntegrationError,
                          "A matrix is singular: redundant constraints or a body without mass."},
    [LG_StepSizeError] = {"lgint.StepSizeError", LG_IntegrationError, "The step size became too small."},
    [LG_Interrupted] = {"lgint.Interrupted", LG_KeyboardInterrupt,
                        "Ctrl-C during a run; `result` and `trajectory` hold what was computed."},
};

static PyObject *new_class(const class_row *row, PyObject *base)
{
    PyObject *attributes = Py_BuildValue("{s:O,s:O,s:O}", "report", Py_None, "result", Py_None, "trajectory", Py_None);
    PyObject *class = attributes ? PyErr_NewExceptionWithDoc(row->name, row->doc, base, attributes) : NULL;
    Py_XDECREF(attributes);
    return class;
}

int lg_add_errors(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    PyObject **exception = state->exception;
    exception[LG_RuntimeError] = Py_NewRef(PyExc_RuntimeError);
    exception[LG_ValueError] = Py_NewRef(PyExc_ValueError);
    exception[LG_MemoryError] = Py_NewRef(PyExc_MemoryError);
    exception[LG_KeyboardInterrupt] = Py_NewRef(PyExc_KeyboardInterrupt);
    for (int i = LG_OWN_EXCEPTIONS; i < LG_EXCEPTION_COUNT; i++) {
        exception[i] = new_class(&rows[i], exception[rows[i].base]);
        if (!exception[i] || PyModule_AddType(module, (PyTypeObject *)exception[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- from a status to an exception ---- */

static PyObject *class_of(const lg_module *module, lg_status status)
{
    static const int classes[] = {
#define LG_STATUS(name, message, specific, exception, advice) LG_##exception,
#include "core/status.def"
#undef LG_STATUS
    };
    return module->exception[classes[status]];
}

static PyObject *decoded(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *report_dict(lg_status status, const lg_report *report)
{
    static const lg_report nowhere;
    const lg_report *r = report ? report : &nowhere;
    PyObject *block = r->block ? PyLong_FromLong(r->block - 1) : Py_NewRef(Py_None);
    return Py_BuildValue("{s:s,s:l,s:d,s:d,s:i,s:d,s:N,s:N}", "status", lg_status_name(status), "step", r->step, "t",
                         r->t, "h", r->h, "iteration", r->iteration, "residual", r->residual, "what", decoded(r->what),
                         "block", block);
}

static int attach(PyObject *error, lg_status status, const lg_report *report, PyObject *result)
{
    PyObject *dict = report_dict(status, report);
    int done = dict ? PyObject_SetAttrString(error, "report", dict) : -1;
    Py_XDECREF(dict);
    return done == 0 && result ? PyObject_SetAttrString(error, "result", result) : done;
}

PyObject *lg_error_of(const lg_module *module, lg_status status, const lg_report *report, PyObject *result)
{
    char text[LG_MESSAGE_SIZE];
    lg_status_message(status, report, text);
    PyObject *error = PyObject_CallFunction(class_of(module, status), "N", decoded(text));
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

PyObject *lg_result(const lg_module *module, lg_status status, const lg_report *report, PyObject *(*make)(void *self),
                    void *self)
{
    PyObject *type, *value, *traceback, *result = status == LG_OK ? make(self) : NULL;
    if (result)
        return result;
    PyErr_Fetch(&type, &value, &traceback); /* an exception that is already set is put aside meanwhile */
    result = make(self);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    lg_raise(module, status == LG_OK ? LG_NO_MEMORY : status, report, result);
    Py_XDECREF(result);
    return NULL;
}

void lg_forget_error(void)
{
    PyGILState_STATE gil = PyGILState_Ensure(); /* a compiled function has failed without it */
    int interrupted = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Clear();
    if (interrupted)
        PyErr_SetInterrupt();
    PyGILState_Release(gil);
}
