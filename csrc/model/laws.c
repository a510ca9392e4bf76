/* The laws of the user in a model. */
#include "model/private.h"

enum { VALUES = 12 }; /* two wrenches */

/* The law by number; NULL: there are fewer. */
static const lg_force *find_law(const lg_model *m, int number)
{
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (f->e.info->uses_law && number-- == 0)
            return f;
    return NULL;
}

static const char *law_name(void *self, int number)
{
    const lg_force *law = find_law(self, number);
    return law ? law->e.name : NULL;
}

static int law_length(void *self)
{
    (void)self;
    return VALUES;
}

/* The wrenches of a law, or its torque or force on a coordinate. */
static lg_status evaluate_law(const lg_model *m, const lg_force *law, const lg_point *at, double *value)
{
    const lg_pose *pose[2];
    double along[3];
    lg_load load;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, 0));
    lg_zero(VALUES, value);
    if (law->type->coordinate) {
        LG_TRY(lg_force_on_coordinate(law, at, 0, along));
        value[0] = along[0];
        return LG_OK;
    }
    lg_element_poses(&law->e, at, pose);
    LG_TRY(law->type->wrenches(&law->e, pose, at, 0, &load));
    lg_copy(VALUES, load.w[0], value);
    return LG_OK;
}

static lg_status law_value(void *self, const lg_point *at, int number, double *value)
{
    const lg_model *m = self;
    lg_status status = evaluate_law(m, find_law(m, number), at, value);
    if (status != LG_OK && m->forget)
        m->forget();
    return status;
}

const lg_laws lg_model_laws = {law_name, law_length, law_value};
