/* Calls of the Python functions of a compiled model's elements; see law.h. */
#include "bind/law.h"

#include "bind/args.h"
#include "bind/instant.h"

/* ---- what they return ---- */

/* Whether an exception has notes, as it does after it has passed through another function. */
static int is_noted(PyObject *error)
{
    PyObject *notes = PyObject_GetAttrString(error, "__notes__");
    if (!notes)
        PyErr_Clear();
    Py_XDECREF(notes);
    return notes != NULL;
}

/* Adds a note to the exception that is set unless it has one, where Python has notes (from version 3.11 on). */
static void add_note(const char *text)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *noted = is_noted(error) ? NULL : PyObject_CallMethod(error, "add_note", "s", text);
    PyErr_Clear();
    Py_XDECREF(noted);
    PyErr_Restore(type, error, trace);
}

/* How numbers that a function has returned are stored: lg_returned or lg_returned_force. */
typedef lg_status store(PyObject *result, const char *name, int ndim, const npy_intp *dims, double *out);

/* Stores the numbers that, for example, the "function of element" or "tangent of control" has returned. An exception
   gets a note that says where it was raised. */
static lg_status store_value(store *as, const lg_python_function *function, const char *what, double t,
                             PyObject *result, int ndim, const npy_intp *dims, double *out)
{
    char name[LG_WHAT_SIZE], note[LG_WHAT_SIZE];
    const char *whose = PyUnicode_AsUTF8(function->name); /* not NULL: the model was built with this text */
    snprintf(name, sizeof name, "the value returned by the %s %.*s", what, LG_SHORT(whose));
    lg_status status = as(result, name, ndim, dims, out);
    if (status != LG_CALLBACK)
        return status;
    snprintf(note, sizeof note, "This is the %s %.*s at t = %g.", what, LG_SHORT(whose), t);
    add_note(note);
    return status;
}

/* ---- functions of time ---- */

static lg_status call_time_function(void *self, double t, int n, double *value)
{
    const npy_intp dims[] = {n > 6 ? n / 6 : n, 6};
    const lg_python_function *function = self;
    return store_value(lg_returned, function, "function of element", t,
                       PyObject_CallFunction(function->callable, "d", t), n > 6 ? 2 : 1, dims, value);
}

lg_time_function lg_python_time_function(lg_python_function *function)
{
    return (lg_time_function){call_time_function, function};
}

/* ---- torques ---- */

static lg_status call_torque(void *self, double t, double angle, double rate, double *tau, double *slopes)
{
    static const npy_intp dims[] = {2};
    const lg_python_function *function = self;
    PyObject *result = PyObject_CallFunction(function->callable, "ddd", t, angle, rate);
    LG_TRY(store_value(lg_returned_force, function, "function of element", t, result, 0, NULL, tau));
    if (!slopes)
        return LG_OK;
    result = PyObject_CallFunction(function->tangent, "ddd", t, angle, rate);
    return store_value(lg_returned, function, "tangent of element", t, result, 1, dims, slopes);
}

/* ---- wrenches ---- */

/* One of x, R, xdot and omega of n frames as a read-only array, for a single frame without the leading axis. */
static PyObject *array_of_frames(int n, const lg_kinematics at[], size_t offset, int rank)
{
    npy_intp dims[] = {n, 3, 3};
    size_t size = rank == 2 ? 9 : 3;
    PyObject *array = PyArray_SimpleNew(rank + (n > 1), dims + (n == 1), NPY_DOUBLE);
    if (!array)
        return NULL;
    double *data = PyArray_DATA((PyArrayObject *)array);
    for (int i = 0; i < n; i++)
        memcpy(data + size * (size_t)i, (const char *)&at[i] + offset, size * sizeof *data);
    PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
    return array;
}

static PyObject *call_with_frames(PyObject *callable, double t, int n, const lg_kinematics at[])
{
    return PyObject_CallFunction(callable, "dNNNN", t, array_of_frames(n, at, offsetof(lg_kinematics, x), 1),
                                 array_of_frames(n, at, offsetof(lg_kinematics, R), 2),
                                 array_of_frames(n, at, offsetof(lg_kinematics, xdot), 1),
                                 array_of_frames(n, at, offsetof(lg_kinematics, omega), 1));
}

