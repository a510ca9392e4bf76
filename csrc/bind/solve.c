/* System.initial and System.project: the solves at one point. */
#include "bind/args.h"
#include "bind/system.h"
#include "solve/initial.h"

const char lg_system_initial_doc[] =
    "initial(t, q, v)\n--\n\n"
    "Accelerations a (nv,) and multipliers lam (nrows,) at t, q (nq,), v (nv,).\n"
    "ValueError naming the worst row if the start violates the constraints, SingularError if these are redundant.";

const char lg_system_project_doc[] =
    "project(t, q, v, *, position=True, velocity=True)\n--\n\n"
    "The nearest consistent q (nq,) and v (nv,), by the shortest way in the mass metric.\n"
    "ConvergenceError if Newton's method does not find them, SingularError if the constraints are redundant.";

/* One accel object with its memory, for a single call. */
typedef struct one_point {
    lg_accel accel;
    lg_arena arena;
    double *mem; /* the memory of a run that starts here */
    PyArrayObject *q, *v; /* copies */
    double t;
} one_point;

static int open_point(one_point *p, PyObject *self, double t, PyObject *q, PyObject *v)
{
    const lg_system *system = p->accel.system = lg_system_of(self);
    p->t = t;
    if (!isfinite(t)) {
        PyErr_SetString(PyExc_ValueError, "t must be finite");
        return -1;
    }
    if (!(p->q = lg_vector(q, "q", system->space->nq)) || !(p->v = lg_vector(v, "v", system->space->nv)) ||
        !(p->accel.plan = lg_system_plan(self, LG_COUPLING_MASS)))
        return -1;
    p->mem = PyMem_Calloc((size_t)system->nmem + 1, sizeof *p->mem);
    if (!p->mem || lg_arena_open(&p->arena, lg_accel_layout, &p->accel) != LG_OK) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void close_point(one_point *p, PyObject *self)
{
    if (p->arena.base) {
        ((lg_system_object *)self)->dense_fallbacks += p->accel.matrix.fallbacks;
        lg_accel_close(&p->accel);
    }
    lg_arena_close(&p->arena);
    PyMem_Free(p->mem);
    Py_XDECREF(p->q);
    Py_XDECREF(p->v);
}

static lg_status commit_memory(const one_point *p, const lg_point *point)
{
    const lg_system *system = p->accel.system;
    lg_point at = *point;
    at.work = p->accel.work;
    return system->commit ? system->commit(system->self, &at, p->mem) : LG_OK;
}

static PyObject *initial_at(one_point *p, const lg_module *module)
{
    npy_intp nv = p->accel.system->space->nv, nrows = p->accel.system->pattern->nrows;
    PyObject *a = PyArray_SimpleNew(1, &nv, NPY_DOUBLE), *lam = PyArray_SimpleNew(1, &nrows, NPY_DOUBLE);
    lg_report report = {0};
    lg_point point = lg_point_after(p->t, lg_data(p->q), lg_data(p->v), p->mem);
    lg_status status = a && lam ? commit_memory(p, &point) : LG_NO_MEMORY;
    if (status == LG_OK)
        status = lg_initial(&p->accel, &point, PyArray_DATA((PyArrayObject *)a), PyArray_DATA((PyArrayObject *)lam),
                            &report);
    if (status == LG_OK)
        return Py_BuildValue("(NN)", a, lam);
    Py_XDECREF(a);
    Py_XDECREF(lam);
    return lg_raise(module, status, &report, NULL);
}

PyObject *lg_system_initial(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", NULL};
    double t;
    PyObject *q, *v, *result = NULL;
    if (!lg_system_of(self) || !PyArg_ParseTupleAndKeywords(args, kwargs, "dOO:initial", names, &t, &q, &v))
        return NULL;
    one_point p = {0};
    if (open_point(&p, self, t, q, v) == 0)
        result = initial_at(&p, lg_module_of(Py_TYPE(self)));
    close_point(&p, self);
    return result;
}

static PyObject *project_at(one_point *p, const lg_module *module, int levels)
{
    lg_report report = {0};
    double *q = PyArray_DATA(p->q), *v = PyArray_DATA(p->v);
    lg_point point = lg_point_after(p->t, q, v, p->mem);
    lg_status status = commit_memory(p, &point);
    if (status == LG_OK)
        status = lg_project(&p->accel, levels, p->t, q, v, p->mem, &report);
    return status == LG_OK ? Py_BuildValue("(OO)", p->q, p->v) : lg_raise(module, status, &report, NULL);
}

PyObject *lg_system_project(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "position", "velocity", NULL};
    double t;
    int position = 1, velocity = 1;
    PyObject *q, *v, *result = NULL;
    if (!lg_system_of(self) ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "dOO|$pp:project", names, &t, &q, &v, &position, &velocity))
        return NULL;
    one_point p = {0};
    if (open_point(&p, self, t, q, v) == 0)
        result = project_at(&p, lg_module_of(Py_TYPE(self)),
                            (position ? LG_PROJECT_POSITION : 0) | (velocity ? LG_PROJECT_VELOCITY : 0));
    close_point(&p, self);
    return result;
}
