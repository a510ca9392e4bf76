/* Python.h and NumPy's C-API, included the same way everywhere. Exactly one file (init.c) defines LG_IMPORT_NUMPY. */
#ifndef LG_BIND_PYTHON_H
#define LG_BIND_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL lg_numpy_array_api
#ifndef LG_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* The function and the flags in a PyMethodDef of a function with keywords. */
#define LG_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

#endif
