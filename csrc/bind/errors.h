/* The one place that turns a status and its report into a Python exception. */
#ifndef LG_BIND_ERRORS_H
#define LG_BIND_ERRORS_H

#include "bind/module.h"
#include "core/status.h"

/* The exception of `status` with the attributes `report` and `result` (may be NULL), not raised. NULL: another
   exception is set. */
PyObject *lg_error_of(const lg_module *module, lg_status status, const lg_report *report, PyObject *result);

/* Raises the exception of `status`; always returns NULL. An exception that a callback has set remains the same object
   and gets the attributes `report` and `result` if it accepts attributes; a KeyboardInterrupt, however, becomes an
   Interrupted. `report` may be NULL outside runs; `result` (may be NULL) becomes the exception's attribute. */
PyObject *lg_raise(const lg_module *module, lg_status status, const lg_report *report, PyObject *result);

/* After a successful call of the core, returns what `make` returns. Otherwise raises as above, with what `make`
   returns, if anything, as the result, and returns NULL; this also happens if memory runs out in the first call of
   `make`. */
PyObject *lg_result(const lg_module *module, lg_status status, const lg_report *report, PyObject *(*make)(void *self),
                    void *self);

/* Drops the exception that is set; Ctrl-C is delivered again, by the next check of signals. */
void lg_forget_error(void);

#endif
