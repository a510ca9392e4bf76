/* The table of node kinds. */
#include "group/node.h"

#include "core/small.h"

#include <string.h>

#define LG_NODE(symbol, name) &symbol,
const lg_node *const lg_nodes[] = {
#include "group/groups.def"
};
#undef LG_NODE

const int lg_node_count = sizeof lg_nodes / sizeof *lg_nodes;

const lg_node *lg_node_find(const char *name)
{
    for (int i = 0; i < lg_node_count; i++)
        if (strcmp(lg_nodes[i]->name, name) == 0)
            return lg_nodes[i];
    return NULL;
}

const char *lg_node_position_name(lg_node_position position)
{
    static const char *const names[] = {
        [LG_POSITION_NO_BODY] = "no_body", [LG_POSITION_FIXED] = "fixed", [LG_POSITION_INERTIAL] = "inertial",
        [LG_POSITION_BODY] = "body",       [LG_POSITION_NONE] = "none",
    };
    return names[position];
}

const char *lg_storage_name(lg_storage storage)
{
    static const char *const names[] = {
        [LG_STORAGE_NONE] = NULL,       [LG_STORAGE_MATRIX] = "matrix", [LG_STORAGE_QUATERNION] = "quaternion",
        [LG_STORAGE_VECTOR] = "vector", [LG_STORAGE_ANGLES] = "angles",
    };
    return names[storage];
}

void lg_node_identity(const lg_node *node, int n, double *q)
{
    double *rotation = q + node->attitude_q;
    lg_zero(lg_node_nq(node, n), q);
    if (node->storage == LG_STORAGE_MATRIX)
        lg_identity3(rotation);
    else if (node->storage == LG_STORAGE_QUATERNION)
        rotation[0] = 1;
}
