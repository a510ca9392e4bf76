/* The choice of active rows around closed loops; see choice.h. */
#include "solve/choice.h"

#include "core/small.h"

/* A part of a row that is smaller than this, relative to the largest row, counts as zero. */
static const double tolerance = 1e-7;
/* Rows are chosen again if their smallest pivot is below this fraction of that of the best choice. */
static const double worse = 0.3;

/* Pivots below this fraction of their terms are weak. The fraction is about the squared sine of the angle between a row
   and the rows before it. */
static const double bound = 0.02;
/* The round-off of such a fraction. */
static const double round_off = 1e-14;

/* Inactive rows contradict the active ones if their phi is above this part of 1 + |q|, and this many times as large as
   that of the active rows. The latter leaves room for methods that drift, the former for rows that count as dependent
   because what is independent in them is below the tolerance. */
static const double violated = 1e-6, drift = 100;

/* How many rows may be inactive. */
static int masked_rows(const lg_system *system)
{
    return system->choice->start[system->choice->nloops];
}

/* ---- when to choose again ---- */

/* If no other rows were much better than those in use, they are compared again once the weakest pivot has halved. How
   often the bound has been halved stands in mem, after the choice of the rows. */
static double *halvings(const lg_system *system, double *mem)
{
    return mem + system->choice->mem + masked_rows(system);
}

/* The weakest pivot of the last step, NaN if there was no factorisation. */
static double weakest(const lg_accel *accel)
{
    return accel->matrix.weakest < 1 ? fmax(accel->matrix.weakest, round_off) : accel->matrix.weakest;
}

/* How often the bound has to be halved to be below a fraction. */
static double halvings_below(double part)
{
    return part < bound ? floor(log2(bound / part)) + 1 : 0;
}

void lg_choice_watch(lg_accel *accel)
{
    accel->matrix.watch = accel->system->choice ? bound : 0;
    accel->matrix.weakest = NAN;
}

int lg_choice_is_due(const lg_accel *accel, double *mem)
{
    if (!accel->system->choice)
        return 0;
    double part = weakest(accel), *count = halvings(accel->system, mem), half = ldexp(bound, -(int)*count);
    if (part > 4 * half)
        *count = halvings_below(part);
    return part < half || accel->system->flags & LG_SYSTEM_TREES;
}

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* An upper bound of the number of velocities that the rows of loop i act on. */
static size_t most_columns(const lg_system *system, int i)
{
    const lg_pattern *p = system->pattern;
    size_t columns = 0, nv = (size_t)system->space->nv;
    for (int k = system->choice->start[i], last = -1; k < system->choice->start[i + 1]; k++) {
        int group = p->masked_group[k];
        for (int e = p->group_start[group]; group != last && e < p->group_start[group + 1]; e++)
            columns += (size_t)p->nv[p->group_block[e]];
        last = group;
    }
    return columns < nv ? columns : nv;
}

void lg_choice_layout(lg_choice_scratch *rows, const lg_system *system, lg_arena *arena)
{
    const lg_choice *choice = system->choice;
    size_t count = 0, size = 0;
    if (!choice)
        return;
    for (int i = 0; i < choice->nloops; i++) {
        size_t n = (size_t)(choice->start[i + 1] - choice->start[i]);
        count = larger_size(count, n);
        size = larger_size(size, n * most_columns(system, i));
    }
    rows->B = lg_arena_doubles(arena, (size_t)system->pattern->nvalues);
    rows->phi = lg_arena_doubles(arena, (size_t)system->pattern->nrows);
    rows->mem = lg_arena_doubles(arena, (size_t)system->nmem);
    rows->rows = lg_arena_doubles(arena, size);
    rows->column = lg_arena_ints(arena, (size_t)system->space->nv);
    rows->taken = lg_arena_ints(arena, count);
}

/* ---- the rows of a loop ---- */

typedef struct closed_loop {
    const lg_system *system;
    int first, n, rank; /* its first row, how many rows it has, and how many of them are active */
} closed_loop;

static closed_loop loop_of(const lg_system *system, int i)
{
    const lg_choice *choice = system->choice;
    closed_loop l = {system, choice->start[i], choice->start[i + 1] - choice->start[i], 0};
    for (int k = l.first; k < l.first + l.n; k++)
        l.rank += !choice->inactive[k];
    return l;
}

/* Numbers the velocities that the rows act on. */
static void number_columns(lg_choice_scratch *rows, const closed_loop *l)
{
    const lg_pattern *p = l->system->pattern;
    rows->columns = 0;
    for (int i = 0; i < l->system->space->nv; i++)
        rows->column[i] = -1;
    for (int i = l->first; i < l->first + l->n; i++)
        for (int e = p->group_start[p->masked_group[i]]; e < p->group_start[p->masked_group[i] + 1]; e++)
            for (int v = p->v_start[p->group_block[e]]; v < p->v_start[p->group_block[e] + 1]; v++)
                if (rows->column[v] < 0)
                    rows->column[v] = rows->columns++;
}

static double *loop_row(const lg_choice_scratch *rows, int i)
{
    return rows->rows + (size_t)i * (size_t)rows->columns;
}

