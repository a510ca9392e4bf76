/* The type Stepper: a run that takes one step at a time. */
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
    if (owned && lg_read_setup(owned, lg_module_of(type), &a, &setup) == 0)
        self = open_stepper(type, a.system, &setup);
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
             "step(h)\n--\n\n"
             "Advances by h > 0, in one step or in several that are split at the kinks inside. On failure the state\n"
             "is unchanged and the error is that of `integrate`, without a result.");

static PyObject *stepper_step(PyObject *self, PyObject *argument)
{
    lg_run *run = run_of(self);
    double h = PyFloat_AsDouble(argument);
    if (PyErr_Occurred())
        return NULL;
    if (stepper_of(self)->busy) {
        PyErr_SetString(PyExc_RuntimeError, "this stepper is in the middle of a step");
        return NULL;
    }
    lg_report report = {0};
    stepper_of(self)->busy = 1;
    lg_status status = lg_run_go(run, h, &report);
    stepper_of(self)->busy = 0;
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

static PyObject *get_stats(PyObject *self, void *Py_UNUSED(closure))
{
    return lg_stats_dict(&run_of(self)->stepper->stats);
}

#define PART_ATTRIBUTE(part, field, name, width, doc) {name, get_part, NULL, doc, (void *)&lg_parts[LG_PART_##part]},

static PyGetSetDef stepper_attributes[] = {
    {"t", get_t, NULL, "time of the present state", NULL},
    LG_STATE(PART_ATTRIBUTE){"carry", get_carry, NULL, "all else that later steps depend on", NULL},
    {"stats", get_stats, NULL, "counts so far", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(copy_doc, "copy()\n--\n\nThe parts of the present state in the order of PARTS, then the carry, in a\n"
                       "single read-only array.");

static PyObject *stepper_copy(PyObject *self, PyObject *Py_UNUSED(none))
{
    const lg_run *run = run_of(self);
    npy_intp size = lg_run_carry_count(run);
    for (int part = 0; part < LG_PARTS; part++)
        size += lg_part_width(run->system, (lg_part)part);
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

static PyMethodDef stepper_methods[] = {
    {"copy", stepper_copy, METH_NOARGS, copy_doc},
    {"step", stepper_step, METH_O, step_doc},
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
