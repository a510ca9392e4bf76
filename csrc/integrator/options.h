/* Options that several methods share: structs of values, and the rows that describe them. */
#ifndef LG_INTEGRATOR_OPTIONS_H
#define LG_INTEGRATOR_OPTIONS_H

#include "integrator/option.h"

#include <math.h>

/* How explicit methods remove the drift. */
#define LG_PROJECTIONS(X)                                                                                              \
    X(LG_PROJECTION_NONE, "none")                                                                                      \
    X(LG_PROJECTION_POSITION, "position")                                                                              \
    X(LG_PROJECTION_VELOCITY, "velocity")                                                                              \
    X(LG_PROJECTION_BOTH, "both")
enum { LG_PROJECTIONS(LG_CHOICE_CONSTANT) };

#define LG_PROJECT_OPTION(type)                                                                                        \
    {"project",                                                                                                        \
     LG_OPTION_CHOICE,                                                                                                 \
     {NAN, -1},                                                                                                        \
     0,                                                                                                                \
     0,                                                                                                                \
     LG_CHOICES(LG_PROJECTIONS),                                                                                       \
     "Constraints onto which the end of each step is moved, by the shortest way in the mass metric. Default: both "    \
     "with error control, none with fixed steps.",                                                                     \
     LG_FIELD(type, project)}

/* How Newton's method ends, and what follows if it fails: four rows, for the member `stop`, with the defaults of two of
   them. */
typedef struct lg_newton_options {
    lg_option_value rtol, atol, max_iter, retry;
} lg_newton_options;

/* Parts of a step are counted as fractions of it, which are exact for as many halvings. */
#define LG_MOST_RETRIES 20

#define LG_RETRY_OPTION(field)                                                                                         \
    {"retry",                                                                                                          \
     LG_OPTION_INTEGER,                                                                                                \
     {NAN, -1},                                                                                                        \
     0,                                                                                                                \
     LG_MOST_RETRIES,                                                                                                  \
     NULL,                                                                                                             \
     "How often a step that fails may be halved: its parts are then taken one after the other. Default: 0 "            \
     "with fixed steps, 10 with error control, whose steps become smaller by themselves.",                             \
     field}

#define LG_NEWTON_OPTIONS(type, rtol_default, atol_default)                                                            \
    {"newton_rtol",                                                                                                    \
     LG_OPTION_NUMBER,                                                                                                 \
     {rtol_default, -1},                                                                                               \
     0,                                                                                                                \
     1,                                                                                                                \
     NULL,                                                                                                             \
     "Newton's method stops when the residual is below this times the first residual of the step plus newton_atol.",   \
     LG_FIELD(type, stop.rtol)},                                                                                       \
        {"newton_atol",                                                                                                \
         LG_OPTION_NUMBER,                                                                                             \
         {atol_default, -1},                                                                                           \
         0,                                                                                                            \
         1e3,                                                                                                          \
         NULL,                                                                                                         \
         "Absolute part of the bound on the residual (root mean square of the force rows).",                           \
         LG_FIELD(type, stop.atol)},                                                                                   \
        {"max_iter",                                                                                                   \
         LG_OPTION_INTEGER,                                                                                            \
         {20, -1},                                                                                                     \
         1,                                                                                                            \
         1000,                                                                                                         \
         NULL,                                                                                                         \
         "A step that takes more Newton iterations has failed.",                                                       \
         LG_FIELD(type, stop.max_iter)},                                                                               \
        LG_RETRY_OPTION(LG_FIELD(type, stop.retry))

/* Choices of generalized-alpha and its relatives. */
#define LG_ALPHA_FORMS(X)                                                                                              \
    X(LG_ALPHA_FORM_EXACT, "exact") X(LG_ALPHA_FORM_PRINTED, "printed") X(LG_ALPHA_FORM_PRINTED_HALF, "printed_half")
#define LG_STARTS(X) X(LG_START_PLAIN, "plain") X(LG_START_OPTIMAL, "optimal")
#define LG_PREDICTORS(X) X(LG_PREDICTOR_EXTRAPOLATE, "extrapolate") X(LG_PREDICTOR_PLAIN, "plain")
#define LG_NEWTONS(X) X(LG_NEWTON_FULL, "full") X(LG_NEWTON_MODIFIED, "modified") X(LG_NEWTON_AUTO, "auto")
#define LG_TANGENT_TERMS(X) X(LG_TERMS_ALL, "all") X(LG_TERMS_FORCE, "force")
enum { LG_ALPHA_FORMS(LG_CHOICE_CONSTANT) };
enum { LG_STARTS(LG_CHOICE_CONSTANT) };
enum { LG_PREDICTORS(LG_CHOICE_CONSTANT) };
enum { LG_NEWTONS(LG_CHOICE_CONSTANT) };
enum { LG_TANGENT_TERMS(LG_CHOICE_CONSTANT) };

