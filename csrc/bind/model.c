/* The type Model: a compiled model, made of a shape and a vector of parameters. */
#include "model/model.h"

#include "bind/args.h"
#include "bind/compiled.h"
#include "bind/law.h"
#include "bind/system.h"

/* ---- the shape: everything but the parameters; the list `owned` keeps what the model needs of it, the list `scratch`
   what only its creation needs ---- */

/* What the rows of the integer arrays hold. */
typedef struct frame_row {
    int block, part;
} frame_row;

typedef struct element_row {
    int frames[2], nparameters, loop, implied;
} element_row;

/* The rows of a copy of an array of C integers. */
static const void *integers(PyObject *given, const char *name, npy_intp rows, int columns, PyObject *scratch)
{
    PyArrayObject *array = (PyArrayObject *)given;
    if (PyArray_Check(given) && PyArray_TYPE(array) == NPY_INT && PyArray_NDIM(array) == 2 &&
        PyArray_DIM(array, 0) == rows && PyArray_DIM(array, 1) == columns) {
        PyObject *copy = PyArray_FROM_OTF(given, NPY_INT, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
        array = lg_keep_array(scratch, (PyArrayObject *)copy);
        return array ? PyArray_DATA(array) : NULL;
    }
    PyErr_Format(PyExc_ValueError, "%s must be an intc array of shape (%zd, %d), given %R", name, (Py_ssize_t)rows,
                 columns, given);
    return NULL;
}

static int read_frames(lg_model_spec *spec, PyObject *given, PyObject *points, PyObject *scratch)
{
    PyArrayObject *point = lg_keep_array(scratch, lg_array(points, "points", 2, (npy_intp[]){-1, 6}, 0));
    npy_intp n = point ? PyArray_DIM(point, 0) : 0;
    const frame_row *row = point ? integers(given, "frames", n, 2, scratch) : NULL;
    lg_frame_spec *frame = row ? lg_keep_memory(scratch, n, sizeof *frame) : NULL;
    if (!frame)
        return -1;
    spec->frames = frame;
    spec->nframes = (int)n;
    for (const double *x = lg_data(point); frame < spec->frames + n; frame++, row++, x += 6)
        *frame = (lg_frame_spec){row->block, row->part, {x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
    return 0;
}

/* The blocks that a law of the state reads, which the list `scratch` keeps. */
static int read_blocks(PyObject *given, lg_element_spec *element, PyObject *scratch)
{
    element->nreads = (int)PyTuple_GET_SIZE(given);
    int *block = lg_keep_memory(scratch, element->nreads, sizeof *block);
    element->reads = block;
    for (int i = 0; block && i < element->nreads; i++)
        block[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(given, i));
    return block && !PyErr_Occurred() ? 0 : -1;
}

static int read_function(lg_python_function *function, lg_model_spec *spec, lg_element_spec *element)
{
    char what[LG_WHAT_SIZE];
    lg_compiled *compiled = lg_compiled_of(function->callable);
    if (compiled) {
        lg_compiled_function(compiled, &element->function, &element->law);
        return 0;
    }
    snprintf(what, sizeof what, "the function of element %.*s", LG_SHORT(element->name));
    if (lg_function(what, &function->callable) < 0 || lg_function(what, &function->tangent) < 0)
        return -1;
    if (function->callable) {
        element->function = lg_python_time_function(function);
        element->law = lg_python_law(function);
        spec->flags |= LG_SYSTEM_NEEDS_GIL;
    }
    return 0;
}

static int read_element(PyObject *given, const element_row *row, lg_python_function *function, lg_model_spec *spec,
                        lg_element_spec *element, PyObject *scratch)
{
    PyObject *reads = NULL;
    *element = (lg_element_spec){.frames = {row->frames[0], row->frames[1]},
                                 .nparameters = row->nparameters,
                                 .loop = row->loop,
                                 .implied = (unsigned)row->implied};
    if (!PyArg_ParseTuple(given, "ssOO|O!;elements are (type, name, function, tangent) or (..., reads)", &element->type,
                          &element->name, &function->callable, &function->tangent, &PyTuple_Type, &reads))
        return -1;
    function->name = PyTuple_GET_ITEM(given, 1);
    if (read_function(function, spec, element) < 0)
        return -1;
    if (!reads)
        return 0;
    element->law = lg_python_law_of_state(function);
    return read_blocks(reads, element, scratch);
}

/* The core copies everything except the functions. */
static int read_elements(lg_model_spec *spec, PyObject *given, PyObject *numbers, PyObject *owned, PyObject *scratch)
{
    PyObject *rows = lg_keep_rows(owned, given, "elements");
    Py_ssize_t n = rows ? PyTuple_GET_SIZE(rows) : 0;
    const element_row *row = rows ? integers(numbers, "numbers", n, 5, scratch) : NULL;
    lg_element_spec *elements = row ? lg_keep_memory(scratch, n, sizeof *elements) : NULL;
    lg_python_function *functions = elements ? lg_keep_memory(owned, n, sizeof *functions) : NULL;
    if (!functions)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_element(PyTuple_GET_ITEM(rows, i), &row[i], &functions[i], spec, &elements[i], scratch) < 0)
            return -1;
    spec->elements = elements;
    spec->nelements = (int)n;
    return 0;
}

/* ---- controls ---- */

static int read_python_control(lg_python_function *function, lg_model_spec *spec, lg_control_spec *control)
{
    char what[LG_WHAT_SIZE];
    snprintf(what, sizeof what, "the function of control %.*s", LG_SHORT(control->name));
    if (lg_function(what, &function->callable) < 0 || lg_function(what, &function->tangent) < 0)
        return -1;
    if (!function->callable) {
        PyErr_Format(PyExc_ValueError, "%s is missing", what);
        return -1;
    }
    lg_python_control(function, control);
    spec->flags |= LG_SYSTEM_NEEDS_GIL;
    return 0;
}

static int read_control(PyObject *given, lg_python_function *function, lg_model_spec *spec, lg_control_spec *control,
                        PyObject *scratch)
{
    PyObject *reads;
    if (!PyArg_ParseTuple(given, "sOOidO;controls are (name, function, tangent, nvalues, every, reads)", &control->name,
                          &function->callable, &function->tangent, &control->nvalues, &control->every, &reads))
        return -1;
    function->name = PyTuple_GET_ITEM(given, 0);
    lg_compiled *compiled = lg_compiled_of(function->callable);
    if (compiled)
        lg_compiled_control(compiled, control);
    else if (read_python_control(function, spec, control) < 0)
        return -1;
    PyArrayObject *array = lg_keep_array(scratch, (PyArrayObject *)PyArray_FROM_OTF(reads, NPY_INT, NPY_ARRAY_CARRAY));
    if (!array)
        return -1;
    control->nreads = (int)PyArray_SIZE(array);
    control->reads = PyArray_DATA(array);
    return 0;
}

static int read_controls(lg_model_spec *spec, PyObject *given, PyObject *owned, PyObject *scratch)
{
    PyObject *rows = lg_keep_rows(owned, given, "controls");
    Py_ssize_t n = rows ? PyTuple_GET_SIZE(rows) : 0;
    lg_control_spec *controls = rows ? lg_keep_memory(scratch, n, sizeof *controls) : NULL;
    lg_python_function *functions = controls ? lg_keep_memory(owned, n, sizeof *functions) : NULL;
    if (!functions)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (read_control(PyTuple_GET_ITEM(rows, i), &functions[i], spec, &controls[i], scratch) < 0)
            return -1;
    spec->controls = controls;
    spec->ncontrols = (int)n;
    return 0;
}

/* ---- a shape with parameters ---- */

static void free_model(void *core)
{
    lg_model_free(core);
}

/* Gives the laws of the state what makes states, which the list `owned` keeps. */
static int set_reader(PyTypeObject *type, lg_model *model, PyObject *states, PyObject *owned)
{
    if (states == Py_None)
        return 0;
    const lg_system *system = lg_model_system(model);
    lg_python_reader *reader = lg_keep_memory(owned, 1, sizeof *reader);
    if (!reader || PyList_Append(owned, states) < 0)
        return -1;
    *reader =
        (lg_python_reader){states, lg_module_of(type)->Instant, system->space->nq, system->space->nv, system->nmem};
    lg_model_set_reader(model, reader);
    return 0;
}

/* The object of a new model, or an exception if the model could not be made. */
static PyObject *model_object(PyTypeObject *type, lg_status status, lg_model *model, const lg_report *report,
                              PyObject *states, PyObject *owned)
{
    if (status != LG_OK)
        return lg_raise(lg_module_of(type), status, report, NULL);
    if (set_reader(type, model, states, owned) < 0) {
        lg_model_free(model);
        return NULL;
    }
    return lg_system_new(type, lg_model_system(model), model, free_model, owned);
}

/* Points the elements at their parameters, which follow each other. */
static int set_element_parameters(const lg_model_spec *spec, PyArrayObject *parameters)
{
    const double *next = lg_data(parameters), *end = next + PyArray_SIZE(parameters);
    lg_element_spec *element = (lg_element_spec *)spec->elements;
    int fits = 1;
    for (int i = 0; fits && i < spec->nelements; i++, element++) {
        element->parameters = next;
        fits = element->nparameters >= 0 && element->nparameters <= end - next;
        next += fits ? element->nparameters : 0;
    }
    if (fits && next == end)
        return 0;
    PyErr_Format(PyExc_ValueError, "parameters must have as many values as all elements together, given %zd",
                 (Py_ssize_t)PyArray_SIZE(parameters));
    return -1;
}

/* The core checks that parameters are finite, since it knows to which element each of them belongs. */
static PyArrayObject *read_parameters(PyObject *given, PyObject *scratch)
{
    return lg_keep_array(scratch, lg_array_unchecked(given, "parameters", 1, &(npy_intp){-1}, 0));
}

static PyObject *create_model(PyTypeObject *type, const lg_model_spec *spec, PyObject *states, PyObject *owned)
{
    lg_model *model = NULL;
    lg_report report;
    lg_status status = lg_model_create(spec, &model, &report);
    return model_object(type, status, model, &report, states, owned);
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocks",     "frames", "points",   "elements", "numbers",
                            "parameters", "states", "controls", NULL};
    PyObject *blocks, *frames, *points, *elements, *numbers, *given, *states = Py_None, *controls = NULL, *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOO|OO:Model", names, &blocks, &frames, &points, &elements,
                                     &numbers, &given, &states, &controls))
        return NULL;
    lg_model_spec spec = {.forget = lg_forget_error};
    PyObject *owned = PyList_New(0), *scratch = PyList_New(0);
    PyArrayObject *parameters;
    if (owned && scratch && (spec.blocks = lg_blocks(blocks, &spec.nblocks, scratch)) &&
        read_frames(&spec, frames, points, scratch) == 0 &&
        read_elements(&spec, elements, numbers, owned, scratch) == 0 &&
        (!controls || read_controls(&spec, controls, owned, scratch) == 0) &&
        (parameters = read_parameters(given, scratch)) && set_element_parameters(&spec, parameters) == 0)
        self = create_model(type, &spec, states, owned);
    Py_XDECREF(owned);
    Py_XDECREF(scratch);
    return self;
}

