/* The edge of a Cosserat rod between two nodes: a joint with compliance (tumiotto2024, Sect. 4). Its first two or three
   strains may be constrained, which gives rows; the others give stress.

   With the sections' poses g_a, g_b in SE(3), their twists v_a, v_b in section axes, linear before angular, the length
   ds, T^-1 as in semidirect.h and T_+ = T^-1(xi), T_- = T^-1(-xi):

       strain    w  = xi/ds,   xi = log(g_a^-1 g_b), continued from no strain: rod_turn.c
       its rate  w' = xi'/ds,  xi' = T_+ v_b - T_- v_a = Y y
       stress    s  = C (w - w0(t)) + 2 C_d w',  0 where the strain is constrained
       potential V  = ds/2 (w - w0)^T C (w - w0), constrained strains left out
       rows      phi_k = xi_k - ds w0_k(t)
       wrenches  T_-^T s on a,  -T_+^T s on b

   Order of strains: shear along d1 and d2, stretch along d3 (1 where the length is ds), bending about d1 and d2,
   torsion about d3. The damping acts on the rate of the strain itself, not on that of w - w0(t).

   Only relative motion matters: y = (u, omega_a, omega_b), u = R_a^T (x_b' - x_a') and the angular velocities in
   section axes. T_+ = [A, C; 0, A] and T_- = [A^T, C^T; 0, A^T], so that Y = [A^T, -C^T, C; 0, -A^T, A]. Rows, their
   rates, wrenches and tangents are formed for these nine motions; Y^T s holds the force on b in the axes of a, whose
   opposite acts on a, and both moments. The residual J^T lam - force has those of s + lam. */
#include "model/joint/rod_strain.h"

#include "group/rotation.h"

/* ---- the strain ---- */

/* Whether a rotation is the identity. */
static inline int is_identity(const double R[9])
{
    return R[1] == 0 && R[2] == 0 && R[5] == 0 && R[0] > 0 && R[4] > 0;
}

/* The directors of a section: its own, or the axes of its body. */
static inline void open_section(const lg_element *e, const lg_pose *f, int end, lg_strained *k)
{
    const double *axes = e->p + AXES + 9 * end;
    k->axes[end] = is_identity(axes) ? NULL : axes;
    k->d[end] = k->axes[end] ? k->room[end] : f->R;
    if (k->axes[end])
        lg_mul33(f->R, axes, k->room[end]);
}

/* With h = Omega^ and u = U^, A = I + h/2 + c h^2, and C = u/2 + c (h u + u h) + (Omega.U) d h^2 is its derivative
   along U; h^2 = Omega Omega^T - |Omega|^2 I and h u + u h = Omega U^T + U Omega^T - 2 (Omega.U) I. Hence C = u/2 +
   Omega b^T + b Omega^T - 2 (Omega.b) I for b = c U + (Omega.U) d/2 Omega. */
static inline void open_operator(lg_strained *k)
{
    const double *U = k->r->xi, *O = k->r->xi + 3;
    double *A = k->A, *C = k->C, c = k->r->x.c, x = O[0], y = O[1], z = O[2], u = U[0], v = U[1], w = U[2];
    double cx = c * x, cy = c * y, cz = c * z, xx = cx * x, yy = cy * y, zz = cz * z;
    double xy = cx * y, xz = cx * z, yz = cy * z;
    A[0] = 1 - (yy + zz), A[1] = xy - 0.5 * z, A[2] = xz + 0.5 * y;
    A[3] = xy + 0.5 * z, A[4] = 1 - (xx + zz), A[5] = yz - 0.5 * x;
    A[6] = xz - 0.5 * y, A[7] = yz + 0.5 * x, A[8] = 1 - (xx + yy);

    double d = 0.5 * k->r->x.d * (x * u + y * v + z * w), p = c * u + d * x, q = c * v + d * y, r = c * w + d * z;
    xx = 2 * (x * p), yy = 2 * (y * q), zz = 2 * (z * r);
    xy = x * q + p * y, xz = x * r + p * z, yz = y * r + q * z;
    C[0] = -(yy + zz), C[1] = xy - 0.5 * w, C[2] = xz + 0.5 * v;
    C[3] = xy + 0.5 * w, C[4] = -(xx + zz), C[5] = yz - 0.5 * u;
    C[6] = xz - 0.5 * v, C[7] = yz + 0.5 * u, C[8] = -(xx + yy);
}

