/* Butcher tableaux; tests/methods/test_tableaux.py proves the order conditions of each in exact arithmetic. */
#include "integrator/tableau.h"

#include <math.h>
#include <stdio.h>

double lg_ratio_value(lg_ratio ratio)
{
    double roots = (double)ratio.root3 * sqrt(3.0) + (double)ratio.root6 * sqrt(6.0);
    return ratio.den ? ((double)ratio.num + roots) / (double)ratio.den : 0.0;
}

int lg_ratio_text(lg_ratio ratio, char *text, size_t room)
{
    if (!ratio.den)
        return snprintf(text, room, "0");
    long long root = ratio.root3 ? ratio.root3 : ratio.root6;
    if (root)
        return snprintf(text, room, "(%lld %c %lld*sqrt(%d))/%lld", ratio.num, root < 0 ? '-' : '+',
                        root < 0 ? -root : root, ratio.root3 ? 3 : 6, ratio.den);
    return ratio.den == 1 ? snprintf(text, room, "%lld", ratio.num)
                          : snprintf(text, room, "%lld/%lld", ratio.num, ratio.den);
}

/* p/q */
#define Q(p, q) {.num = p, .den = q}
/* (p + r sqrt(3))/q */
#define R(p, r, q) {.num = p, .root3 = r, .den = q}
/* (p + r sqrt(6))/q */
#define R6(p, r, q) {.num = p, .root6 = r, .den = q}
#define Z {.num = 0, .den = 1}
#define ONE {.num = 1, .den = 1}

// clang-format off

/* Euler's explicit method. */
const lg_tableau lg_tableau_euler = {
    .stages = 1, 
    .c = {Z},
    .b = {ONE},
};

/* The explicit midpoint rule, Runge (1895). */
const lg_tableau lg_tableau_midpoint = {
    .stages = 2, 
    .c = {Z, Q(1, 2)},
    .A = {{Z}, {Q(1, 2)}},
    .b = {Z, ONE},
};

/* Heun's method of order three, Heun (1900). */
const lg_tableau lg_tableau_rk33 = {
    .stages = 3, 
    .c = {Z, Q(1, 3), Q(2, 3)},
    .A = {{Z}, {Q(1, 3)}, {Z, Q(2, 3)}},
    .b = {Q(1, 4), Z, Q(3, 4)},
};

/* The classical method of order four, Kutta (1901). */
const lg_tableau lg_tableau_rk44 = {
    .stages = 4, 
    .c = {Z, Q(1, 2), Q(1, 2), ONE},
    .A = {{Z}, {Q(1, 2)}, {Z, Q(1, 2)}, {Z, Z, ONE}},
    .b = {Q(1, 6), Q(1, 3), Q(1, 3), Q(1, 6)},
};

/* Butcher's method of order six in seven stages: J. Austral. Math. Soc. 4 (1964) 179-194. */
const lg_tableau lg_tableau_rk67 = {
    .stages = 7, 
    .c = {Z, Q(1, 3), Q(2, 3), Q(1, 3), Q(1, 2), Q(1, 2), ONE},
    .A = {{Z},
          {Q(1, 3)},
          {Z, Q(2, 3)},
          {Q(1, 12), Q(1, 3), Q(-1, 12)},
          {Q(-1, 16), Q(9, 8), Q(-3, 16), Q(-3, 8)},
          {Z, Q(9, 8), Q(-3, 8), Q(-3, 4), Q(1, 2)},
          {Q(9, 44), Q(-9, 11), Q(63, 44), Q(18, 11), Z, Q(-16, 11)}},
    .b = {Q(11, 120), Z, Q(27, 40), Q(27, 40), Q(-4, 15), Q(-4, 15), Q(11, 120)},
};

/* Arnold: Half-explicit Runge-Kutta methods with explicit stages for differential-algebraic systems of index 2, BIT 38
   (1998) 415-438; tumiotto2024, Table 1. */
const lg_tableau lg_tableau_herk2 = {
    .stages = 3, 
    .c = {Z, ONE, ONE},
    .A = {{Z}, {ONE}, {Q(1, 2), Q(1, 2)}},
    .b = {Q(1, 2), Q(1, 2)},
    .d = {Q(1, 2), Q(1, 2)},
};

const lg_tableau lg_tableau_herk3 = {
    .stages = 4, 
    .c = {Z, Q(1, 2), Q(2, 3), ONE},
    .A = {{Z}, {Q(1, 2)}, {Q(2, 9), Q(4, 9)}, {Q(1, 4), Z, Q(3, 4)}},
    .b = {Q(1, 4), Z, Q(3, 4)},
    .d = {Z, Q(-2, 1), Q(3, 1)},
};