PyDoc_STRVAR(varied_doc,
             "varied(parameters, states=None)\n--\n\n"
             "A model of the same shape, which shares the plans of this one, with other parameters of all elements;\n"
             "states makes those that laws are called with, as in Model.\n"
             "ValueError if parameters change on which the shape depends, such as the axes of a load.");

static PyObject *model_varied(PyObject *self, PyObject *args)
{
    PyObject *given, *states = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:varied", &given, &states))
        return NULL;
    const lg_system_object *origin = (lg_system_object *)self;
    PyObject *shape = origin->shape ? origin->shape : self, *owned = Py_BuildValue("[O]", shape), *other = NULL;
    PyArrayObject *parameters = owned ? lg_array_unchecked(given, "parameters", 1, &(npy_intp){-1}, 0) : NULL;
    if (parameters) {
        lg_model *model = NULL;
        lg_report report;
        lg_status status =
            lg_model_vary(origin->core, (size_t)PyArray_SIZE(parameters), lg_data(parameters), &model, &report);
        other = model_object(Py_TYPE(self), status, model, &report, states, owned);
    }
    if (other)
        ((lg_system_object *)other)->shape = shape;
    Py_XDECREF(owned);
    Py_XDECREF(parameters);
    return other;
}

/* ---- derivatives by parameters ---- */

