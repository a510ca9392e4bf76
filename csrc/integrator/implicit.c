/* What generalized-alpha and HHT share. */
#include "integrator/implicit.h"

lg_newton_settings lg_newton_options(const lg_stepper *self)
{
    return (lg_newton_settings){.rtol = lg_stepper_option(self, "newton_rtol").number,
                                .atol = lg_stepper_option(self, "newton_atol").number,
                                .max_iter = (int)lg_stepper_option(self, "max_iter").number};
}
