/* Declarations that the files of generalized-alpha share; private to them.

   With gamma' = gamma/(h beta), beta' = (1 - alpha_m)/(h^2 beta (1 - alpha_f)), kappa = (1 - alpha_f)/(1 - alpha_m),
   the unknowns of a step are w and mu, both scaled like accelerations, and the multipliers lam:

       theta = theta_0 + w/beta'     v = v_0 + gamma'/beta' (w + E)     a = a_0 + kappa (w + E)     vdot = w + E,
       P E = beta' sigma (T(theta) - I)(theta - c_n) + B(q_n)^T mu,     P = sigma I + (1 - sigma) T(theta),

   after holzinger2025 (11)-(16); mu is eta of (13) times h beta' and exists in stabilised index 2 only. */
#ifndef LG_INTEGRATOR_GENALPHA_STEP_H
#define LG_INTEGRATOR_GENALPHA_STEP_H

#include "integrator/implicit.h"

enum { LG_ALPHA_BLOCK = 6 }; /* velocities of a Lie kind */
enum { LG_ALPHA_VALUES = 4 }; /* most values from which the unknowns are extrapolated */

typedef struct lg_alpha {
    double alpha_m, alpha_f, beta, gamma, sigma, kappa;
} lg_alpha;

typedef enum lg_alpha_index { LG_INDEX_3, LG_INDEX_2, LG_INDEX_STABILIZED, LG_INDEX_COUNT } lg_alpha_index;

/* The state at which a matrix is formed: everything it depends on, so that a resumed run can form it again bit for
   bit. */
typedef struct lg_alpha_state {
    double t, t_in, h;
    double *q, *v, *a, *lam, *mem, *theta, *c, *qn; /* c_n and q_n of its step */
} lg_alpha_state;

/* The data that a step takes over from earlier steps. */
typedef struct lg_alpha_carry {
    double *a, *h; /* a_n, and the h that it belongs to; 0: no step yet */
    double *steps; /* number of earlier steps whose values are available, up to LG_ALPHA_VALUES */
    double *memory; /* an lg_newton_memory */
    double *w[LG_ALPHA_VALUES], *mu[LG_ALPHA_VALUES]; /* values to extrapolate from, the latest first */
    double *lam[LG_ALPHA_VALUES - 1]; /* the same, from lam_n-1 on */
    double *vdot; /* vdot_n-1, if errors are estimated: see lg_alpha_knows_vdot */
    double *formed_at; /* of the matrix that is kept */
} lg_alpha_carry;

/* The constants of steps of one size. */
typedef struct lg_alpha_scales {
    double h; /* 0: not computed yet */
    double beta_prime, gamma_prime;
    double to_theta, to_v, to_lie; /* of the unknowns and of the Lie group terms: exact.c */
    double vdot_share, a_share, early, late, ratio, early2, late2; /* of the first guess: genalpha.c */
} lg_alpha_scales;

typedef struct lg_genalpha_stepper lg_genalpha_stepper;
typedef struct lg_alpha_slopes lg_alpha_slopes; /* sensitivities.c */

/* How q, v, a and vdot follow from the unknowns. */
typedef struct lg_alpha_form {
    /* Completes the first guess, given theta_0, v_0, a_0 and c_n. */
    void (*predict)(lg_genalpha_stepper *g);
    /* q, v and vdot from the unknowns. */
    void (*follow)(lg_genalpha_stepper *g);
    /* unknowns -= correction: dw at fixed mu. The part added by mu_correction moves the coordinates only. */
    void (*correct)(lg_genalpha_stepper *g, const double *dw);
    /* The chains of the matrix: scales and pointers, the same in all steps of one size; the matrices at a state. */
    void (*form_chains)(lg_genalpha_stepper *g, const double k[3]);
    void (*update_chains)(lg_genalpha_stepper *g, const lg_alpha_state *formed);
    int corrects_theta; /* 1: a correction moves q by T times itself; 0: by itself */
    double half; /* printed forms: the factor in line 6, which is 1 as printed */
} lg_alpha_form;

extern const lg_alpha_form lg_exact_form, lg_printed_form, lg_printed_half_form;

struct lg_genalpha_stepper {
    lg_stepper base;
    lg_implicit implicit;
    lg_alpha alpha;
    lg_alpha_index index;
    const lg_alpha_form *form;
    int optimal_start, extrapolates, undamped, force_terms, operator, scaled, estimates, adapts;
    int without_P; /* P is the identity, or E is zero */
    int nvalues; /* from which the unknowns are extrapolated, at most; 0: they are not */

