/* The classical and the modified HHT of sherif2019 as printed, and the choice between them and generalized-alpha. */
#ifndef LG_INTEGRATOR_HHT_H
#define LG_INTEGRATOR_HHT_H

#include "integrator/genalpha/genalpha.h"

extern const lg_stepper_type lg_hht;

extern const lg_option_rows lg_hht_rows;

/* The option `modified` chooses a printed scheme; without it the row's stepper is generalized-alpha. Options that
   belong to the other one are refused. */
lg_status lg_hht_choose(const lg_method *method, const lg_option_value *options, const lg_stepper_type **stepper,
                        lg_report *report);

#endif
