/* The type Stepper: a run that takes one step at a time. */
#include "bind/args.h"
#include "bind/outcome.h"
#include "bind/run.h"
#include "core/small.h"

/* Like a system, it is complete when it is created, and the garbage collector need not clear it. */
typedef struct lg_stepper_object {
    PyObject ob_base;
    PyObject *system; /* the system that the run refers to */
    lg_run run;
    int busy; /* set inside step, which a callback must not call again */
} lg_stepper_object;

static lg_stepper_object *stepper_of(PyObject *self)
{
    return (lg_stepper_object *)self;
}

static lg_run *run_of(PyObject *self)
{
    return &stepper_of(self)->run;
}

/* ---- creation and destruction ---- */

/* Python functions that are called at the start cannot find the object, since the garbage collector does not know it
   yet. */
static PyObject *open_stepper(PyTypeObject *type, PyObject *system, const lg_setup *setup)
{
    PyObject *self = type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    PyObject_GC_UnTrack(self);
    stepper_of(self)->system = Py_NewRef(system);
    lg_report report = {0};
    lg_status status = lg_run_open(run_of(self), setup, &report);
    if (status != LG_OK) {
        lg_raise(lg_module_of(type), status, &report, NULL);
        Py_DECREF(self);
        return NULL;
    }
    PyObject_GC_Track(self);
    return self;
}

static PyObject *stepper_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method", "t0", "q", "v", "start", "options", NULL};
    lg_run_arguments a;
    lg_setup setup;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdOOOO:Stepper", names, &a.system, &a.method, &a.t0, &a.q, &a.v,
                                     &a.start, &a.options))
        return NULL;
    PyObject *owned = PyList_New(0), *self = NULL;
    if (owned && lg_read_setup(owned, lg_module_of(type), &a, &setup) == 0) {
        setup.holds = 1;
        self = open_stepper(type, a.system, &setup);
    }
    Py_XDECREF(owned);
    return self;
}

static int stepper_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(stepper_of(self)->system);
    return 0;
}

static void stepper_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    lg_run_close(run_of(self));
    Py_DECREF(stepper_of(self)->system);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- stepping ---- */

PyDoc_STRVAR(step_doc,
             "step(h, efforts=None)\n--\n\n"
             "Advances by h > 0, in one step or in several that are split at the kinks inside, under held generalized\n"
             "forces (nv,). On failure the state is unchanged and the error is that of `integrate`, without a result.");

/* -1 and an exception if a callback asks in the middle of a step. */
static int check_idle(PyObject *self)
{
    if (stepper_of(self)->busy)
        PyErr_SetString(PyExc_RuntimeError, "this stepper is in the middle of a step");
    return stepper_of(self)->busy ? -1 : 0;
}

static PyObject *stepper_step(PyObject *self, PyObject *args)
{
    double h;
    PyObject *efforts = Py_None;
    lg_run *run = run_of(self);
    if (!PyArg_ParseTuple(args, "d|O:step", &h, &efforts) || check_idle(self) < 0)
        return NULL;
    PyArrayObject *force = efforts == Py_None ? NULL : lg_vector(efforts, "efforts", run->system->space->nv);
    if (efforts != Py_None && !force)
        return NULL;
    lg_report report = {0};
    stepper_of(self)->busy = 1;
    lg_status status = lg_run_go(run, h, force ? lg_data(force) : NULL, &report);
    stepper_of(self)->busy = 0;
    Py_XDECREF(force);
    if (status != LG_OK)
        return lg_raise(lg_module_of(Py_TYPE(self)), status, &report, NULL);
    Py_RETURN_NONE;
}

/* ---- attributes: copies of the present state ---- */

static PyObject *get_t(PyObject *self, void *Py_UNUSED(closure))
{
    return PyFloat_FromDouble(run_of(self)->state.t);
}

/* The closure is the row of a part in lg_parts. */
static PyObject *get_part(PyObject *self, void *closure)
{
    const lg_run *run = run_of(self);
    lg_part part = (lg_part)((const lg_part_info *)closure - lg_parts);
    return lg_vector_from(lg_part_of(&run->state, part), lg_part_width(run->system, part));
}

static PyObject *get_carry(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_run *run = run_of(self);
    return lg_vector_from(run->state.carry, lg_run_carry_count(run));
}