/* Options of a method with an error estimate, for the member `control`; their rows are the last ones of a method. */
typedef struct lg_control_options {
    lg_option_value rtol, atol, first_step, max_step, min_step, safety, max_increase, max_decrease, law;
} lg_control_options;

/* The option values of generalized-alpha and its relatives, of which other implicit methods have the first two. */
typedef struct lg_genalpha_options {
    lg_option_value damping; /* rho_inf or alpha */
    lg_newton_options stop;
    lg_option_value sigma, index, form, start, predictor, newton, renew_after, tangent_terms, tangent_operator, scaling;
    lg_control_options control;
} lg_genalpha_options;

/* Rows of generalized-alpha except its damping; `index_default` is LG_INDEX_BY_STEPS, which is 3 for fixed steps and
   stabilised for adaptive ones, or LG_INDEX_STABILIZED_ALWAYS. */
#define LG_INDEX_BY_STEPS {NAN, -1}
#define LG_INDEX_STABILIZED_ALWAYS {3, 0}

#define LG_GENALPHA_OPTIONS(index_default)                                                                             \
    {"sigma",                                                                                                          \
     LG_OPTION_NUMBER,                                                                                                 \
     {1.0, -1},                                                                                                        \
     -5,                                                                                                               \
     5,                                                                                                                \
     "optimal",                                                                                                        \
     "Weight of the Lie group term: 0 is geom1, \"optimal\" is gamma/(3 beta).",                                       \
     LG_FIELD(lg_genalpha_options, sigma)},                                                                            \
        {"index",                                                                                                      \
         LG_OPTION_INTEGER,                                                                                            \
         index_default,                                                                                                \
         2,                                                                                                            \
         3,                                                                                                            \
         "stabilized",                                                                                                 \
         "Constraints that each step fulfils: 3 positions, 2 velocities, \"stabilized\" both. None: 3, and with "      \
         "error "                                                                                                      \
         "control, which 3 does not allow, \"stabilized\".",                                                           \
         LG_FIELD(lg_genalpha_options, index)},                                                                        \
        {"form",                                                                                                       \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_ALPHA_FORM_EXACT},                                                                                     \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_ALPHA_FORMS),                                                                                   \
         "The formulas solved exactly, the algorithms as printed, or these with the factor 1/2 missing in line 6.",    \
         LG_FIELD(lg_genalpha_options, form)},                                                                         \
        {"start",                                                                                                      \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_START_PLAIN},                                                                                          \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_STARTS),                                                                                        \
         "\"optimal\" shifts a_0 and, for index 3, perturbs v_0: multipliers of order two from the first step.",       \
         LG_FIELD(lg_genalpha_options, start)},                                                                        \
        {"predictor",                                                                                                  \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_PREDICTOR_EXTRAPOLATE},                                                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_PREDICTORS),                                                                                    \
         "First guess: from the last steps, or zero accelerations and multipliers with the papers' Newton method "     \
         "throughout, whose tolerances are of one 2-norm of all rows. Printed forms use the latter.",                  \
         LG_FIELD(lg_genalpha_options, predictor)},                                                                    \
        {"newton",                                                                                                     \
         LG_OPTION_CHOICE,                                                                                             \
         {NAN, LG_NEWTON_AUTO},                                                                                        \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_NEWTONS),                                                                                       \
         "\"auto\" keeps the matrix while that is the cheaper way, by counted work; \"full\" forms one in every "      \
         "iteration; \"modified\" keeps it, by the papers' rule with the plain predictor.",                            \
         LG_FIELD(lg_genalpha_options, newton)},                                                                       \
        {"renew_after",                                                                                                \
         LG_OPTION_INTEGER,                                                                                            \
         {8, -1},                                                                                                      \
         1,                                                                                                            \
         1000,                                                                                                         \
         NULL,                                                                                                         \
         "Iterations of a step beyond which modified Newton renews its matrix, with the plain predictor.",             \
         LG_FIELD(lg_genalpha_options, renew_after)},                                                                  \
        {"tangent_terms",                                                                                              \
         LG_OPTION_CHOICE,                                                                                             \
         {0, LG_TERMS_ALL},                                                                                            \
         0,                                                                                                            \
         0,                                                                                                            \
         LG_CHOICES(LG_TANGENT_TERMS),                                                                                 \
         "\"force\" omits d(M vdot)/dq and d(B^T lambda)/dq from the matrix.",                                         \
         LG_FIELD(lg_genalpha_options, tangent_terms)},                                                                \
        {"tangent_operator",                                                                                           \
         LG_OPTION_FLAG,                                                                                               \
         {1, -1},                                                                                                      \
         0,                                                                                                            \
         1,                                                                                                            \
         NULL,                                                                                                         \
         "Whether the matrix contains T, or P^-1.",                                                                    \
         LG_FIELD(lg_genalpha_options, tangent_operator)},                                                             \
        {"scaling",                                                                                                    \
         LG_OPTION_FLAG,                                                                                               \
         {1, -1},                                                                                                      \
         0,                                                                                                            \
         1,                                                                                                            \
         NULL,                                                                                                         \
         "Whether unknowns and rows are scaled like accelerations.",                                                   \
         LG_FIELD(lg_genalpha_options, scaling)},                                                                      \
        LG_NEWTON_OPTIONS(lg_genalpha_options, 1e-8, 1e-10),                                                           \
        LG_CONTROL_OPTIONS_BY(lg_genalpha_options, LG_CONTROL_PI, 2)

