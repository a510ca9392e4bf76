/* The momentum of a tree in a step. */
#ifndef LG_MODEL_TREE_MOMENTUM_H
#define LG_MODEL_TREE_MOMENTUM_H

#include "model/body/momentum.h"

extern const lg_body_step lg_tree_step;

#endif
