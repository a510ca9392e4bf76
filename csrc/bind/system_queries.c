/* Queries of a System: verbs of the waist and of its space over arrays of points. */
#include "bind/map.h"
#include "bind/queries.h"

/* The arguments of a map without others: as many objects as it has operands. */
static PyObject *call_map(lg_map *map, PyObject *self, PyObject *args, PyObject *kwargs, const char *format)
{
    PyObject *given[LG_MAX_OPERANDS];
    map->system = lg_system_of(self);
    if (!map->system || !PyArg_ParseTupleAndKeywords(args, kwargs, format, (char **)map->names, &given[0], &given[1],
                                                     &given[2], &given[3], &given[4], &given[5]))
        return NULL;
    return lg_map_call(map, self, given);
}

const char lg_query_energy_doc[] = "energy(t, q, v, load=1.0)\n--\n\nKinetic and potential energy.";

static lg_status energy_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.load = *x[3];
    point.mem = map->mem;
    point.work = map->work;
    return map->system->energy(map->system->self, &point, y[0], y[1]);
}

PyObject *lg_query_energy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "load", NULL};
    const lg_system *system = lg_system_of(self);
    lg_map map = {.names = names, .operands = "tqvt", .results = {"", ""}, .at = energy_at, .system = system};
    PyObject *given[4] = {NULL};
    if (!system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O:energy", names, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    if (!system->energy) {
        PyErr_SetString(PyExc_ValueError, "this system has no energy; give a CallableSystem the function `energy`");
        return NULL;
    }
    PyObject *load = given[3] ? Py_NewRef(given[3]) : PyFloat_FromDouble(1);
    given[3] = load;
    PyObject *result = load ? lg_map_call(&map, self, given) : NULL;
    Py_XDECREF(load);
    return result;
}

const char lg_query_residual_doc[] = "residual(t, q, v)\n--\n\nphi and phidot of the constraints.";

static lg_status residual_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.work = map->work;
    return map->system->eval(map->system->self, &point, &(lg_wanted){.phi = y[0], .phidot = y[1]});
}

PyObject *lg_query_residual(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    lg_map map = {.names = names, .operands = "tqv", .results = {"r", "r"}, .at = residual_at};
    return call_map(&map, self, args, kwargs, "OOO:residual");
}

const char lg_query_retract_doc[] =
    "retract(q, theta)\n--\n\nq exp(theta) block by block: (..., nq), (..., nv) -> (..., nq).";

static lg_status retract_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_space_retract(map->system->space, x[0], x[1], y[0]);
    return LG_OK;
}

PyObject *lg_query_retract(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q", "theta", NULL};
    lg_map map = {.names = names, .operands = "qv", .results = {"q"}, .at = retract_at};
    return call_map(&map, self, args, kwargs, "OO:retract");
}

const char lg_query_difference_doc[] =
    "difference(q0, q1)\n--\n\nlog(q0^-1 q1) block by block: (..., nq), (..., nq) -> (..., nv).";

static lg_status difference_at(lg_map *map, const double *const *x, double *const *y)
{
    lg_space_difference(map->system->space, x[0], x[1], y[0]);
    return LG_OK;
}

PyObject *lg_query_difference(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q0", "q1", NULL};
    lg_map map = {.names = names, .operands = "qq", .results = {"v"}, .at = difference_at};
    return call_map(&map, self, args, kwargs, "OO:difference");
}
