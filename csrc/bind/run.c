/* Runs from Python arguments. */
#include "bind/run.h"

#include "bind/system.h"

/* ---- the start ---- */

/* The arrays that a start points into. */
typedef struct beginning {
    PyArrayObject *part[LG_PARTS], *carry;
    lg_start start;
} beginning;

static void close_beginning(beginning *b)
{
    for (int part = 0; part < LG_PARTS; part++)
        Py_XDECREF(b->part[part]);
    Py_XDECREF(b->carry);
}

static int read_part(beginning *b, const lg_system *system, lg_part part, PyObject *given)
{
    b->part[part] = lg_vector(given, lg_parts[part].name, lg_part_width(system, part));
    b->start.part[part] = b->part[part] ? lg_data(b->part[part]) : NULL;
    return b->part[part] ? 0 : -1;
}

static PyObject *item_of(PyObject *start, const char *key)
{
    PyObject *given = PyDict_GetItemString(start, key);
    if (!given)
        PyErr_Format(PyExc_ValueError, "start must have vdot, lam, mem and carry; %s is missing", key);
    return given;
}

/* What a run that is resumed has beside q and v. */
static int read_resumed(beginning *b, const lg_system *system, PyObject *start)
{
    if (!PyDict_Check(start)) {
        PyErr_Format(PyExc_ValueError, "start must be a dict of vdot, lam, mem and carry, or None, given %R", start);
        return -1;
    }
    for (int part = LG_PART_A; part < LG_PARTS; part++) {
        PyObject *given = item_of(start, lg_parts[part].name);
        if (!given || read_part(b, system, (lg_part)part, given) < 0)
            return -1;
    }
    PyObject *carry = item_of(start, "carry"), *changed = PyDict_GetItemString(start, "changed");
    if (!carry || !(b->carry = lg_vector(carry, "carry", -1)))
        return -1;
    b->start.carry = lg_data(b->carry);
    b->start.ncarry = (int)PyArray_SIZE(b->carry);
    b->start.changed = changed ? PyObject_IsTrue(changed) : 0;
    return b->start.changed < 0 ? -1 : 0;
}

static int read_beginning(beginning *b, const lg_system *system, const lg_run_arguments *arguments)
{
    b->start.t = arguments->t0;
    if (read_part(b, system, LG_PART_Q, arguments->q) < 0 || read_part(b, system, LG_PART_V, arguments->v) < 0)
        return -1;
    int resumes = arguments->start && arguments->start != Py_None;
    return resumes ? read_resumed(b, system, arguments->start) : 0;
}

/* ---- opening ---- */

static lg_status open_run(lg_run *run, const lg_run_arguments *arguments, const lg_method *method,
                          const lg_start *start, lg_report *report)
{
    lg_plans plans;
    int planned = lg_system_plans(arguments->system, method->stepper, &plans) == 0;
    PyObject *owned = planned ? PyList_New(0) : NULL;
    lg_option_value *options = owned ? lg_options(method, arguments->options, owned) : NULL;
    lg_status status = LG_CALLBACK;
    if (options)
        status = lg_run_open(run, lg_system_of(arguments->system), &plans, method, options, start, report);
    PyMem_Free(options);
    Py_XDECREF(owned);
    return status;
}

/* Reads the arrays, opens the run and releases the arrays, since a run copies its start. */
static lg_status open_at(lg_run *run, const lg_run_arguments *arguments, const lg_method *method, lg_report *report)
{
    beginning b = {0};
    lg_status status = LG_CALLBACK;
    if (read_beginning(&b, lg_system_of(arguments->system), arguments) == 0)
        status = open_run(run, arguments, method, &b.start, report);
    close_beginning(&b);
    return status;
}

lg_status lg_run_from(lg_run *run, const lg_module *module, const lg_run_arguments *arguments, lg_report *report)
{
    if (!PyObject_TypeCheck(arguments->system, module->System)) {
        PyErr_Format(PyExc_TypeError, "system must be a System, given %R", arguments->system);
        return LG_CALLBACK;
    }
    const lg_method *method = lg_system_of(arguments->system) ? lg_method_named(arguments->method) : NULL;
    if (!method)
        return LG_CALLBACK;
    if (!isfinite(arguments->t0)) {
        PyErr_SetString(PyExc_ValueError, "t0 must be finite");
        return LG_CALLBACK;
    }
    return open_at(run, arguments, method, report);
}

/* ---- without the GIL ---- */

void lg_release_gil(lg_thread *thread, const lg_system *system)
{
    *thread = system->flags & LG_SYSTEM_NEEDS_GIL ? NULL : PyEval_SaveThread();
}

void lg_hold_gil(lg_thread *thread)
{
    if (*thread)
        PyEval_RestoreThread(*thread);
    *thread = NULL;
}

int lg_borrow_gil(const lg_thread *thread)
{
    if (*thread)
        PyEval_RestoreThread(*thread);
    return *thread != NULL;
}

void lg_return_gil(lg_thread *thread, int borrowed)
{
    if (borrowed)
        *thread = PyEval_SaveThread();
}

static lg_status report_progress(PyObject *progress, PyObject *value)
{
    PyObject *result = value ? PyObject_CallOneArg(progress, value) : NULL;
    Py_XDECREF(value);
    Py_XDECREF(result);
    return result ? LG_OK : LG_CALLBACK;
}

lg_status lg_look_outside(lg_thread *thread, PyObject *progress, PyObject *(*number)(double), double value)
{
    int borrowed = lg_borrow_gil(thread);
    lg_status status = PyErr_CheckSignals() < 0 ? LG_INTERRUPTED : LG_OK;
    if (status == LG_OK && progress)
        status = report_progress(progress, number(value));
    lg_return_gil(thread, borrowed);
    return status;
}
