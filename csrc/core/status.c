/* Status codes, messages and reports; see status.h. */
#include "core/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct status_row {
    const char *name, *message;
    int specific;
    const char *advice;
} status_row;

static const status_row rows[] = {
#define LG_STATUS(name, message, specific, exception, advice) {#name, message, specific, advice},
#include "core/status.def"
#undef LG_STATUS
    {"UNKNOWN", "unknown status", 0, ""},
};

static const status_row *status_row_of(lg_status status)
{
    return &rows[(unsigned)status < LG_STATUS_COUNT ? status : LG_STATUS_COUNT];
}

const char *lg_status_name(lg_status status)
{
    return status_row_of(status)->name;
}

void lg_status_message(lg_status status, const lg_report *report, char *text)
{
    static const lg_report nothing;
    const lg_report *r = report ? report : &nothing;
    const status_row *row = status_row_of(status);
    const char *advice = r->advice[0] ? r->advice : row->advice;
    const char *message = row->specific && r->what[0] ? "" : row->message;
    char step[96] = "", newton[96] = "";
    if (r->h != 0)
        snprintf(step, sizeof step, ", at t = %.9g in step %ld of size h = %.6g", r->t, r->step + 1, r->h);
    else if (r->at_start)
        snprintf(step, sizeof step, ", at the start, t = %.9g", r->t);
    if (r->iteration > 0)
        snprintf(newton, sizeof newton, ", after %d iterations with residual %.3g", r->iteration, r->residual);
    snprintf(text, LG_MESSAGE_SIZE, "%s%s%s%s%s%s%s", message, *message && r->what[0] ? ": " : "", r->what, step,
             newton, advice[0] ? "; " : "", advice);
}

/* The length in bytes of the UTF-8 character that begins with this byte. */
static size_t character_size(unsigned char lead)
{
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

size_t lg_text_cut(const char *text, size_t room)
{
    const char *end = memchr(text, '\0', room);
    size_t size = end ? (size_t)(end - text) : room, last = size;
    while (last > 0 && ((unsigned char)text[last - 1] & 0xC0) == 0x80)
        last--;
    if (last > 0 && last - 1 + character_size((unsigned char)text[last - 1]) > size)
        return last - 1;
    return size;
}

void lg_text_list(char *text, size_t size, const char *name)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? ", " : "", name);
}

void lg_report_name(lg_report *report, const char *what)
{
    lg_report_say(report, "%s", what ? what : "");
}

static void write_text(char *text, const char *format, va_list arguments)
{
    vsnprintf(text, LG_WHAT_SIZE, format, arguments);
    text[lg_text_cut(text, LG_WHAT_SIZE - 1)] = '\0';
}

void lg_report_say(lg_report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report->block = 0;
    write_text(report->what, format, arguments);
    va_end(arguments);
}

void lg_report_force(lg_report *report, const char *name, int n, const double *value)
{
    int i = 0;
    while (i < n && isfinite(value[i]))
        i++;
    const char *found = i >= n ? "" : isnan(value[i]) ? "nan " : "infinity ";
    if (i < n && n > 1)
        lg_report_say(report, "%sat index %d of the force of %.*s", found, i, LG_SHORT(name));
    else
        lg_report_say(report, "%s%sthe force of %.*s", found, i < n ? "as " : "", LG_SHORT(name));
}

void lg_report_advise(lg_report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_text(report->advice, format, arguments);
    va_end(arguments);
}