/* Copies row i of the loop out of B. */
static void copy_row(const lg_choice_scratch *rows, const closed_loop *l, int i)
{
    const lg_pattern *p = l->system->pattern;
    int group = p->masked_group[l->first + i], count = p->group_row[group + 1] - p->group_row[group];
    double *out = loop_row(rows, i);
    lg_zero(rows->columns, out);
    for (int e = p->group_start[group]; e < p->group_start[group + 1]; e++) {
        const double *B = rows->B + p->group_value[e] + p->masked_row[l->first + i] - p->group_row[group];
        const int *column = rows->column + p->v_start[p->group_block[e]];
        for (int j = 0; j < p->nv[p->group_block[e]]; j++)
            out[column[j]] += B[j * count];
    }
}

/* ---- pivoting ---- */

/* The row with the largest part left among those not yet taken, and the square of that part; -1: all are taken. */
static int largest_row(const lg_choice_scratch *rows, int n, double *largest)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        const double *row = loop_row(rows, i);
        double square = rows->taken[i] ? 0 : lg_dot(rows->columns, row, row);
        if (!rows->taken[i] && (best < 0 || square > *largest))
            best = i, *largest = square;
    }
    return best;
}

/* Takes a row, and removes its direction from the rows not yet taken. */
static void take_row(lg_choice_scratch *rows, int n, int best, double square)
{
    const double *direction = loop_row(rows, best);
    rows->taken[best] = 1;
    for (int i = 0; i < n && square > 0; i++)
        if (!rows->taken[i])
            lg_axpy(rows->columns, -lg_dot(rows->columns, loop_row(rows, i), direction) / square, direction,
                    loop_row(rows, i));
}

static int is_active(const lg_choice *choice, const double *mem, int i)
{
    return choice->inactive[i] == (mem[choice->mem + i] != 0);
}

/* Takes as many rows as are active, out of all rows (mem NULL) or out of the active ones. Returns the smallest pivot;
   0: fewer are independent. */
static double pivot(lg_choice_scratch *rows, const closed_loop *l, const double *mem)
{
    const lg_choice *choice = l->system->choice;
    double square = 0, least = INFINITY, zero = 0;
    for (int i = 0; i < l->n; i++) {
        copy_row(rows, l, i);
        rows->taken[i] = mem && !is_active(choice, mem, l->first + i);
    }
    for (int count = 0; count < l->rank; count++) {
        int best = largest_row(rows, l->n, &square);
        take_row(rows, l->n, best, square);
        least = fmin(least, sqrt(square));
        zero = count ? zero : tolerance * least;
    }
    return least > zero ? least : 0;
}

/* Makes the taken rows active; returns whether the choice has changed. */
static int activate(const lg_choice_scratch *rows, const closed_loop *l, double *mem)
{
    const lg_choice *choice = l->system->choice;
    int changed = 0;
    for (int i = 0; i < l->n; i++) {
        double *other = mem + choice->mem + l->first + i, now = rows->taken[i] == choice->inactive[l->first + i];
        changed |= *other != now;
        *other = now;
    }
    return changed;
}

/* ---- the choice ---- */

/* Evaluates with all rows active. */
static lg_status evaluate_all_rows(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point,
                                   const lg_wanted *wanted, lg_report *report)
{
    const lg_system *system = accel->system;
    lg_point at = *point;
    lg_copy(system->nmem, point->mem.values, rows->mem);
    for (int i = 0; i < masked_rows(system); i++)
        rows->mem[system->choice->mem + i] = system->choice->inactive[i];
    at.mem.values = rows->mem;
    return lg_accel_eval(accel, &at, wanted, report);
}

lg_status lg_choice_renew(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point, double *mem, int *changed,
                          lg_report *report)
{
    const lg_system *system = accel->system;
    *changed = 0;
    if (!system->choice)
        return LG_OK;
    LG_TRY(evaluate_all_rows(rows, accel, point, &(lg_wanted){.B = rows->B}, report));
    for (int i = 0; i < system->choice->nloops; i++) {
        closed_loop l = loop_of(system, i);
        number_columns(rows, &l);
        double now = pivot(rows, &l, mem);
        if (now < worse * pivot(rows, &l, NULL))
            *changed |= activate(rows, &l, mem);
    }
    *halvings(system, mem) = *changed ? 0 : halvings_below(weakest(accel));
    return LG_OK;
}

/* ---- rows that the active ones do not imply ---- */

/* The inactive row with the largest phi, -1 if all are active; writes that phi, and zeros in the inactive rows. */
static int most_violated(const lg_system *system, const double *mem, double *phi, double *largest)
{
    int worst = -1;
    *largest = 0;
    for (int i = 0; i < masked_rows(system); i++) {
        int row = system->pattern->masked_row[i];
        if (is_active(system->choice, mem, i))
            continue;
        if (fabs(phi[row]) > *largest)
            worst = row, *largest = fabs(phi[row]);
        phi[row] = 0;
    }
    return worst;
}

lg_status lg_choice_check(lg_choice_scratch *rows, lg_accel *accel, const lg_point *point, lg_report *report)
{
    const lg_system *system = accel->system;
    double largest;
    if (!system->choice)
        return LG_OK;
    LG_TRY(evaluate_all_rows(rows, accel, point, &(lg_wanted){.phi = rows->phi}, report));
    int row = most_violated(system, point->mem.values, rows->phi, &largest);
    if (largest <= violated * (1 + lg_max_abs(system->space->nq, point->q)) ||
        largest <= drift * lg_max_abs(system->pattern->nrows, rows->phi))
        return LG_OK;
    lg_report_name(report, system->row_name(system->self, row));
    return LG_CONTRADICTORY;
}
