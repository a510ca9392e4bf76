/* Contacts that a step has passed: in touch between its ends, where no method looks, and apart at both. */
#ifndef LG_MODEL_PASS_H
#define LG_MODEL_PASS_H

#include "model/private.h"

/* Whether a model has contacts that a step can pass: those without a plane, on the other side of which nothing is
   apart. Contacts without stiffness, which exert nothing, are passed in silence. */
int lg_model_can_pass(const lg_model *m);
/* With a report of the contact and the time, LG_PASSED if a step has passed one, and LG_CROSSED if edges have passed
   through each other in it, which smaller steps do not prevent. Kinematics of `to` are known, and are not
   afterwards. */
lg_status lg_model_check_passed(const lg_model *m, const lg_point *from, const lg_point *to, lg_report *report);

#endif
