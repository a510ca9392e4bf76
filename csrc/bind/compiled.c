/* Calls of compiled functions; see compiled.h.

   What a function has to write is a NaN of its own before its call. So a number that it left out, perhaps because it
   raised an exception that nobody sees, is told from one that it computed. */
#include "bind/compiled.h"

#include "bind/args.h"
#include "bind/law.h"
#include "core/small.h"

/* ---- a failure, the only time that the GIL is needed ---- */

static lg_status raise_at(const lg_compiled *c, double t, const char *why)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *time = PyFloat_FromDouble(t);
    if (time && !PyErr_Occurred())
        PyErr_Format(c->error, "%U %s at t = %S", c->what, why, time);
    Py_XDECREF(time);
    PyGILState_Release(gil);
    return LG_CALLBACK;
}

static lg_status checked(const lg_compiled *c, double t, int returned)
{
    char why[LG_NAME_SIZE];
    if (returned == 0)
        return LG_OK;
    snprintf(why, sizeof why, "returned the status %d", returned);
    return raise_at(c, t, why);
}

static const uint64_t unwritten = 0x7FF80BAD0BAD0BAD; /* a NaN that no computation makes; also in compiled.py */

static void prepare(int n, double *value)
{
    for (int i = 0; i < n; i++)
        memcpy(value + i, &unwritten, sizeof unwritten);
}

static int count_unwritten(int n, const double *value)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += memcmp(value + i, &unwritten, sizeof unwritten) == 0;
    return count;
}

/* Refuses what the function has left out; `of`: "", or " of its tangent". */
static lg_status refuse_unwritten(const lg_compiled *c, double t, int n, const double *value, const char *of)
{
    char why[LG_NAME_SIZE];
    int left = count_unwritten(n, value);
    snprintf(why, sizeof why, "left %d of %d numbers%s unwritten", left, n, of);
    return left ? raise_at(c, t, why) : LG_OK;
}

static lg_status refuse_not_finite(const lg_compiled *c, double t, int n, const double *value, const char *of)
{
    char why[LG_NAME_SIZE];
    int i = 0;
    LG_TRY(refuse_unwritten(c, t, n, value, of));
    while (isfinite(value[i]))
        i++;
    const char *found = isnan(value[i]) ? "nan" : "infinity";
    if (n > 1)
        snprintf(why, sizeof why, "wrote %s at index %d%s", found, i, of);
    else
        snprintf(why, sizeof why, "wrote %s", found);
    return raise_at(c, t, why);
}

/* The same for values, which must be finite. */
static lg_status checked_values(const lg_compiled *c, double t, int returned, int n, const double *value)
{
    LG_TRY(checked(c, t, returned));
    return lg_all_finite(n, value) ? LG_OK : refuse_not_finite(c, t, n, value, "");
}

static lg_status checked_tangent(const lg_compiled *c, double t, int returned, int n, const double *slopes)
{
    LG_TRY(checked(c, t, returned));
    return lg_all_finite(n, slopes) ? LG_OK : refuse_not_finite(c, t, n, slopes, " of its tangent");
}

/* The same for a force: where it is written but not finite, a smaller step may not lead there. */
static lg_status checked_force(const lg_compiled *c, double t, int returned, int n, const double *value)
{
    LG_TRY(checked(c, t, returned));
    if (lg_all_finite(n, value))
        return LG_OK;
    LG_TRY(refuse_unwritten(c, t, n, value, ""));
    return LG_NOT_FINITE;
}

/* ---- functions of time ---- */

static lg_status call_load(void *self, double t, int n, double *value)
{
    const lg_compiled *c = self;
    double given[3];
    prepare(n, value);
    LG_TRY(checked_values(c, t, ((lg_signature_load *)c->function)(t, value, c->data), n, value));
    if (c->turned) {
        lg_copy(3, value, given);
        lg_mul3(c->turn[0], given, value);
    }
    for (int i = 0; i < n && c->scale != 1; i++)
        value[i] *= c->scale;
    return LG_OK;
}

enum { STRAINS = 6 };

/* A motion of n/3 coordinates; or, with n = 6, a strain without its derivatives. */
static lg_status call_motion(void *self, double t, int n, double *value)
{
    const lg_compiled *c = self;
    double spare[2 * STRAINS];
    int count = n == STRAINS ? n : n / 3;
    double *rate = n == STRAINS ? spare : value + count;
    prepare(n, value);
    int returned = ((lg_signature_motion *)c->function)(t, count, value, rate, rate + count, c->data);
    LG_TRY(checked_values(c, t, returned, n, value));
    for (int i = 0; i < 3 && count > 1; i++)
        value[i] -= c->rest[i];
    return LG_OK;
}

/* ---- laws ---- */

