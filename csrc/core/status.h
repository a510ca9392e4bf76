/* Status codes and the report of a failure. Every fallible function of the core returns an lg_status. */
#ifndef LG_CORE_STATUS_H
#define LG_CORE_STATUS_H

#include <stddef.h>

typedef enum lg_status {
#define LG_STATUS(name, message, specific, exception, advice) LG_##name,
#include "core/status.def"
#undef LG_STATUS
    LG_STATUS_COUNT
} lg_status;

/* Bytes for each text of a report, and for a name inside a longer text. */
enum { LG_WHAT_SIZE = 160, LG_NAME_SIZE = 64 };

/* Where and why a run ended. `what`, in UTF-8, names a constraint row, a body, an element or an argument. */
typedef struct lg_report {
    lg_status status;
    long step; /* accepted steps before the failure */
    double t, h; /* start and size of the step that failed */
    int at_start; /* the equations of the start of a run failed, before any step */
    int iteration; /* Newton iterations spent in it */
    double residual; /* last norm of the residual, if the method has one */
    char what[LG_WHAT_SIZE];
    int block; /* 1 + the number of the block that `what` names; 0: it names none */
    char advice[LG_WHAT_SIZE]; /* what the caller may try; "": the general advice of the status */
} lg_report;

const char *lg_status_name(lg_status status); /* "NO_CONVERGENCE" */

enum { LG_MESSAGE_SIZE = 640 };
/* The whole message on a failure, LG_MESSAGE_SIZE bytes: "what failed: where, at t = ..., after n iterations ...;
   advice". report NULL: the text says only what failed. */
void lg_status_message(lg_status status, const lg_report *report, char *text);

/* The number of bytes, at most `room`, up to which a UTF-8 text can be cut without splitting a character. */
size_t lg_text_cut(const char *text, size_t room);

/* The two arguments of the conversion %.*s for a name, shortened to LG_NAME_SIZE bytes. */
#define LG_SHORT(name) (int)lg_text_cut(name, LG_NAME_SIZE), name

/* Adds a name to a list in `text`, after a comma unless it is the first. The list is cut where `text` is full. */
void lg_text_list(char *text, size_t size, const char *name);

/* Copies a text into report->what, shortened to fit; it names no block. */
void lg_report_name(lg_report *report, const char *what);
/* Writes a text from a printf format and its arguments into report->what, shortened to fit. */
void lg_report_say(lg_report *report, const char *format, ...);
/* Names a force, of the user where its n values are known, and the first of them that is not finite. */
void lg_report_force(lg_report *report, const char *name, int n, const double *value);
/* The same into report->advice. */
void lg_report_advise(lg_report *report, const char *format, ...);

/* Returns from the calling function with the status of `call` unless that is LG_OK. */
#define LG_TRY(call)                                                                                                   \
    do {                                                                                                               \
        lg_status lg_try_status = (call);                                                                              \
        if (lg_try_status != LG_OK)                                                                                    \
            return lg_try_status;                                                                                      \
    } while (0)

#endif