    /* the current step */
    const lg_state *start;
    lg_alpha_carry carry; /* its parts in the state at the start */
    const double *carry_base; /* where they begin */
    int anew; /* the step takes nothing over from earlier ones */
    int again; /* the step is solved for the second time, without extrapolation */
    double *fresh; /* its vdot_n and lam_n then, of the index-1 equations */
    double h, beta_prime, gamma_prime;
    lg_alpha_scales scales; /* of steps of size h */
    double noise_phi, noise_phidot; /* of constraint rows; noise_phi 0: not computed yet, as there are no rows */
    const double *v_n, *a_n; /* at the start, the latter algorithmic; where they differ from those of the state and its
                                carry, they are in now.v and now.a */
    double *theta0, *v0, *a0; /* predicted */
    double *w, *lam, *mu; /* unknowns */
    lg_alpha_state now; /* at the end of the step; now.a is vdot */
    lg_point at; /* the same for evaluations */
    lg_newton_problem problem; /* of every step */
    lg_newton_memory memory;

    /* the matrix */
    double *T, *X; /* per block, until the factorisation: T(theta), dv/dtheta over gamma' */
    double *Bn, *Z; /* B(q_n), without nonholonomic rows; d(phidot)/dq */
    double *phidot; /* of index 3 with nonholonomic rows, else NULL */
    lg_chain *chain;
    lg_tangent tangent; /* the matrix with its chains, as evaluations take it */
    double chains_h; /* the step size for which the scales and pointers of the chains have been formed; 0: none */
    int matrix_valid; /* there is a matrix, that of the state which is carried or of new_state */
    int state_changed; /* the current step has formed a new matrix */
    int state_lost; /* and has assembled another one since, where new_state stands */
    double *new_state; /* its state if it may be kept, in the form in which it is carried from the end of the step on */

    /* stabilised index 2 */
    lg_matrix mu_matrix; /* [I B(q_n)^T; B T L 0], the guest of the main matrix */
    double *TL; /* per block, until the factorisation */
    double *Btmu; /* B(q_n)^T mu */
    double *mu_correction; /* velocities, then rows, of a correction of mu */
    double *second_sweep; /* right-hand side and solution of a second sweep */
    double sweep_size; /* by how much it has changed B^T lam */

    lg_alpha_slopes *slopes; /* of runs with sensitivities, else NULL */
};

static inline double lg_beta_prime(const lg_alpha *p, double h)
{
    return 1 / (h * h * p->beta * p->kappa);
}

static inline double lg_gamma_prime(const lg_alpha *p, double h)
{
    return p->gamma / (h * p->beta);
}

/* Whether Newton's method may keep its matrix from step to step. */
static inline int lg_alpha_keeps_matrix(const lg_genalpha_stepper *g)
{
    return g->implicit.newton.renewal.rule != LG_RENEW_ALWAYS;
}

/* Whether a carry has a vdot_n-1 that counts: there was a step before, and it was one of a run that estimates its
   errors. */
static inline int lg_alpha_knows_vdot(const lg_genalpha_stepper *g, const lg_alpha_carry *carry)
{
    return g->estimates && !g->anew && *carry->h > 0 && !isnan(carry->vdot[0]);
}

/* The number of unknowns mu. */
static inline int lg_alpha_mu_count(const lg_genalpha_stepper *g)
{
    return g->index == LG_INDEX_STABILIZED ? g->base.system->pattern->nrows : 0;
}

/* ---- scales.c ---- */

/* Makes h the size of the step, with its constants. */
void lg_alpha_set_size(lg_genalpha_stepper *g, double h);

/* ---- mu.c: how mu moves the coordinates at fixed velocities ---- */

/* X = I + first A + second A^2 for A = x^ on one factor. */
void lg_alpha_polynomial(const lg_factor *f, const double *x, double first, double second, double *X);
/* The same on every factor of a block that is not linear. */
void lg_alpha_polynomials(const lg_block *b, const double *x, double first, double second, double *X);
/* Factors a matrix whose factors overwrite its values: `assemble` makes it, and makes it again for the fall-backs.
   `end` is passed on. Names the row of a singular one, and counts it and its fall-back. */
typedef lg_status lg_alpha_assemble(lg_genalpha_stepper *g, const lg_point *end);
lg_status lg_alpha_factor_in_place(lg_genalpha_stepper *g, lg_matrix *matrix, lg_alpha_assemble *assemble,
                                   const lg_point *end);