static lg_status call_torque(void *self, double t, double angle, double rate, double *tau, double *slopes)
{
    const lg_compiled *c = self;
    prepare(1, tau);
    if (slopes)
        prepare(2, slopes);
    int returned = ((lg_signature_joint_law *)c->function)(t, angle, rate, tau, slopes, c->data);
    LG_TRY(checked_force(c, t, returned, 1, tau));
    return slopes ? checked_tangent(c, t, returned, 2, slopes) : LG_OK;
}

/* The arguments of a law for n frames, each with an axis in front for two of them. */
typedef struct frames {
    double x[6], R[18], xdot[6], omega[6];
} frames;

static void gather(const lg_compiled *c, int n, const lg_kinematics at[], frames *out)
{
    for (int i = 0; i < n; i++) {
        lg_copy(3, at[i].x, out->x + 3 * i);
        lg_copy(3, at[i].xdot, out->xdot + 3 * i);
        if (c->turned) {
            lg_mul33(at[i].R, c->turn[i], out->R + 9 * i);
            lg_mulT3(c->turn[i], at[i].omega, out->omega + 3 * i);
        } else {
            lg_copy(9, at[i].R, out->R + 9 * i);
            lg_copy(3, at[i].omega, out->omega + 3 * i);
        }
    }
}

/* Turns the moments of wrenches to the axes of the nodes. */
static void turn_moments(const lg_compiled *c, int n, double *w)
{
    double moment[3];
    for (int i = 0; i < n; i++) {
        lg_copy(3, w + 6 * i + 3, moment);
        lg_mul3(c->turn[i], moment, w + 6 * i + 3);
    }
}

/* One of the derivatives A, 6n x 6n, becomes T A T^T, where T turns the moments. */
static void turn_derivatives(const lg_compiled *c, int n, double *A)
{
    int size = 6 * n;
    double row[3];
    for (int k = 0; k < size * size; k += 6) { /* a row of six columns: the last three, by rotations */
        lg_copy(3, A + k + 3, row);
        lg_mul3(c->turn[k / 6 % n], row, A + k + 3);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < size; k++) {
            double *column = A + (6 * i + 3) * size + k, before[3] = {column[0], column[size], column[2 * size]};
            for (int j = 0; j < 3; j++)
                column[j * size] = lg_dot3(c->turn[i] + 3 * j, before);
        }
}

static int call_law(const lg_compiled *c, double t, int n, const lg_kinematics at[], double *w, double *KD)
{
    lg_signature_law *law = (lg_signature_law *)c->function;
    frames seen;
    if (n == 1 && !c->turned)
        return law(t, at->x, at->R, at->xdot, at->omega, w, KD, c->data);
    gather(c, n, at, &seen);
    return law(t, seen.x, seen.R, seen.xdot, seen.omega, w, KD, c->data);
}

static lg_status call_wrench(void *self, double t, int n, const lg_kinematics at[], double *w, double *KD)
{
    const lg_compiled *c = self;
    int count = 36 * n * n;
    prepare(6 * n, w);
    if (KD)
        prepare(2 * count, KD);
    LG_TRY(checked_force(c, t, call_law(c, t, n, at, w, KD), 6 * n, w));
    if (KD)
        LG_TRY(checked_tangent(c, t, 0, 2 * count, KD));
    if (!c->turned)
        return LG_OK;
    turn_moments(c, n, w);
    for (int i = 0; i < 2 && KD; i++)
        turn_derivatives(c, n, KD + i * count);
    return LG_OK;
}

void lg_compiled_function(lg_compiled *c, lg_time_function *function, lg_law *law)
{
    *function = (lg_time_function){NULL, c};
    *law = (lg_law){.self = c, .has_tangent = c->has_tangent};
    if (c->signature == LG_SIGNATURE_law)
        law->wrench = call_wrench;
    else if (c->signature == LG_SIGNATURE_joint_law)
        law->torque = call_torque;
    else if (c->signature == LG_SIGNATURE_load)
        function->call = call_load;
    else if (c->signature == LG_SIGNATURE_motion)
        function->call = call_motion;
}

/* ---- controls, functions of systems, and events ---- */

static int control_at(const lg_compiled *c, const lg_point *at, const double *states, double *value, double *slopes)
{
    return ((lg_signature_control *)c->function)(at->t, at->q, at->v, states, value, slopes, c->data);
}

static lg_status call_control(void *self, void *Py_UNUSED(reader), const lg_point *at, const double *states, int n,
                              double *value)
{
    const lg_compiled *c = self;
    prepare(n, value);
    return checked_force(c, at->t, control_at(c, at, states, value, NULL), n, value);
}

static lg_status call_sampled_control(void *self, void *Py_UNUSED(reader), const lg_point *at, const double *states,
                                      int n, double *value)
{
    const lg_compiled *c = self;
    prepare(n, value);
    return checked_values(c, at->t, control_at(c, at, states, value, NULL), n, value);
}

