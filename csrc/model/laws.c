/* The laws of the user in a model: those of forces, and then its controls that are called in every evaluation. */
#include "model/control.h"

enum { VALUES = 12 }; /* two wrenches */

/* One of the two; both NULL: there are fewer. */
typedef struct law {
    const lg_force *force;
    const lg_controller *control;
} law;

static law find_law(const lg_model *m, int number)
{
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (f->e.info->uses_law && number-- == 0)
            return (law){.force = f};
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        if (!(c->given.every > 0) && number-- == 0)
            return (law){.control = c};
    return (law){NULL, NULL};
}

static const char *law_name(void *self, int number)
{
    law found = find_law(self, number);
    return found.force ? found.force->e.name : found.control ? found.control->given.name : NULL;
}

static int law_length(void *self)
{
    const lg_model *m = self;
    int length = VALUES;
    for (const lg_controller *c = m->controls; c < m->controls + m->ncontrols; c++)
        length = c->given.nvalues > length ? c->given.nvalues : length;
    return length;
}

/* The wrenches of a law, or its torque or force on a coordinate. */
static lg_status evaluate_law(const lg_model *m, const lg_force *law, const lg_point *at, double *value)
{
    const lg_pose *pose[2];
    double along[3];
    lg_load load;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, at, LG_TWISTS, LG_REACH_USED));
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
    law found = find_law(m, number);
    lg_zero(law_length(self), value);
    lg_status status =
        found.force ? evaluate_law(m, found.force, at, value) : lg_control_call(m, found.control, at, value);
    if (status != LG_OK && m->forget)
        m->forget();
    return status;
}

const lg_laws lg_model_laws = {law_name, law_length, law_value};
