/* Turns option dictionaries into values of the core, which checks them against the option rows of the method. */
#include "bind/args.h"
#include "integrator/methods.h"

#include <math.h>

enum { LIST_SIZE = 1024 }; /* of a text that lists names of methods or options */

PyObject *lg_default_object(const lg_option *option)
{
    size_t length;
    const char *choice = lg_option_choice(option, option->initial.choice, &length);
    if (choice)
        return PyUnicode_FromStringAndSize(choice, (Py_ssize_t)length);
    if (isnan(option->initial.number))
        Py_RETURN_NONE;
    if (option->type == LG_OPTION_FLAG)
        return PyBool_FromLong(option->initial.number != 0);
    if (option->type == LG_OPTION_INTEGER)
        return PyLong_FromDouble(option->initial.number);
    return PyFloat_FromDouble(option->initial.number);
}

/* ---- one value ---- */

static int raise_value(const lg_method *method, const lg_option *option, PyObject *given)
{
    char accepted[LG_WHAT_SIZE];
    PyObject *initial = lg_default_object(option);
    lg_option_accepts(option, accepted, sizeof accepted);
    if (initial)
        PyErr_Format(PyExc_ValueError, "option '%s' of method '%s' must be %s (default %S), given %R", option->name,
                     method->name, accepted, initial, given);
    Py_XDECREF(initial);
    return -1;
}

static lg_given given_number(PyObject *object)
{
    PyObject *index = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
    PyErr_Clear();
    lg_given given = {.kind = index ? LG_GIVEN_INTEGER : LG_GIVEN_NUMBER,
                      .number = index ? PyLong_AsDouble(index) : PyFloat_AsDouble(object)};
    Py_XDECREF(index);
    if (PyErr_Occurred())
        given.kind = LG_GIVEN_OTHER;
    PyErr_Clear();
    return given;
}

/* `owned` keeps the values of arrays. */
static int read_given(PyObject *object, const char *name, PyObject *owned, lg_given *given)
{
    if (object == Py_None) {
        *given = (lg_given){.kind = LG_GIVEN_NOTHING};
    } else if (PyBool_Check(object) || PyArray_IsScalar(object, Bool)) {
        *given = (lg_given){.kind = LG_GIVEN_FLAG, .number = PyObject_IsTrue(object)};
    } else if (PyUnicode_Check(object)) {
        const char *text = PyUnicode_AsUTF8(object);
        *given = (lg_given){.kind = text ? LG_GIVEN_TEXT : LG_GIVEN_OTHER, .text = text};
        PyErr_Clear();
    } else if (PyArray_Check(object) && PyArray_NDIM((PyArrayObject *)object)) {
        PyArrayObject *array = lg_keep_array(owned, lg_vector(object, name, -1));
        if (!array)
            return -1;
        *given = (lg_given){.kind = LG_GIVEN_ARRAY, .array = lg_data(array), .count = (int)PyArray_SIZE(array)};
    } else {
        *given = given_number(object);
    }
    return 0;
}

/* ---- all values ---- */

static int raise_unknown_option(const lg_method *method, PyObject *name)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    char options[LIST_SIZE], others[LIST_SIZE] = "";
    PyErr_Clear();
    lg_option_list(method, options, sizeof options);
    if (text)
        lg_method_list(text, others, sizeof others);
    PyErr_Format(PyExc_ValueError, "method '%s' has no option %R; its options are: %s%s%s", method->name, name, options,
                 *others ? "; methods that have it: " : "", others);
    return -1;
}

static int read_option(const lg_method *method, PyObject *name, PyObject *object, PyObject *owned,
                       lg_option_value *values)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    const lg_option *option = text ? lg_option_find(method->options, text) : NULL;
    lg_given given;
    if (!option)
        return raise_unknown_option(method, name);
    if (read_given(object, text, owned, &given) < 0)
        return -1;
    if (lg_option_read(option, given, &values[option->field]) == LG_OK)
        return 0;
    return raise_value(method, option, object);
}

/* The dict may be NULL or None. */
static int read_options(const lg_method *method, PyObject *dict, PyObject *owned, lg_option_value *values)
{
    PyObject *name, *object;
    Py_ssize_t at = 0;
    int is_dict = dict && dict != Py_None;
    if (is_dict && !PyDict_Check(dict)) {
        PyErr_Format(PyExc_ValueError, "options must be a dict, given %R", dict);
        return -1;
    }
    while (is_dict && PyDict_Next(dict, &at, &name, &object))
        if (read_option(method, name, object, owned, values) < 0)
            return -1;
    return 0;
}

const lg_option_value *lg_options(const lg_method *method, PyObject *dict, PyObject *inherited, PyObject *owned)
{
    lg_option_value *values = lg_keep_memory(owned, method->options->nvalues, sizeof *values);
    if (!values)
        return NULL;
    lg_method_defaults(method, values);
    if (read_options(method, inherited, owned, values) < 0)
        return NULL;
    for (int i = 0; i < method->options->nvalues; i++)
        values[i].given = 0;
    return read_options(method, dict, owned, values) < 0 ? NULL : values;
}

const lg_method *lg_method_named(const char *name)
{
    const lg_method *method = lg_method_find(name);
    char methods[LIST_SIZE];
    lg_method_list(NULL, methods, sizeof methods);
    if (!method)
        PyErr_Format(PyExc_ValueError, "there is no method '%s'; the methods are: %s", name, methods);
    return method;
}
