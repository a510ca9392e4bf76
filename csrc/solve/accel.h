/* Index-1 accelerations: a and lam at a given point, from

       [ M  B^T ] [ a   ]   [ force - gyro ]
       [ B   0  ] [ lam ] = [ zeta         ]

   A system without constraints may know its accelerations itself (`accelerate`); no matrix is formed then, nor if M^-1
   of its blocks takes less work (articulated.h).

   One object per run. If the mass is constant, its pivots are kept from call to call, until some other code zeroes the
   matrix to use it for something else: see kkt.h. */
#ifndef LG_SOLVE_ACCEL_H
#define LG_SOLVE_ACCEL_H

#include "solve/articulated.h"
#include "sparse/kkt.h"
#include "system/system.h"

typedef struct lg_accel {
    const lg_system *system; /* set these before lg_accel_layout */
    const lg_plan *plan;
    const lg_plan *guest; /* plan of a guest of the matrix; NULL: none */
    lg_matrix matrix;
    lg_kkt kkt; /* works in the matrix */
    lg_articulated articulated; /* its system is NULL unless it takes the place of both */
    double *x; /* right-hand side, then solution: velocities, constraint rows */
    double *gyro; /* nv */
    double *rows; /* two values per constraint row */
    double *B;
    double *Z; /* d(phidot)/dq, for callers that lay it out; else NULL */
    double *work; /* the system's scratch; every point of the same run may use it */
    lg_wanted right_side; /* the outputs that make up the right-hand side; set once, as every stage wants them */
    struct lg_follower *follower; /* of projections, while derivatives follow them (follow.h); else NULL */
    long evaluations;
    size_t given; /* doubles of `work` that lg_accel_between has handed out */
} lg_accel;

/* `accel` is an lg_accel; the type suits lg_arena_open. */
void lg_accel_layout(void *accel, lg_arena *arena);
void lg_accel_close(lg_accel *accel);
/* `count` doubles whose contents need not outlive an evaluation: in the system's scratch as long as there is room, else
   from the arena. Not for callers that evaluate with same_q. */
double *lg_accel_between(lg_accel *accel, size_t count, lg_arena *arena);

/* a (nv) and lam (nrows) at point->t, q, v, mem; point->a and lam are not read, point->work may be NULL. On failure a
   and lam may hold anything. LG_SINGULAR: report->what names a deficient row. LG_NOT_FINITE: see cause.h. */
lg_status lg_accel_solve(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

/* The two ways to find them: a system that knows its accelerations is asked, for which point->work is needed
   (LG_SINGULAR: the other way may still succeed); or the matrix is formed and factored. */
static inline lg_status lg_accel_ask(lg_accel *accel, const lg_point *point, double *a, lg_report *report);
lg_status lg_accel_solve_by_matrix(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

/* The same where the matrix was factored last at this t and q, as at the end of lg_project_at: only v may differ. */
lg_status lg_accel_solve_factored(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

/* The same where accel->right_side has been evaluated, too, with its force in accel->x. */
lg_status lg_accel_solve_evaluated(lg_accel *accel, const lg_point *point, double *a, double *lam, lg_report *report);

/* The matrix [M B^T; B 0] at a point, factored. */
lg_status lg_accel_factor(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report);

/* The two halves of this, for constraint rows from two points: M at a point, unless it is kept, with what is wanted
   there; then B^T and B take their places (NULL: the last ones stay) and the matrix is factored. */
lg_status lg_accel_assemble(lg_accel *accel, const lg_point *point, const lg_wanted *also, lg_report *report);
lg_status lg_accel_border(lg_accel *accel, const lg_point *point, const double *columns, const double *rows,
                          lg_report *report);

/* x: right-hand side in, solution out, by the matrix that was factored last. */
lg_status lg_accel_solve_linear(lg_accel *accel, double *x);

/* Evaluates the system at a point with the scratch of `accel`; if a value is not finite the report names where. */
lg_status lg_accel_eval(lg_accel *accel, const lg_point *point, const lg_wanted *wanted, lg_report *report);

/* force -= accel->gyro; returns whether all of it is finite. */
int lg_accel_subtract_gyro(const lg_accel *accel, double *restrict force);

/* LG_NOT_FINITE, with the cause in the report, for a right-hand side x that has an entry which is not finite. */
lg_status lg_accel_not_finite(const lg_accel *accel, const lg_point *point, const double *x, lg_report *report);

/* The status, with its cause in the report, where accelerations that a system was asked for cannot be used. */
lg_status lg_accel_refuse(const lg_accel *accel, const lg_point *point, const double *a, lg_status status,
                          lg_report *report);

static inline lg_status lg_accel_ask(lg_accel *accel, const lg_point *point, double *a, lg_report *report)
{
    const lg_system *system = accel->system;
    accel->evaluations++;
    lg_status status = system->accelerate(system->self, point, a);
    if (status == LG_OK && lg_all_finite(system->space->nv, a))
        return LG_OK;
    return lg_accel_refuse(accel, point, a, status, report);
}

/* On LG_SINGULAR writes the deficient constraint row, or velocity, of a matrix into report->what; returns the
   status. */
lg_status lg_name_deficient(const lg_system *system, const lg_matrix *matrix, lg_status status, lg_report *report);

/* Factors a matrix of `system`; on LG_SINGULAR writes the deficient constraint row, or velocity, into report->what. */
lg_status lg_factor_named(const lg_system *system, lg_matrix *matrix, lg_report *report);

/* What is known of the mass matrix of a system. */
lg_mass lg_accel_mass(const lg_system *system);

#endif