const lg_tableau lg_tableau_herk4 = {
    .stages = 6, 
    .c = {Z, ONE, Q(1, 2), ONE, ONE, R(3, -1, 6)},
    .A = {{Z},
          {ONE},
          {Q(3, 8), Q(1, 8)},
          {Q(-1, 2), Q(-1, 2), Q(2, 1)},
          {Q(1, 6), Z, Q(2, 3), Q(1, 6)},
          {R(18, -1, 108), Z, R(9, -4, 27), R(0, -7, 108), R(0, 1, 18)}},
    .b = {Q(1, 6), Z, Q(2, 3), Q(1, 6)},
    .d = {Z, Z, Z, Z, ONE},
};

/* Based on the pair of Dormand and Prince, with its embedded solution. */
const lg_tableau lg_tableau_herk5 = {
    .stages = 8, .order_hat = 4,
    .c = {Z, Q(1, 5), Q(3, 10), Q(4, 5), Q(8, 9), ONE, ONE, Q(19, 20)},
    .A = {{Z},
          {Q(1, 5)},
          {Q(3, 40), Q(9, 40)},
          {Q(44, 45), Q(-56, 15), Q(32, 9)},
          {Q(19372, 6561), Q(-25360, 2187), Q(64448, 6561), Q(-212, 729)},
          {Q(9017, 3168), Q(-355, 33), Q(46732, 5247), Q(49, 176), Q(-5103, 18656)},
          {Q(35, 384), Z, Q(500, 1113), Q(125, 192), Q(-2187, 6784), Q(11, 84)},
          {Q(-18611506045861, 19738176307200), Q(59332529, 14479296), Q(-2509441598627, 893904224850),
           Q(2763523204159, 3289696051200), Q(-41262869588913, 116235927142400), Q(46310205821, 287848404480),
           Q(-3280, 75413)}},
    .b = {Q(35, 384), Z, Q(500, 1113), Q(125, 192), Q(-2187, 6784), Q(11, 84)},
    .b_hat = {Q(5179, 57600), Z, Q(7571, 16695), Q(393, 640), Q(-92097, 339200), Q(187, 2100), Q(1, 40)},
    .d = {Z, Z, Z, Z, Z, Z, ONE},
};

/* Bogacki, Shampine: A 3(2) pair of Runge-Kutta formulas, Appl. Math. Lett. 2 (1989) 321-325. */
const lg_tableau lg_tableau_ode23 = {
    .stages = 4, .order_hat = 2,
    .c = {Z, Q(1, 2), Q(3, 4), ONE},
    .A = {{Z}, {Q(1, 2)}, {Z, Q(3, 4)}, {Q(2, 9), Q(1, 3), Q(4, 9)}},
    .b = {Q(2, 9), Q(1, 3), Q(4, 9), Z},
    .b_hat = {Q(7, 24), Q(1, 4), Q(1, 3), Q(1, 8)},
};

/* Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26. */
const lg_tableau lg_tableau_dopri5 = {
    .stages = 7, .order_hat = 4,
    .c = {Z, Q(1, 5), Q(3, 10), Q(4, 5), Q(8, 9), ONE, ONE},
    .A = {{Z},
          {Q(1, 5)},
          {Q(3, 40), Q(9, 40)},
          {Q(44, 45), Q(-56, 15), Q(32, 9)},
          {Q(19372, 6561), Q(-25360, 2187), Q(64448, 6561), Q(-212, 729)},
          {Q(9017, 3168), Q(-355, 33), Q(46732, 5247), Q(49, 176), Q(-5103, 18656)},
          {Q(35, 384), Z, Q(500, 1113), Q(125, 192), Q(-2187, 6784), Q(11, 84)}},
    .b = {Q(35, 384), Z, Q(500, 1113), Q(125, 192), Q(-2187, 6784), Q(11, 84), Z},
    .b_hat = {Q(5179, 57600), Z, Q(7571, 16695), Q(393, 640), Q(-92097, 339200), Q(187, 2100), Q(1, 40)},
};

/* Radau IIA of two and three stages, hairer1996, tables IV.5.5 and IV.5.6. The last stage is the end of the step; the
   embedded solution also has the slope at the start, see radau/radau.c. */
const lg_tableau lg_tableau_radau3 = {
    .stages = 2, .order_hat = 2,
    .c = {Q(1, 3), ONE},
    .A = {{Q(5, 12), Q(-1, 12)}, {Q(3, 4), Q(1, 4)}},
    .b = {Q(3, 4), Q(1, 4)},
};

const lg_tableau lg_tableau_radau5 = {
    .stages = 3, .order_hat = 3,
    .c = {R6(4, -1, 10), R6(4, 1, 10), ONE},
    .A = {{R6(88, -7, 360), R6(296, -169, 1800), R6(-2, 3, 225)},
          {R6(296, 169, 1800), R6(88, 7, 360), R6(-2, -3, 225)},
          {R6(16, -1, 36), R6(16, 1, 36), Q(1, 9)}},
    .b = {R6(16, -1, 36), R6(16, 1, 36), Q(1, 9)},
};
