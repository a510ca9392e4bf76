/* The type CallableSystem: a system made of Python functions, for which it needs the GIL, or of compiled ones. */
#include "bind/args.h"
#include "bind/compiled.h"
#include "bind/system.h"
#include "system/callback.h"

/* ---- calling a function ---- */

/* `shape` is that of the returned value: v stands for nv, r for the number of rows, 2 for itself. */
#define CALL(name, arguments, count, shape) {name, "the value returned by " name "(" arguments ")", count, shape}

static const struct {
    const char *name, *text;
    int arguments; /* how many of t, q, v, a, lam it takes */
    const char *shape;
} calls[LG_CALLS] = {
    [LG_CALL_MASS] = CALL("mass", "t, q", 2, "vv"),
    [LG_CALL_FORCE] = CALL("force", "t, q, v", 3, "v"),
    [LG_CALL_GYRO] = CALL("gyro", "t, q, v", 3, "v"),
    [LG_CALL_CONSTRAINT] = CALL("constraint", "t, q", 2, "r"),
    [LG_CALL_JACOBIAN] = CALL("constraint_jacobian", "t, q", 2, "rv"),
    [LG_CALL_ACCELERATION] = CALL("constraint_acceleration", "t, q, v", 3, "r"),
    [LG_CALL_TANGENT] = CALL("tangent", "t, q, v, a, lam", 5, "2vv"),
    [LG_CALL_ENERGY] = CALL("energy", "t, q, v", 3, "2"),
    [LG_CALL_POTENTIAL] = CALL("potential", "t, q", 2, ""),
    [LG_CALL_POTENTIAL_GRADIENT] = CALL("potential_gradient", "t, q", 2, "v"),
    [LG_CALL_MASS_GRADIENT] = CALL("mass_gradient", "t, q", 2, "vvv"),
};

enum { MAX_ARGUMENTS = 5 };

typedef struct python_function {
    PyObject *callable; /* NULL: not given */
    const lg_compiled *compiled; /* NULL: it is Python's */
    enum lg_call call; /* which of the system's functions it is */
    int nq, nv, rows; /* of its system */
} python_function;

static PyObject *call_python(const python_function *f, const lg_callback_point *at)
{
    const double *const data[] = {at->q, at->v, at->a, at->lam};
    const int sizes[] = {f->nq, f->nv, f->nv, f->rows}, wanted = calls[f->call].arguments;
    PyObject *arguments[MAX_ARGUMENTS] = {PyFloat_FromDouble(at->t)}, *result = NULL;
    for (int i = 1; i < wanted && arguments[i - 1]; i++)
        arguments[i] = lg_read_only_vector(data[i - 1], sizes[i - 1]);
    if (arguments[wanted - 1])
        result = PyObject_Vectorcall(f->callable, arguments, (size_t)wanted, NULL);
    for (int i = 0; i < wanted; i++)
        Py_XDECREF(arguments[i]);
    return result;
}

static lg_status call_compiled(const python_function *f, const lg_callback_point *at, int ndim, const npy_intp *dims,
                               double *out)
{
    const double *from[] = {at->q, at->v, at->a, at->lam};
    int n = 1;
    for (int i = calls[f->call].arguments - 1; i < 4; i++)
        from[i] = NULL;
    for (int i = 0; i < ndim; i++)
        n *= (int)dims[i];
    return lg_compiled_callable(f->compiled, f->call == LG_CALL_FORCE, at->t, from, n, out);
}

/* Calls the function with read-only copies of its arguments and stores the value that it returns. LG_CALLBACK: an
   exception is set. LG_NOT_FINITE: a force. */
static lg_status call_function(void *self, const lg_callback_point *at, double *out)
{
    const python_function *f = self;
    npy_intp dims[3];
    int ndim = 0;
    for (const char *axis = calls[f->call].shape; *axis; axis++)
        dims[ndim++] = *axis == 'v' ? f->nv : *axis == 'r' ? f->rows : 2;
    if (f->compiled)
        return call_compiled(f, at, ndim, dims, out);
    return (f->call == LG_CALL_FORCE ? lg_returned_force : lg_returned)(call_python(f, at), calls[f->call].text, ndim,
                                                                        dims, out);
}

