/* The GIL during a call of the core, which runs without it if its systems allow that. */
#ifndef LG_BIND_GIL_H
#define LG_BIND_GIL_H

#include "bind/python.h"
#include "core/status.h"

typedef struct lg_gil {
    int kept; /* a system of the call has functions in Python */
    PyThreadState *thread; /* of the caller, while the GIL is released */
    PyObject *progress; /* a function of one number, or NULL */
} lg_gil;

/* Around the call of the core, and the other way round in what the core calls on its way. */
void lg_gil_release(lg_gil *gil);
void lg_gil_take(lg_gil *gil);

/* What an observer polls: handles signals, then calls `progress`. `self` begins with an lg_gil. */
lg_status lg_gil_poll(void *self, double value);

#endif
