/* Options of methods. A method describes its own in rows; names, checks, docs and error texts are made from these. */
#ifndef LG_INTEGRATOR_OPTION_H
#define LG_INTEGRATOR_OPTION_H

#include "core/status.h"

typedef enum lg_option_type {
    LG_OPTION_NUMBER,
    LG_OPTION_INTEGER,
    LG_OPTION_FLAG,
    LG_OPTION_CHOICE,
    LG_OPTION_VECTOR /* a number for all entries, or an array */
} lg_option_type;

typedef struct lg_option_default {
    double number; /* NaN: none; a choice can then be None as well */
    int choice; /* index into the choices, or -1 for a number */
} lg_option_default;

typedef struct lg_option_value {
    double number;
    int choice; /* as in the default */
    int given; /* the caller has given it, even if the value is the default */
    int count; /* of an array that was given instead of a number; else 0 */
    const double *array; /* valid until the run is open */
} lg_option_value;

/* Entry i of a number for all entries or of an array, which is repeated. */
static inline double lg_option_entry(const lg_option_value *value, int i)
{
    return value->count ? value->array[i % value->count] : value->number;
}

typedef struct lg_option {
    const char *name;
    lg_option_type type;
    lg_option_default initial;
    double low, high; /* closed range of a number */
    const char *choices; /* "full|modified"; a NUMBER may have choices too, such as "optimal" */
    const char *doc; /* one sentence */
    long field; /* LG_FIELD: where its value stands among those of the method */
} lg_option;

/* The choices of an option stand in one list, LIST(X) with X(constant, text) for each of them. It makes the enum of the
   constants, enum { LIST(LG_CHOICE_CONSTANT) }, and the text "full|modified" of the row, LG_CHOICES(LIST). */
#define LG_CHOICE_CONSTANT(constant, text) constant,
#define LG_CHOICE_TEXT(constant, text) "|" text
#define LG_CHOICES(LIST) &(LIST(LG_CHOICE_TEXT))[1]

/* The values of a method's options are a struct of lg_option_value beside the method, or an array: the number of a
   member of that struct. */
#define LG_FIELD(type, member) (long)(offsetof(type, member) / sizeof(lg_option_value))

typedef struct lg_option_rows {
    const lg_option *row;
    int count; /* of the rows */
    int nvalues; /* of the struct, which may have members that no row of this method sets */
} lg_option_rows;

#define LG_OPTION_ROWS(rows, type) {rows, sizeof rows / sizeof *rows, (int)(sizeof(type) / sizeof(lg_option_value))}

const char *lg_option_type_name(lg_option_type type); /* "number" */

/* The row of this name; NULL: there is none. */
const lg_option *lg_option_find(const lg_option_rows *rows, const char *name);

/* What a caller gives for an option, in whatever language. */
typedef enum lg_given_kind {
    LG_GIVEN_NOTHING,
    LG_GIVEN_FLAG,
    LG_GIVEN_INTEGER,
    LG_GIVEN_NUMBER,
    LG_GIVEN_TEXT,
    LG_GIVEN_ARRAY,
    LG_GIVEN_OTHER
} lg_given_kind;

typedef struct lg_given {
    lg_given_kind kind;
    double number; /* of a flag too */
    const char *text;
    const double *array;
    int count;
} lg_given;

/* The value that is meant; LG_BAD_ARGUMENT if the option does not accept it. */
lg_status lg_option_read(const lg_option *option, lg_given given, lg_option_value *value);
/* "a number from 0 to 1 or optimal" */
void lg_option_accepts(const lg_option *option, char *text, size_t size);
/* A choice by its index: its first character, and its length. NULL: there is no such choice. */
const char *lg_option_choice(const lg_option *option, int index, size_t *length);

#endif
