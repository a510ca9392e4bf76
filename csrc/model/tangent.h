/* Tangents of wrenches: from frame space to the blocks. With the chain of the block under frame j, the pose and the
   twist of the frame follow its unknown by P = H k0 X0 and W = H k1 X1 + Z k0 X0, and S_ij += s H_i^T (K_ij P + D_ij
   W). */
#ifndef LG_MODEL_TANGENT_H
#define LG_MODEL_TANGENT_H

#include "model/body/body.h"

/* Blocks with more than LG_MAX_NV velocities use the beginning of the scratch: this many values per velocity. */
enum { LG_TANGENT_ROOM = 5 * 6 };

/* S += s d(wrenches)/du on the blocks under the frames of an element, without the effect of arms that turn under
   constant wrenches, which bodies add when they gather the wrenches. K[i][j], D[i][j]: derivative of wrench i by pose
   and twist j. D NULL: none. */
void lg_tangent_add(const lg_element *e, const lg_point *at, const lg_wanted *want, double s, const lg_quarters K[2][2],
                    const lg_quarters D[2][2]);
/* The same with arms that are open. */
void lg_tangent_add_opened(const lg_element *e, const lg_arms *arms, const lg_point *at, const lg_wanted *want,
                           double s, const lg_quarters K[2][2], const lg_quarters D[2][2]);

/* Y += A B for the quarters A and the 6 x n matrix B, column-major */
void lg_quarters_mul_add(const lg_quarters *A, int n, const double *B, double *Y);

/* S += A X k for the velocities of the block under frame i and the unknown of the block under frame j, by the first
   level of its chain; A has the sizes of both blocks, column-major. */
void lg_tangent_add_block(const lg_element *e, const lg_matrix *S, const lg_chain *chain, int i, int j,
                          const double *A);

#endif
