/* Queries: reading arguments, going through the points and returning results; see query.h. */
#include "bind/query.h"

#include "bind/args.h"
#include "solve/cause.h"
#include "solve/query.h"
#include "system/sensitivity.h"

enum { MAX_AXES = 64 };

typedef struct argument {
    const char *name;
    enum { TIME, NUMBER, ARRAY, INTEGER, LIST, FLAG, STATICS, BODY_AXES, NAMES } kind;
    const char *shape;
    size_t field;
} argument;

static const argument table[] = {[LG_NO_ARGUMENT] = {.name = NULL},
#define LG_ARGUMENT(name, kind, shape, field) [LG_ARG_##name] = {#name, kind, shape, offsetof(lg_question, field)},
                                 LG_ARGUMENTS(LG_ARGUMENT)
#undef LG_ARGUMENT
};

/* The values of an argument at the points. The stride is the number of values from one point to the next; it is 0
   without leading axes, since the values then belong to every point. */
typedef struct query_operand {
    const argument *argument;
    PyArrayObject *array; /* NULL: the value is `number` */
    double number;
    const double *x; /* at the next point */
    npy_intp stride;
} query_operand;

/* One call. */
typedef struct batch {
    const lg_query *query;
    PyObject *self;
    lg_question asked;
    lg_system system; /* in the form that the arguments ask for */
    query_operand in[LG_MAX_ARGUMENTS];
    PyArrayObject *out[LG_TERM_COUNT]; /* NULL: not wanted */
    npy_intp out_stride[LG_TERM_COUNT];
    int operands, results;
    int ndim; /* of the leading axes */
    npy_intp dims[MAX_AXES + 4], points;
    int *list; /* the list of the part, if the argument is a sequence; NULL: it is one number, */
    int single; /* and this is the number */
    unsigned wanted; /* a bit for each result */
    double *memory;
} batch;

npy_intp lg_length(const lg_system *system, char letter)
{
    switch (letter) {
    case 'q':
        return system->space->nq;
    case 'v':
        return system->space->nv;
    case 'r':
        return system->pattern->nrows;
    case 'm':
        return system->nmem;
    case 's':
        return (npy_intp)lg_probe_count(system->pattern, 0);
    case 'b':
        return (npy_intp)lg_probe_count(system->pattern, 1);
    default:
        return letter - '0';
    }
}

/* ---- arguments that all points have in common ---- */

static int read_integer(const argument *a, PyObject *given, int *value)
{
    Py_ssize_t number = PyNumber_AsSsize_t(given, NULL);
    *value = (int)number;
    if (!PyErr_Occurred() && *value == number)
        return 0;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s must be an integer below 2^31, given %R", a->name, given);
    return -1;
}

static int read_list(batch *b, const argument *a, PyObject *given)
{
    b->asked.part.list = &b->single;
    b->asked.part.count = 1;
    if (!PySequence_Check(given))
        return read_integer(a, given, &b->single);
    PyObject *items = PySequence_Tuple(given);
    if (!items)
        return -1;
    b->asked.part.count = (int)PyTuple_GET_SIZE(items);
    b->asked.part.list = b->list = PyMem_Calloc((size_t)b->asked.part.count + 1, sizeof *b->list);
    int failed = !b->list;
    if (failed)
        PyErr_NoMemory();
    for (int i = 0; !failed && i < b->asked.part.count; i++)
        failed = read_integer(a, PyTuple_GET_ITEM(items, i), &b->list[i]) < 0;
    Py_DECREF(items);
    return failed ? -1 : 0;
}

static void raise_unknown_result(const lg_query *query, PyObject *name)
{
    PyObject *names = PyUnicode_FromString(query->results[0].name);
    for (int i = 1; query->results[i].name && names; i++)
        PyUnicode_AppendAndDel(&names, PyUnicode_FromFormat(", %s", query->results[i].name));
    if (names)
        PyErr_Format(PyExc_ValueError, "want must be a sequence of names out of %U, given %R", names, name);
    Py_XDECREF(names);
}

/* Sets the bits of the results that are named. */
static int read_names(batch *b, PyObject *given)
{
    PyObject *names = PyUnicode_Check(given) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
    b->wanted = 0;
    if (!names)
        raise_unknown_result(b->query, given);
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int result = 0;
        while (b->query->results[result].name &&
               !(PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, b->query->results[result].name) == 0))
            result++;
        if (!b->query->results[result].name) {
            raise_unknown_result(b->query, name);
            Py_CLEAR(names);
        }
        b->wanted |= 1u << result;
    }
    Py_XDECREF(names);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- arguments at points ---- */

