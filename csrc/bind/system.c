#include "bind/system.h"

const lg_system *lg_system_of(PyObject *self)
{
    const lg_system *system = ((lg_system_object *)self)->system;
    if (!system)
        PyErr_Format(PyExc_RuntimeError, "%s.__init__ has not run", Py_TYPE(self)->tp_name);
    return system;
}

int lg_system_is_fresh(PyObject *self)
{
    if (!((lg_system_object *)self)->system)
        return 1;
    PyErr_Format(PyExc_RuntimeError, "%s.__init__ has run already", Py_TYPE(self)->tp_name);
    return 0;
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

void lg_system_close(lg_system_object *self)
{
    for (int coupling = 0; coupling < LG_COUPLINGS; coupling++)
        lg_plan_free(self->plan[coupling]);
}
