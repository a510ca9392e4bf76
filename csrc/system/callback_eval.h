/* The function `eval` of a system made of functions. */
#ifndef LG_SYSTEM_CALLBACK_EVAL_H
#define LG_SYSTEM_CALLBACK_EVAL_H

#include "system/callback_work.h"

lg_status lg_callback_eval(void *self, const lg_point *point, const lg_wanted *wanted);

#endif
