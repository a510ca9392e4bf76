/* The type Stepper: a run that takes one step at a time. */
#include "bind/outcome.h"
#include "bind/run.h"

typedef struct lg_stepper_object {
    PyObject ob_base;
    PyObject *system;
    lg_run run; /* open if run.stepper is set */
    int busy; /* set inside step, which a callback must not call again */
} lg_stepper_object;

static lg_stepper_object *stepper_of(PyObject *self)
{
    return (lg_stepper_object *)self;
}

/* The run of an initialised object, or NULL and a RuntimeError. */
static lg_run *run_of(PyObject *self)
{
    if (stepper_of(self)->run.stepper)
        return &stepper_of(self)->run;
    PyErr_SetString(PyExc_RuntimeError, "Stepper.__init__ has not run");
    return NULL;
}

/* ---- creation and destruction ---- */

static int stepper_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"system", "method", "t0", "q", "v", "start", "options", NULL};
    lg_run_arguments a;
    if (stepper_of(self)->run.stepper) {
        PyErr_SetString(PyExc_RuntimeError, "Stepper.__init__ has run already");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsdOOOO:Stepper", names, &a.system, &a.method, &a.t0, &a.q, &a.v,
                                     &a.start, &a.options))
        return -1;
    const lg_module *module = lg_module_of(Py_TYPE(self));
    lg_report report = {0};
    lg_status status = lg_run_from(&stepper_of(self)->run, module, &a, &report);
    if (status != LG_OK) {
        lg_raise(module, status, &report, NULL);
        return -1;
    }
    stepper_of(self)->system = Py_NewRef(a.system);
    return 0;
}

static int stepper_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(stepper_of(self)->system);
    return 0;
}

/* The run refers to the system, so both are released together. */
static int stepper_clear(PyObject *self)
{
    lg_run_close(&stepper_of(self)->run);
    Py_CLEAR(stepper_of(self)->system);
    return 0;
}

static void stepper_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    stepper_clear(self);
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
    double h = run ? PyFloat_AsDouble(argument) : -1;
    if (!run || PyErr_Occurred())
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
    const lg_run *run = run_of(self);
    return run ? PyFloat_FromDouble(run->state.t) : NULL;
}

/* The closure is the row of a part in lg_parts. */
static PyObject *get_part(PyObject *self, void *closure)
{
    const lg_run *run = run_of(self);
    lg_part part = (lg_part)((const lg_part_info *)closure - lg_parts);
    return run ? lg_vector_from(lg_part_of(&run->state, part), lg_part_width(run->system, part)) : NULL;
}

static PyObject *get_carry(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_run *run = run_of(self);
    return run ? lg_vector_from(run->state.carry, lg_run_carry_count(run)) : NULL;
}

static PyObject *get_stats(PyObject *self, void *Py_UNUSED(closure))
{
    const lg_run *run = run_of(self);
    return run ? lg_stats_dict(&run->stepper->stats, -1) : NULL;
}

#define PART_ATTRIBUTE(part, field, name, width, doc) {name, get_part, NULL, doc, (void *)&lg_parts[LG_PART_##part]},

static PyGetSetDef stepper_attributes[] = {
    {"t", get_t, NULL, "time of the present state", NULL},
    LG_STATE(PART_ATTRIBUTE){"carry", get_carry, NULL, "all else that later steps depend on", NULL},
    {"stats", get_stats, NULL, "counts so far", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef stepper_methods[] = {
    {"step", stepper_step, METH_O, step_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(stepper_doc, "Stepper(system, method, t0, q, v, start, options)\n--\n\n"
                          "A run that takes one step at a time; the tolerances of an adaptive method are not used.");

static PyType_Slot stepper_slots[] = {
    {Py_tp_doc, (void *)stepper_doc}, {Py_tp_init, stepper_init},         {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, stepper_dealloc}, {Py_tp_traverse, stepper_traverse}, {Py_tp_clear, stepper_clear},
    {Py_tp_methods, stepper_methods}, {Py_tp_getset, stepper_attributes}, {0, NULL},
};

static PyType_Spec stepper_spec = {
    .name = "lgint._core.Stepper",
    .basicsize = sizeof(lg_stepper_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = stepper_slots,
};

int lg_add_stepper(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &stepper_spec, NULL, &state->Stepper);
}
