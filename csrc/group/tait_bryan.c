/* Tait-Bryan angles e = (a, b, c) as coordinates: R = Rx(a) Ry(b) Rz(c), v = q'. They follow a position, or stand alone
   for a body that turns about a fixed point (holzinger2024, Sect. 2.1).

   omega = H e' with the columns of H, in the axes of the node:
       h1 = (cb cc, -cb sc, sb)      h2 = (sc, cc, 0)      h3 = (0, 0, 1),
   det H = cb: singular at b = +-90 degrees. h1 depends on b and c, h2 on c, so that
       omega' = H e'' + bias,  bias = (h1_b b' + h1_c c') a' + h2_c c' b'. */
#include "group/linear.h"

typedef struct trig {
    double sa, ca, sb, cb, sc, cc;
} trig;

static trig trig_of(const double e[3])
{
    return (trig){sin(e[0]), cos(e[0]), sin(e[1]), cos(e[1]), sin(e[2]), cos(e[2])};
}

static void set3(double x, double y, double z, double out[3])
{
    out[0] = x, out[1] = y, out[2] = z;
}

static void angles_rotation(const double *e, double R[9])
{
    trig t = trig_of(e);
    set3(t.cb * t.cc, -t.cb * t.sc, t.sb, R);
    set3(t.ca * t.sc + t.sa * t.sb * t.cc, t.ca * t.cc - t.sa * t.sb * t.sc, -t.sa * t.cb, R + 3);
    set3(t.sa * t.sc - t.ca * t.sb * t.cc, t.sa * t.cc + t.ca * t.sb * t.sc, t.ca * t.cb, R + 6);
}

/* The columns of H that are not constant, and their derivatives by the second angle (_b) and the third (_c). */
typedef struct columns {
    double h1[3], h2[3];
    double h1_b[3], h1_c[3], h2_c[3];
    double h1_bb[3], h1_bc[3], h1_cc[3], h2_cc[3];
} columns;

static columns columns_of(const double e[3])
{
    trig t = trig_of(e);
    return (columns){
        .h1 = {t.cb * t.cc, -t.cb * t.sc, t.sb},
        .h2 = {t.sc, t.cc, 0},
        .h1_b = {-t.sb * t.cc, t.sb * t.sc, t.cb},
        .h1_c = {-t.cb * t.sc, -t.cb * t.cc, 0},
        .h2_c = {t.cc, -t.sc, 0},
        .h1_bb = {-t.cb * t.cc, t.cb * t.sc, -t.sb},
        .h1_bc = {t.sb * t.sc, t.sb * t.cc, 0},
        .h1_cc = {-t.cb * t.cc, t.cb * t.sc, 0},
        .h2_cc = {-t.sc, -t.cc, 0},
    };
}

/* out = r x + s y */
static void combine3(double r, const double x[3], double s, const double y[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = r * x[i] + s * y[i];
}

static void attitude(const double *e, const double *edot, const double *edd, lg_attitude *out)
{
    columns h = columns_of(e);
    double a = edot[0], b = edot[1], c = edot[2], h1dot[3], h2dot[3], turned[3];
    combine3(b, h.h1_b, c, h.h1_c, h1dot);
    combine3(c, h.h2_c, 0, h.h2_c, h2dot);

    // omega and bias
    lg_copy(3, h.h1, out->H);
    lg_copy(3, h.h2, out->H + 3);
    set3(0, 0, 1, out->H + 6);
    lg_zero(3, out->Z);
    combine3(a, h.h1_b, 0, h.h1_b, out->Z + 3);
    combine3(a, h.h1_c, b, h.h2_c, out->Z + 6);
    combine3(a, h1dot, b, h2dot, out->bias);

    // d bias / d e'
    lg_copy(3, h1dot, out->Av);
    combine3(a, h.h1_b, 1, h2dot, out->Av + 3);
    combine3(a, h.h1_c, b, h.h2_c, out->Av + 6);

    // d (H e'') / d e + d bias / d e
    lg_zero(3, out->Aq);
    combine3(b, h.h1_bb, c, h.h1_bc, turned);
    combine3(a, turned, edd ? edd[0] : 0, h.h1_b, out->Aq + 3);
    combine3(b, h.h1_bc, c, h.h1_cc, turned);
    combine3(a, turned, b * c, h.h2_cc, out->Aq + 6);
    if (edd) {
        lg_axpy(3, edd[0], h.h1_c, out->Aq + 6);
        lg_axpy(3, edd[1], h.h2_c, out->Aq + 6);
    }
}

/* G_ij = d(h_i . c)/d e_j */
static void attitude_geo(const double *e, const double c[3], double *G)
{
    columns h = columns_of(e);
    lg_zero(9, G);
    G[3] = lg_dot3(h.h1_b, c);
    G[6] = lg_dot3(h.h1_c, c);
    G[7] = lg_dot3(h.h2_c, c);
}

static void pose_rotation(const double *q, double R[9])
{
    angles_rotation(q + 3, R);
}

static double pose_regular(const double *q)
{
    return fabs(cos(q[4]));
}

static double fixed_regular(const double *q)
{
    return fabs(cos(q[1]));
}

LG_LINEAR_FUNCTIONS(pose, 6)
LG_LINEAR_FUNCTIONS(fixed, 3)

static const lg_node_attitude rates = {.open = attitude, .geo = attitude_geo};

const lg_node lg_tait_bryan_fixed = {
    .name = "tait_bryan_fixed",
    .reference = "holzinger2024, Sect. 2.1",
    .nq = 3,
    .nv = 3,
    .position = LG_POSITION_FIXED,
    .storage = LG_STORAGE_ANGLES,
    .attitude_n = 3,
    LG_LINEAR_ROW(fixed),
    .rotation = angles_rotation,
    .attitude = &rates,
    .regular = fixed_regular,
};

const lg_node lg_tait_bryan = {
    .name = "tait_bryan",
    .reference = "holzinger2024, Sect. 2.1",
    .nq = 6,
    .nv = 6,
    .position = LG_POSITION_INERTIAL,
    .storage = LG_STORAGE_ANGLES,
    .pivot = &lg_tait_bryan_fixed,
    .attitude_q = 3,
    .attitude_v = 3,
    .attitude_n = 3,
    LG_LINEAR_ROW(pose),
    .rotation = pose_rotation,
    .attitude = &rates,
    .regular = pose_regular,
};
