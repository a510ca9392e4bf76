/* System.evaluate: the verbs of the waist at one point, by name. */
#include "bind/args.h"
#include "bind/system.h"

const char lg_system_evaluate_doc[] =
    "evaluate(t, q, v, a=None, lam=None, *, mem=None, want, k=(0, 0, 1), X=(None, None, None), t_in=None, wa=1.0, "
    "load=1.0)\n"
    "--\n\n"
    "The wanted verbs at one point as a dict of arrays.\n\n"
    "want: any of Ma, gyro, force, Btlam (nv,), phi, phidot, zeta (nrows,), B, Z (nrows, nv), S (nv, nv), with\n"
    "M a + gyro - force + B^T lam = 0, B a = zeta, Z = d(phidot)/dq and S = d(wa M a + gyro - force + B^T lam)/du for\n"
    "unknowns u with d(q, v, a)/du = k[i] X[i]; X[i] is (nv, nv) and block diagonal, None for the identity; on a "
    "block\n"
    "R^3 x rotation it must be diag(I, X_r), as tangent operators are.\n"
    "a and lam are zero if they are not given. load: factor of all loads and of gravity.";

static const char *const verb_names[] = {"Ma", "gyro", "force", "Btlam", "phi", "phidot", "zeta", "B", "Z", "S"};
enum { VERB_MA, VERB_GYRO, VERB_FORCE, VERB_BTLAM, VERB_PHI, VERB_PHIDOT, VERB_ZETA, VERB_B, VERB_Z, VERB_S, VERBS };

/* The data of one call; arrays that were not given are NULL. */
typedef struct evaluation {
    const lg_system *system;
    PyArrayObject *q, *v, *a, *lam, *mem, *X[3];
    double k[3];
    lg_point point;
    unsigned wanted; /* bit per verb */
    lg_arena arena;
    double *out[VERBS]; /* nv, nrows or nvalues each */
    double *zeros; /* used for a, lam and mem that were not given */
    double *work;
    double *chain_values[3];
    lg_chain *chain;
    lg_matrix matrix;
    const lg_plan *plan;
} evaluation;

/* ---- arguments ---- */

static int read_names(PyObject *want, unsigned *wanted)
{
    PyObject *names = PyUnicode_Check(want) ? NULL : PySequence_Fast(want, "want must be a sequence of names");
    if (!names) {
        PyErr_SetString(PyExc_ValueError, "want must be a sequence of names");
        return -1;
    }
    for (Py_ssize_t n = 0; n < PySequence_Fast_GET_SIZE(names); n++) {
        PyObject *name = PySequence_Fast_GET_ITEM(names, n);
        int verb = 0;
        while (verb < VERBS && !(PyUnicode_Check(name) && !PyUnicode_CompareWithASCIIString(name, verb_names[verb])))
            verb++;
        if (verb == VERBS) {
            PyErr_Format(PyExc_ValueError,
                         "want must name any of Ma, gyro, force, Btlam, phi, phidot, zeta, B, Z, S, given %R", name);
            Py_DECREF(names);
            return -1;
        }
        *wanted |= 1u << verb;
    }
    Py_DECREF(names);
    return 0;
}

static int read_optional(PyObject *given, const char *name, npy_intp n, PyArrayObject **array)
{
    if (!given || given == Py_None)
        return 0;
    *array = lg_vector(given, name, n);
    return *array ? 0 : -1;
}

static int read_chain(evaluation *e, PyObject *k, PyObject *X)
{
    if (k) {
        PyArrayObject *array = lg_vector(k, "k", 3);
        if (!array)
            return -1;
        memcpy(e->k, lg_data(array), sizeof e->k);
        Py_DECREF(array);
    }
    if (!X)
        return 0;

    npy_intp dims[] = {e->system->space->nv, e->system->space->nv};
    PyObject *list = PySequence_Fast(X, "X must be a sequence of three matrices or None");
    if (!list || PySequence_Fast_GET_SIZE(list) != 3) {
        Py_XDECREF(list);
        PyErr_SetString(PyExc_ValueError, "X must be a sequence of three matrices or None");
        return -1;
    }
    int failed = 0;
    for (int i = 0; i < 3 && !failed; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);
        failed = item != Py_None && !(e->X[i] = lg_array(item, "X[i]", 2, dims, 0));
    }
    Py_DECREF(list);
    return failed ? -1 : 0;
}

