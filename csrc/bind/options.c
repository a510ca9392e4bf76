/* Option dictionaries, read by the descriptors of a method's row. */
#include "bind/args.h"

#include <math.h>
#include <string.h>

/* ---- choices: "full|modified" ---- */

static PyObject *choice_at(const char *choices, int index)
{
    for (; index > 0 && choices; index--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    return choices ? PyUnicode_FromStringAndSize(choices, (Py_ssize_t)strcspn(choices, "|")) : PyUnicode_FromString("");
}

static int choice_index(const char *choices, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; choices; i++) {
        if (strcspn(choices, "|") == length && strncmp(choices, name, length) == 0)
            return i;
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    return -1;
}

PyObject *lg_default_object(const lg_option *option)
{
    if (option->initial.choice >= 0 && option->choices)
        return choice_at(option->choices, option->initial.choice);
    if (isnan(option->initial.number))
        Py_RETURN_NONE;
    if (option->type == LG_OPTION_FLAG)
        return PyBool_FromLong(option->initial.number != 0);
    if (option->type == LG_OPTION_INTEGER)
        return PyLong_FromDouble(option->initial.number);
    return PyFloat_FromDouble(option->initial.number);
}

/* ---- one value ---- */

/* "a number from 0 to 1 or one of optimal" */
static PyObject *accepted_text(const lg_option *option)
{
    char text[256];
    const char *choices = option->choices ? option->choices : "";
    const char *also = option->choices ? " or " : "";
    const char *kind = option->type == LG_OPTION_INTEGER  ? "an integer"
                       : option->type == LG_OPTION_VECTOR ? "a number or an array of numbers"
                                                          : "a number";
    switch (option->type) {
    case LG_OPTION_FLAG:
        return PyUnicode_FromString("True or False");
    case LG_OPTION_CHOICE:
        return PyUnicode_FromFormat("one of %s", choices);
    default:
        snprintf(text, sizeof text, "%s from %g to %g%s%s", kind, option->low, option->high, also, choices);
        return PyUnicode_FromString(text);
    }
}

static int raise_value(const lg_method *method, const lg_option *option, PyObject *given)
{
    PyObject *accepted = accepted_text(option);
    PyObject *initial = lg_default_object(option);
    if (accepted && initial)
        PyErr_Format(PyExc_ValueError, "option %s of \"%s\" must be %U (default %S), given %R", option->name,
                     method->name, accepted, initial, given);
    Py_XDECREF(accepted);
    Py_XDECREF(initial);
    return -1;
}

/* A choice may be given by its name or, where the name is a number, by that number: index=3. */
static int as_choice(const lg_option *option, PyObject *given)
{
    if (!option->choices || PyBool_Check(given) || (!PyUnicode_Check(given) && !PyLong_Check(given)))
        return -1;
    PyObject *text = PyObject_Str(given);
    const char *name = text ? PyUnicode_AsUTF8(text) : NULL;
    int index = name ? choice_index(option->choices, name) : -1;
    Py_XDECREF(text);
    return index;
}

/* The number meant by `given`, or NaN. */
static double as_number(lg_option_type type, PyObject *given)
{
    double number = NAN;
    int is_flag = PyBool_Check(given) || PyArray_IsScalar(given, Bool);
    if (type == LG_OPTION_FLAG)
        return is_flag ? (double)PyObject_IsTrue(given) : NAN;
    if (is_flag || PyUnicode_Check(given))
        return NAN;
    if (type == LG_OPTION_VECTOR && PyArray_Check(given) && PyArray_NDIM((PyArrayObject *)given) > 0)
        return 0;
    if (type == LG_OPTION_NUMBER || type == LG_OPTION_VECTOR)
        number = PyFloat_AsDouble(given);
    else if (PyIndex_Check(given)) {
        PyObject *index = PyNumber_Index(given);
        number = index ? PyLong_AsDouble(index) : NAN;
        Py_XDECREF(index);
    }
    return number;
}

static int read_value(const lg_method *method, const lg_option *option, PyObject *given, lg_option_value *value)
{
    if (given == Py_None && option->initial.choice < 0 && isnan(option->initial.number))
        return 0;
    int choice = as_choice(option, given);
    if (choice >= 0) {
        *value = (lg_option_value){option->initial.number, choice, 1};
        return 0;
    }
    double number = option->type == LG_OPTION_CHOICE ? NAN : as_number(option->type, given);
    PyErr_Clear();
    if (option->type == LG_OPTION_FLAG ? isnan(number) : !(number >= option->low && number <= option->high))
        return raise_value(method, option, given);
    *value = (lg_option_value){number, -1, 1};
    return 0;
}

/* ---- all values ---- */

/* An option by its name, or NULL. */
static const lg_option *find_option(const lg_method *method, PyObject *name)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return text ? lg_method_option(method, text) : NULL;
}

/* "euler, midpoint": the names of all methods that have the option or, if `of` is not NULL, of all options of `of` */
static PyObject *names_of(PyObject *option, const lg_method *of)
{
    PyObject *list = PyUnicode_FromString("");
    for (int i = 0, found = 0; i < (of ? of->options->count : lg_method_count) && list; i++)
        if (of || find_option(lg_methods[i], option))
            PyUnicode_AppendAndDel(&list, PyUnicode_FromFormat(found++ ? ", %s" : "%s",
                                                               of ? of->options->row[i].name : lg_methods[i]->name));
    return list;
}

static int raise_unknown(const lg_method *method, PyObject *name)
{
    PyObject *options = names_of(name, method), *others = names_of(name, NULL);
    if (options && others)
        PyErr_Format(PyExc_ValueError, "method \"%s\" has no option %R; its options are: %U%s%U", method->name, name,
                     options, PyUnicode_GET_LENGTH(others) ? "; methods that have it: " : "", others);
    Py_XDECREF(options);
    Py_XDECREF(others);
    return -1;
}

static int read_dict(const lg_method *method, PyObject *dict, lg_option_value *values)
{
    PyObject *name, *given;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &name, &given)) {
        const lg_option *option = find_option(method, name);
        if (!option)
            return raise_unknown(method, name);
        if (read_value(method, option, given, &values[option->field]) < 0)
            return -1;
    }
    return 0;
}

lg_option_value *lg_options(const lg_method *method, PyObject *dict)
{
    if (dict && dict != Py_None && !PyDict_Check(dict)) {
        PyErr_Format(PyExc_ValueError, "options must be a dict, given %R", dict);
        return NULL;
    }
    lg_option_value *values = PyMem_Calloc((size_t)method->options->nvalues + 1, sizeof *values);
    if (!values)
        return (lg_option_value *)PyErr_NoMemory();

    lg_method_defaults(method, values);
    if (dict && dict != Py_None && read_dict(method, dict, values) < 0) {
        PyMem_Free(values);
        return NULL;
    }
    return values;
}

const lg_method *lg_method_named(const char *name)
{
    const lg_method *method = lg_method_find(name);
    if (method)
        return method;
    PyObject *list = PyUnicode_FromString("");
    for (int i = 0; i < lg_method_count && list; i++)
        PyUnicode_AppendAndDel(&list, PyUnicode_FromFormat(i ? ", %s" : "%s", lg_methods[i]->name));
    if (list)
        PyErr_Format(PyExc_ValueError, "there is no method \"%s\"; the methods are: %U", name, list);
    Py_XDECREF(list);
    return NULL;
}
