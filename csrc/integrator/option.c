/* Values of options; see option.h. */
#include "integrator/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lg_option_type_name(lg_option_type type)
{
    static const char *const names[] = {
        [LG_OPTION_NUMBER] = "number", [LG_OPTION_INTEGER] = "integer", [LG_OPTION_FLAG] = "flag",
        [LG_OPTION_CHOICE] = "choice", [LG_OPTION_VECTOR] = "vector",
    };
    return names[type];
}

const lg_option *lg_option_find(const lg_option_rows *rows, const char *name)
{
    for (const lg_option *option = rows->row; option < rows->row + rows->count; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

const char *lg_option_choice(const lg_option *option, int index, size_t *length)
{
    const char *choice = index < 0 ? NULL : option->choices;
    for (; index > 0 && choice; index--) {
        choice = strchr(choice, '|');
        choice = choice ? choice + 1 : NULL;
    }
    *length = choice ? strcspn(choice, "|") : 0;
    return choice;
}

static int choice_index(const lg_option *option, const char *name)
{
    size_t length;
    const char *choice;
    for (int i = 0; (choice = lg_option_choice(option, i, &length)); i++)
        if (strlen(name) == length && strncmp(choice, name, length) == 0)
            return i;
    return -1;
}

/* Whether an option of this type takes what is given as its number. */
static int takes_number(lg_option_type type, lg_given_kind kind)
{
    switch (type) {
    case LG_OPTION_FLAG:
        return kind == LG_GIVEN_FLAG;
    case LG_OPTION_INTEGER:
        return kind == LG_GIVEN_INTEGER;
    case LG_OPTION_CHOICE:
        return 0;
    default:
        return kind == LG_GIVEN_INTEGER || kind == LG_GIVEN_NUMBER;
    }
}

static int in_range(const lg_option *option, int count, const double *values)
{
    int good = 1;
    for (int i = 0; i < count; i++)
        good = good && values[i] >= option->low && values[i] <= option->high;
    return good;
}

lg_status lg_option_read(const lg_option *option, lg_given given, lg_option_value *value)
{
    if (given.kind == LG_GIVEN_NOTHING) {
        *value = (lg_option_value){.number = NAN, .choice = -1};
        return isnan(option->initial.number) ? LG_OK : LG_BAD_ARGUMENT;
    }
    if (given.kind == LG_GIVEN_TEXT) {
        *value = (lg_option_value){option->initial.number, choice_index(option, given.text), 1, 0, NULL};
        return value->choice >= 0 ? LG_OK : LG_BAD_ARGUMENT;
    }
    if (given.kind == LG_GIVEN_ARRAY && option->type == LG_OPTION_VECTOR) {
        *value = (lg_option_value){0, -1, 1, given.count, given.array};
        return given.count && in_range(option, given.count, given.array) ? LG_OK : LG_BAD_ARGUMENT;
    }
    *value = (lg_option_value){given.number, -1, 1, 0, NULL};
    return takes_number(option->type, given.kind) && in_range(option, 1, &given.number) ? LG_OK : LG_BAD_ARGUMENT;
}

void lg_option_accepts(const lg_option *option, char *text, size_t size)
{
    const char *choices = option->choices ? option->choices : "";
    const char *kind = option->type == LG_OPTION_INTEGER  ? "an integer"
                       : option->type == LG_OPTION_VECTOR ? "a number or an array of numbers"
                                                          : "a number";
    if (option->type == LG_OPTION_FLAG)
        snprintf(text, size, "True or False");
    else if (option->type == LG_OPTION_CHOICE)
        snprintf(text, size, "one of %s", choices);
    else
        snprintf(text, size, "%s from %g to %g%s%s", kind, option->low, option->high, *choices ? " or " : "", choices);
}