PyDoc_STRVAR(differentiated_doc,
             "differentiated(sizes, counts, parameters, rates, ends, motions)\n--\n\n"
             "The same model with derivatives of its terms by n numbers, which `derivative` gives. Of each number\n"
             "its size, (n,), by which differences take their steps, and how many parameters and ends change with\n"
             "it, (n, 2). Of all of them, one after the other: numbers of parameters among those of all elements,\n"
             "(k, 1), and their derivatives (k,); ends of elements, twice the element's number and 1 for the second,\n"
             "(m, 1), and the derivatives of base and offset of their frames, (6 m,).");

/* The directions of the arguments, in memory that the list keeps. NULL: an exception is set. */
static const lg_direction *read_directions(PyObject *args, int *n, PyObject *scratch)
{
    PyObject *given[6];
    const double *sizes, *rates, *motions;
    if (!PyArg_ParseTuple(args, "OOOOOO:differentiated", &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5]) ||
        (*n = lg_read_vector(scratch, "sizes", given[0], -1, &sizes)) < 0)
        return NULL;
    const int (*count)[2] = integers(given[1], "counts", *n, 2, scratch);
    lg_direction *directions = count ? lg_keep_memory(scratch, *n + 1, sizeof *directions) : NULL;
    int nvalues = 0, nends = 0;
    for (int i = 0; directions && i < *n; i++)
        nvalues += count[i][0], nends += count[i][1];
    const int *parameters = directions ? integers(given[2], "parameters", nvalues, 1, scratch) : NULL;
    const int *ends = parameters ? integers(given[4], "ends", nends, 1, scratch) : NULL;
    if (!ends || lg_read_vector(scratch, "rates", given[3], nvalues, &rates) < 0 ||
        lg_read_vector(scratch, "motions", given[5], 6 * (npy_intp)nends, &motions) < 0)
        return NULL;
    for (int i = 0; i < *n; i++) {
        directions[i] = (lg_direction){sizes[i], count[i][0], parameters, rates, count[i][1], ends, motions};
        parameters += count[i][0], rates += count[i][0];
        ends += count[i][1], motions += 6 * count[i][1];
    }
    return directions;
}