/* ---- creation; the list `owned` keeps everything that the system points to ---- */

/* Reads the functions from a dict by name; one that is None counts as not given. */
static python_function *read_functions(PyObject *given, lg_callbacks_spec *spec, PyObject *owned)
{
    python_function *functions = lg_keep_memory(owned, LG_CALLS, sizeof *functions);
    Py_ssize_t found = 0;
    for (int i = 0; functions && i < LG_CALLS; i++) {
        PyObject *function = PyDict_GetItemString(given, calls[i].name);
        found += function != NULL;
        lg_compiled *compiled = function ? lg_compiled_of(function) : NULL;
        if ((!compiled && lg_function(calls[i].name, &function) < 0) ||
            (function && PyList_Append(owned, function) < 0))
            return NULL;
        functions[i] = (python_function){.callable = function, .compiled = compiled, .call = i};
        spec->flags |= function && !compiled ? LG_SYSTEM_NEEDS_GIL : 0;
        if (function)
            spec->function[i] = (lg_callback){call_function, &functions[i]};
    }
    if (!functions || found == PyDict_Size(given))
        return functions;
    PyErr_Format(PyExc_ValueError, "functions has an unknown name: %R", given);
    return NULL;
}

static int read_kinks(PyObject *given, lg_callbacks_spec *spec, PyObject *owned)
{
    PyArrayObject *kinks = lg_keep_array(owned, lg_vector(given, "kinks", -1));
    if (!kinks || PyArray_Sort(kinks, 0, NPY_QUICKSORT) < 0)
        return -1;
    spec->kinks = lg_data(kinks);
    spec->nkinks = (int)PyArray_SIZE(kinks);
    return 0;
}

static void free_callbacks(void *core)
{
    lg_callbacks_free(core);
}

static PyObject *new_system(PyTypeObject *type, const lg_callbacks_spec *spec, python_function *functions,
                            PyObject *owned)
{
    lg_callbacks *callbacks;
    lg_report report;
    lg_status status = lg_callbacks_create(spec, &callbacks, &report);
    if (status != LG_OK)
        return lg_raise(lg_module_of(type), status, &report, NULL);
    const lg_system *system = lg_callbacks_system(callbacks);
    for (python_function *f = functions; f < functions + LG_CALLS; f++)
        f->nq = system->space->nq, f->nv = system->space->nv, f->rows = spec->nrows;
    return lg_system_new(type, system, callbacks, free_callbacks, owned);
}

static PyObject *callable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocks", "nrows", "functions", "kinks", "constant_mass", NULL};
    PyObject *blocks, *given, *kinks, *self = NULL;
    lg_callbacks_spec spec = {.forget = lg_forget_error};
    python_function *functions;
    int constant_mass = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OiO!O|p:CallableSystem", names, &blocks, &spec.nrows, &PyDict_Type,
                                     &given, &kinks, &constant_mass))
        return NULL;
    spec.flags |= constant_mass ? LG_SYSTEM_CONSTANT_MASS : 0;
    PyObject *owned = PyList_New(0);
    if (owned && (spec.blocks = lg_blocks(blocks, &spec.nblocks, owned)) &&
        (functions = read_functions(given, &spec, owned)) && read_kinks(kinks, &spec, owned) == 0)
        self = new_system(type, &spec, functions, owned);
    Py_XDECREF(owned);
    return self;
}

/* ---- the type ---- */

PyDoc_STRVAR(callable_doc,
             "CallableSystem(blocks, nrows, functions, kinks, constant_mass=False)\n--\n\n"
             "A system made of Python functions, a dict by name: mass and force, and optionally gyro, constraint,\n"
             "constraint_jacobian, constraint_acceleration, tangent, energy, potential, potential_gradient,\n"
             "mass_gradient. An exception inside a function stops the run and is raised unchanged.");

static PyType_Slot callable_slots[] = {
    {Py_tp_doc, (void *)callable_doc},
    {Py_tp_new, callable_new},
    {0, NULL},
};

static PyType_Spec callable_spec = {
    .name = "lgint._core.CallableSystem",
    .basicsize = sizeof(lg_system_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = callable_slots,
};

int lg_add_callable(PyObject *module)
{
    const lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &callable_spec, state->System, NULL);
}
