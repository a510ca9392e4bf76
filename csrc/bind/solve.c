/* System.initial and System.project: solves at a point. */
#include "bind/map.h"
#include "bind/queries.h"
#include "solve/initial.h"
#include "solve/project.h"

const char lg_query_initial_doc[] =
    "initial(t, q, v)\n--\n\n"
    "Accelerations a (..., nv) and multipliers lam (..., nrows) at t (...,), q (..., nq), v (..., nv).\n"
    "ValueError naming the worst row if the start violates the constraints, SingularError if these are redundant.";

const char lg_query_project_doc[] =
    "project(t, q, v, *, position=True, velocity=True)\n--\n\n"
    "The nearest consistent q (..., nq) and v (..., nv), by the shortest way in the mass metric.\n"
    "ConvergenceError if Newton's method does not find them, SingularError if the constraints are redundant.";

typedef struct solve {
    lg_map map;
    lg_accel accel;
    int levels; /* of a projection */
} solve;

/* The point of a run that starts there, with its memory. */
static lg_status begin(solve *s, const double *const *x, lg_point *point)
{
    const lg_system *system = s->map.system;
    memset(s->map.mem, 0, (size_t)system->nmem * sizeof *s->map.mem);
    *point = lg_point_after(*x[0], x[1], x[2], s->map.mem);
    point->work = s->map.work;
    return system->commit ? system->commit(system->self, point, s->map.mem) : LG_OK;
}

static PyObject *call(solve *s, PyObject *self, PyObject *const *given)
{
    lg_arena arena = {0};
    PyObject *result = NULL;
    if (!(s->accel.plan = lg_system_plan(self, LG_COUPLING_MASS)))
        return NULL;
    s->accel.system = s->map.system;
    if (lg_arena_open(&arena, lg_accel_layout, &s->accel) != LG_OK)
        return PyErr_NoMemory();
    result = lg_map_call(&s->map, self, given);
    ((lg_system_object *)self)->dense_fallbacks += s->accel.matrix.fallbacks;
    lg_accel_close(&s->accel);
    lg_arena_close(&arena);
    return result;
}

static lg_status initial_at(lg_map *map, const double *const *x, double *const *y)
{
    solve *s = (solve *)map;
    lg_point point;
    LG_TRY(begin(s, x, &point));
    return lg_initial(&s->accel, &point, y[0], y[1], &map->report);
}

PyObject *lg_query_initial(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    solve s = {.map = {names, "tqv", {"v", "r"}, initial_at, lg_system_of(self)}};
    PyObject *given[3];
    if (!s.map.system ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:initial", names, &given[0], &given[1], &given[2]))
        return NULL;
    return call(&s, self, given);
}

static lg_status project_at(lg_map *map, const double *const *x, double *const *y)
{
    solve *s = (solve *)map;
    lg_point point;
    LG_TRY(begin(s, x, &point));
    memcpy(y[0], x[1], (size_t)map->system->space->nq * sizeof *y[0]);
    memcpy(y[1], x[2], (size_t)map->system->space->nv * sizeof *y[1]);
    return lg_project(&s->accel, s->levels, *x[0], y[0], y[1], map->mem, &map->report);
}

PyObject *lg_query_project(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "position", "velocity", NULL};
    solve s = {.map = {names, "tqv", {"q", "v"}, project_at, lg_system_of(self)}};
    PyObject *given[3];
    int position = 1, velocity = 1;
    if (!s.map.system || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|$pp:project", names, &given[0], &given[1],
                                                      &given[2], &position, &velocity))
        return NULL;
    s.levels = (position ? LG_PROJECT_POSITION : 0) | (velocity ? LG_PROJECT_VELOCITY : 0);
    return call(&s, self, given);
}