/* The laws by which the next step is chosen. */
#define LG_CONTROL_LAWS(X)                                                                                             \
    X(LG_CONTROL_I, "I")                                                                                               \
    X(LG_CONTROL_PI, "PI")                                                                                             \
    X(LG_CONTROL_PREDICTIVE, "predictive")                                                                             \
    X(LG_CONTROL_PAPER, "paper")                                                                                       \
    X(LG_CONTROL_NONE, "none")
enum { LG_CONTROL_LAWS(LG_CHOICE_CONSTANT) };

#define LG_CONTROL_OPTIONS(type) LG_CONTROL_OPTIONS_BY(type, LG_CONTROL_PI, 5)
/* The same with other defaults of the law and of the largest increase. */
#define LG_CONTROL_OPTIONS_BY(type, law_default, increase_default)                                                     \
    {"rtol",                                                                                                           \
     LG_OPTION_VECTOR,                                                                                                 \
     {NAN, -1},                                                                                                        \
     0,                                                                                                                \
     INFINITY,                                                                                                         \
     NULL,                                                                                                             \
     "Relative tolerance of a step's error; giving it or atol makes the steps adaptive. 0 if only atol is given.",     \
     LG_FIELD(type, control.rtol)},                                                                                    \
        {"atol",                                                                                                       \
         LG_OPTION_VECTOR,                                                                                             \
         {NAN, -1},                                                                                                    \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "Absolute tolerance of a step's error, in the units of q and v. If only rtol is given: the same "             \
         "numbers.",                                                                                                   \
         LG_FIELD(type, control.atol)},                                                                                \
        {"first_step",                                                                                                 \
         LG_OPTION_NUMBER,                                                                                             \
         {NAN, -1},                                                                                                    \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "First step, s; h can be given instead. By default it is chosen.",                                            \
         LG_FIELD(type, control.first_step)},                                                                          \
        {"max_step",                                                                                                   \
         LG_OPTION_NUMBER,                                                                                             \
         {INFINITY, -1},                                                                                               \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "Largest step size, s.",                                                                                      \
         LG_FIELD(type, control.max_step)},                                                                            \
        {"min_step",                                                                                                   \
         LG_OPTION_NUMBER,                                                                                             \
         {0, -1},                                                                                                      \
         0,                                                                                                            \
         INFINITY,                                                                                                     \
         NULL,                                                                                                         \
         "The run fails if a step of this size (s) is still rejected; only landings take shorter steps.",              \
         LG_FIELD(type, control.min_step)},                                                                            \
        {"safety",                                                                                                     \
         LG_OPTION_NUMBER,                                                                                             \
         {0.9, -1},                                                                                                    \
         0.01,                                                                                                         \
         1,                                                                                                            \
         NULL,                                                                                                         \
         "The next step is this times the optimal size.",                                                              \
         LG_FIELD(type, control.safety)},                                                                              \
        {"max_increase",                                                                                               \
         LG_OPTION_NUMBER,                                                                                             \
         {increase_default, -1},                                                                                       \
         1,                                                                                                            \
         100,                                                                                                          \
         NULL,                                                                                                         \
         "A step is at most this many times the last one.",                                                            \
         LG_FIELD(type, control.max_increase)},                                                                        \
        {"max_decrease",                                                                                               \
         LG_OPTION_NUMBER,                                                                                             \
         {0.2, -1},                                                                                                    \
         0.001,                                                                                                        \
         0.99,                                                                                                         \
         NULL,                                                                                                         \
         "A step is at least this many times the last one; not with control \"paper\".",                               \
         LG_FIELD(type, control.max_decrease)},                                                                        \
    {                                                                                                                  \
        "control", LG_OPTION_CHOICE, {0, law_default}, 0, 0, LG_CHOICES(LG_CONTROL_LAWS),                              \
            "Law for the next step: from the last error, the last two, the last two with the sizes of their steps, "   \
            "or as in holzinger2024, App. B; none: h stays fixed and the error is only recorded.",                     \
            LG_FIELD(type, control.law)                                                                                \
    }

#endif
