/* lgint._core.interpolate: dense output between knots. */
#include "bind/args.h"
#include "bind/outcome.h"
#include "bind/system.h"
#include "run/dense.h"

/* Reads one row of numbers for each knot; *values remains NULL if none are given. `width` is that of a row, -1: any.
   Returns the width; -1: an exception is set. */
static int read_column(PyObject *owned, PyObject *given, const char *name, long knots, int width, double **values)
{
    npy_intp dims[] = {knots, width};
    if (!given || given == Py_None)
        return 0;
    PyArrayObject *array = lg_keep_array(owned, lg_array(given, name, 2, dims, 0));
    *values = array ? PyArray_DATA(array) : NULL;
    return array ? (int)PyArray_DIM(array, 1) : -1;
}

static int read_knots(PyObject *owned, const lg_system *system, PyObject *t, PyObject *const *given, lg_states *knots)
{
    if ((knots->count = lg_read_vector(owned, "t", t, -1, &knots->t)) < 0)
        return -1;
    if (knots->count < 2) {
        PyErr_SetString(PyExc_ValueError, "t must hold at least two knots");
        return -1;
    }
    for (int part = 0; part < LG_PARTS; part++)
        if (read_column(owned, given[part], lg_parts[part].name, knots->count, lg_part_width(system, (lg_part)part),
                        &knots->part[part]) < 0)
            return -1;
    if ((knots->nextra = read_column(owned, given[LG_PARTS], "extra", knots->count, -1, &knots->extra)) < 0)
        return -1;
    double *curve = NULL;
    knots->ncurve = read_column(owned, given[LG_PARTS + 1], "curve", knots->count, -1, &curve);
    knots->curve = curve;
    if (knots->ncurve > 0 && knots->ncurve % (2 * system->space->nv)) {
        PyErr_Format(PyExc_ValueError, "curve: rows of a multiple of 2 nv = %d numbers expected, got %d",
                     2 * system->space->nv, knots->ncurve);
        return -1;
    }
    return knots->ncurve;
}

static PyObject *interpolate_knots(const lg_module *module, const lg_system *system, const lg_plan *plan,
                                   const lg_states *knots, int count, const double *times)
{
    lg_record found;
    lg_report report = {0};
    lg_status status = lg_interpolate(system, plan, knots, count, times, &found, &report);
    report.status = status;
    PyObject *result = status == LG_OK ? lg_record_dict(&found) : lg_raise(module, status, &report, NULL);
    lg_record_close(&found);
    return result;
}

const char lg_interpolate_doc[] =
    "interpolate(system, times, t, q, v, a, lam, mem=None, extra=None, curve=None, index_1=False)\n--\n\nThe states "
    "at `times` as a dict of arrays, by dense output between knots. curve: of the steps that end at the knots. "
    "index_1: "
    "with accelerations and multipliers of the index-1 equations.";

PyObject *lg_interpolate_call(PyObject *self, PyObject *args)
{
    const lg_module *module = PyModule_GetState(self);
    PyObject *system, *times, *t, *given[LG_PARTS + 2] = {NULL}, *result = NULL;
    lg_states knots = {.count = 0};
    const lg_plan *plan = NULL;
    const double *wanted;
    int count, index_1 = 0;
    if (!PyArg_ParseTuple(args, "O!OOOOOO|OOOp:interpolate", module->System, &system, &times, &t, &given[LG_PART_Q],
                          &given[LG_PART_V], &given[LG_PART_A], &given[LG_PART_LAM], &given[LG_PART_MEM],
                          &given[LG_PARTS], &given[LG_PARTS + 1], &index_1) ||
        (index_1 && !(plan = lg_system_plan(system, LG_COUPLING_MASS))))
        return NULL;
    PyObject *owned = PyList_New(0);
    if (owned && read_knots(owned, lg_system_of(system), t, given, &knots) >= 0 &&
        (count = lg_read_vector(owned, "times", times, -1, &wanted)) >= 0)
        result = interpolate_knots(module, lg_system_of(system), plan, &knots, count, wanted);
    Py_XDECREF(owned);
    return result;
}
