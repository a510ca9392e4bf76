/* Queries: methods of a system that compute something at a point, or at every point of arrays that have the same
   leading axes. A query is a row, which its method passes to lg_ask. */
#ifndef LG_BIND_QUERY_H
#define LG_BIND_QUERY_H

#include "bind/system.h"
#include "model/model.h"
#include "system/probe.h"

/* ROW(name, kind, shape, field): the arguments that queries may have, by their names in Python, and where a question
   holds them. TIME and NUMBER: a number for each point. ARRAY: an array for each point, with axes by the letters of
   lg_length. LIST: an integer, or a sequence of them, which adds an axis to the results. FLAG: true or false. STATICS
   and BODY_AXES: true asks for the system in this form. NAMES: the names of the results that are wanted, by default
   all. */
#define LG_ARGUMENTS(ROW)                                                                                              \
    ROW(t, TIME, "", probe.point.t)                                                                                    \
    ROW(t_in, NUMBER, "", probe.point.t_in)                                                                            \
    ROW(wa, NUMBER, "", probe.point.wa)                                                                                \
    ROW(load, NUMBER, "", probe.point.load)                                                                            \
    ROW(span, NUMBER, "", probe.point.mem.age)                                                                         \
    ROW(h, NUMBER, "", probe.pair.h)                                                                                   \
    ROW(q, ARRAY, "q", probe.point.q)                                                                                  \
    ROW(q0, ARRAY, "q", probe.point.q)                                                                                 \
    ROW(q1, ARRAY, "q", probe.pair.q1)                                                                                 \
    ROW(v, ARRAY, "v", probe.point.v)                                                                                  \
    ROW(a, ARRAY, "v", probe.point.a)                                                                                  \
    ROW(theta, ARRAY, "v", probe.theta)                                                                                \
    ROW(lam, ARRAY, "r", probe.point.lam)                                                                              \
    ROW(slopes, ARRAY, "2r", probe.slopes)                                                                             \
    ROW(mem, ARRAY, "m", probe.point.mem.values)                                                                       \
    ROW(t_from, NUMBER, "", probe.from.t)                                                                              \
    ROW(q_from, ARRAY, "q", probe.from.q)                                                                              \
    ROW(v_from, ARRAY, "v", probe.from.v)                                                                              \
    ROW(mem_from, ARRAY, "m", probe.from.mem.values)                                                                   \
    ROW(change, ARRAY, "4v", probe.change)                                                                             \
    ROW(dmem, ARRAY, "m", probe.dmem)                                                                                  \
    ROW(k, ARRAY, "3", probe.k)                                                                                        \
    ROW(X, ARRAY, "3vv", probe.X)                                                                                      \
    ROW(element, INTEGER, "", part.element)                                                                            \
    ROW(slot, INTEGER, "", part.slot)                                                                                  \
    ROW(link, INTEGER, "", part.link)                                                                                  \
    ROW(midpoint, FLAG, "", probe.midpoint)                                                                            \
    ROW(parameter, INTEGER, "", probe.parameter)                                                                       \
    ROW(frames, LIST, "", part.list)                                                                                   \
    ROW(elements, LIST, "", part.list)                                                                                 \
    ROW(static, STATICS, "", probe.form)                                                                               \
    ROW(body_axes, BODY_AXES, "", probe.form)                                                                          \
    ROW(equivariant, FLAG, "", probe.equivariant)                                                                      \
    ROW(check, FLAG, "", probe.check)                                                                                  \
    ROW(position, FLAG, "", probe.position)                                                                            \
    ROW(velocity, FLAG, "", probe.velocity)                                                                            \
    ROW(want, NAMES, "", probe.out)

typedef struct lg_question {
    lg_probe probe;
    lg_query_part part; /* of queries of models */
} lg_question;

typedef enum lg_argument {
    LG_NO_ARGUMENT,
#define LG_ARGUMENT(name, kind, shape, field) LG_ARG_##name,
    LG_ARGUMENTS(LG_ARGUMENT)
#undef LG_ARGUMENT
} lg_argument;

enum { LG_MAX_ARGUMENTS = 14 };

typedef struct lg_query {
    const char *format; /* for PyArg_ParseTupleAndKeywords; all arguments are objects */
    lg_argument arguments[LG_MAX_ARGUMENTS + 1];
    struct {
        const char *name, *shape; /* axes by their letters; n: the axis that a list adds */
    } results[LG_TERM_COUNT + 1];
    lg_status (*at)(lg_probe *probe); /* NULL: it is one of a part of a model, */
    lg_status (*of_part)(lg_probe *probe, const lg_query_part *part); /* which this answers */
    int named; /* the results are a dict instead of an array or a tuple of arrays */
    int solves; /* lg_probe_open comes before the first point */
    lg_coupling coupling; /* of the plan that is needed for the results in `planned`, a bit for each */
    unsigned planned;
} lg_query;

/* The length of an axis by its letter: q, v, r (constraint rows), m (memory), s and b (entries of S and of B in
   lg_probe_sparse) or a digit. */
npy_intp lg_length(const lg_system *system, char letter);
/* Answers a query. NULL: an exception is set. */
PyObject *lg_ask(const lg_query *query, PyObject *self, PyObject *args, PyObject *kwargs);

#endif
