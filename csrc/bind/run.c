/* Arguments of runs; see run.h. */
#include "bind/run.h"

#include "bind/system.h"

int lg_read_method(PyObject *owned, const char *name, PyObject *options, PyObject *start, lg_setup *setup)
{
    PyObject *inherited = PyDict_Check(start) ? PyDict_GetItemString(start, "options") : NULL;
    setup->method = lg_method_named(name);
    setup->options = setup->method ? lg_options(setup->method, options, inherited, owned) : NULL;
    return setup->options ? 0 : -1;
}

int lg_read_system(const lg_module *module, PyObject *system, lg_setup *setup)
{
    if (!PyObject_TypeCheck(system, module->System)) {
        PyErr_Format(PyExc_TypeError, "system must be a System, given %R", system);
        return -1;
    }
    setup->system = lg_system_of(system);
    return lg_system_plans(system, setup->method->stepper, &setup->plans);
}

/* ---- the start ---- */

static int read_part(PyObject *owned, lg_part part, PyObject *given, lg_setup *setup)
{
    int width = lg_part_width(setup->system, part);
    return lg_read_vector(owned, lg_parts[part].name, given, width, &setup->start.part[part]);
}

static PyObject *item_of(PyObject *start, const char *key)
{
    PyObject *given = PyDict_GetItemString(start, key);
    if (!given)
        PyErr_Format(PyExc_ValueError, "start must have vdot, lam, mem and carry; %s is missing", key);
    return given;
}

/* What a resumed run has besides q and v. */
static int read_resumed(PyObject *owned, PyObject *start, lg_setup *setup)
{
    if (!PyDict_Check(start)) {
        PyErr_Format(PyExc_ValueError, "start must be a dict of vdot, lam, mem and carry, or None, given %R", start);
        return -1;
    }
    for (int part = LG_PART_A; part < LG_PARTS; part++) {
        PyObject *given = item_of(start, lg_parts[part].name);
        if (!given || read_part(owned, (lg_part)part, given, setup) < 0)
            return -1;
    }
    PyObject *carry = item_of(start, "carry"), *changed = PyDict_GetItemString(start, "changed");
    setup->start.ncarry = carry ? lg_read_vector(owned, "carry", carry, -1, &setup->start.carry) : -1;
    setup->start.changed = changed ? PyObject_IsTrue(changed) : 0;
    return setup->start.ncarry < 0 || setup->start.changed < 0 ? -1 : 0;
}

/* A resumed run, or a fresh start with or without a guess of the memory, which the caller may have checked. */
static int read_start(PyObject *owned, PyObject *start, lg_setup *setup)
{
    PyObject *mem = PyDict_Check(start) ? PyDict_GetItemString(start, "mem") : NULL;
    if (mem && !PyDict_GetItemString(start, "vdot") && !PyDict_GetItemString(start, "carry")) {
        PyObject *checked = PyDict_GetItemString(start, "checked"), *kept = PyDict_GetItemString(start, "kept");
        setup->start.checked = checked ? PyObject_IsTrue(checked) : 0;
        setup->start.kept = kept ? PyObject_IsTrue(kept) : 0;
        return setup->start.checked < 0 || setup->start.kept < 0 || read_part(owned, LG_PART_MEM, mem, setup) < 0 ? -1
                                                                                                                  : 0;
    }
    return start == Py_None ? 0 : read_resumed(owned, start, setup);
}

int lg_read_setup(PyObject *owned, const lg_module *module, const lg_run_arguments *arguments, lg_setup *setup)
{
    *setup = (lg_setup){.start.t = arguments->t0};
    if (lg_read_method(owned, arguments->method, arguments->options, arguments->start, setup) < 0 ||
        lg_read_system(module, arguments->system, setup) < 0 || read_part(owned, LG_PART_Q, arguments->q, setup) < 0 ||
        read_part(owned, LG_PART_V, arguments->v, setup) < 0)
        return -1;
    return read_start(owned, arguments->start, setup);
}

/* ---- the schedule ---- */

int lg_read_times(PyObject *owned, PyObject *stops, PyObject *t_eval, lg_schedule *schedule)
{
    if (stops != Py_None)
        schedule->nstops = lg_read_vector(owned, "stops", stops, -1, &schedule->stops);
    if (t_eval != Py_None && schedule->nstops >= 0)
        schedule->nt_eval = lg_read_vector(owned, "t_eval", t_eval, -1, &schedule->t_eval);
    return schedule->nstops < 0 || schedule->nt_eval < 0 ? -1 : 0;
}
