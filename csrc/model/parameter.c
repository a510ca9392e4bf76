/* Whether the values of a parameter are what its row declares. */
#include "model/parameter.h"

#include "model/triad.h"

enum { LARGEST = 6 }; /* matrix that is checked for its eigenvalues */

static const struct {
    const char *name, *one, *several;
} validities[] = {
#define LG_VALIDITY(constant, name, one, several) {name, one, several},
    LG_VALIDITIES(LG_VALIDITY)
#undef LG_VALIDITY
};

const char *lg_validity_name(lg_validity valid)
{
    return validities[valid].name;
}

const char *lg_parameter_axes_name(lg_parameter_axes axes)
{
    static const char *const names[LG_PARAMETER_AXES] = {"inertial", "first", "second"};
    return names[axes];
}

const char *lg_default_name(lg_default initially)
{
    static const char *const names[LG_DEFAULTS] = {"required", "zero", "distance", "separation", "axes"};
    return names[initially];
}

static double least(int n, const double *x)
{
    double found = INFINITY;
    for (int i = 0; i < n; i++)
        found = fmin(found, x[i]);
    return found;
}

static int symmetric(int n, const double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (A[n * i + j] != A[n * j + i])
                return 0;
    return 1;
}

/* Whether A + eps I has a Cholesky factor, where eps is the round-off of the eigenvalues of A. */
static int semidefinite(int n, const double *A)
{
    double L[LARGEST * LARGEST], largest = 0;
    for (int i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(A[i]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[n * i + j] + (i == j) * 1e-12 * largest;
            for (int k = 0; k < j; k++)
                sum -= L[n * i + k] * L[n * j + k];
            if (i == j && sum < 0)
                return 0;
            L[n * i + j] = i == j ? sqrt(sum) : L[n * j + j] > 0 ? sum / L[n * j + j] : 0;
        }
    return 1;
}

static int is_rotation(const double *R)
{
    double e[3][3], normal[3];
    for (int i = 0; i < 3; i++)
        lg_triad_axis(R, i, e[i]);
    lg_cross(e[0], e[1], normal);
    return lg_triad_orthonormal(R) && lg_dot3(normal, e[2]) > 0;
}

/* Whether `x` is the number of one of the choices "a|b|c". */
static int is_choice(const char *choices, double x)
{
    int count = 1;
    for (const char *c = choices; *c; c++)
        count += *c == '|';
    return x >= 0 && x < count && x == floor(x);
}

static int valid(const lg_parameter *p, int n, const double *x)
{
    switch (p->valid) {
    case LG_ANY:
        return 1;
    case LG_POSITIVE:
        return least(n, x) > 0;
    case LG_NONNEGATIVE:
        return least(n, x) >= 0;
    case LG_UNIT_VECTOR:
        return fabs(lg_norm3(x) - 1) < 1e-9;
    case LG_ROTATION:
        return is_rotation(x);
    case LG_SYMMETRIC:
        return symmetric(p->rows, x);
    case LG_SEMIDEFINITE:
        return symmetric(p->rows, x) && semidefinite(p->rows, x);
    case LG_CHOICE:
        return is_choice(p->choices, *x);
    }
    return 0;
}

const char *lg_parameter_expected(const lg_parameter *p, int count, const double *values)
{
    lg_validity expected = p->valid;
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]))
            expected = LG_ANY;
    if (expected == p->valid && valid(p, count, values))
        return NULL;
    return count == 1 ? validities[expected].one : validities[expected].several;
}
