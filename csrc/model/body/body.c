/* What elements ask of the bodies under their frames. */
#include "model/body/body.h"

int lg_element_moves(const lg_element *e, int end)
{
    return e->frame[end]->body->block != NULL;
}

int lg_element_on_point(const lg_element *e, int end)
{
    (void)e, (void)end;
    return 1;
}

int lg_element_between(const lg_element *e)
{
    return lg_element_moves(e, 0) && lg_element_moves(e, 1);
}
