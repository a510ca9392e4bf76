/* The numbers of a step that follow from its tableau. */
#include "integrator/radau/step.h"

enum { S = LG_RADAU_STAGES };

/* A = L U with ones on the diagonal of U, column by column. */
static void factor_lower(int s, const double A[S][S], double L[S][S], double U[S][S])
{
    for (int j = 0; j < s; j++) {
        U[j][j] = 1;
        for (int i = 0; i < s; i++) {
            double sum = A[i][j];
            for (int k = 0; k < i && k < j; k++)
                sum -= L[i][k] * U[k][j];
            if (i >= j)
                L[i][j] = sum;
            else
                U[i][j] = sum / L[i][i];
        }
    }
}

/* The columns of A^-1 from its factors. */
static void invert(int s, const double L[S][S], const double U[S][S], double inverse[S][S])
{
    for (int j = 0; j < s; j++) {
        double x[S];
        for (int i = 0; i < s; i++) {
            x[i] = i == j;
            for (int k = 0; k < i; k++)
                x[i] -= L[i][k] * x[k];
            x[i] /= L[i][i];
        }
        for (int i = s; i-- > 0;) {
            for (int k = i + 1; k < s; k++)
                x[i] -= U[i][k] * x[k];
            inverse[i][j] = x[i];
        }
    }
}

/* The slope at 0 of the polynomial that is 1 at c_i and 0 at 0 and at the other c. */
static double slope_of(int s, const double c[S], int i)
{
    double slope = 1 / c[i];
    for (int j = 0; j < s; j++)
        if (j != i)
            slope *= c[j] / (c[j] - c[i]);
    return slope;
}

lg_radau_numbers lg_radau_numbers_of(const lg_tableau *tableau)
{
    lg_radau_numbers n = {.third = tableau->stages == S};
    double U[S][S] = {{0}};
    int stages = lg_radau_stages(&n);
    for (int i = 0; i < stages; i++) {
        n.c[i] = lg_ratio_value(tableau->c[i]);
        for (int j = 0; j < stages; j++)
            n.A[i][j] = lg_ratio_value(tableau->A[i][j]);
    }
    factor_lower(stages, n.A, n.L, U);
    invert(stages, n.L, U, n.inverse);
    for (int i = 0; i < stages; i++)
        n.slope[i] = slope_of(stages, n.c, i);
    return n;
}