static int take_leading_axes(batch *b, const query_operand *in, int ndim)
{
    const npy_intp *dims = PyArray_DIMS(in->array);
    if (b->ndim == 0) {
        b->ndim = ndim;
        memcpy(b->dims, dims, (size_t)ndim * sizeof *dims);
        b->points = PyArray_MultiplyList(dims, ndim);
    }
    if (ndim == b->ndim && PyArray_CompareLists(dims, b->dims, ndim))
        return 0;
    PyErr_Format(PyExc_ValueError, "the leading axes of %s differ from those of the arguments before it",
                 in->argument->name);
    return -1;
}

static int read_operand(batch *b, const argument *a, PyObject *given)
{
    npy_intp dims[3];
    int core = (int)strlen(a->shape);
    if (!core && PyFloat_CheckExact(given) && isfinite(PyFloat_AS_DOUBLE(given))) {
        query_operand *in = &b->in[b->operands++];
        *in = (query_operand){.argument = a, .number = PyFloat_AS_DOUBLE(given), .x = &in->number};
        return 0;
    }
    for (int i = 0; i < core; i++)
        dims[i] = lg_length(b->asked.probe.system, a->shape[i]);
    PyArrayObject *array = lg_array(given, a->name, core, dims, 1);
    if (!array)
        return -1;
    int leading = PyArray_NDIM(array) - core;
    query_operand *in = &b->in[b->operands++];
    *in = (query_operand){a, array, 0, lg_data(array), leading ? PyArray_MultiplyList(dims, core) : 0};
    return leading ? take_leading_axes(b, in, leading) : 0;
}

static int read_form(batch *b, lg_form form, PyObject *given)
{
    int wanted = PyObject_IsTrue(given);
    if (wanted > 0)
        b->asked.probe.form = form;
    return wanted < 0 ? -1 : 0;
}

static int read_argument(batch *b, const argument *a, PyObject *given)
{
    int *field = (int *)((char *)&b->asked + a->field); /* of an INTEGER or a FLAG */
    switch (a->kind) {
    case INTEGER:
        return read_integer(a, given, field);
    case FLAG:
        return (*field = PyObject_IsTrue(given)) < 0 ? -1 : 0;
    case STATICS:
        return read_form(b, LG_FORM_STATICS, given);
    case BODY_AXES:
        return read_form(b, LG_FORM_BODY_AXES, given);
    case LIST:
        return read_list(b, a, given);
    case NAMES:
        return read_names(b, given);
    default:
        return read_operand(b, a, given);
    }
}

/* An optional argument that is None counts as not given. */
static int read_arguments(batch *b, PyObject *args, PyObject *kwargs)
{
    const lg_query *query = b->query;
    char *names[LG_MAX_ARGUMENTS + 1] = {NULL};
    PyObject *g[LG_MAX_ARGUMENTS] = {NULL};
    int required = (int)strcspn(query->format, "|:");
    for (int i = 0; query->arguments[i]; i++)
        names[i] = (char *)table[query->arguments[i]].name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, query->format, names, &g[0], &g[1], &g[2], &g[3], &g[4], &g[5],
                                     &g[6], &g[7], &g[8], &g[9], &g[10], &g[11], &g[12], &g[13]))
        return -1;
    for (int i = 0; query->arguments[i]; i++) {
        int is_given = g[i] && (g[i] != Py_None || i < required);
        if (is_given && read_argument(b, &table[query->arguments[i]], g[i]) < 0)
            return -1;
    }
    b->system = lg_system_in(b->asked.probe.system, b->asked.probe.form);
    b->asked.probe.system = &b->system;
    return 0;
}

/* ---- results ---- */

static PyArrayObject *new_result(batch *b, const char *shape)
{
    int ndim = b->ndim;
    for (; *shape; shape++)
        if (*shape != 'n')
            b->dims[ndim++] = lg_length(b->asked.probe.system, *shape);
        else if (b->list)
            b->dims[ndim++] = b->asked.part.count;
    return (PyArrayObject *)PyArray_SimpleNew(ndim, b->dims, NPY_DOUBLE);
}

static int open_results(batch *b)
{
    for (; b->query->results[b->results].name; b->results++) {
        int i = b->results;
        if (!(b->wanted >> i & 1))
            continue;
        if (!(b->out[i] = new_result(b, b->query->results[i].shape)))
            return -1;
        b->asked.probe.out[i] = PyArray_DATA(b->out[i]);
        b->out_stride[i] = PyArray_MultiplyList(PyArray_DIMS(b->out[i]) + b->ndim, PyArray_NDIM(b->out[i]) - b->ndim);
    }
    return 0;
}

