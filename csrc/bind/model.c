/* The type Model: a compiled model built from plain sequences. */
#include "model/model.h"

#include "bind/args.h"
#include "bind/law.h"
#include "bind/queries.h"
#include "bind/system.h"

typedef struct lg_model_object {
    lg_system_object base;
    lg_model *model;
    lg_model_spec spec; /* what the model was built from; empty in a model that was varied from it */
    PyObject *owned; /* tuple of everything that `spec` and `functions` borrow */
    lg_python_function *functions;
} lg_model_object;

static lg_model_object *model_of(PyObject *self)
{
    return (lg_model_object *)self;
}

/* ---- building ---- */

/* Everything read from the arguments; `owned` holds the Python objects whose buffers the specs point into. */
typedef struct model_source {
    lg_model_spec spec;
    lg_block_spec *blocks;
    lg_frame_spec *frames;
    lg_element_spec *elements;
    lg_python_function *functions;
    PyObject *owned; /* list */
} model_source;

/* Item `index` of a sequence as a tuple of `least` to `most`, kept alive by the source. */
static PyObject *item_tuple(model_source *source, PyObject *sequence, Py_ssize_t index, Py_ssize_t least,
                            Py_ssize_t most, const char *what)
{
    PyObject *tuple = PySequence_Tuple(PySequence_Fast_GET_ITEM(sequence, index));
    if (tuple && (PyTuple_GET_SIZE(tuple) < least || PyTuple_GET_SIZE(tuple) > most)) {
        PyErr_Format(PyExc_ValueError, "%s must be tuples of %zd values, given %R", what, least, tuple);
        Py_CLEAR(tuple);
    }
    if (!tuple || PyList_Append(source->owned, tuple) < 0) {
        Py_XDECREF(tuple);
        return NULL;
    }
    Py_DECREF(tuple);
    return tuple;
}

static int read_blocks(model_source *source, PyObject *sequence)
{
    for (int i = 0; i < source->spec.nblocks; i++) {
        PyObject *item = item_tuple(source, sequence, i, 2, 2, "blocks");
        if (!item || lg_block_of(item, &source->blocks[i]) < 0)
            return -1;
    }
    return 0;
}

static int read_frames(model_source *source, PyObject *sequence)
{
    for (int i = 0; i < source->spec.nframes; i++) {
        PyObject *place, *item = item_tuple(source, sequence, i, 2, 3, "frames");
        lg_frame_spec *frame = &source->frames[i];
        if (!item || !PyArg_ParseTuple(item, "iO|i;frames are (block, (base, offset)) or (block, (base, offset), part)",
                                       &frame->block, &place, &frame->part))
            return -1;
        PyArrayObject *array = lg_vector(place, "base and offset of a frame", 6);
        if (!array)
            return -1;
        memcpy(frame->base, lg_data(array), sizeof frame->base);
        memcpy(frame->offset, lg_data(array) + 3, sizeof frame->offset);
        Py_DECREF(array);
    }
    return 0;
}

/* One or two frame indices. */
static int read_element_frames(PyObject *sequence, lg_element_spec *element)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    int read = tuple && PyTuple_GET_SIZE(tuple) <= 2;
    element->frames[0] = element->frames[1] = -1;
    if (tuple && !read)
        PyErr_Format(PyExc_ValueError, "element %s has more than two frames", element->name);
    for (int i = 0; read && i < PyTuple_GET_SIZE(tuple); i++) {
        long frame = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        element->frames[i] = frame < INT_MIN || frame > INT_MAX ? -1 : (int)frame;
    }
    Py_XDECREF(tuple);
    return read && !PyErr_Occurred() ? 0 : -1;
}

static int read_parameters(model_source *source, PyObject *sequence, lg_element_spec *element)
{
    char name[LG_WHAT_SIZE];
    snprintf(name, sizeof name, "parameters of element %.*s", LG_SHORT(element->name));
    PyObject *list = PySequence_Tuple(sequence);
    PyArrayObject *array = list ? lg_keep_array(source->owned, lg_vector(list, name, PyTuple_GET_SIZE(list))) : NULL;
    Py_XDECREF(list);
    if (!array)
        return -1;
    element->parameters = lg_data(array);
    element->nparameters = (int)PyArray_SIZE(array);
    return 0;
}

static int read_function(model_source *source, PyObject *item, int index)
{
    PyObject *callable = PyTuple_GET_ITEM(item, 4);
    lg_element_spec *element = &source->elements[index];
    char name[LG_WHAT_SIZE];
    snprintf(name, sizeof name, "the function of element %.*s", LG_SHORT(element->name));
    if (lg_function(name, &callable) < 0)
        return -1;
    if (!callable)
        return 0;
    lg_python_function *function = &source->functions[index];
    if (lg_python_function_open(function, callable, PyTuple_GET_ITEM(item, 1)) < 0)
        return -1;
    int failed = function->tangent ? PyList_Append(source->owned, function->tangent) : 0;
    Py_XDECREF(function->tangent);
    if (failed < 0)
        return -1;
    element->function = lg_python_time_function(function);
    element->law = lg_python_law(function);
    return 0;
}

