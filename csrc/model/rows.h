/* The rows of bodies.def, forces.def and joints.def as one list, in this order, and what is wrong with a
   description. */
#ifndef LG_MODEL_ROWS_H
#define LG_MODEL_ROWS_H

#include "model/model.h"

const lg_element_info *lg_row_info(int row);
int lg_row_find(const char *name); /* -1: there is none */
int lg_row_is_body(int row);
int lg_row_is_support(int row);
int lg_row_is_force(int row);
int lg_row_is_joint(int row);

/* LG_BAD_ARGUMENT, with the name and the reason in the report. */
lg_status lg_model_refuse(lg_report *report, const char *name, const char *reason);
/* Check the parameters of an element by the declarations of its row. */
lg_status lg_check_parameters(const lg_element_info *info, const char *name, int n, const double *values,
                              lg_report *report);
/* Check the blocks and frames of a description, and one of its elements, which is of the given row. */
lg_status lg_check_spec(const lg_model_spec *spec, lg_report *report);
lg_status lg_check_element(const lg_model_spec *spec, const lg_element_spec *e, int row, lg_report *report);

#endif
