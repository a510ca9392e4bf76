/* The parameters of an element as its row declares them: unit, shape, valid values, axes and default. Builders,
   records, docs and tests read the declaration, and every value is checked by it. */
#ifndef LG_MODEL_PARAMETER_H
#define LG_MODEL_PARAMETER_H

/* Which values are valid: a constant, its name, and what a message says is expected of one value and of several. */
#define LG_VALIDITIES(X)                                                                                               \
    X(LG_ANY, "any", "a finite number", "finite numbers")                                                              \
    X(LG_POSITIVE, "positive", "a positive number", "numbers > 0")                                                     \
    X(LG_NONNEGATIVE, "nonnegative", "a number >= 0", "numbers >= 0")                                                  \
    X(LG_UNIT_VECTOR, "unit vector", "a unit vector", "a unit vector")                                                 \
    X(LG_ROTATION, "rotation", "a rotation matrix", "a rotation matrix, with orthonormal axes as columns")             \
    X(LG_SYMMETRIC, "symmetric", "a symmetric matrix", "a symmetric matrix")                                           \
    X(LG_SEMIDEFINITE, "semidefinite", "a number >= 0", "a symmetric matrix without negative eigenvalues")             \
    X(LG_CHOICE, "choice", "the number of a choice, from 0 on", "numbers of choices")

typedef enum lg_validity {
#define LG_VALIDITY(constant, name, one, several) constant,
    LG_VALIDITIES(LG_VALIDITY)
#undef LG_VALIDITY
} lg_validity;

/* The axes in which vectors and matrices are given; those of a body are the ones of its node. */
typedef enum lg_parameter_axes { LG_INERTIAL_AXES, LG_FIRST_AXES, LG_SECOND_AXES, LG_PARAMETER_AXES } lg_parameter_axes;

/* What a builder enters for a parameter that its caller leaves out: zero; or what has no effect at the start, which is
   the distance of the two points, their separation x_b - x_a, or axes that coincide. */
typedef enum lg_default {
    LG_REQUIRED,
    LG_ZERO,
    LG_START_DISTANCE,
    LG_START_SEPARATION,
    LG_START_AXES,
    LG_DEFAULTS
} lg_default;

typedef struct lg_parameter {
    const char *name, *unit, *doc;
    int rows, columns; /* its shape, row-major: LG_SCALAR, ... */
    lg_validity valid;
    lg_parameter_axes axes;
    lg_default initially;
    int quadratic; /* all terms of the element are polynomials of the second degree in it, or of a lower one */
    int linear; /* all terms of the element are proportional to the values of all parameters with this number, if these
                   alone change; 0: they are not */
    int of_shape; /* a length of a shape, much larger than the depths that change with it */
    const char *choices; /* of LG_CHOICE: "inertial|body"; the value is the number of one of them, from 0 on */
} lg_parameter;

#define LG_SCALAR .rows = 1, .columns = 1
#define LG_VECTOR(n) .rows = (n), .columns = 1
#define LG_MATRIX(n, m) .rows = (n), .columns = (m)
#define LG_REST .rows = -1, .columns = 1 /* all remaining values, in any number */

/* A triad on one of two bodies, and both. */
#define LG_TRIAD(name, of, doc)                                                                                        \
    {name, "", doc, LG_MATRIX(3, 3), .valid = LG_ROTATION, .axes = (of), .initially = LG_START_AXES}
#define LG_TRIADS                                                                                                      \
    LG_TRIAD("axes_a", LG_FIRST_AXES, "triad on the first body; columns e1 e2 e3"),                                    \
        LG_TRIAD("axes_b", LG_SECOND_AXES, "triad on the second body; columns e1 e2 e3")

/* Number of its values; -1: all that remain. */
static inline int lg_parameter_count(const lg_parameter *p)
{
    return p->rows * p->columns;
}

const char *lg_validity_name(lg_validity valid);
const char *lg_parameter_axes_name(lg_parameter_axes axes); /* "first" */
const char *lg_default_name(lg_default initially); /* "distance" */

/* NULL if the values are finite and valid, else what would be: "a positive number". */
const char *lg_parameter_expected(const lg_parameter *p, int count, const double *values);

#endif
