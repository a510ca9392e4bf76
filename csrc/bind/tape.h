/* Tapes of runs as capsules, from integrate to adjoint. */
#ifndef LG_BIND_TAPE_H
#define LG_BIND_TAPE_H

#include "bind/python.h"
#include "run/tape.h"

/* A capsule that takes over the contents of the tape and leaves it empty. NULL: an exception is set. */
PyObject *lg_tape_capsule(lg_tape *tape);
/* The tape in a capsule. NULL: an exception is set. */
const lg_tape *lg_tape_in(PyObject *capsule);

#endif
