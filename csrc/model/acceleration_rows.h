#ifndef LG_MODEL_ACCELERATION_ROWS_H
#define LG_MODEL_ACCELERATION_ROWS_H

#include "model/private.h"

/* lg_sensitivity.acceleration_rows of a model, in some form, if it knows them. */
lg_status lg_model_acceleration_rows(const lg_model *m, lg_form form, const lg_point *at, double *of_q, double *of_v);
int lg_model_knows_acceleration_rows(const lg_model *m);

#endif
