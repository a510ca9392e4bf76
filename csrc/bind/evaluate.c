/* System.evaluate: the terms of the waist at one point, by name. */
#include "bind/map.h"
#include "system/probe.h"

const char lg_system_evaluate_doc[] =
    "evaluate(t, q, v, a=None, lam=None, *, mem=None, want, k=(0, 0, 1), X=(None, None, None), t_in=None, wa=1.0, "
    "load=1.0)\n--\n\nThe terms that are wanted at one point, by name.";

enum { MAX_ARRAYS = 9 };

/* One call: what it evaluates, the arrays that this points into and the dict of results. */
typedef struct evaluation {
    lg_probe probe;
    PyArrayObject *array[MAX_ARRAYS];
    int count;
    PyObject *results;
} evaluation;

/* The values of an array, whose shape is that of lg_new_array; NULL if it was not given or is wrong. */
static const double *read_array(evaluation *e, PyObject *given, const char *name, const char *shape)
{
    if (!given || given == Py_None || PyErr_Occurred())
        return NULL;
    npy_intp dims[2] = {0, 0};
    int ndim = (int)strlen(shape);
    for (int i = 0; i < ndim; i++)
        dims[i] = lg_length(e->probe.system, shape[i]);
    PyArrayObject *array = lg_array(given, name, ndim, dims, 0);
    return array ? lg_data(e->array[e->count++] = array) : NULL;
}

static void read_chain(evaluation *e, PyObject *k, PyObject *X)
{
    const double *values = read_array(e, k, "k", "3");
    if (values)
        memcpy(e->probe.k, values, sizeof e->probe.k);
    PyObject *matrices = X && !PyErr_Occurred() ? PySequence_Tuple(X) : NULL;
    if (matrices && PyTuple_GET_SIZE(matrices) != 3)
        PyErr_SetString(PyExc_ValueError, "X must be a sequence of three matrices or None");
    for (int i = 0; i < 3 && matrices; i++)
        e->probe.X[i] = PyErr_Occurred() ? NULL : read_array(e, PyTuple_GET_ITEM(matrices, i), "X[i]", "vv");
    Py_XDECREF(matrices);
}

static PyObject *term_names(void)
{
    PyObject *text = PyUnicode_FromString(lg_terms[0].name);
    for (int term = 1; term < LG_TERM_COUNT && text; term++)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", %s", lg_terms[term].name));
    return text;
}

static void raise_unknown(PyObject *given)
{
    PyObject *names = term_names();
    if (names)
        PyErr_Format(PyExc_ValueError, "want must be a sequence of names out of %U, given %R", names, given);
    Py_XDECREF(names);
}

/* Makes the array of a term that is wanted. */
static int want(evaluation *e, PyObject *name)
{
    int term = 0;
    while (term < LG_TERM_COUNT &&
           !(PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, lg_terms[term].name) == 0))
        term++;
    if (term == LG_TERM_COUNT) {
        raise_unknown(name);
        return -1;
    }
    PyArrayObject *array = lg_new_array(e->probe.system, 0, NULL, lg_terms[term].shape);
    int failed = array ? PyDict_SetItem(e->results, name, (PyObject *)array) : -1;
    e->probe.out[term] = failed ? NULL : PyArray_DATA(array);
    Py_XDECREF(array);
    return failed;
}

static int read_wanted(evaluation *e, PyObject *wanted)
{
    PyObject *names = PyUnicode_Check(wanted) ? NULL : PySequence_Tuple(wanted);
    e->results = names ? PyDict_New() : NULL;
    if (!names)
        raise_unknown(wanted);
    int failed = !e->results;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(names); i++)
        failed = want(e, PyTuple_GET_ITEM(names, i)) < 0;
    Py_XDECREF(names);
    return failed ? -1 : 0;
}

static int read_arguments(evaluation *e, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "a", "lam", "mem", "want", "k", "X", "t_in", "wa", "load", NULL};
    PyObject *q, *v, *a = NULL, *lam = NULL, *mem = NULL, *wanted = NULL, *k = NULL, *X = NULL, *t_in = NULL;
    lg_point *point = &e->probe.point;
    double t, wa = 1, load = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "dOO|OO$OOOOOdd:evaluate", names, &t, &q, &v, &a, &lam, &mem,
                                     &wanted, &k, &X, &t_in, &wa, &load))
        return -1;
    if (!wanted) {
        PyErr_SetString(PyExc_TypeError, "evaluate needs the keyword want");
        return -1;
    }
    *point = lg_point_at(t, read_array(e, q, "q", "q"), read_array(e, v, "v", "v"));
    point->wa = wa;
    point->load = load;
    point->a = read_array(e, a, "a", "v");
    point->lam = read_array(e, lam, "lam", "r");
    point->mem = read_array(e, mem, "mem", "m");
    read_chain(e, k, X);
    if (t_in && t_in != Py_None && !PyErr_Occurred())
        point->t_in = PyFloat_AsDouble(t_in);
    return PyErr_Occurred() ? -1 : read_wanted(e, wanted);
}

PyObject *lg_system_evaluate(PyObject *self, PyObject *args, PyObject *kwargs)
{
    evaluation e = {.probe = {.system = lg_system_of(self), .k = {0, 0, 1}}};
    int done = e.probe.system ? read_arguments(&e, args, kwargs) : -1;
    if (done == 0 && e.probe.out[LG_TERM_S] && !(e.probe.plan = lg_system_plan(self, LG_COUPLING_TANGENTS)))
        done = -1;
    lg_status status = done == 0 ? lg_probe_evaluate(&e.probe) : LG_OK;
    if (status != LG_OK)
        lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
    if (done < 0 || status != LG_OK)
        Py_CLEAR(e.results);
    for (int i = 0; i < e.count; i++)
        Py_DECREF(e.array[i]);
    return e.results;
}
