/* Queries of a Model outside a run: kinematics of frames, reactions of elements. */
#include "bind/map.h"
#include "bind/queries.h"
#include "model/model.h"

/* NULL: an exception is set. */
static const lg_model *model_of(PyObject *self)
{
    const lg_system *system = lg_system_of(self);
    return system ? lg_model_of(system) : NULL;
}

static int check_index(const char *what, int index, int count)
{
    if (index >= 0 && index < count)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be from 0 to %d, given %d", what, count - 1, index);
    return -1;
}

/* What the queries below are about. */
typedef struct query {
    lg_map map;
    const lg_model *model;
    int index, place; /* a frame; or an element, and its slot or link */
    int *elements; /* map.count of them, or of frames */
    lg_kinematics *motions; /* as many */
    double *forces; /* two values per velocity, for `transmitted` */
    int at_rest; /* prescribed motions are taken at rest */
    int invariant; /* multipliers are in the axes of bodies */
} query;

static lg_status kinematics_at(lg_map *map, const double *const *x, double *const *y)
{
    const query *at = (const query *)map;
    lg_kinematics k;
    LG_TRY(lg_model_kinematics(at->model, 1, &at->index, *x[2], x[0], x[1], map->work, &k));
    memcpy(y[0], k.x, sizeof k.x);
    memcpy(y[1], k.R, sizeof k.R);
    memcpy(y[2], k.xdot, sizeof k.xdot);
    memcpy(y[3], k.omega, sizeof k.omega);
    return LG_OK;
}

const char lg_query_kinematics_doc[] = "kinematics(frame, q, v, t=0.0)\n--\n\nx, R, xdot and omega of a frame.";

PyObject *lg_query_kinematics(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"frame", "q", "v", "t", NULL};
    query asked = {.map = {names + 1, "qvt", {"3", "33", "3", "3"}, kinematics_at, lg_system_of(self)},
                   .model = model_of(self)};
    PyObject *given[3] = {NULL};
    if (!asked.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "iOO|O:kinematics", names, &asked.index, &given[0], &given[1],
                                     &given[2]) ||
        check_index("frame", asked.index, lg_model_frames(model_of(self))) < 0)
        return NULL;
    return lg_map_call(&asked.map, self, given);
}

/* A new array of the numbers in a sequence, each less than `count`. */
static int *read_numbers(PyObject *sequence, int count, int *n)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    if (!tuple)
        return NULL;
    *n = (int)PyTuple_GET_SIZE(tuple);
    int *numbers = PyMem_Calloc((size_t)*n + 1, sizeof *numbers), good = numbers != NULL;
    for (int i = 0; good && i < *n; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        numbers[i] = number < 0 || number > INT_MAX ? -1 : (int)number;
        good = !PyErr_Occurred() && check_index("element", numbers[i], count) == 0;
    }
    Py_DECREF(tuple);
    if (good)
        return numbers;
    PyMem_Free(numbers);
    return PyErr_Occurred() ? NULL : (int *)PyErr_NoMemory();
}

static lg_status motions_at(lg_map *map, const double *const *x, double *const *y)
{
    const query *at = (const query *)map;
    LG_TRY(lg_model_kinematics(at->model, map->count, at->elements, *x[2], x[0], x[1], map->work, at->motions));
    for (int i = 0; i < map->count; i++) {
        const lg_kinematics *k = &at->motions[i];
        memcpy(y[0] + 3 * i, k->x, sizeof k->x);
        memcpy(y[1] + 9 * i, k->R, sizeof k->R);
        memcpy(y[2] + 3 * i, k->xdot, sizeof k->xdot);
        memcpy(y[3] + 3 * i, k->omega, sizeof k->omega);
    }
    return LG_OK;
}

const char lg_query_motions_doc[] =
    "motions(frames, q, v, t=0.0)\n--\n\n"
    "The same as `kinematics` of n frames in one pass: (..., n, 3), (..., n, 3, 3), (..., n, 3)\n"
    "and (..., n, 3).";

PyObject *lg_query_motions(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"frames", "q", "v", "t", NULL};
    query asked = {.map = {names + 1, "qvt", {"n3", "n33", "n3", "n3"}, motions_at, lg_system_of(self)},
                   .model = model_of(self)};
    PyObject *given[3] = {NULL}, *sequence, *result = NULL;
    if (!asked.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O:motions", names, &sequence, &given[0], &given[1],
                                     &given[2]) ||
        !(asked.elements = read_numbers(sequence, lg_model_frames(model_of(self)), &asked.map.count)))
        return NULL;
    asked.motions = PyMem_Calloc((size_t)asked.map.count + 1, sizeof *asked.motions);
    if (asked.motions)
        result = lg_map_call(&asked.map, self, given);
    else
        PyErr_NoMemory();
    PyMem_Free(asked.motions);
    PyMem_Free(asked.elements);
    return result;
}

/* A point with multipliers of joints. */
static lg_point joined_point(const query *at, const double *const *x)
{
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.lam = x[3];
    point.at_rest = at->at_rest;
    point.invariant = at->invariant;
    point.work = at->map.work;
    return point;
}

