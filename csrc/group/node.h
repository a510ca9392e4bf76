/* A node kind: the configuration space of one block, as a const row of functions. groups.def lists the rows.

   Velocities are left-trivialised: q' = q hat(v). The tangent operator T is defined by d/dt exp(theta) = exp(theta)
   hat(T(theta) theta'), so that v = T(theta) theta' along q = q0 exp(theta(t)). Linear kinds have T = I and retract(q0,
   theta) = q0 + theta. Matrices are column-major nv x nv unless said otherwise; rotation matrices inside q are
   row-major. Positions come before orientations, quaternions are scalar first. `n` is the dimension of R^n and of
   first-order values; all other kinds ignore it, because the additional linear coordinates of a block do not belong to
   its node. */
#ifndef LG_GROUP_NODE_H
#define LG_GROUP_NODE_H

/* How the node point of a rigid body moves: the block's first three velocities are those of the point in inertial or in
   body axes, or they are absent because the point is fixed in space. NO_BODY: R^n, which can have no frames. NONE:
   there are velocities and no coordinates, as the values of first-order equations have them. */
typedef enum lg_node_position {
    LG_POSITION_NONE,
    LG_POSITION_NO_BODY,
    LG_POSITION_FIXED,
    LG_POSITION_INERTIAL,
    LG_POSITION_BODY
} lg_node_position;

/* The coordinates of a rotation: nine numbers of a matrix, row-major; a unit quaternion, scalar first; a rotation
   vector; Tait-Bryan angles. */
typedef enum lg_storage {
    LG_STORAGE_NONE,
    LG_STORAGE_MATRIX,
    LG_STORAGE_QUATERNION,
    LG_STORAGE_VECTOR,
    LG_STORAGE_ANGLES
} lg_storage;

/* Attitude kinematics of a coordinate kind whose velocities are not the body angular velocity: for coordinates e of
   length m (at q + attitude_q, with rates at v + attitude_v), omega = H e' and the derivatives that follow from it.
   All 3 x m column-major. */
typedef struct lg_attitude {
    double H[12]; /* d omega / d e' */
    double Z[12]; /* d omega / d e */
    double bias[3]; /* omega' at e'' = 0 */
    double Av[12], Aq[12]; /* d omega' / d e', d omega' / d e */
} lg_attitude;

enum { LG_NODE_NQ = 12 }; /* the largest nq */

/* How rates of coordinates turn a body; see lg_attitude. */
typedef struct lg_node_attitude {
    /* Aq needs the second rates edd (may be NULL: zero). */
    void (*open)(const double *e, const double *edot, const double *edd, lg_attitude *out);
    /* G (m x m, column-major) = d(H(e)^T c)/de at fixed c. */
    void (*geo)(const double *e, const double c[3], double *G);
} lg_node_attitude;

/* What is wanted of the own rows of a kind; NULL: not wanted. */
typedef struct lg_own_rows {
    double *phi, *phidot, *zeta; /* zeta = -(dB/dt) v */
    double *B, *Z; /* Z = d(phidot)/dq; nown x nv, column-major */
    double *K; /* to which d(B^T lam)/dq is added; nv x nv */
} lg_own_rows;

typedef struct lg_node_unit {
    /* lam may be NULL unless K is wanted. */
    void (*own)(const double *q, const double *v, const double *lam, const lg_own_rows *out);
    /* The columns of N (nv x (nv - nown), column-major) are normal to the gradients of the own rows at q. `null_move`
       follows the motion that begins at q with the rates N(q) u and keeps the own rows, and ends at q1, which may be
       q. */
    void (*null_space)(const double *q, double *N);
    void (*null_move)(const double *q, const double *u, double *q1);
} lg_node_unit;

/* What the HHT schemes of sherif2019 need. */
typedef struct lg_node_hht {
    /* w = L(q)^T L(q0) u: the rates at q with the body components of u at q0; W = dw/dq (nv x nv, may be NULL).
       Positions stay as they are. */
    void (*transport)(const double *q0, const double *q, const double *u, double *w, double *W);
    /* w = u - e (e.u), the part of the rates u that turns the body; P = dw/du, Pq = dw/dq (nv x nv, may be NULL). */
    void (*project)(const double *q, const double *u, double *w, double *P, double *Pq);
} lg_node_hht;