static int read_arguments(evaluation *e, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"t", "q", "v", "a", "lam", "mem", "want", "k", "X", "t_in", "wa", "load", NULL};
    PyObject *q, *v, *a = NULL, *lam = NULL, *mem = NULL, *want = NULL, *k = NULL, *X = NULL, *t_in = NULL;
    double t, wa = 1, load = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "dOO|OO$OOOOOdd:evaluate", names, &t, &q, &v, &a, &lam, &mem, &want,
                                     &k, &X, &t_in, &wa, &load))
        return -1;
    if (!want) {
        PyErr_SetString(PyExc_TypeError, "evaluate needs the keyword want");
        return -1;
    }
    const lg_space *space = e->system->space;
    if (read_names(want, &e->wanted) < 0 || !(e->q = lg_vector(q, "q", space->nq)) ||
        !(e->v = lg_vector(v, "v", space->nv)) || read_optional(a, "a", space->nv, &e->a) < 0 ||
        read_optional(lam, "lam", space->nrows, &e->lam) < 0 ||
        read_optional(mem, "mem", e->system->nmem, &e->mem) < 0 || read_chain(e, k, X) < 0)
        return -1;

    e->point = lg_point_at(t, lg_data(e->q), lg_data(e->v));
    e->point.wa = wa;
    e->point.load = load;
    if (t_in && t_in != Py_None)
        e->point.t_in = PyFloat_AsDouble(t_in);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- evaluation ---- */

static void layout(void *self, lg_arena *arena)
{
    evaluation *e = self;
    const lg_space *space = e->system->space;
    size_t most = (size_t)(space->nv + space->nrows + e->system->nmem);
    e->zeros = lg_arena_doubles(arena, most);
    e->work = lg_arena_doubles(arena, (size_t)e->system->nwork);
    for (int verb = 0; verb < VERB_S; verb++) {
        int is_matrix = verb == VERB_B || verb == VERB_Z;
        double *out = lg_arena_doubles(arena, is_matrix ? (size_t)e->system->pattern->nvalues : most);
        e->out[verb] = e->wanted >> verb & 1 ? out : NULL;
    }
    for (int i = 0; i < 3; i++)
        e->chain_values[i] = lg_arena_doubles(arena, (size_t)space->nm);
    e->chain = lg_arena_take(arena, (size_t)space->nblocks * sizeof *e->chain);
    if (e->plan)
        lg_matrix_layout(&e->matrix, e->plan, arena);
}

/* Copies the diagonal blocks of the dense, row-major X[i] into the column-major matrices of the chains. */
static void fill_chain(evaluation *e)
{
    const lg_space *space = e->system->space;
    for (const lg_block *b = space->block; b < space->block + space->nblocks; b++)
        for (int level = 0; level < 3; level++) {
            lg_chain *chain = &e->chain[b - space->block];
            chain->k[level] = e->k[level];
            chain->X[level] = e->X[level] ? e->chain_values[level] + b->m : NULL;
            for (int j = 0; e->X[level] && j < b->nv; j++)
                for (int i = 0; i < b->nv; i++)
                    e->chain_values[level][b->m + j * b->nv + i] =
                        lg_data(e->X[level])[(b->v + i) * space->nv + b->v + j];
        }
}

static lg_status run_evaluation(evaluation *e)
{
    LG_TRY(lg_arena_open(&e->arena, layout, e));
    fill_chain(e);
    e->point.a = e->a ? lg_data(e->a) : e->zeros;
    e->point.lam = e->lam ? lg_data(e->lam) : e->zeros;
    e->point.mem = e->mem ? lg_data(e->mem) : e->zeros;
    e->point.work = e->work;
    lg_wanted wanted = {
        .Ma = e->out[VERB_MA],
        .gyro = e->out[VERB_GYRO],
        .force = e->out[VERB_FORCE],
        .Btlam = e->out[VERB_BTLAM],
        .phi = e->out[VERB_PHI],
        .phidot = e->out[VERB_PHIDOT],
        .zeta = e->out[VERB_ZETA],
        .B = e->out[VERB_B],
        .Z = e->out[VERB_Z],
        .S = e->plan ? &e->matrix : NULL,
        .chain = e->chain,
    };
    if (e->plan)
        lg_matrix_zero(&e->matrix);
    return e->system->eval(e->system->self, &e->point, &wanted);
}

