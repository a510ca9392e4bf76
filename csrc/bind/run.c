/* Runs from Python arguments. */
#include "bind/run.h"

#include "bind/system.h"

/* ---- a start to resume ---- */

typedef struct resume {
    PyArrayObject *a, *lam, *mem, *carry;
    int changed;
} resume;

static void close_resume(resume *r)
{
    Py_XDECREF(r->a);
    Py_XDECREF(r->lam);
    Py_XDECREF(r->mem);
    Py_XDECREF(r->carry);
}

static PyArrayObject *start_vector(PyObject *start, const char *key, const char *name, npy_intp n)
{
    PyObject *given = PyDict_GetItemString(start, key);
    if (!given) {
        PyErr_Format(PyExc_ValueError, "start must have a, lam, mem and carry; %s is missing", key);
        return NULL;
    }
    return lg_vector(given, name, n);
}

static int read_resume(resume *r, const lg_system *system, PyObject *start)
{
    if (!PyDict_Check(start)) {
        PyErr_Format(PyExc_ValueError, "start must be a dict of a, lam, mem and carry, or None, given %R", start);
        return -1;
    }
    r->a = start_vector(start, "a", "start a", system->space->nv);
    r->lam = r->a ? start_vector(start, "lam", "start lam", system->pattern->nrows) : NULL;
    r->mem = r->lam ? start_vector(start, "mem", "start mem", system->nmem) : NULL;
    r->carry = r->mem ? start_vector(start, "carry", "start carry", -1) : NULL;
    PyObject *changed = PyDict_GetItemString(start, "changed");
    r->changed = changed ? PyObject_IsTrue(changed) : 0;
    return r->carry && r->changed >= 0 ? 0 : -1;
}

/* ---- opening ---- */

/* Tolerances given as arrays: nv or 2 nv numbers >= 0. */
static int set_tolerance(lg_run *run, PyObject *options, const char *name, int which)
{
    PyObject *given = options && options != Py_None ? PyDict_GetItemString(options, name) : NULL;
    if (!given || !PyArray_Check(given) || !PyArray_NDIM((PyArrayObject *)given))
        return 0;
    PyArrayObject *values = lg_vector(given, name, -1);
    if (!values)
        return -1;

    int nv = run->system->space->nv, n = (int)PyArray_SIZE(values), good = n == nv || n == 2 * nv;
    for (int i = 0; i < n; i++)
        good = good && lg_data(values)[i] >= 0;
    if (good)
        lg_control_set(&run->control, run->stepper, which, n, lg_data(values));
    else
        PyErr_Format(PyExc_ValueError, "%s must be a number >= 0, or nv = %d or 2 nv of them, given %R", name, nv,
                     given);
    Py_DECREF(values);
    return good ? 0 : -1;
}

static lg_status set_tolerances(lg_run *run, PyObject *options)
{
    if (set_tolerance(run, options, "rtol", LG_CONTROL_RTOL) == 0 &&
        set_tolerance(run, options, "atol", LG_CONTROL_ATOL) == 0)
        return LG_OK;
    lg_run_close(run);
    return LG_CALLBACK;
}

static lg_status open_run(lg_run *run, const lg_run_arguments *arguments, const lg_method *method,
                          const lg_start *start, lg_report *report)
{
    const lg_plan *plan = lg_system_plan(arguments->system);
    lg_option_value *options = plan ? lg_options(method, arguments->options) : NULL;
    if (!options)
        return LG_CALLBACK;
    lg_status status = lg_run_open(run, lg_system_of(arguments->system), plan, method, options, start, report);
    PyMem_Free(options);
    return status == LG_OK ? set_tolerances(run, arguments->options) : status;
}

/* Reads the arrays, opens, and lets the arrays go: a run copies what it is given. */
static lg_status open_at(lg_run *run, const lg_run_arguments *arguments, const lg_method *method, lg_report *report)
{
    const lg_system *system = lg_system_of(arguments->system);
    PyArrayObject *q = lg_vector(arguments->q, "q", system->space->nq);
    PyArrayObject *v = q ? lg_vector(arguments->v, "v", system->space->nv) : NULL;
    resume r = {0};
    int resumes = arguments->start && arguments->start != Py_None;
    lg_status status = LG_CALLBACK;
    if (v && (!resumes || read_resume(&r, system, arguments->start) == 0)) {
        lg_start start = {.t = arguments->t0, .q = lg_data(q), .v = lg_data(v)};
        if (resumes)
            start = (lg_start){arguments->t0,  lg_data(q),     lg_data(v),       lg_data(r.a),
                               lg_data(r.lam), lg_data(r.mem), lg_data(r.carry), (int)PyArray_SIZE(r.carry),
                               r.changed};
        status = open_run(run, arguments, method, &start, report);
    }
    close_resume(&r);
    Py_XDECREF(q);
    Py_XDECREF(v);
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

/* ---- statistics ---- */

PyObject *lg_stats_dict(const lg_stats *s, double wall_time)
{
    PyObject *dict = Py_BuildValue("{s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:l,s:z}", "steps", s->steps, "rejected", s->rejected,
                                   "failed", s->failed, "newton_iterations", s->newton_iterations, "jacobians",
                                   s->jacobians, "factorisations", s->factorisations, "evaluations", s->evaluations,
                                   "dense_fallbacks", s->dense_fallbacks, "newton", s->newton);
    if (!dict || wall_time < 0)
        return dict;
    PyObject *time = PyFloat_FromDouble(wall_time);
    if (!time || PyDict_SetItemString(dict, "wall_time", time) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(time);
    return dict;
}
