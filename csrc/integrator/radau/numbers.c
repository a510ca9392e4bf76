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

/* The real root of x^3 - trace x^2 + minors x - determinant, from above, where the cubic is convex. */
static double real_root(double trace, double minors, double determinant)
{
    double x = trace;
    for (int i = 0; i < 60; i++)
        x -= (((x - trace) * x + minors) * x - determinant) / ((3 * x - 2 * trace) * x + minors);
    return x;
}

static double trace_of(int s, const double N[S][S])
{
    double trace = 0;
    for (int i = 0; i < s; i++)
        trace += N[i][i];
    return trace;
}

static void numbers_multiply(int s, const double A[S][S], const double B[S][S], double C[S][S])
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            C[i][j] = 0;
            for (int k = 0; k < s; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
}

/* Eigenvalues of N = A^-1 from its trace, its determinant and the trace of its square. */
static void find_eigenvalues(int s, const double N[S][S], const double square[S][S], double eigenvalue[S])
{
    double trace = trace_of(s, N), minors = 0.5 * (trace * trace - trace_of(s, square)), product = minors;
    if (s == S) {
        double determinant = 0;
        for (int j = 0; j < S; j++)
            determinant += N[0][j] * (N[1][(j + 1) % S] * N[2][(j + 2) % S] - N[1][(j + 2) % S] * N[2][(j + 1) % S]);
        eigenvalue[LG_RADAU_REAL] = real_root(trace, minors, determinant);
        product = determinant / eigenvalue[LG_RADAU_REAL];
        trace -= eigenvalue[LG_RADAU_REAL];
    }
    eigenvalue[LG_RADAU_RE] = 0.5 * trace;
    eigenvalue[LG_RADAU_IM] = sqrt(product - 0.25 * trace * trace);
}

/* The projector P onto a real eigenvector has the rank one, P = (its last column) (its last row) / (their entry), and
   so has the complex E = (F - i (N F - re F)/im)/2 onto that of re + i im, with F = I - P. */
static void find_eigenbasis(lg_radau_numbers *n)
{
    int s = lg_radau_stages(n), last = s - 1;
    double square[S][S], F[S][S] = {{0}}, NF[S][S], im[S][S];
    numbers_multiply(s, n->inverse, n->inverse, square);
    find_eigenvalues(s, n->inverse, square, n->eigenvalue);
    double a = n->eigenvalue[LG_RADAU_RE], b = n->eigenvalue[LG_RADAU_IM], real = n->eigenvalue[LG_RADAU_REAL];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double P = square[i][j] - 2 * a * n->inverse[i][j] + (i == j) * (a * a + b * b);
            F[i][j] = (i == j) - (s == S ? P / ((real - 2 * a) * real + a * a + b * b) : 0);
        }
    numbers_multiply(s, n->inverse, F, NF);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++)
            im[i][j] = (a * F[i][j] - NF[i][j]) / b;
    double re_last = F[last][last], im_last = im[last][last], square_last = re_last * re_last + im_last * im_last;
    for (int i = 0; i < s; i++) {
        n->to[LG_RADAU_RE][i] = 0.5 * F[last][i];
        n->to[LG_RADAU_IM][i] = 0.5 * im[last][i];
        n->from[i][LG_RADAU_RE] = 2 * (F[i][last] * re_last + im[i][last] * im_last) / square_last;
        n->from[i][LG_RADAU_IM] = -2 * (im[i][last] * re_last - F[i][last] * im_last) / square_last;
        if (s == S) {
            n->to[LG_RADAU_REAL][i] = (i == last) - F[last][i];
            n->from[i][LG_RADAU_REAL] = ((i == last) - F[i][last]) / (1 - F[last][last]);
        }
    }
}

lg_radau_numbers lg_radau_numbers_of(const lg_tableau *tableau)
{
    lg_radau_numbers n = {.third = tableau->stages == S};
    double U[S][S] = {{0}};
    int stages = lg_radau_stages(&n);
    for (int i = 0; i < stages; i++) {
        n.c[i] = lg_ratio_value(tableau->c[i]);
        for (int j = 0; j < stages; j++)
            n.A[i][j] = lg_ratio_value(tableau->A[i * stages + j]);
    }
    factor_lower(stages, n.A, n.L, U);
    invert(stages, n.L, U, n.inverse);
    for (int i = 0; i < stages; i++)
        n.slope[i] = slope_of(stages, n.c, i);
    find_eigenbasis(&n);
    return n;
}