/* Numbers of constraint rows, from 0. */
static int read_dropped(PyObject *sequence, lg_element_spec *element)
{
    PyObject *tuple = sequence ? PySequence_Tuple(sequence) : PyTuple_New(0);
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
        long row = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        if (!PyErr_Occurred() && (row < 0 || row > 31))
            PyErr_Format(PyExc_ValueError, "element %s has no constraint row %ld", element->name, row);
        if (PyErr_Occurred())
            Py_CLEAR(tuple);
        else
            element->dropped |= 1u << row;
    }
    int done = tuple ? 0 : -1;
    Py_XDECREF(tuple);
    return done;
}

static int read_elements(model_source *source, PyObject *sequence)
{
    for (int i = 0; i < source->spec.nelements; i++) {
        PyObject *frames, *parameters, *function, *dropped = NULL;
        PyObject *item = item_tuple(source, sequence, i, 5, 6, "elements");
        lg_element_spec *element = &source->elements[i];
        if (!item ||
            !PyArg_ParseTuple(item, "ssOOO|O;elements are (type, name, frames, parameters, function[, dropped])",
                              &element->type, &element->name, &frames, &parameters, &function, &dropped) ||
            read_element_frames(frames, element) < 0 || read_parameters(source, parameters, element) < 0 ||
            read_function(source, item, i) < 0 || read_dropped(dropped, element) < 0)
            return -1;
    }
    return 0;
}

static int read_source(model_source *source, PyObject *blocks, PyObject *frames, PyObject *elements)
{
    size_t nblocks = (size_t)PySequence_Fast_GET_SIZE(blocks), nframes = (size_t)PySequence_Fast_GET_SIZE(frames);
    size_t nelements = (size_t)PySequence_Fast_GET_SIZE(elements);
    source->blocks = PyMem_Calloc(nblocks + 1, sizeof *source->blocks);
    source->frames = PyMem_Calloc(nframes + 1, sizeof *source->frames);
    source->elements = PyMem_Calloc(nelements + 1, sizeof *source->elements);
    source->functions = PyMem_Calloc(nelements + 1, sizeof *source->functions);
    source->owned = PyList_New(0);
    if (!source->blocks || !source->frames || !source->elements || !source->functions || !source->owned) {
        PyErr_NoMemory();
        return -1;
    }
    source->spec =
        (lg_model_spec){(int)nblocks, (int)nframes, (int)nelements, source->blocks, source->frames, source->elements};
    if (read_blocks(source, blocks) < 0 || read_frames(source, frames) < 0)
        return -1;
    return read_elements(source, elements);
}

/* The model takes over its description and the tuple that owns what this borrows. */
static int keep_source(lg_model_object *self, model_source *source)
{
    self->owned = PyList_AsTuple(source->owned);
    self->spec = source->spec;
    self->functions = source->functions;
    source->blocks = NULL;
    source->frames = NULL;
    source->elements = NULL;
    source->functions = NULL;
    return self->owned ? 0 : -1;
}

static int create(lg_model_object *self, model_source *source)
{
    lg_report report = {0};
    lg_status status = lg_model_create(&source->spec, &self->model, &report);
    if (status != LG_OK) {
        lg_raise(lg_module_of(Py_TYPE(self)), status, &report, NULL);
        return -1;
    }
    if (keep_source(self, source) < 0)
        return -1;
    self->base.system = lg_model_system(self->model);
    return 0;
}

static int model_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"blocks", "frames", "elements", NULL};
    PyObject *given[3], *fast[3] = {NULL};
    if (!lg_system_is_fresh(self) ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Model", names, &given[0], &given[1], &given[2]))
        return -1;

    model_source source = {0};
    int done = -1;
    for (int i = 0; i < 3; i++)
        if (!(fast[i] = PySequence_Tuple(given[i])))
            goto finish;
    if (read_source(&source, fast[0], fast[1], fast[2]) == 0)
        done = create(model_of(self), &source);
finish:
    for (int i = 0; i < 3; i++)
        Py_XDECREF(fast[i]);
    PyMem_Free(source.blocks);
    PyMem_Free(source.frames);
    PyMem_Free(source.elements);
    PyMem_Free(source.functions);
    Py_XDECREF(source.owned);
    return done;
}

/* ---- the same model with other parameters ---- */

/* Parameters of one element by its number, as many as it has; `owned` keeps them. */
static int change_element(const lg_model_spec *spec, PyObject *number, PyObject *given, lg_element_spec *elements,
                          PyObject *owned)
{
    long i = PyLong_AsLong(number);
    if (!PyErr_Occurred() && (i < 0 || i >= spec->nelements))
        PyErr_Format(PyExc_ValueError, "there is no element %ld", i);
    if (PyErr_Occurred())
        return -1;
    const lg_element_spec *element = &spec->elements[i];
    PyArrayObject *array = lg_keep_array(owned, lg_vector(given, element->name, element->nparameters));
    if (array)
        elements[i].parameters = lg_data(array);
    return array ? 0 : -1;
}