static lg_status reaction_at(lg_map *map, const double *const *x, double *const *y)
{
    const query *at = (const query *)map;
    lg_point point = joined_point(at, x);
    return lg_model_reaction(at->model, at->index, at->place, &point, y[0]);
}

const char lg_query_reaction_doc[] =
    "reaction(element, slot, t, q, v, lam, static=False, invariant=False)\n--\n\n"
    "Force in inertial axes and moment in body axes, (..., 6), with which a joint acts on its frame in slot 0 or\n"
    "1, by its constraint rows and its stresses, for t (...,), q (..., nq), v (..., nv), lam (..., nrows).\n"
    "static: prescribed motions are taken at rest. invariant: the multipliers belong to rows in the axes of bodies.";

PyObject *lg_query_reaction(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"element", "slot", "t", "q", "v", "lam", "static", "invariant", NULL};
    query asked = {.map = {names + 2, "tqvr", {"6"}, reaction_at, lg_system_of(self)}, .model = model_of(self)};
    PyObject *given[4];
    if (!asked.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "iiOOOO|pp:reaction", names, &asked.index, &asked.place, &given[0],
                                     &given[1], &given[2], &given[3], &asked.at_rest, &asked.invariant) ||
        check_index("element", asked.index, lg_model_elements(model_of(self))) < 0 ||
        check_index("slot", asked.place, 2) < 0)
        return NULL;
    return lg_map_call(&asked.map, self, given);
}

static lg_status strain_at(lg_map *map, const double *const *x, double *const *y)
{
    const query *at = (const query *)map;
    lg_point point = joined_point(at, x);
    return lg_model_strain(at->model, map->count, at->elements, &point, y[0], y[1]);
}

const char lg_query_strain_doc[] =
    "strain(elements, t, q, v, lam, static=False)\n--\n\n"
    "Strains and stresses, (..., n, 6) each, of n edges of rods by their numbers, for t (...,), q (..., nq),\n"
    "v (..., nv), lam (..., nrows). The stresses of constrained strains are multipliers. static: as in `reaction`.";

PyObject *lg_query_strain(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"elements", "t", "q", "v", "lam", "static", NULL};
    query asked = {.map = {names + 1, "tqvr", {"n6", "n6"}, strain_at, lg_system_of(self)}, .model = model_of(self)};
    PyObject *given[4], *sequence;
    if (!asked.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|p:strain", names, &sequence, &given[0], &given[1], &given[2],
                                     &given[3], &asked.at_rest) ||
        !(asked.elements = read_numbers(sequence, lg_model_elements(model_of(self)), &asked.map.count)))
        return NULL;
    PyObject *result = lg_map_call(&asked.map, self, given);
    PyMem_Free(asked.elements);
    return result;
}

static lg_status transmitted_at(lg_map *map, const double *const *x, double *const *y)
{
    const query *at = (const query *)map;
    lg_point point = lg_point_at(*x[0], x[1], x[2]);
    point.a = x[3];
    point.lam = x[4];
    point.mem = x[5];
    point.load = *x[6];
    point.at_rest = at->at_rest;
    point.work = map->work;
    return lg_model_transmitted(at->model, at->index, at->place, &point, at->forces, y[0]);
}

const char lg_query_transmitted_doc[] =
    "transmitted(element, link, t, q, v, a, lam, mem, load, static)\n--\n\n"
    "Inertial force and moment, (..., 6), that the joint of a tree's link exerts on the link, at its origin; or a\n"
    "support (link 0), on what is attached to it, at its point. load: factor of the loads; static: motions that are\n"
    "given stand still.";

PyObject *lg_query_transmitted(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"element", "link", "t", "q", "v", "a", "lam", "mem", "load", "static", NULL};
    query asked = {.map = {names + 2, "tqvvrmt", {"6"}, transmitted_at, lg_system_of(self)}, .model = model_of(self)};
    PyObject *given[7];
    if (!asked.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "iiOOOOOOOp:transmitted", names, &asked.index, &asked.place,
                                     &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                                     &asked.at_rest) ||
        check_index("element", asked.index, lg_model_elements(model_of(self))) < 0)
        return NULL;
    asked.forces = PyMem_Calloc(2 * (size_t)asked.map.system->space->nv + 1, sizeof *asked.forces);
    PyObject *result = asked.forces ? lg_map_call(&asked.map, self, given) : PyErr_NoMemory();
    PyMem_Free(asked.forces);
    return result;
}

const char lg_query_rows_doc[] =
    "rows(element)\n--\n\n"
    "First constraint row, number of rows, first value of memory and number of values of an element.";

PyObject *lg_query_rows(PyObject *self, PyObject *argument)
{
    int element = PyLong_Check(argument) ? (int)PyLong_AsLong(argument) : -1;
    if (!model_of(self) || PyErr_Occurred() || check_index("element", element, lg_model_elements(model_of(self))) < 0)
        return NULL;
    int row, nrows, mem, nmem;
    lg_model_rows(model_of(self), element, &row, &nrows, &mem, &nmem);
    return Py_BuildValue("(iiii)", row, nrows, mem, nmem);
}