static PyObject *results_object(const batch *b)
{
    if (b->results == 1)
        return Py_NewRef((PyObject *)b->out[0]);
    PyObject *all = b->query->named ? PyDict_New() : PyTuple_New(b->results);
    for (int i = 0; all && i < b->results; i++)
        if (!b->query->named)
            PyTuple_SET_ITEM(all, i, Py_NewRef((PyObject *)b->out[i]));
        else if (b->out[i] && PyDict_SetItemString(all, b->query->results[i].name, (PyObject *)b->out[i]) < 0)
            Py_CLEAR(all);
    return all;
}

/* ---- the call ---- */

/* Takes memory and scratch of the system. Accelerations, multipliers and memory that are not given are zero. */
static int open_memory(batch *b)
{
    const lg_system *system = b->asked.probe.system;
    npy_intp nv = system->space->nv, nrows = system->pattern->nrows;
    npy_intp nwork = lg_sensitivity_work(system);
    double *next = b->memory = PyMem_Calloc((size_t)(7 * nv + nrows + 2 * system->nmem + nwork) + 1, sizeof *next);
    if (!next) {
        PyErr_NoMemory();
        return -1;
    }
    b->asked.part.forces = next;
    b->asked.probe.point.a = b->asked.probe.pair.p0 = next += 6 * nv;
    b->asked.probe.point.lam = next += nv;
    b->asked.probe.point.mem.values = next += nrows;
    b->asked.probe.mem = next += system->nmem;
    b->asked.probe.point.work = next + system->nmem;
    return 0;
}

/* The coupling of the plan: rows in the axes of bodies couple the blocks of their groups. */
static lg_coupling coupling_of(const batch *b)
{
    int grouped = b->query->coupling == LG_COUPLING_TANGENTS && b->asked.probe.form == LG_FORM_BODY_AXES;
    return grouped ? LG_COUPLING_GROUPS : b->query->coupling;
}

/* Gets the plan and opens the solver, as far as the query needs them. */
static lg_status open_solver(batch *b)
{
    const lg_query *query = b->query;
    if (b->wanted & query->planned && !(b->asked.probe.plan = lg_system_plan(b->self, coupling_of(b))))
        return LG_CALLBACK;
    return query->solves ? lg_probe_open(&b->asked.probe) : LG_OK;
}

static lg_status at_next_point(batch *b)
{
    lg_probe *probe = &b->asked.probe;
    for (query_operand *in = b->in; in < b->in + b->operands; in++) {
        void *field = (char *)&b->asked + in->argument->field;
        if (in->argument->kind == ARRAY)
            *(const double **)field = in->x;
        else
            *(double *)field = *in->x;
        if (in->argument->kind == TIME)
            probe->point.t_in = probe->point.t;
        in->x += in->stride;
    }
    LG_TRY(b->query->at ? b->query->at(probe) : b->query->of_part(probe, &b->asked.part));
    for (int i = 0; i < b->results; i++)
        if (probe->out[i])
            probe->out[i] += b->out_stride[i];
    return LG_OK;
}

/* A force that is not finite where no run has asked for it: there is no smaller step to advise. A step between two
   states has no point with velocities where it could be found. */
static void name_force(batch *b)
{
    lg_probe *probe = &b->asked.probe;
    if (!probe->point.v)
        return;
    lg_report_not_finite(probe->system, &probe->point, -1, &probe->report);
    lg_report_advise(&probe->report, "look at its values there");
}

static PyObject *answer(batch *b)
{
    lg_status status = open_solver(b);
    int open = status == LG_OK && b->query->solves;
    for (npy_intp point = 0; point < b->points && status == LG_OK; point++)
        status = at_next_point(b);
    if (open)
        ((lg_system_object *)b->self)->dense_fallbacks += lg_probe_close(&b->asked.probe);
    if (status == LG_NOT_FINITE && !b->asked.probe.report.what[0])
        name_force(b);
    return status == LG_OK ? results_object(b)
                           : lg_raise(lg_module_of(Py_TYPE(b->self)), status, &b->asked.probe.report, NULL);
}

PyObject *lg_ask(const lg_query *query, PyObject *self, PyObject *args, PyObject *kwargs)
{
    batch b = {
        .query = query,
        .self = self,
        .asked.probe = {.system = lg_system_of(self),
                        .point = lg_point_at(0, NULL, NULL),
                        .from = lg_point_at(0, NULL, NULL),
                        .check = 1,
                        .position = 1,
                        .velocity = 1},
        .points = 1,
        .wanted = ~0u,
    };
    PyObject *result = NULL;
    if (read_arguments(&b, args, kwargs) == 0 && open_results(&b) == 0 && open_memory(&b) == 0)
        result = answer(&b);
    for (int i = 0; i < b.operands; i++)
        Py_XDECREF(b.in[i].array);
    for (int i = 0; i < b.results; i++)
        Py_XDECREF(b.out[i]);
    PyMem_Free(b.list);
    PyMem_Free(b.memory);
    return result;
}
