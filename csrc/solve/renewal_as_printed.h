/* The papers' rule for new matrices: a matrix is kept until an iteration, from the third of a step on, leaves more than
   half of the error, or a step has taken more than `renew_after` of them (holzinger2024, 3.4; holzinger2025, 7; their
   program says from which iteration on). */
#ifndef LG_SOLVE_RENEWAL_AS_PRINTED_H
#define LG_SOLVE_RENEWAL_AS_PRINTED_H

/* Whether a matrix that has served for `reuses` of the `count` corrections of a step is too slow. The first ones may
   leave a larger residual although they make progress, as the rows differ in size. */
static inline int lg_renewal_is_slow_as_printed(int count, int reuses, int renew_after, double contraction)
{
    int slows = count >= 3 && contraction > 0.5;
    return reuses > 0 && (slows || count > renew_after);
}

#endif
