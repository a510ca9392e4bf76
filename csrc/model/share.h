/* What rows know in closed form, in the form for dynamics: derivatives of weighted terms by the parameters of one
   element. */
#ifndef LG_MODEL_SHARE_H
#define LG_MODEL_SHARE_H

#include "model/joint/joint.h"
#include "system/sensitivity.h"

/* Derivatives of forces.(M a + gyro) or reactions.(M a), whichever weights there are, of a body. */
typedef struct lg_body_shares {
    int (*has)(const lg_body *b, int parameter); /* whether `write` gives that by this one; NULL: by all */
    /* After `kinematics`: writes them over the zeros of `slopes`, one for each parameter. */
    void (*write)(const lg_body *b, const lg_point *at, const lg_term_weights *weights, double *slopes);
} lg_body_shares;

/* Derivatives of the power of a force's wrenches along twists of its frames, six numbers each. A force with these acts
   between two points, or does not depend on where its frame is on a body. */
typedef struct lg_force_shares {
    int (*has)(const lg_element *e, int parameter); /* as above */
    void (*write)(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *twists,
                  double *slopes);
} lg_force_shares;

/* The same of a joint: of its row weights, each NULL or one number per row that is not dropped, and, unless `twists` is
   NULL, of minus the power of its stresses. Written over zeros. */
typedef struct lg_joint_shares {
    int (*has)(const lg_element *e, int parameter); /* as above */
    lg_status (*write)(const lg_joint *joint, const lg_pose *const f[2], const lg_point *at,
                       const lg_term_weights *rows, const double *twists, double *slopes);
} lg_joint_shares;

#endif
