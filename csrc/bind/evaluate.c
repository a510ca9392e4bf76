/* System.evaluate and evaluate_pair: the terms of the waist at one point, or in a step between two states, by name. */
#include "bind/map.h"
#include "bind/queries.h"
#include "system/probe.h"

const char lg_query_evaluate_doc[] =
    "evaluate(t, q, v, a=None, lam=None, *, mem=None, want, k=(0, 0, 1), X=(None, None, None), t_in=None, wa=1.0, "
    "load=1.0)\n--\n\nThe terms that are wanted at one point, by name.";

const char lg_query_evaluate_pair_doc[] =
    "evaluate_pair(t, h, q0, q1, *, lam=None, mem=None, p=None, rule=0, equivariant=False, decided=None, want)\n--\n\n"
    "The terms that are wanted in a step between two states, by name.";

enum { MAX_ARRAYS = 9 };

/* One call: the system and its terms, where they go, the arrays that its arguments point into and the dict of
   results. */
typedef struct evaluation {
    const lg_system *system;
    const lg_term_info *terms;
    int nterms;
    double **out;
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
        dims[i] = lg_length(e->system, shape[i]);
    PyArrayObject *array = lg_array(given, name, ndim, dims, 0);
    return array ? lg_data(e->array[e->count++] = array) : NULL;
}

static void read_chain(evaluation *e, PyObject *k, PyObject *X, lg_probe *probe)
{
    const double *values = read_array(e, k, "k", "3");
    if (values)
        memcpy(probe->k, values, sizeof probe->k);
    PyObject *matrices = X && !PyErr_Occurred() ? PySequence_Tuple(X) : NULL;
    if (matrices && PyTuple_GET_SIZE(matrices) != 3)
        PyErr_SetString(PyExc_ValueError, "X must be a sequence of three matrices or None");
    for (int i = 0; i < 3 && matrices; i++)
        probe->X[i] = PyErr_Occurred() ? NULL : read_array(e, PyTuple_GET_ITEM(matrices, i), "X[i]", "vv");
    Py_XDECREF(matrices);
}

static PyObject *term_names(const evaluation *e)
{
    PyObject *text = PyUnicode_FromString(e->terms[0].name);
    for (int term = 1; term < e->nterms && text; term++)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", %s", e->terms[term].name));
    return text;
}

static void raise_unknown(const evaluation *e, PyObject *given)
{
    PyObject *names = term_names(e);
    if (names)
        PyErr_Format(PyExc_ValueError, "want must be a sequence of names out of %U, given %R", names, given);
    Py_XDECREF(names);
}

/* Makes the array of a term that is wanted. */
static int want(evaluation *e, PyObject *name)
{
    int term = 0;
    while (term < e->nterms &&
           !(PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, e->terms[term].name) == 0))
        term++;
    if (term == e->nterms) {
        raise_unknown(e, name);
        return -1;
    }
    PyArrayObject *array = lg_new_array(e->system, 0, NULL, e->terms[term].shape);
    int failed = array ? PyDict_SetItem(e->results, name, (PyObject *)array) : -1;
    e->out[term] = failed ? NULL : PyArray_DATA(array);
    Py_XDECREF(array);
    return failed;
}

static int read_wanted(evaluation *e, PyObject *wanted)
{
    PyObject *names = PyUnicode_Check(wanted) ? NULL : PySequence_Tuple(wanted);
    e->results = names ? PyDict_New() : NULL;
    if (!names)
        raise_unknown(e, wanted);
    int failed = !e->results;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(names); i++)
        failed = want(e, PyTuple_GET_ITEM(names, i)) < 0;
    Py_XDECREF(names);
    return failed ? -1 : 0;
}

/* The status of a call whose arguments have been read, and its results. */
static PyObject *close_evaluation(evaluation *e, PyObject *self, int done, lg_status status)
{
    if (status != LG_OK)
        lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
    if (done < 0 || status != LG_OK)
        Py_CLEAR(e->results);
    for (int i = 0; i < e->count; i++)
        Py_DECREF(e->array[i]);
    return e->results;
}

static int needs(PyObject *wanted, const char *function)
{
    if (!wanted)
        PyErr_Format(PyExc_TypeError, "%s needs the keyword want", function);
    return wanted ? 0 : -1;
}

