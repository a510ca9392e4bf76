/* The edge of a Cosserat rod between two nodes: a joint with compliance (tumiotto2024, Sect. 4). Its first two or three
   strains may be constrained, which gives rows; the others give stress. What explicit methods need is compiled into the
   loops over edges.

   With the relative pose xi of the sections and the nine motions y of screw.h, and the length ds:

       strain    w  = xi/ds, continued from no strain
       its rate  w' = xi'/ds = Y y/ds
       stress    s  = C (w - w0(t)) + 2 C_d w',  0 where the strain is constrained
       potential V  = ds/2 (w - w0)^T C (w - w0), constrained strains left out
       rows      phi_k = xi_k - ds w0_k(t)
       wrenches  T_-^T s on a,  -T_+^T s on b

   Order of strains: shear along d1 and d2, stretch along d3 (1 where the length is ds), bending about d1 and d2,
   torsion about d3. The damping acts on the rate of the strain itself, not on that of w - w0(t). The residual
   J^T lam - force has the wrenches of s + lam. */
#ifndef LG_MODEL_ROD_STRAIN_H
#define LG_MODEL_ROD_STRAIN_H

#include "model/joint/joint.h"
#include "model/screw.h"
#include "model/source.h"

enum { AXES, LENGTH = 18, STIFFNESS, DAMPING = STIFFNESS + 36, SOURCE = DAMPING + 6, DATA }; /* of parameters */

typedef struct lg_strained {
    lg_screw m; /* of the directors of both sections */
    const double *w0; /* the reference strain */
    double changing[18]; /* room for it and, where it may change constrained strains, for its first two derivatives */
} lg_strained;

/* Traits: the directors of a section are the axes of its body, at each end; the stiffness is diagonal. */
enum { LG_EDGE_OWN_AXES = 2, LG_EDGE_DIAGONAL = 8 };

static inline int lg_edge_damped(const lg_element *e)
{
    return (e->traits & LG_DAMPED) != 0;
}

/* Whether the reference of constrained strains may change. */
static inline int lg_edge_drives_rows(const lg_element *e)
{
    return e->info->nrows && e->p[SOURCE] == LG_SOURCE_FUNCTION;
}

/* s = C (w - w0), all six of them */
static inline void lg_edge_stress(const lg_element *e, const double difference[6], double *restrict s)
{
    const double *C = e->p + STIFFNESS;
    if (e->traits & LG_EDGE_DIAGONAL) {
        for (int i = 0; i < 6; i++)
            s[i] = C[7 * i] * difference[i];
        return;
    }
    for (int i = 0; i < 6; i++)
        s[i] = C[i] * difference[0] + C[6 + i] * difference[1] + C[12 + i] * difference[2] + C[18 + i] * difference[3] +
               C[24 + i] * difference[4] + C[30 + i] * difference[5];
}

/* ---- the strain ---- */

/* The rotation vector of the reference strain. */
static inline void lg_edge_reference_turn(const lg_element *e, const lg_strained *k, double omega[3])
{
    for (int i = 0; i < 3; i++)
        omega[i] = e->p[LENGTH] * k->w0[3 + i];
}

static LG_INLINE void lg_edge_open_relation(const lg_element *e, const lg_strained *k, const lg_pose *const f[2],
                                            const double *mem, lg_relation *r)
{
    double p[4];
    if (!lg_screw_turn_continues(k->m.d, mem, p)) {
        double reference[3];
        lg_edge_reference_turn(e, k, reference);
        lg_screw_turn_choose(reference, p);
    }
    lg_screw_open_relation(&k->m, f, p, r);
}

static LG_INLINE lg_status lg_edge_open_reference(const lg_element *e, const lg_point *at, lg_strained *k)
{
    k->w0 = e->p[SOURCE] == LG_SOURCE_CONSTANT ? e->p + DATA : k->changing;
    if (k->w0 != k->changing)
        return LG_OK;
    if (lg_edge_drives_rows(e))
        return e->function.call(e->function.self, at->t, 18, k->changing);
    return lg_source_value(e, SOURCE, 6, at, k->changing);
}

/* Sections, by their directors or the axes of their bodies, and reference strain at the poses of both frames, without
   the strain itself. */
static LG_INLINE lg_status lg_edge_open_sections(const lg_element *e, const lg_pose *const f[2], const lg_point *at,
                                                 lg_strained *k)
{
    for (int end = 0; end < 2; end++)
        lg_screw_open_end(e->traits & LG_EDGE_OWN_AXES << end ? NULL : e->p + AXES + 9 * end, f[end], end, &k->m);
    return lg_edge_open_reference(e, at, k);
}

/* The same with the strain. r: the relation, which is computed here unless it is `known`. A and C are left open. */
static LG_INLINE lg_status lg_edge_open(const lg_element *e, const lg_pose *const f[2], const lg_point *at,
                                        lg_relation *r, int known, lg_strained *k)
{
    LG_TRY(lg_edge_open_sections(e, f, at, k));
    if (!known)
        lg_edge_open_relation(e, k, f, at->mem.values ? at->mem.values + e->mem : NULL, r);
    k->m.r = r;
    return LG_OK;
}

/* ---- stress and wrenches ---- */

/* w - w0, zero where constrained. */
static LG_INLINE void lg_edge_strain_difference(const lg_element *e, const lg_strained *k, double difference[6])
{
    double per_length = 1 / e->p[LENGTH];
    for (int i = 0; i < 6; i++)
        difference[i] = k->m.r->xi[i] * per_length - k->w0[i];
    for (int i = 0; i < e->info->nrows; i++)
        difference[i] = 0;
}

/* The stress, likewise, with that of damping if it is `damped`. */
static LG_INLINE void lg_edge_set_stress(const lg_element *e, const lg_strained *k, int damped, double s[6])
{
    double difference[6], rate = 2 / e->p[LENGTH];
    lg_edge_strain_difference(e, k, difference);
    lg_edge_stress(e, difference, s);
    for (int i = 0; damped && i < 6; i++)
        s[i] += rate * e->p[DAMPING + i] * k->m.xidot[i];
    for (int i = 0; i < e->info->nrows; i++)
        s[i] = 0;
}

#endif