static inline void open_relation(const lg_element *e, const lg_strained *k, const lg_pose *const f[2],
                                 const double *mem, lg_relation *r)
{
    double d[3] = {f[1]->x[0] - f[0]->x[0], f[1]->x[1] - f[0]->x[1], f[1]->x[2] - f[0]->x[2]}, local[3], p[4];
    lg_mulT3(k->d[0], d, local);
    if (!lg_edge_turn_continues(k->d, mem, p)) {
        double reference[3];
        lg_edge_reference_turn(e, k, reference);
        lg_edge_turn_choose(reference, p);
    }
    lg_s3_log(p, r->xi + 3);
    r->x = lg_cotangent_of(lg_dot3(r->xi + 3, r->xi + 3));
    lg_se3_log_at(&r->x, local, r->xi);
}

static inline lg_status open_reference(const lg_element *e, const lg_point *at, lg_strained *k)
{
    k->w0 = e->p[SOURCE] == LG_SOURCE_CONSTANT ? e->p + DATA : k->changing;
    if (k->w0 != k->changing)
        return LG_OK;
    if (lg_edge_drives_rows(e))
        return e->function.call(e->function.self, at->t, 18, k->changing);
    return lg_source_value(e, SOURCE, 6, at, k->changing);
}

static inline lg_status open_sections(const lg_element *e, const lg_pose *const f[2], const lg_point *at,
                                      lg_strained *k)
{
    for (int end = 0; end < 2; end++)
        open_section(e, f[end], end, k);
    return open_reference(e, at, k);
}

lg_status lg_edge_open_sections(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_strained *k)
{
    return open_sections(e, f, at, k);
}

lg_status lg_edge_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at, lg_relation *r, int known,
                       lg_strained *k)
{
    LG_TRY(open_sections(e, f, at, k));
    if (!known)
        open_relation(e, k, f, at->mem ? at->mem + e->mem : NULL, r);
    k->r = r;
    open_operator(k);
    return LG_OK;
}

void lg_edge_reference_turn(const lg_element *e, const lg_strained *k, double omega[3])
{
    for (int i = 0; i < 3; i++)
        omega[i] = e->p[LENGTH] * k->w0[3 + i];
}

/* ---- its rate ---- */

/* c = A^T b, or b where A is NULL */
static void into_section(const double *A, const double b[3], double c[3])
{
    if (A)
        lg_mulT3(A, b, c);
    else
        lg_copy(3, b, c);
}

void lg_edge_relative(const lg_strained *k, const double *const x[2], const double *const omega[2], double y[9])
{
    double apart[3] = {x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]};
    lg_mulT3(k->d[0], apart, y);
    into_section(k->axes[0], omega[0], y + 3);
    into_section(k->axes[1], omega[1], y + 6);
}

void lg_edge_open_motion(const lg_pose *const f[2], lg_strained *k)
{
    const double *xdot[2] = {f[0]->xdot, f[1]->xdot}, *omega[2] = {f[0]->omega, f[1]->omega};
    lg_edge_relative(k, xdot, omega, k->y);
}

void lg_edge_linear_rate(const lg_strained *k, const double y[9], double rate[3])
{
    const double *A = k->A, *C = k->C;
    for (int i = 0; i < 3; i++)
        rate[i] = A[i] * y[0] + A[3 + i] * y[1] + A[6 + i] * y[2] - (C[i] * y[3] + C[3 + i] * y[4] + C[6 + i] * y[5]) +
                  lg_dot3(C + 3 * i, y + 6);
}

void lg_edge_open_rate(lg_strained *k)
{
    const double *A = k->A, *y = k->y;
    lg_edge_linear_rate(k, y, k->xidot);
    for (int i = 0; i < 3; i++)
        k->xidot[3 + i] = lg_dot3(A + 3 * i, y + 6) - (A[i] * y[3] + A[3 + i] * y[4] + A[6 + i] * y[5]);
}