static lg_status call_control_tangent(void *self, void *reader, const lg_point *at, const double *states, int n,
                                      double *value, double *slopes)
{
    const lg_compiled *c = self;
    int count = 2 * n * ((const lg_python_reader *)reader)->nv;
    prepare(count, slopes);
    return checked_tangent(c, at->t, control_at(c, at, states, value, slopes), count, slopes);
}

void lg_compiled_control(lg_compiled *c, lg_control_spec *control)
{
    control->self = c;
    control->has_tangent = c->has_tangent;
    control->value = control->every > 0 ? call_sampled_control : call_control;
    control->tangent = call_control_tangent;
}

lg_status lg_compiled_callable(const lg_compiled *c, int is_force, double t, const double *const from[4], int n,
                               double *out)
{
    prepare(n, out);
    int returned = ((lg_signature_callable *)c->function)(t, from[0], from[1], from[2], from[3], n, out, c->data);
    return (is_force ? checked_force : checked_values)(c, t, returned, n, out);
}

lg_status lg_compiled_event(const lg_compiled *c, double t, const double *q, const double *v, double *value)
{
    prepare(1, value);
    return checked_values(c, t, ((lg_signature_event *)c->function)(t, q, v, value, c->data), 1, value);
}

/* ---- their capsules ---- */

static const char capsule_name[] = "lgint._core.compiled";

lg_compiled *lg_compiled_of(PyObject *object)
{
    return PyCapsule_IsValid(object, capsule_name) ? PyCapsule_GetPointer(object, capsule_name) : NULL;
}

static void free_compiled(PyObject *capsule)
{
    lg_compiled *c = PyCapsule_GetPointer(capsule, capsule_name);
    Py_XDECREF(c->what);
    Py_XDECREF(c->error);
    PyMem_Free(c);
}

static PyObject *new_capsule(void)
{
    lg_compiled *c = PyMem_Calloc(1, sizeof *c);
    PyObject *capsule = c ? PyCapsule_New(c, capsule_name, free_compiled) : PyErr_NoMemory();
    if (!capsule)
        PyMem_Free(c);
    return capsule;
}

/* Rotations of one or two bodies; None: they are not turned. */
static int read_turns(PyObject *given, lg_compiled *c)
{
    const npy_intp dims[] = {-1, 3, 3};
    if (given == Py_None)
        return 0;
    PyArrayObject *array = lg_array(given, "turns", 3, dims, 0);
    int count = array ? (int)PyArray_DIM(array, 0) : 0;
    c->turned = count == 1 || count == 2;
    if (c->turned)
        memcpy(c->turn, lg_data(array), (size_t)count * sizeof c->turn[0]);
    else if (array)
        PyErr_Format(PyExc_ValueError, "turns must be of one or two bodies, given %d", count);
    Py_XDECREF(array);
    return c->turned ? 0 : -1;
}

const char lg_compiled_doc[] =
    "compiled(signature, what, address, data=0, has_tangent=False, scale=1.0, rest=(0.0, 0.0, 0.0), turns=None)\n"
    "--\n\n"
    "A compiled function as Model takes it. signature: its place in SIGNATURES; what: how messages name it; address,\n"
    "data: of the function and of the user's data; the others as in lg_compiled.";

PyObject *lg_compiled_call(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"signature", "what", "address", "data", "has_tangent", "scale", "rest", "turns", NULL};
    const lg_module *state = PyModule_GetState(module);
    int signature;
    unsigned long long address, data = 0;
    PyObject *turns = Py_None, *what, *capsule = new_capsule();
    lg_compiled *c = capsule ? lg_compiled_of(capsule) : NULL;
    if (!c)
        return NULL;
    c->scale = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "iUK|Kpd(ddd)O:compiled", names, &signature, &what, &address, &data,
                                     &c->has_tangent, &c->scale, &c->rest[0], &c->rest[1], &c->rest[2], &turns) ||
        read_turns(turns, c) < 0) {
        Py_DECREF(capsule);
        return NULL;
    }
    c->signature = (lg_signature)signature;
    c->function = (void (*)(void))(uintptr_t)address;
    c->data = (void *)(uintptr_t)data;
    c->what = Py_NewRef(what);
    c->error = Py_NewRef(state->exception[LG_IntegrationError]);
    return capsule;
}

const char lg_capsule_doc[] = "capsule(object)\n--\n\nName, pointer and context of a capsule, such as SciPy's "
                              "LowLevelCallable holds; None: the object is not a capsule.";

PyObject *lg_capsule_call(PyObject *Py_UNUSED(module), PyObject *object)
{
    if (!PyCapsule_CheckExact(object))
        Py_RETURN_NONE;
    const char *name = PyCapsule_GetName(object);
    void *pointer = PyCapsule_GetPointer(object, name), *context = PyCapsule_GetContext(object);
    return PyErr_Occurred() ? NULL
                            : Py_BuildValue("zKK", name, (unsigned long long)(uintptr_t)pointer,
                                            (unsigned long long)(uintptr_t)context);
}