static int read_point(evaluation *e, PyObject *args, PyObject *kwargs, lg_probe *probe)
{
    static char *names[] = {"t", "q", "v", "a", "lam", "mem", "want", "k", "X", "t_in", "wa", "load", NULL};
    PyObject *q, *v, *a = NULL, *lam = NULL, *mem = NULL, *wanted = NULL, *k = NULL, *X = NULL, *t_in = NULL;
    lg_point *point = &probe->point;
    double t, wa = 1, load = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "dOO|OO$OOOOOdd:evaluate", names, &t, &q, &v, &a, &lam, &mem,
                                     &wanted, &k, &X, &t_in, &wa, &load) ||
        needs(wanted, "evaluate") < 0)
        return -1;
    *point = lg_point_at(t, read_array(e, q, "q", "q"), read_array(e, v, "v", "v"));
    point->wa = wa;
    point->load = load;
    point->a = read_array(e, a, "a", "v");
    point->lam = read_array(e, lam, "lam", "r");
    point->mem = read_array(e, mem, "mem", "m");
    read_chain(e, k, X, probe);
    if (t_in && t_in != Py_None && !PyErr_Occurred())
        point->t_in = PyFloat_AsDouble(t_in);
    return PyErr_Occurred() ? -1 : read_wanted(e, wanted);
}

PyObject *lg_query_evaluate(PyObject *self, PyObject *args, PyObject *kwargs)
{
    lg_probe probe = {.system = lg_system_of(self), .k = {0, 0, 1}};
    evaluation e = {.system = probe.system, .terms = lg_terms, .nterms = LG_TERM_COUNT, .out = probe.out};
    int done = probe.system ? read_point(&e, args, kwargs, &probe) : -1;
    if (done == 0 && probe.out[LG_TERM_S] && !(probe.plan = lg_system_plan(self, LG_COUPLING_TANGENTS)))
        done = -1;
    return close_evaluation(&e, self, done, done == 0 ? lg_probe_evaluate(&probe) : LG_OK);
}

static int read_pair(evaluation *e, PyObject *args, PyObject *kwargs, lg_pair_probe *probe)
{
    static char *names[] = {"t", "h", "q0", "q1", "lam", "mem", "p", "rule", "equivariant", "decided", "want", NULL};
    PyObject *q0, *q1, *lam = NULL, *mem = NULL, *p = NULL, *decided = NULL, *wanted = NULL;
    lg_pair *pair = &probe->pair;
    int rule = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ddOO|$OOOipOO:evaluate_pair", names, &pair->t, &pair->h, &q0, &q1,
                                     &lam, &mem, &p, &rule, &pair->equivariant, &decided, &wanted) ||
        needs(wanted, "evaluate_pair") < 0)
        return -1;
    pair->rule = (lg_pair_rule)rule;
    pair->q0 = read_array(e, q0, "q0", "q");
    pair->q1 = read_array(e, q1, "q1", "q");
    pair->lam = read_array(e, lam, "lam", "r");
    pair->mem = read_array(e, mem, "mem", "m");
    pair->p0 = pair->p1 = read_array(e, p, "p", "v");
    probe->decided = decided && decided != Py_None ? read_array(e, decided, "decided", "q") : pair->q1;
    return PyErr_Occurred() ? -1 : read_wanted(e, wanted);
}

PyObject *lg_query_evaluate_pair(PyObject *self, PyObject *args, PyObject *kwargs)
{
    lg_pair_probe probe = {.system = lg_system_of(self)};
    evaluation e = {.system = probe.system, .terms = lg_pair_terms, .nterms = LG_PAIR_TERM_COUNT, .out = probe.out};
    int done = probe.system ? read_pair(&e, args, kwargs, &probe) : -1;
    if (done == 0 && !probe.system->pair) {
        PyErr_SetString(PyExc_ValueError, "this system has no terms of a step between two states");
        done = -1;
    }
    if (done == 0 && !(probe.plan = lg_system_plan(self, LG_COUPLING_GROUPS)))
        done = -1;
    return close_evaluation(&e, self, done, done == 0 ? lg_probe_pair(&probe) : LG_OK);
}
