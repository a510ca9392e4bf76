/* Queries: methods of a system that compute something at a point, or at every point of arrays that have the same
   leading axes. A query is a row, which its method passes to lg_ask. */
#ifndef LG_BIND_QUERY_H
#define LG_BIND_QUERY_H

#include "bind/system.h"
#include "system/probe.h"

/* ROW(name, kind, shape, field): the arguments that queries may have, by their names in Python, and where a probe holds
   them. TIME and NUMBER: a number for each point. ARRAY: an array for each point, with axes by the letters of
   lg_length. LIST: an integer, or a sequence of them, which adds an axis to the results. FLAG: true or false. STATICS
   and BODY_AXES: true asks for the system in this form. NAMES: the names of the results that are wanted, by default
   all. */
#define LG_ARGUMENTS(ROW)                                                                                              \
    ROW(t, TIME, "", point.t)                                                                                          \
    ROW(t_in, NUMBER, "", point.t_in)                                                                                  \
    ROW(wa, NUMBER, "", point.wa)                                                                                      \
    ROW(load, NUMBER, "", point.load)                                                                                  \
    ROW(h, NUMBER, "", pair.h)                                                                                         \
    ROW(q, ARRAY, "q", point.q)                                                                                        \
    ROW(q0, ARRAY, "q", point.q)                                                                                       \
    ROW(q1, ARRAY, "q", pair.q1)                                                                                       \
    ROW(v, ARRAY, "v", point.v)                                                                                        \
    ROW(a, ARRAY, "v", point.a)                                                                                        \
    ROW(theta, ARRAY, "v", theta)                                                                                      \
    ROW(lam, ARRAY, "r", point.lam)                                                                                    \
    ROW(mem, ARRAY, "m", point.mem)                                                                                    \
    ROW(k, ARRAY, "3", k)                                                                                              \
    ROW(X, ARRAY, "3vv", X)                                                                                            \
    ROW(element, INTEGER, "", element)                                                                                 \
    ROW(slot, INTEGER, "", slot)                                                                                       \
    ROW(link, INTEGER, "", link)                                                                                       \
    ROW(rule, INTEGER, "", rule)                                                                                       \
    ROW(frames, LIST, "", list)                                                                                        \
    ROW(elements, LIST, "", list)                                                                                      \
    ROW(static, STATICS, "", form)                                                                                     \
    ROW(invariant, BODY_AXES, "", form)                                                                                \
    ROW(equivariant, FLAG, "", equivariant)                                                                            \
    ROW(position, FLAG, "", position)                                                                                  \
    ROW(velocity, FLAG, "", velocity)                                                                                  \
    ROW(want, NAMES, "", out)

typedef enum lg_argument {
    LG_NO_ARGUMENT,
#define LG_ARGUMENT(name, kind, shape, field) LG_ARG_##name,
    LG_ARGUMENTS(LG_ARGUMENT)
#undef LG_ARGUMENT
} lg_argument;

enum { LG_MAX_ARGUMENTS = 13 };

typedef struct lg_query {
    const char *format; /* for PyArg_ParseTupleAndKeywords; all arguments are objects */
    lg_argument arguments[LG_MAX_ARGUMENTS + 1];
    struct {
        const char *name, *shape; /* axes by their letters; n: the axis that a list adds */
    } results[LG_TERM_COUNT + 1];
    lg_status (*at)(lg_probe *probe);
    int named; /* the results are a dict instead of an array or a tuple of arrays */
    int solves; /* lg_probe_open comes before the first point */
    lg_coupling coupling; /* of the plan that is needed for the results in `planned`, a bit for each */
    unsigned planned;
} lg_query;

/* The length of an axis by its letter: q, v, r (constraint rows), m (memory) or a digit. */
npy_intp lg_length(const lg_system *system, char letter);
/* Answers a query. NULL: an exception is set. */
PyObject *lg_ask(const lg_query *query, PyObject *self, PyObject *args, PyObject *kwargs);

#endif
