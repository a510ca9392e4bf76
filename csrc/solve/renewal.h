/* When Newton's method forms a new matrix, as it decides itself (LG_RENEW_BY_COST): a matrix is kept, from step to step
   as well, while that is the cheaper way. Costs are counted in iterations, never timed; that of a new matrix follows
   from its plan. Within a step it is renewed if the iterations still expected cost more than a new one, and after the
   second renewal by every iteration; the first correction by an old matrix is judged by all that it removes, including
   errors of rows below their round-off. At the beginning of a step it is renewed if this step is expected to take at
   least as many iterations as the mean over the matrix's steps, including its factorisation (the optimal time to
   replace it). A step is expected to take as many as the last one; the second step of a matrix as many as the last
   second step. Where that does not pay, a matrix serves one step; after 16 such steps one is tried on a second step.
   If a step took more than that mean, or the matrix was replaced within it, later ones are replaced at that age, or at
   half the age so far if larger, and after at most 16 of them one step later. All that decides is in the memory. */
#ifndef LG_SOLVE_RENEWAL_H
#define LG_SOLVE_RENEWAL_H

typedef enum lg_renewal_rule {
    LG_RENEW_ALWAYS, /* every iteration forms a matrix */
    LG_RENEW_BY_COST,
    /* of "modified": by cost, but every matrix is kept, steps beyond the mean do not change the age of replacement, and
       a replacement within a step sets it whatever it was before */
    LG_RENEW_WORN,
    LG_RENEW_AS_PRINTED /* of the papers: renewal_as_printed.h */
} lg_renewal_rule;

typedef struct lg_renewal_settings {
    lg_renewal_rule rule;
    double matrix_cost; /* of a new matrix, in iterations */
    int renew_after; /* the papers' rule: iterations of a step beyond which the matrix is renewed */
    int reuses_last; /* with a new matrix always: most corrections at the end of a step that take the one before */
} lg_renewal_settings;

/* What one step hands to the next, a part of lg_newton_memory. */
typedef struct lg_renewal_memory {
    double matrix_age; /* steps that the reused matrix has served */
    double iterations; /* with the reused matrix, over all of its steps */
    double last_iterations; /* of the last step */
    double last_formed; /* iterations at the beginning of the last step that formed a matrix */
    double second_iterations; /* of the second step of the last matrix that had one */
    double sole_steps; /* steps since that second step */
    double costly_age; /* age at which matrices cost too much, and 1/16 for each one replaced before */
} lg_renewal_memory;

/* The matrices of one step. */
typedef struct lg_renewal {
    const lg_renewal_settings *settings;
    lg_renewal_memory *memory;
    int count; /* corrections so far */
    int full; /* every iteration forms a new matrix */
    int begins_new; /* otherwise: the first iteration does */
    int matrix_valid, renewed; /* there is a matrix; it was formed in this step */
    int reuses; /* corrections of this step with the present matrix */
    int formed; /* iterations at the beginning of this step that formed a matrix */
    double hidden; /* the first error if rows had no round-off, over the first error; 0: not known, or no larger */
} lg_renewal;

/* Largest expected error, relative to the bound, after a correction that ends a step without a test. */
static const double lg_safe_error = 0.25;
/* An iteration that leaves more of the error makes too little progress. */
static const double lg_slow_contraction = 0.5;

/* matrix_valid: there is one from an earlier step; full: every iteration shall form one, by whatever rule. */
lg_renewal lg_renewal_begin(const lg_renewal_settings *settings, lg_renewal_memory *memory, int matrix_valid, int full);
/* Whether the first correction takes the matrix of an earlier step, so that `hidden` counts. */
static inline int lg_renewal_begins_old(const lg_renewal *r)
{
    return r->matrix_valid && !r->begins_new && r->settings->rule == LG_RENEW_BY_COST;
}
/* Whether the next correction is expected to form a matrix, so that the residual is evaluated with it. */
static inline int lg_renewal_is_likely(const lg_renewal *r)
{
    return r->full ? r->count < r->memory->last_formed : r->count == 0 && r->begins_new;
}
/* Whether the next correction forms a matrix, given the error and the contraction of the last correction. */
int lg_renewal_is_due(lg_renewal *r, double error, double contraction);
/* Whether a matrix that is formed now may serve in later steps. */
int lg_renewal_keeps(const lg_renewal *r);
/* Notes that a matrix has been formed; that a correction has been made; that the step has been solved, after so many
   iterations, of which the last one may count in part. */
void lg_renewal_form(lg_renewal *r);
static inline void lg_renewal_correct(lg_renewal *r)
{
    r->reuses++;
    r->count++;
}
void lg_renewal_end(lg_renewal *r, double iterations);

#endif
