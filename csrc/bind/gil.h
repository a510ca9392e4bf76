/* The GIL during a call of the core, which runs without it if its systems allow it. */
#ifndef LG_BIND_GIL_H
#define LG_BIND_GIL_H

#include "bind/python.h"
#include "core/status.h"

typedef struct lg_gil {
    int kept; /* the GIL is not released, because a system of the call has functions in Python */
    PyThreadState *thread; /* of the caller, while the GIL is released */
    PyObject *progress; /* a function of one number, or NULL */
} lg_gil;

/* Release the GIL before a call of the core and take it afterwards. Functions that the core calls meanwhile take it
   first and then release it. */
void lg_gil_release(lg_gil *gil);
void lg_gil_take(lg_gil *gil);

/* What an observer polls: handles signals, then calls `progress`. `self` begins with an lg_gil. */
lg_status lg_gil_poll(void *self, double value);

#endif
