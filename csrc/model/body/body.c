/* What elements ask of the bodies under their frames; see body.h and element.h. */
#include "model/body/body.h"

void lg_arms_open(const lg_element *e, const lg_point *at, lg_arms *arms)
{
    arms->all = 1;
    for (int i = 0; i < e->info->nframes; i++) {
        const lg_body *body = e->frame[i]->body;
        if (body->block && body->type->rigid) {
            body->type->rigid->open(e->frame[i], at, &arms->to[i]);
        } else {
            arms->to[i].block = NULL;
            arms->all &= !body->block;
        }
    }
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