void lg_edge_turn_rate(const lg_strained *k, double rate[3])
{
    double inertial[3], of_a[3];
    lg_mul3(k->d[0], k->y + 3, inertial);
    lg_mulT3(k->d[1], inertial, of_a);
    for (int i = 0; i < 3; i++)
        rate[i] = k->y[6 + i] - of_a[i];
}

/* ---- stress and wrenches ---- */

void lg_edge_strain_difference(const lg_element *e, const lg_strained *k, double difference[6])
{
    double per_length = 1 / e->p[LENGTH];
    for (int i = 0; i < 6; i++)
        difference[i] = k->r->xi[i] * per_length - k->w0[i];
    lg_zero(e->info->nrows, difference);
}

void lg_edge_set_stress(const lg_element *e, const lg_strained *k, int damped, double s[6])
{
    double difference[6], rate = 2 / e->p[LENGTH];
    lg_edge_strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    for (int i = 0; damped && i < 6; i++)
        s[i] += rate * e->p[DAMPING + i] * k->xidot[i];
    for (int i = 0; i < e->info->nrows; i++)
        s[i] = 0;
}

void lg_edge_forces(const lg_strained *k, const double s[6], double out[9])
{
    const double *A = k->A, *C = k->C, a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5];
    for (int i = 0; i < 3; i++) {
        const double *Ai = A + 3 * i, *Ci = C + 3 * i;
        double force = Ai[0] * a + Ai[1] * b + Ai[2] * c;
        double moment = Ci[0] * a + Ci[1] * b + Ci[2] * c + (Ai[0] * d + Ai[1] * e + Ai[2] * f);
        out[i] = force, out[3 + i] = -moment;
    }
    for (int i = 0; i < 3; i++)
        out[6 + i] = C[i] * a + C[3 + i] * b + C[6 + i] * c + (A[i] * d + A[3 + i] * e + A[6 + i] * f);
}

void lg_edge_on_frames(const lg_strained *k, const double nine[9], double w[2][6])
{
    lg_mul3(k->d[0], nine, w[1]);
    for (int i = 0; i < 3; i++)
        w[0][i] = -w[1][i];
    lg_out_of_section(k->axes[0], nine + 3, w[0] + 3);
    lg_out_of_section(k->axes[1], nine + 6, w[1] + 3);
}

/* ---- derivatives ---- */

void lg_edge_columns(const lg_strained *k, double Y[9][6])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            Y[j][i] = k->A[3 * j + i], Y[j][3 + i] = 0;
            Y[3 + j][i] = -k->C[3 * j + i], Y[3 + j][3 + i] = -k->A[3 * j + i];
            Y[6 + j][i] = k->C[3 * i + j], Y[6 + j][3 + i] = k->A[3 * i + j];
        }
}

/* The columns of d(Y y) by the nine motions of the poses at constant twists: H = d(Y y)/dxi times Y, and u in the axes
   of a, which changes by u x dphi_a. Y y = T_+ (0, omega_b) - T_- (-u, omega_a). */
void lg_edge_rate_columns(const lg_strained *k, const double Y[9][6], double Q[9][6])
{
    const double back[6] = {-k->r->xi[0], -k->r->xi[1], -k->r->xi[2], -k->r->xi[3], -k->r->xi[4], -k->r->xi[5]},
                 *u = k->y;
    const double v_a[6] = {-u[0], -u[1], -u[2], k->y[3], k->y[4], k->y[5]},
                 v_b[6] = {0, 0, 0, k->y[6], k->y[7], k->y[8]};
    double H[36], from_a[36], hat[9];
    lg_se3_tangent_solve_d(k->r->xi, &k->r->x, v_b, H);
    lg_se3_tangent_solve_d(back, &k->r->x, v_a, from_a); // d(-T_- v_a)/dxi
    lg_axpy(36, 1, from_a, H);
    for (int p = 0; p < 9; p++) {
        lg_zero(6, Q[p]);
        for (int i = 0; i < 6; i++)
            lg_axpy(6, Y[p][i], H + 6 * i, Q[p]);
    }
    lg_hat3(u, hat);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < 3; i++)
            lg_axpy(6, hat[3 * i + p], Y[i], Q[3 + p]);
}
