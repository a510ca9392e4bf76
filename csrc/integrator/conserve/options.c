/* Options of energy-momentum methods. */
#include "integrator/conserve/step.h"

const lg_kinetics lg_conserve_hamiltonians[] = {[LG_HAMILTONIAN_POLYNOMIAL] = LG_HAMILTON_POLYNOMIAL,
                                                [LG_HAMILTONIAN_EXACT] = LG_HAMILTON_MIDPOINT,
                                                [LG_HAMILTONIAN_PUBLISHED] = LG_HAMILTON_PUBLISHED};

/* `form`: whether the equivariant form is the default. */
#define CONSERVE_OPTIONS(form)                                                                                         \
    {"equivariant",                                                                                                    \
     LG_OPTION_FLAG,                                                                                                   \
     {form, -1},                                                                                                       \
     0,                                                                                                                \
     1,                                                                                                                \
     NULL,                                                                                                             \
     "Keep momenta to round-off as well: bodies are seen from each other and turn by Cayley vectors, coordinates are " \
     "corrected along those alone on which a function depends, midpoint rules have attitudes of unit length; "         \
     "False: as printed.",                                                                                             \
     LG_FIELD(lg_conserve_options, equivariant)},                                                                      \
        {"guess",                                                                                                      \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_GUESS_EULER},                                                                                          \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_GUESSES),                                                                                       \
         "First guess of q at the end of a step: q + h v, q, or q + h v + h^2 vdot / 2.",                              \
         LG_FIELD(lg_conserve_options, guess)},                                                                        \
        LG_NEWTON_OPTIONS(lg_conserve_options, 0, 0)

static const lg_option rows[] = {CONSERVE_OPTIONS(1)};
static const lg_option midpoint_rows[] = {CONSERVE_OPTIONS(0)};
static const lg_option hamilton_rows[] = {
    CONSERVE_OPTIONS(0),
    {"hamiltonian",
     LG_OPTION_CHOICE,
     {0, LG_HAMILTONIAN_POLYNOMIAL},
     0,
     0,
     LG_CHOICES(LG_HAMILTONIANS),
     "Of bodies in Euler parameters e, whose mass matrix has an inverse with 1/|e|^4: without that factor, which is "
     "one at the ends of a step (139), (143); with it; or, as in the code published with the paper, with it in the "
     "inverse and without it in the gradient.",
     LG_FIELD(lg_conserve_options, hamiltonian)},
};

const lg_option_rows lg_conserve_rows = LG_OPTION_ROWS(rows, lg_conserve_options),
                     lg_midpoint_rows = LG_OPTION_ROWS(midpoint_rows, lg_conserve_options),
                     lg_hamilton_rows = LG_OPTION_ROWS(hamilton_rows, lg_conserve_options);