/* Forms and factors [I B(q_n)^T; B T L 0] at a state, and leaves nonholonomic rows out of accel.B. */
lg_status lg_alpha_factor_mu(lg_genalpha_stepper *g, const lg_alpha_state *formed);
/* dmu from B T L B(q_n)^T dmu = B T du - phi, into the rows of mu_correction; its velocities are -B(q_n)^T dmu. */
lg_status lg_alpha_solve_mu(lg_genalpha_stepper *g, const double *du, const double *phi, double to_acceleration);
/* The change of q (with_T) or of w that y = -B(q_n)^T dmu makes. */
void lg_alpha_move_by_mu(const lg_genalpha_stepper *g, int with_T, const double *y, double *out);

/* ---- newton.c: residual and matrix ---- */

/* The round-off of positions in a constraint row: 16 times that of the coordinates themselves. */
double lg_alpha_row_noise(const lg_genalpha_stepper *g);
/* What Newton's method solves, once the memory has been laid out. */
void lg_alpha_set_problem(lg_genalpha_stepper *g);
/* Solves the predicted step. result->matrix_valid: on entry and on return, whether there is a valid matrix. */
lg_status lg_alpha_solve(lg_genalpha_stepper *g, lg_newton_result *result);
/* B(q_n) into g->Bn, with nonholonomic rows left out. */
lg_status lg_alpha_base_rows(lg_genalpha_stepper *g, const lg_alpha_state *formed);
/* Forms and factors the kept matrix of a state again. */
lg_status lg_alpha_rebuild(lg_genalpha_stepper *g, const lg_alpha_state *formed);

/* ---- what derivatives by parameters share with steps ---- */

extern const lg_stepper_sensitivities lg_alpha_sensitivities;
/* theta_0, v_0, a_0 and c_n from v_n, a_n and vdot_n, in which they are linear. */
static LG_INLINE void lg_alpha_predict_velocities(int n, const lg_alpha_scales *s, const double *restrict v_n,
                                                  const double *restrict a_n, const double *restrict vdot_n,
                                                  double *restrict theta0, double *restrict v0, double *restrict a0,
                                                  double *restrict c)
{
    for (int i = 0; i < n; i++) {
        double v_early = v_n[i] + s->early * a_n[i], theta_early = s->h * v_n[i] + s->early2 * a_n[i];
        double a = s->vdot_share * vdot_n[i] - s->a_share * a_n[i];
        a0[i] = a;
        v0[i] = v_early + s->late * a;
        theta0[i] = theta_early + s->late2 * a;
        c[i] = theta_early - s->ratio * v_early;
    }
}
/* x := P^-1 x by Gaussian elimination with column pivoting; P is column-major and destroyed. */
void lg_alpha_solve_small(int n, double *P, double *x);
/* Adds the identity on the diagonal blocks. */
void lg_alpha_add_identity(lg_matrix *matrix, const lg_pattern *pattern);

/* ---- error.c ---- */

/* The local error of q over h^3: C_q vddot + 1/4 (1/3 - sigma beta/gamma) v^ vdot. */
void lg_alpha_local_error(const lg_genalpha_stepper *g, const double *v, const double *vdot, const double *vddot,
                          double *l);
/* The verb `error`. */
lg_status lg_alpha_error(lg_stepper *self, const lg_state *before, double h, double *error);

/* ---- start.c ---- */

/* Shifts a_n and, for index 3, v_n, which makes the multipliers of second order from the first step. */
lg_status lg_alpha_optimal_start(lg_genalpha_stepper *g);

/* ---- carry.c: the data that a step takes over from earlier steps ---- */

/* Sets the parts of a carry in the memory at `base` (NULL: measures only) and returns its length. */
int lg_alpha_carry_layout(const lg_genalpha_stepper *g, double *base, lg_alpha_carry *carry);
/* The function `adopt`. */
int lg_alpha_adopt(const lg_stepper *self, int count, const double *given, double *carry);
/* The number of doubles in the state of a matrix: a flag, then its numbers and vectors. */
int lg_alpha_state_count(const lg_system *system);
lg_alpha_state lg_alpha_state_in(const lg_system *system, double *formed);
/* Writes the present state into g->new_state; keeps: no later step will use the matrix, which has no state then. */
void lg_alpha_keep_state(lg_genalpha_stepper *g, int keeps);

#endif