/* Builds `other` from the description of `self` with other elements. */
static int create_varied(lg_model_object *self, const lg_element_spec *elements, lg_model_object *other)
{
    lg_model_spec spec = self->spec;
    lg_report report = {0};
    spec.elements = elements;
    lg_status status = lg_model_create(&spec, &other->model, &report);
    if (status != LG_OK) {
        lg_raise(lg_module_of(Py_TYPE(self)), status, &report, NULL);
        return -1;
    }
    other->base.system = lg_model_system(other->model);
    other->base.shape = Py_NewRef((PyObject *)self);
    return 0;
}

static PyObject *new_varied(lg_model_object *self, const lg_element_spec *elements)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject *other = type->tp_alloc(type, 0);
    if (other && create_varied(self, elements, model_of(other)) < 0)
        Py_CLEAR(other);
    return other;
}

/* The model that has the description of this one's shape. */
static lg_model_object *shape_of(PyObject *self)
{
    PyObject *shape = model_of(self)->base.shape;
    return model_of(shape ? shape : self);
}

PyDoc_STRVAR(varied_doc,
             "varied(parameters)\n--\n\n"
             "The model of the same shape, sharing its plans, in which some elements have other parameters: a\n"
             "dict of sequences by the numbers of the elements. All others have those with which the shape was built.");

static PyObject *model_varied(PyObject *self, PyObject *parameters)
{
    if (!lg_system_of(self))
        return NULL;
    if (!PyDict_Check(parameters))
        return PyErr_Format(PyExc_ValueError, "parameters must be a dict, given %R", parameters);
    lg_model_object *shape = shape_of(self);
    size_t size = (size_t)shape->spec.nelements * sizeof *shape->spec.elements;
    lg_element_spec *elements = PyMem_Malloc(size + 1);
    PyObject *owned = PyList_New(0), *number, *given, *result = NULL;
    Py_ssize_t at = 0;
    int good = elements && owned;
    if (good)
        memcpy(elements, shape->spec.elements, size);
    while (good && PyDict_Next(parameters, &at, &number, &given))
        good = change_element(&shape->spec, number, given, elements, owned) == 0;
    if (good)
        result = new_varied(shape, elements);
    PyMem_Free(elements);
    Py_XDECREF(owned);
    return result || PyErr_Occurred() ? result : PyErr_NoMemory();
}

/* ---- creation and destruction ---- */

static int model_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(model_of(self)->base.shape);
    Py_VISIT(model_of(self)->owned);
    return 0;
}

/* A cleared model cannot be run any more, since no reachable object refers to it. */
static int model_clear(PyObject *self)
{
    model_of(self)->base.system = NULL;
    Py_CLEAR(model_of(self)->owned);
    Py_CLEAR(model_of(self)->base.shape);
    return 0;
}

static void model_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    model_clear(self);
    lg_system_close(&model_of(self)->base);
    lg_model_free(model_of(self)->model);
    PyMem_Free(model_of(self)->functions);
    PyMem_Free((void *)model_of(self)->spec.blocks);
    PyMem_Free((void *)model_of(self)->spec.frames);
    PyMem_Free((void *)model_of(self)->spec.elements);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ---- the type ---- */

static PyMethodDef model_methods[] = {
    {"kinematics", LG_KEYWORDS(lg_query_kinematics), lg_query_kinematics_doc},
    {"motions", LG_KEYWORDS(lg_query_motions), lg_query_motions_doc},
    {"reaction", LG_KEYWORDS(lg_query_reaction), lg_query_reaction_doc},
    {"strain", LG_KEYWORDS(lg_query_strain), lg_query_strain_doc},
    {"transmitted", LG_KEYWORDS(lg_query_transmitted), lg_query_transmitted_doc},
    {"rows", lg_query_rows, METH_O, lg_query_rows_doc},
    {"varied", model_varied, METH_O, varied_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    model_doc,
    "Model(blocks, frames, elements)\n--\n\n"
    "A compiled model. blocks: (kind, n); frames: (block or -1 for the ground, (base, offset) as six numbers[, "
    "part]);\n"
    "elements: (type, name, frames, parameters, function of time or None[, rows to drop]). Everything is copied.");

static PyType_Slot model_slots[] = {
    {Py_tp_doc, (void *)model_doc},
    {Py_tp_init, model_init},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_traverse, model_traverse},
    {Py_tp_clear, model_clear},
    {Py_tp_methods, model_methods},
    {0, NULL},
};

static PyType_Spec model_spec = {
    .name = "lgint._core.Model",
    .basicsize = sizeof(lg_model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = model_slots,
};

int lg_add_model(PyObject *module)
{
    lg_module *state = PyModule_GetState(module);
    return lg_add_type(module, &model_spec, state->System, &state->Model);
}
