/* The table of node kinds. */
#include "group/node.h"

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
