/* Applied forces and torques on a frame: constant, from a table, or a function of time; in inertial or in body axes.
   A force turns with the body if its axes are the body's: f = R F, df = -R F^ dphi. A torque in inertial axes has the
   body components R^T T, d(R^T T) = (R^T T)^ dphi. The load factor multiplies both. */
#include "model/force/force.h"

enum { AXES, SOURCE, DATA }; /* places of the parameters */
enum { SOURCE_CONSTANT, SOURCE_TABLE, SOURCE_FUNCTION };

static const lg_parameter parameters[] = {
    {"axes", "", "0 inertial, 1 body", 1},
    {"source", "", "0 constant, 1 table, 2 function of time", 1},
    {"data", "N or N m", "three values; or a count n, n times and 3 n values; or nothing", -1},
};

static int table_length(const lg_element *e)
{
    return (int)e->p[DATA];
}

static int ascending(int n, const double *t)
{
    for (int i = 1; i < n; i++)
        if (!(t[i] > t[i - 1]))
            return 0;
    return 1;
}

static lg_status check(const lg_element *e, const char **reason)
{
    int source = (int)e->p[SOURCE], n = e->np - DATA;
    *reason = NULL;
    if (e->p[AXES] != 0 && e->p[AXES] != 1)
        *reason = "the axes must be 0 or 1";
    if (e->p[SOURCE] != SOURCE_CONSTANT && e->p[SOURCE] != SOURCE_TABLE && e->p[SOURCE] != SOURCE_FUNCTION)
        *reason = "the source must be 0, 1 or 2";
    if (source == SOURCE_CONSTANT && n != 3)
        *reason = "a constant load needs three values";
    if (source == SOURCE_TABLE && (n < 1 || table_length(e) < 1 || n != 1 + 4 * table_length(e)))
        *reason = "a table needs a count, that many times and three values per time";
    else if (source == SOURCE_TABLE && !ascending(table_length(e), e->p + DATA + 1))
        *reason = "the times of a table must ascend";
    if (source == SOURCE_FUNCTION && !e->function.call)
        *reason = "a function of time is missing";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

/* The piece of a table that holds t_in: i with times[i] <= t_in < times[i + 1], for t_in inside the table. */
static int piece_of(int n, const double *times, double t_in)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (times[middle] <= t_in)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Linear between the table's times, constant outside. t_in picks the piece, so that a step never mixes two. */
static void interpolate(const lg_element *e, double t, double t_in, double value[3])
{
    int n = table_length(e);
    const double *times = e->p + DATA + 1, *values = times + n;
    if (t_in <= times[0]) {
        lg_copy(3, values, value);
        return;
    }
    if (t_in >= times[n - 1]) {
        lg_copy(3, values + 3 * (n - 1), value);
        return;
    }
    int i = piece_of(n, times, t_in);
    double s = (t - times[i]) / (times[i + 1] - times[i]);
    for (int k = 0; k < 3; k++)
        value[k] = values[3 * i + k] + s * (values[3 * i + 3 + k] - values[3 * i + k]);
}

static lg_status look_up(const lg_element *e, const lg_point *at, double value[3])
{
    switch ((int)e->p[SOURCE]) {
    case SOURCE_TABLE:
        interpolate(e, at->t, at->t_in, value);
        return LG_OK;
    case SOURCE_FUNCTION:
        return e->function.call(e->function.self, at->t, 3, value);
    default:
        lg_copy(3, e->p + DATA, value);
        return LG_OK;
    }
}

static lg_status evaluate(const lg_element *e, const lg_point *at, double value[3])
{
    LG_TRY(look_up(e, at, value));
    for (int i = 0; i < 3; i++)
        value[i] *= at->load;
    return LG_OK;
}

static double next_kink(const lg_element *e, double t)
{
    if ((int)e->p[SOURCE] == SOURCE_TABLE)
        for (int i = 0; i < table_length(e); i++)
            if (e->p[DATA + 1 + i] > t)
                return e->p[DATA + 1 + i];
    return INFINITY;
}

static lg_status wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    double value[3];
    LG_TRY(evaluate(e, at, value));
    lg_zero(6, out->w[0]);
    if (e->p[AXES] == 0) {
        lg_copy(3, value, out->w[0]);
        return LG_OK;
    }
    lg_mul3(f[0]->R, value, out->w[0]);
    if (linear) {
        double hat[9], Rhat[9];
        lg_hat3(value, hat);
        lg_mul33(f[0]->R, hat, Rhat);
        lg_quarters_add(&out->K[0][0], LG_XR, -1, Rhat);
    }
    return LG_OK;
}

static lg_status torque(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    double value[3];
    LG_TRY(evaluate(e, at, value));
    lg_zero(6, out->w[0]);
    if (e->p[AXES] != 0) {
        lg_copy(3, value, out->w[0] + 3);
        return LG_OK;
    }
    lg_mulT3(f[0]->R, value, out->w[0] + 3);
    if (linear) {
        double hat[9];
        lg_hat3(out->w[0] + 3, hat);
        lg_quarters_add(&out->K[0][0], LG_RR, 1, hat);
    }
    return LG_OK;
}

/* In inertial axes; with the body's axes it turns. */
static int on_point(const lg_element *e, int end)
{
    (void)end;
    return e->p[AXES] == 0;
}

const lg_force_type lg_applied_force = {
    .info = {.family = "force",
             .name = "force",
             .doc = "An applied force at a frame.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 3},
    .check = check,
    .on_point = on_point,
    .wrenches = wrenches,
    .next_kink = next_kink,
};

const lg_force_type lg_applied_torque = {
    .info = {.family = "force",
             .name = "torque",
             .doc = "An applied torque on a body.",
             .reference = "holzinger2024 (9)",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 3},
    .check = check,
    .wrenches = torque,
    .next_kink = next_kink,
};
