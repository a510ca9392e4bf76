#include "model/body/tree_state.h"

const lg_tree_state lg_tree_ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
