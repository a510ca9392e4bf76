/* The one place that turns a status and its report into a Python exception. */
#ifndef LG_BIND_ERRORS_H
#define LG_BIND_ERRORS_H

#include "bind/module.h"
#include "core/status.h"

/* Raises what `status` means; always returns NULL. An exception that a callback has set is left as it is, the same
   object, with the attributes `report` and `result` if it can have any, except that a KeyboardInterrupt becomes an
   Interrupted. `report` may be NULL outside runs; `result` (may be
   NULL) becomes the exception's attribute. */
PyObject *lg_raise(const lg_module *module, lg_status status, const lg_report *report, PyObject *result);

#endif