/* ---- results ---- */

/* Rows [row, row + n) of the dense matrix from a column-major n x nv_b piece at column v. */
static void put_rows(double *dense, int nv, int row, int n, int v, int nv_b, const double *values)
{
    for (int j = 0; j < nv_b; j++)
        for (int i = 0; i < n; i++)
            dense[(row + i) * nv + v + j] += values[j * n + i];
}

static void dense_rows(const lg_system *system, const double *B, double *dense)
{
    const lg_pattern *p = system->pattern;
    int nv = system->space->nv;
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e];
            put_rows(dense, nv, p->group_row[g], p->group_row[g + 1] - p->group_row[g], p->v_start[b], p->nv[b],
                     B + p->group_value[e]);
        }
    for (int b = 0; b < p->nblocks; b++)
        put_rows(dense, nv, p->own_row[b], p->nown[b], p->v_start[b], p->nv[b], B + p->own_value[b]);
}

/* Two cliques that share a pair of blocks share its address too, so this copies and does not add. */
static void dense_matrix(const lg_system *system, const lg_matrix *matrix, double *dense)
{
    const lg_pattern *p = system->pattern;
    int nv = system->space->nv;
    for (int c = 0; c < p->ncliques; c++)
        for (int i = p->clique_start[c]; i < p->clique_start[c + 1]; i++)
            for (int j = p->clique_start[c]; j < p->clique_start[c + 1]; j++) {
                int ld, bi = p->clique_block[i], bj = p->clique_block[j];
                const double *S = lg_matrix_at(matrix, c, i - p->clique_start[c], j - p->clique_start[c], &ld);
                for (int y = 0; y < p->nv[bj]; y++)
                    for (int x = 0; x < p->nv[bi]; x++)
                        dense[(p->v_start[bi] + x) * nv + p->v_start[bj] + y] = S[y * ld + x];
            }
}

static PyObject *result_of(const evaluation *e, int verb)
{
    npy_intp nv = e->system->space->nv, nrows = e->system->pattern->nrows;
    npy_intp dims[] = {verb == VERB_S ? nv : nrows, nv};
    if (verb < VERB_B)
        return lg_vector_from(e->out[verb], verb <= VERB_BTLAM ? nv : nrows);

    PyArrayObject *array = (PyArrayObject *)PyArray_ZEROS(2, dims, NPY_DOUBLE, 0);
    if (array && verb == VERB_S)
        dense_matrix(e->system, &e->matrix, PyArray_DATA(array));
    else if (array)
        dense_rows(e->system, e->out[verb], PyArray_DATA(array));
    return (PyObject *)array;
}

static PyObject *results_of(const evaluation *e)
{
    PyObject *dict = PyDict_New();
    for (int verb = 0; dict && verb < VERBS; verb++) {
        if (!(e->wanted >> verb & 1))
            continue;
        PyObject *array = result_of(e, verb);
        if (!array || PyDict_SetItemString(dict, verb_names[verb], array) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(array);
    }
    return dict;
}

static void close_evaluation(evaluation *e)
{
    if (e->plan && e->arena.base)
        lg_matrix_close(&e->matrix);
    lg_arena_close(&e->arena);
    Py_XDECREF(e->q);
    Py_XDECREF(e->v);
    Py_XDECREF(e->a);
    Py_XDECREF(e->lam);
    Py_XDECREF(e->mem);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(e->X[i]);
}

PyObject *lg_system_evaluate(PyObject *self, PyObject *args, PyObject *kwargs)
{
    evaluation e = {.system = lg_system_of(self), .k = {0, 0, 1}};
    PyObject *result = NULL;
    if (e.system && read_arguments(&e, args, kwargs) == 0) {
        int needs_plan = e.wanted >> VERB_S & 1;
        if (!needs_plan || (e.plan = lg_system_plan(self, LG_COUPLING_TANGENTS))) {
            lg_status status = run_evaluation(&e);
            result = status == LG_OK ? results_of(&e) : lg_raise(lg_module_of(Py_TYPE(self)), status, NULL, NULL);
        }
    }
    close_evaluation(&e);
    return result;
}
