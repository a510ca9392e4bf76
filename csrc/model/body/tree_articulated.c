/* Articulated bodies (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 7), all about the fixed point o in
   inertial axes, so that nothing is turned or moved from link to link. With I_i the inertia of link i,

       I_i += sum over children c of I_c - U_c U_c^T / D_c,   U_i = I_i S_i,   D_i = S_i . U_i

   M q'' = x is then solved in two passes, f_i being the wrenches on the joints of the subtree and A_i the link's
   acceleration: from the leaves u_i = x_i - S_i . f_i, f_p += f_i + U_i u_i / D_i, and from the ground
   q_i'' = (u_i - U_i . A_p) / D_i, A_i = A_p + S_i q_i''.

   D_i is a pivot of M in the order of the links from the leaves to the ground. It vanishes where M is singular: where
   the subtree has no inertia about the axis, or where the joints further out leave none. */
#include "model/body/tree_articulated.h"

#include "model/body/tree_inertia.h"

/* Of the inertia of the subtree about the axis, the part that counts as round-off. */
#define ROUND_OFF (256 * DBL_EPSILON)

/* The 6 x 6 matrix of a body's mass, mass times COM and inertia. */
static void set_matrix(const lg_tree_sum *body, double I[36])
{
    const double *h = body->h;
    const double cross[9] = {0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            I[6 * i + j] = i == j ? body->mass : 0;
            I[6 * i + 3 + j] = -cross[3 * i + j];
            I[6 * (3 + i) + j] = cross[3 * i + j];
            I[6 * (3 + i) + 3 + j] = body->J[3 * i + j];
        }
}

/* S . I S */
static double inertia_about(const double S[6], const lg_tree_sum *sum)
{
    const double *u = S, *r = S + 3;
    double rh[3], Jr[3];
    lg_cross(r, sum->h, rh);
    lg_mul3(sum->J, r, Jr);
    return sum->mass * lg_dot3(u, u) + 2 * lg_dot3(u, rh) + lg_dot3(r, Jr);
}

/* U = I S; the columns of I are its rows. */
static LG_INLINE void set_column(const double S[6], const double I[restrict 36], double U[restrict 6])
{
    lg_zero(6, U);
    for (int i = 0; i < 6; i++)
        lg_axpy(6, S[i], I + 6 * i, U);
}

/* parent += I - U W^T */
static LG_INLINE void add_to_parent(const double U[6], const double W[6], const double I[restrict 36],
                                    double parent[restrict 36])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            parent[6 * i + j] += I[6 * i + j] - U[i] * W[j];
}

lg_status lg_tree_factor_inertias(const lg_body *b, lg_tree_state *state, lg_tree_factor *factor, int *deficient)
{
    int n = lg_tree_size(b);
    for (int i = 0; i < n; i++) {
        lg_tree_set_sum(lg_tree_links(b)[i].mass, &state[i]);
        set_matrix(&state[i].sum, factor[i].inertia);
        lg_copy(6, state[i].S, factor[i].S);
    }
    for (int i = n - 1; i >= 0; i--) {
        lg_tree_factor *s = &factor[i];
        int p = lg_tree_parent(b, i);
        double U[6], D;
        set_column(s->S, s->inertia, U);
        D = lg_dot6(s->S, U);
        *deficient = i;
        if (!(D > ROUND_OFF * inertia_about(s->S, &state[i].sum)))
            return isfinite(D) ? LG_SINGULAR : LG_NOT_FINITE;
        s->inverse = 1 / D;
        for (int k = 0; k < 6; k++)
            s->W[k] = U[k] / D;
        if (p < 0)
            continue;
        add_to_parent(U, s->W, s->inertia, factor[p].inertia);
        lg_axpy(13, 1, &state[i].sum.mass, &state[p].sum.mass);
    }
    return LG_OK;
}

void lg_tree_solve(const lg_body *b, lg_tree_factor *factor, double *x)
{
    int n = lg_tree_size(b);
    for (int i = n - 1; i >= 0; i--) {
        const lg_tree_factor *s = &factor[i];
        int p = lg_tree_parent(b, i);
        x[i] -= lg_dot6(s->S, s->f);
        if (p < 0)
            continue;
        for (int k = 0; k < 6; k++)
            factor[p].f[k] += s->f[k] + s->W[k] * x[i];
    }
    for (int i = 0; i < n; i++) {
        lg_tree_factor *s = &factor[i];
        int p = lg_tree_parent(b, i);
        const double *A = p < 0 ? lg_tree_ground.A : factor[p].f;
        x[i] = x[i] * s->inverse - lg_dot6(s->W, A);
        for (int k = 0; k < 6; k++)
            s->f[k] = A[k] + s->S[k] * x[i];
    }
}

/* ---- functions of the row ---- */

static int factor_size(const lg_body *b)
{
    return lg_tree_size(b) * (int)LG_TREE_FACTOR_SIZE;
}

static lg_status factor_mass(const lg_body *b, const lg_point *at, double *out, int *deficient)
{
    lg_tree_state *state = lg_tree_states(b, at);
    lg_tree_set_inertias(b, state);
    return lg_tree_factor_inertias(b, state, (lg_tree_factor *)(void *)out, deficient);
}

static void solve_mass(const lg_body *b, double *with, int n, int ld, double *x)
{
    lg_tree_factor *factors = (lg_tree_factor *)(void *)with;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < lg_tree_size(b); i++)
            lg_zero(6, factors[i].f);
        lg_tree_solve(b, factors, x + (size_t)j * (size_t)ld);
    }
}

const lg_body_mass lg_tree_mass = {.size = factor_size, .factor = factor_mass, .solve = solve_mass};