static PyObject *get_efforts(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_run *run = run_of(self);
    return lg_vector_from(run->force, run->system->space->nv);
}

static PyObject *get_stats(PyObject *self, void *Py_UNUSED(closure))
{
    return lg_stats_dict(&run_of(self)->stepper->stats);
}

#define PART_ATTRIBUTE(part, field, name, width, doc) {name, get_part, NULL, doc, (void *)&lg_parts[LG_PART_##part]},

static PyGetSetDef stepper_attributes[] = {
    {"t", get_t, NULL, "time of the present state", NULL},
    LG_STATE(PART_ATTRIBUTE){"carry", get_carry, NULL, "all else that later steps depend on", NULL},
    {"efforts", get_efforts, NULL, "generalized forces that are held (nv,)", NULL},
    {"stats", get_stats, NULL, "counts so far", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(copy_doc, "copy()\n--\n\nThe parts of the present state in the order of PARTS, then the carry, in a\n"
                       "single read-only array.");

static npy_intp copy_size(const lg_run *run)
{
    npy_intp size = lg_run_carry_count(run);
    for (int part = 0; part < LG_PARTS; part++)
        size += lg_part_width(run->system, (lg_part)part);
    return size;
}

static PyObject *stepper_copy(PyObject *self, PyObject *Py_UNUSED(none))
{
    const lg_run *run = run_of(self);
    npy_intp size = copy_size(run);
    PyArrayObject *copy = (PyArrayObject *)PyArray_SimpleNew(1, &size, NPY_DOUBLE);
    if (!copy)
        return NULL;
    double *next = PyArray_DATA(copy);
    for (int part = 0; part < LG_PARTS; part++) {
        int width = lg_part_width(run->system, (lg_part)part);
        lg_copy(width, lg_part_of(&run->state, (lg_part)part), next);
        next += width;
    }
    lg_copy(lg_run_carry_count(run), run->state.carry, next);
    PyArray_CLEARFLAGS(copy, NPY_ARRAY_WRITEABLE);
    return (PyObject *)copy;
}

PyDoc_STRVAR(restore_doc, "restore(t, copy, efforts)\n--\n\nContinues from a time, a result of copy() and the held\n"
                          "forces of that state.");

static PyObject *stepper_restore(PyObject *self, PyObject *args)
{
    double t;
    PyObject *copy, *efforts, *done = NULL;
    lg_run *run = run_of(self);
    if (!PyArg_ParseTuple(args, "dOO:restore", &t, &copy, &efforts) || check_idle(self) < 0)
        return NULL;
    npy_intp size = copy_size(run);
    PyArrayObject *values = lg_array_unchecked(copy, "copy", 1, &size, 0);
    PyArrayObject *force = values ? lg_vector(efforts, "efforts", run->system->space->nv) : NULL;
    if (force) {
        lg_state state = {.t = t};
        double *next = PyArray_DATA(values);
        for (int part = 0; part < LG_PARTS; part++) {
            *(double **)((char *)&state + lg_parts[part].field) = next;
            next += lg_part_width(run->system, (lg_part)part);
        }
        state.carry = next;
        lg_run_put(run, &state, lg_data(force));
        done = Py_NewRef(Py_None);
    }
    Py_XDECREF(values);
    Py_XDECREF(force);
    return done;
}

static PyMethodDef stepper_methods[] = {
    {"copy", stepper_copy, METH_NOARGS, copy_doc},
    {"step", stepper_step, METH_VARARGS, step_doc},
    {"restore", stepper_restore, METH_VARARGS, restore_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(stepper_doc, "Stepper(system, method, t0, q, v, start, options)\n--\n\n"
                          "A run that takes one step at a time; the tolerances of an adaptive method are not used.");

static PyType_Slot stepper_slots[] = {
    {Py_tp_doc, (void *)stepper_doc},
    {Py_tp_new, stepper_new},
    {Py_tp_traverse, stepper_traverse},
    {Py_tp_dealloc, stepper_dealloc},
    {Py_tp_methods, stepper_methods},
    {Py_tp_getset, stepper_attributes},
    {0, NULL},
};

static PyType_Spec stepper_spec = {
    .name = "lgint._core.Stepper",
    .basicsize = sizeof(lg_stepper_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = stepper_slots,
};

int lg_add_stepper(PyObject *module)
{
    return lg_add_type(module, &stepper_spec, NULL, NULL);
}
