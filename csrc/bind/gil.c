/* Releasing the GIL; see gil.h. */
#include "bind/gil.h"

void lg_gil_release(lg_gil *gil)
{
    if (!gil->kept)
        gil->thread = PyEval_SaveThread();
}

void lg_gil_take(lg_gil *gil)
{
    if (!gil->kept)
        PyEval_RestoreThread(gil->thread);
}

static lg_status report_progress(PyObject *progress, double value)
{
    PyObject *result = progress ? PyObject_CallFunction(progress, "d", value) : Py_NewRef(Py_None);
    Py_XDECREF(result);
    return result ? LG_OK : LG_CALLBACK;
}

lg_status lg_gil_poll(void *self, double value)
{
    lg_gil *gil = self;
    lg_gil_take(gil);
    lg_status status = PyErr_CheckSignals() < 0 ? LG_INTERRUPTED : report_progress(gil->progress, value);
    lg_gil_release(gil);
    return status;
}
