/* Values in time, see source.h. */
#include "model/source.h"

static int source_of(const lg_element *e, int first)
{
    return (int)e->p[first];
}

/* ---- tables: a count, the times, and the values of each time ---- */

static int table_length(const lg_element *e, int first)
{
    return (int)e->p[first + 1];
}

static const double *table_times(const lg_element *e, int first)
{
    return e->p + first + 2;
}

static int ascending(int n, const double *t)
{
    for (int i = 1; i < n; i++)
        if (!(t[i] > t[i - 1]))
            return 0;
    return 1;
}

static void interpolate(const lg_element *e, int first, int n, const lg_point *at, double *value)
{
    int length = table_length(e, first);
    const double *times = table_times(e, first), *values = times + length;
    if (at->t_in <= times[0]) {
        lg_copy(n, values, value);
        return;
    }
    if (at->t_in >= times[length - 1]) {
        lg_copy(n, values + n * (length - 1), value);
        return;
    }
    int i = (int)lg_piece_of(length, times, at->t_in);
    double s = (at->t - times[i]) / (times[i + 1] - times[i]);
    for (int k = 0; k < n; k++)
        value[k] = values[n * i + k] + s * (values[n * i + n + k] - values[n * i + k]);
}

/* ---- any source ---- */

lg_status lg_source_check(const lg_element *e, int first, int n, const char **reason)
{
    double source = e->p[first];
    int count = e->np - first - 1;
    *reason = NULL;
    if (source == LG_SOURCE_CONSTANT && count != n)
        *reason = n == 1   ? "constant data need one value"
                  : n == 3 ? "constant data need three values"
                           : "constant data need six values";
    else if (source == LG_SOURCE_TABLE &&
             (count < 1 || table_length(e, first) < 1 || count != 1 + (n + 1) * table_length(e, first)))
        *reason = "a table needs a count, that many times and as many rows of values";
    else if (source == LG_SOURCE_TABLE && !ascending(table_length(e, first), table_times(e, first)))
        *reason = "the times of a table must ascend";
    else if (source == LG_SOURCE_FUNCTION && !e->function.call)
        *reason = "a function of time is missing";
    else if (source == LG_SOURCE_FUNCTION && !ascending(count, e->p + first + 1))
        *reason = "the kinks of a function must ascend";
    return *reason ? LG_BAD_ARGUMENT : LG_OK;
}

lg_status lg_source_changing(const lg_element *e, int first, int n, const lg_point *at, double *value)
{
    if (source_of(e, first) == LG_SOURCE_FUNCTION) {
        double t = at->t;
        for (const double *kink = e->p + first + 1; kink < e->p + e->np; kink++)
            t = lg_beside_kink(t, *kink, at->t_in);
        return e->function.call(e->function.self, t, n, value);
    }
    interpolate(e, first, n, at, value);
    return LG_OK;
}

double lg_source_next_kink(const lg_element *e, int first, double t)
{
    int source = source_of(e, first), is_table = source == LG_SOURCE_TABLE;
    const double *times = is_table ? table_times(e, first) : e->p + first + 1;
    int count = is_table ? table_length(e, first) : source == LG_SOURCE_FUNCTION ? e->np - first - 1 : 0;
    for (int i = 0; i < count; i++)
        if (times[i] > t)
            return times[i];
    return INFINITY;
}