/* Kinds with q' = A(q) v, whose rates explicit methods add to q instead of retracting; they work with these alone. */
typedef struct lg_node_flow {
    void (*qdot)(const double *q, const double *v, double *qdot);
    /* d(A(q) v)/dq dq */
    void (*slope)(const double *q, const double *v, const double *dq, double *dqdot);
    /* The v with A(q) v = qdot, up to what changes no rotation. */
    void (*velocity)(const double *q, const double *qdot, double *v);
} lg_node_flow;

enum { LG_FLOW_NQ = 7, LG_FLOW_NV = 6 }; /* the most coordinates and velocities of such a kind */

typedef struct lg_node {
    const char *name;
    const char *reference; /* paper key and equation */
    int nq, nv, nown; /* kinds with a dimension n: 0, 0, 0; ask lg_node_nq and lg_node_nv */
    int linear; /* T = I */
    lg_node_position position;
    lg_storage storage;
    const struct lg_node
        *pivot; /* the kind for the same body about a fixed point; NULL: it is this one, or there is none */
    int attitude_q, attitude_v,
        attitude_n; /* indices of the attitude's first coordinate and first rate; number of rates */

    /* q = q0 exp(theta); q may be q0. */
    void (*retract)(int n, const double *q0, const double *theta, double *q);
    /* `retract` within a step: rotations are polished only at the end of the step. `move` also gives w = T(theta) y (y
       NULL: not wanted), and `stage` thetadot as in `rate`, so that the functions of the angle are evaluated once. q
       may not be q0. NULL: composed of the other functions. */
    void (*move)(int n, const double *q0, const double *theta, const double *y, double *q, double *w);
    void (*stage)(int n, const double *q0, const double *theta, const double *v, double *q, double *thetadot);
    /* Removes from q the round-off that many moves accumulate. NULL: the kind has no condition that could drift. */
    void (*polish)(double *q);
    /* theta = log(q0^-1 q1), the shorter way round. */
    void (*difference)(int n, const double *q0, const double *q1, double *theta);
    /* thetadot = T^-1(theta) v; where q' = A(q) v on a linear kind (formulation 1), thetadot = A(q0 + theta) v. */
    void (*rate)(int n, const double *q0, const double *theta, const double *v, double *thetadot);
    void (*tangent)(int n, const double *theta, double *T);
    void (*tangent_inv)(int n, const double *theta, double *Tinv);
    /* w = T(theta) v, without forming T */
    void (*tangent_mul)(int n, const double *theta, const double *v, double *w);
    /* A = v^, the matrix with v^ w = [v, w]; zero on linear kinds */
    void (*ad)(int n, const double *v, double *A);
    /* R(q), row-major; NULL where position is LG_POSITION_NO_BODY or LG_POSITION_NONE. */
    void (*rotation)(const double *q, double R[9]);
    const lg_node_attitude *attitude; /* NULL: the rates are the body angular velocity itself */
    const lg_node_unit *unit; /* NULL: the kind has no own rows */
    const lg_node_hht *hht; /* of kinds with a unit-length row; NULL: all others */
    const lg_node_flow *flow; /* NULL: local coordinates are added and retracted */
    /* 0 at a singularity of the coordinates, 1 far from it; NULL: there is no singularity. */
    double (*regular)(const double *q);
} lg_node;

#define LG_NODE(symbol, name) extern const lg_node symbol;
#include "group/groups.def"
#undef LG_NODE

/* Rows of groups.def in order. */
extern const lg_node *const lg_nodes[];
extern const int lg_node_count;
const lg_node *lg_node_find(const char *name); /* NULL: no kind has this name */

void lg_node_identity(const lg_node *node, int n, double *q); /* the neutral element */
const char *lg_node_position_name(lg_node_position position); /* "no_body" */
const char *lg_storage_name(lg_storage storage); /* "matrix"; NULL: there is no rotation */

/* Coordinates and velocities of a block: those of the node, then n linear ones. */
static inline int lg_node_nq(const lg_node *node, int n)
{
    return node->position == LG_POSITION_NONE ? 0 : node->nq + n;
}

static inline int lg_node_nv(const lg_node *node, int n)
{
    return node->nv + n;
}

#endif
