/* Where two bodies touch: the geometry of contacts, without their forces. The first shape is seen from the frame b of
   the second one, in its axes. A point of the first shape, the centre c of a sphere of radius r (0 for corners and
   edges), is in touch where the distance of the second shape, phi, is less than r:

       gap = phi(c) - r,   n = grad phi (out of the second shape),   p = c - (r + gap/2) n, midway between the surfaces.

   p and n are the point and the normal of the contact; the gap changes at the rate n . (velocity of the first body at p
   relative to the second one). */
#ifndef LG_MODEL_TOUCH_H
#define LG_MODEL_TOUCH_H

#include "model/element.h"

typedef struct lg_touch {
    double gap, n[3];
    double p[3], z[3]; /* from x_b and from x_a */
    /* Along dy and dphi (mutual.h): dc = Y dy + C dphi, dn = H dc, dp = P dc; row-major. A normal that is fixed to a
       face of the first body turns with it: then dphi x n is added to dn, and gap/2 times this to dp. */
    double Y[9], C[9], H[9], P[9];
    int turns;
} lg_touch;

/* Points of a first shape that can touch the second one; between boxes the corners of the second one follow. */
enum { LG_POINTS_OF_sphere = 1, LG_POINTS_OF_capsule = 2, LG_POINTS_OF_disc = 4, LG_POINTS_OF_box = 8 };

typedef struct lg_shapes { /* a pair of shapes */
    int points; /* that can touch */
    int is_on_plane; /* the second shape is a plane */
    /* Point k at the pose y, S of frame a; p: the values of both shapes. `linear`: with Y, C, H and P. LG_NOT_FINITE:
       there is no normal, as between spheres with one centre. */
    lg_status (*touch)(const double *p, int k, const double y[3], const double S[9], int linear, lg_touch *out);
} lg_shapes;

#define LG_SHAPE_POINT(name, of, doc) {name, "m", doc, LG_VECTOR(3), .axes = (of), .of_shape = 1}
#define LG_SHAPE_AXIS(name, of, doc) {name, "", doc, LG_VECTOR(3), .valid = LG_UNIT_VECTOR, .axes = (of)}
#define LG_SHAPE_RADIUS(name) {name, "m", "its radius", LG_SCALAR, .valid = LG_POSITIVE, .of_shape = 1}

/* The parameters of a shape on the first ("a") or the second body ("b"). */
#define LG_SPHERE(s, of) LG_SHAPE_POINT("center_" s, of, "centre of the sphere"), LG_SHAPE_RADIUS("radius_" s)
#define LG_CAPSULE(s, of)                                                                                              \
    LG_SHAPE_POINT("end_" s, of, "one end of the capsule's axis"),                                                     \
        LG_SHAPE_POINT("other_end_" s, of, "its other end"), LG_SHAPE_RADIUS("radius_" s)
#define LG_DISC(s, of)                                                                                                 \
    LG_SHAPE_POINT("center_" s, of, "centre of the disc"), LG_SHAPE_AXIS("axis_" s, of, "its axis"),                   \
        LG_SHAPE_RADIUS("radius_" s)
#define LG_BOX(s, of)                                                                                                  \
    LG_SHAPE_POINT("center_" s, of, "centre of the box"),                                                              \
        {"axes_" s, "", "its axes, as columns", LG_MATRIX(3, 3), .valid = LG_ROTATION, .axes = (of)},                  \
        {"half_sizes_" s, "m", "half of its size along each axis", LG_VECTOR(3), .valid = LG_POSITIVE, .of_shape = 1}
#define LG_PLANE(s, of)                                                                                                \
    LG_SHAPE_POINT("origin_" s, of, "a point of the plane"),                                                           \
        LG_SHAPE_AXIS("normal_" s, of, "the plane's normal, out of its body")

/* LG_PAIR(first shape, second shape, their parameters): the pairs in which points of the first shape can touch. */
#define LG_POINT_PAIRS(LG_PAIR)                                                                                        \
    LG_PAIR(sphere, plane, LG_SPHERE("a", LG_FIRST_AXES), LG_PLANE("b", LG_SECOND_AXES))                               \
    LG_PAIR(capsule, plane, LG_CAPSULE("a", LG_FIRST_AXES), LG_PLANE("b", LG_SECOND_AXES))                             \
    LG_PAIR(disc, plane, LG_DISC("a", LG_FIRST_AXES), LG_PLANE("b", LG_SECOND_AXES))                                   \
    LG_PAIR(box, plane, LG_BOX("a", LG_FIRST_AXES), LG_PLANE("b", LG_SECOND_AXES))                                     \
    LG_PAIR(sphere, sphere, LG_SPHERE("a", LG_FIRST_AXES), LG_SPHERE("b", LG_SECOND_AXES))                             \
    LG_PAIR(sphere, capsule, LG_SPHERE("a", LG_FIRST_AXES), LG_CAPSULE("b", LG_SECOND_AXES))                           \
    LG_PAIR(sphere, disc, LG_SPHERE("a", LG_FIRST_AXES), LG_DISC("b", LG_SECOND_AXES))                                 \
    LG_PAIR(sphere, box, LG_SPHERE("a", LG_FIRST_AXES), LG_BOX("b", LG_SECOND_AXES))                                   \
    LG_PAIR(capsule, box, LG_CAPSULE("a", LG_FIRST_AXES), LG_BOX("b", LG_SECOND_AXES))

/* The same, but the points slide over the first shape to where they need not be deepest, which no work accounts for:
   there is no potential. */
#define LG_SLIDING_PAIRS(LG_PAIR) LG_PAIR(disc, box, LG_DISC("a", LG_FIRST_AXES), LG_BOX("b", LG_SECOND_AXES))

#define LG_POTENTIAL_PAIRS(LG_PAIR)                                                                                    \
    LG_POINT_PAIRS(LG_PAIR)                                                                                            \
    LG_PAIR(box, box, LG_BOX("a", LG_FIRST_AXES), LG_BOX("b", LG_SECOND_AXES))

#define LG_SHAPE_PAIRS(LG_PAIR)                                                                                        \
    LG_POTENTIAL_PAIRS(LG_PAIR)                                                                                        \
    LG_SLIDING_PAIRS(LG_PAIR)

#define LG_PAIR(A, B, ...) extern const lg_shapes lg_##A##_on_##B;
LG_SHAPE_PAIRS(LG_PAIR)
#undef LG_PAIR

#endif
