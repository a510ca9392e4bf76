/* Creating systems and their plans; see system.h. */
#include "bind/system.h"

PyObject *lg_system_new(PyTypeObject *type, const lg_system *system, void *core, void (*release)(void *core),
                        PyObject *owned)
{
    PyObject *tuple = PyList_AsTuple(owned);
    lg_system_object *self = tuple ? (lg_system_object *)type->tp_alloc(type, 0) : NULL;
    if (!self) {
        Py_XDECREF(tuple);
        release(core);
        return NULL;
    }
    self->system = system;
    self->core = core;
    self->release = release;
    self->owned = tuple;
    return (PyObject *)self;
}

const lg_plan *lg_system_plan(PyObject *self, lg_coupling coupling)
{
    lg_system_object *object = (lg_system_object *)self;
    if (object->shape)
        return lg_system_plan(object->shape, coupling);
    if (!object->plan[coupling]) {
        lg_status status = lg_plan_create(object->system->pattern, coupling, &object->plan[coupling]);
        if (status != LG_OK)
            lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
    }
    return object->plan[coupling];
}

int lg_system_plans(PyObject *self, const lg_stepper_type *stepper, lg_plans *plans)
{
    const lg_pattern *pattern = ((lg_system_object *)self)->system->pattern;
    *plans = (lg_plans){0};
    for (int i = 0; i < LG_COUPLINGS; i++) {
        lg_coupling coupling = (lg_coupling)i;
        if (lg_stepper_needs(stepper, pattern, coupling) && !(plans->of[i] = lg_system_plan(self, coupling)))
            return -1;
    }
    return 0;
}