static lg_status call_wrench(void *self, double t, int n, const lg_kinematics at[], double *w, double *KD)
{
    const lg_python_function *function = self;
    const npy_intp dims[] = {n, 6}, tangent[] = {2, 6 * n, 6 * n};
    LG_TRY(store_value(lg_returned_force, function, "function of element", t,
                       call_with_frames(function->callable, t, n, at), n > 1 ? 2 : 1, dims + (n == 1), w));
    if (!KD)
        return LG_OK;
    return store_value(lg_returned, function, "tangent of element", t, call_with_frames(function->tangent, t, n, at), 3,
                       tangent, KD);
}

lg_law lg_python_law(lg_python_function *function)
{
    return (lg_law){
        .self = function, .has_tangent = function->tangent != NULL, .wrench = call_wrench, .torque = call_torque};
}

/* ---- functions of a state ---- */

static PyObject *instant_at(const lg_python_reader *reader, const lg_point *at)
{
    const lg_instant_arrays arrays[] = {{at->q, reader->nq},
                                        {at->v, reader->nv},
                                        {at->mem.values, reader->nmem},
                                        {reader->nmem ? at->mem.theta : NULL, reader->nv}};
    return lg_instant_new(reader->instant, at->t, at->mem.age, arrays);
}

/* Replaces the exception of a function whose calls never end. */
static void refuse_recursion(const lg_python_function *function, double t)
{
    PyObject *time = PyFloat_FromDouble(t);
    PyErr_Format(PyExc_ValueError,
                 "the function of %U at t = %S: its calls never end. If it evaluates its own model, as "
                 "inverse_dynamics does, that calls it again: give it a model without it, or `every=` to a control",
                 function->name, time);
    Py_XDECREF(time);
}

static PyObject *call_with_state(const lg_python_function *function, PyObject *callable, const lg_python_reader *reader,
                                 const lg_point *at)
{
    PyObject *instant = instant_at(reader, at);
    PyObject *state = instant ? PyObject_CallOneArg(reader->state, instant) : NULL;
    PyObject *result = state ? PyObject_CallOneArg(callable, state) : NULL;
    Py_XDECREF(state);
    lg_instant_end(instant);
    if (!result && PyErr_ExceptionMatches(PyExc_RecursionError))
        refuse_recursion(function, at->t);
    return result;
}

static lg_status call_of_state(void *self, void *reader, const lg_point *at, int n, double *value)
{
    const npy_intp dims[] = {n, 6};
    const lg_python_function *function = self;
    return store_value(lg_returned_force, function, "function of element", at->t,
                       call_with_state(function, function->callable, reader, at), n > 1 ? 2 : n, dims + (n == 1),
                       value);
}

static lg_status call_of_state_tangent(void *self, void *reader, const lg_point *at, int n, double *slopes)
{
    const npy_intp dims[] = {2, 6 * n, 6 * n};
    const lg_python_function *function = self;
    return store_value(lg_returned, function, "tangent of element", at->t,
                       call_with_state(function, function->tangent, reader, at), n ? 3 : 1, dims, slopes);
}

lg_law lg_python_law_of_state(lg_python_function *function)
{
    lg_law law = lg_python_law(function);
    law.of_state = call_of_state;
    law.of_state_tangent = call_of_state_tangent;
    return law;
}

/* ---- controls ---- */

static lg_status call_control(void *self, void *reader, const lg_point *at, const double *Py_UNUSED(states), int n,
                              double *value)
{
    const npy_intp dims[] = {n};
    const lg_python_function *function = self;
    return store_value(lg_returned_force, function, "function of control", at->t,
                       call_with_state(function, function->callable, reader, at), 1, dims, value);
}

static lg_status call_sampled_control(void *self, void *reader, const lg_point *at, const double *Py_UNUSED(states),
                                      int n, double *value)
{
    const npy_intp dims[] = {n};
    const lg_python_function *function = self;
    return store_value(lg_returned, function, "function of control", at->t,
                       call_with_state(function, function->callable, reader, at), 1, dims, value);
}

static lg_status call_control_tangent(void *self, void *reader, const lg_point *at, const double *Py_UNUSED(states),
                                      int n, double *Py_UNUSED(value), double *slopes)
{
    const npy_intp dims[] = {2, n, ((const lg_python_reader *)reader)->nv};
    const lg_python_function *function = self;
    return store_value(lg_returned, function, "tangent of control", at->t,
                       call_with_state(function, function->tangent, reader, at), 3, dims, slopes);
}

void lg_python_control(lg_python_function *function, lg_control_spec *control)
{
    control->self = function;
    control->has_tangent = function->tangent != NULL;
    control->value = control->every > 0 ? call_sampled_control : call_control;
    control->tangent = call_control_tangent;
}
