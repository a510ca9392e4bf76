/* Tapes of runs as capsules; see tape.h. */
#include "bind/tape.h"

#include <stdlib.h>

static const char name[] = "lgint.tape";

static void close_capsule(PyObject *capsule)
{
    lg_tape *tape = PyCapsule_GetPointer(capsule, name);
    lg_tape_close(tape);
    free(tape);
}

PyObject *lg_tape_capsule(lg_tape *tape)
{
    lg_tape *own = malloc(sizeof *own);
    if (!own)
        return PyErr_NoMemory();
    *own = *tape;
    PyObject *capsule = PyCapsule_New(own, name, close_capsule);
    if (capsule)
        *tape = (lg_tape){.most = own->most};
    else
        free(own);
    return capsule;
}

const lg_tape *lg_tape_in(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, name);
}