static PyObject *model_differentiated(PyObject *self, PyObject *args)
{
    const lg_system_object *origin = (lg_system_object *)self;
    PyObject *shape = origin->shape ? origin->shape : self, *owned = Py_BuildValue("[OO]", shape, self), *other = NULL;
    PyObject *scratch = PyList_New(0);
    int n;
    const lg_direction *directions = owned && scratch ? read_directions(args, &n, scratch) : NULL;
    if (directions) {
        lg_model *model = NULL;
        lg_report report;
        lg_status status = lg_model_differentiate(origin->core, n, directions, &model, &report);
        other = model_object(Py_TYPE(self), status, model, &report, Py_None, owned);
    }
    if (other)
        ((lg_system_object *)other)->shape = shape;
    Py_XDECREF(owned);
    Py_XDECREF(scratch);
    return other;
}

/* ---- the type ---- */

static PyMethodDef model_methods[] = {
    {"varied", model_varied, METH_VARARGS, varied_doc},
    {"differentiated", model_differentiated, METH_VARARGS, differentiated_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    model_doc,
    "Model(blocks, frames, points, elements, numbers, parameters, states=None, controls=())\n--\n\n"
    "A compiled model. blocks: (kind, n), or tuples of such factors; frames: block (-1: the ground) and part,\n"
    "(m, 2); points: their base and offset, (m, 6); elements: (type, name, function or None, its tangent or\n"
    "None), and behind these, for a law that is called with a state, a tuple of the blocks that its differences\n"
    "read; states(t, q, v, mem, span, theta) makes such states, with a copy of everything that a point has;\n"
    "numbers: frames (-1: none), number of parameters, loop (0: none) and bits of the rows that others\n"
    "imply of each element, (n, 5); parameters: those of all elements, one after the other.\n"
    "controls: (name, function, tangent or None, number of values, period of samples or 0, velocities that its\n"
    "differences read); they are called with a state as well.");

static PyType_Slot model_slots[] = {
    {Py_tp_doc, (void *)model_doc},
    {Py_tp_new, model_new},
    {Py_tp_methods, model_methods},
    {0, NULL},
};

static PyType_Spec model_spec = {
    .name = "lgint._core.Model",
    .basicsize = sizeof(lg_system_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = model_slots,
};

int lg_add_model(PyObject *module)
{
    const lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &model_spec, state->System, NULL);
}
