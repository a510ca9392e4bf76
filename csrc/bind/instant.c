/* Points of runs that copy what is read; see instant.h. */
#include "bind/instant.h"

#include "bind/args.h"
#include "bind/module.h"

typedef struct instant {
    PyObject_HEAD double t, age;
    lg_instant_arrays from[LG_INSTANT_ARRAYS]; /* without data after the call */
    PyObject *copy[LG_INSTANT_ARRAYS]; /* NULL: not read yet */
} instant;

PyObject *lg_instant_new(PyTypeObject *type, double t, double age, const lg_instant_arrays arrays[LG_INSTANT_ARRAYS])
{
    instant *self = PyObject_New(instant, type);
    if (!self)
        return NULL;
    self->t = t;
    self->age = age;
    for (int i = 0; i < LG_INSTANT_ARRAYS; i++) {
        self->from[i] = arrays[i];
        self->copy[i] = arrays[i].data ? NULL : Py_NewRef(Py_None);
    }
    return (PyObject *)self;
}

void lg_instant_end(PyObject *object)
{
    instant *self = (instant *)object;
    if (!self)
        return;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    for (int i = 0; i < LG_INSTANT_ARRAYS; i++) {
        lg_instant_arrays *from = &self->from[i];
        if (!self->copy[i] && Py_REFCNT(object) > 1 && !(self->copy[i] = lg_read_only_vector(from->data, from->count)))
            PyErr_WriteUnraisable(object);
        from->data = NULL;
    }
    PyErr_Restore(type, error, trace);
    Py_DECREF(object);
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    for (int i = 0; i < LG_INSTANT_ARRAYS; i++)
        Py_XDECREF(((instant *)object)->copy[i]);
    type->tp_free(object);
    Py_DECREF(type);
}

static const int indices[LG_INSTANT_ARRAYS] = {0, 1, 2, 3};

/* The closure is the array's index. */
static PyObject *get_array(PyObject *object, void *index)
{
    instant *self = (instant *)object;
    int i = *(const int *)index;
    if (!self->copy[i] && self->from[i].data)
        self->copy[i] = lg_read_only_vector(self->from[i].data, self->from[i].count);
    if (!self->copy[i] && !PyErr_Occurred())
        PyErr_SetNone(PyExc_MemoryError); /* no copy could be made at the end of the call */
    return Py_XNewRef(self->copy[i]);
}

static PyObject *get_t(PyObject *self, void *Py_UNUSED(closure))
{
    return PyFloat_FromDouble(((instant *)self)->t);
}

static PyObject *get_age(PyObject *self, void *Py_UNUSED(closure))
{
    return PyFloat_FromDouble(((instant *)self)->age);
}

static PyGetSetDef attributes[] = {
    {"t", get_t, NULL, "Time, s.", NULL},
    {"q", get_array, NULL, "Coordinates.", (void *)&indices[0]},
    {"v", get_array, NULL, "Velocities.", (void *)&indices[1]},
    {"mem", get_array, NULL, "Memory, as it was left at this point or an earlier one; None: zeros.",
     (void *)&indices[2]},
    {"theta", get_array, NULL, "Displacement since that point; None: age v.", (void *)&indices[3]},
    {"age", get_age, NULL, "Time since that point, s.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A point of a run, as the core shows it to a function. Its arrays are read-only."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "lgint._core.Instant",
    .basicsize = sizeof(instant),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int lg_add_instant(PyObject *module)
{
    return lg_add_type(module, &spec, NULL, &((lg_module *)PyModule_GetState(module))->Instant);
}
