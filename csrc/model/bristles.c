/* Bristles that follow the motion through a step; see bristles.h and force/contact.h. The scratch holds how the frames
   of all contacts with bristles lie and move at the start of the step. */
#include "model/bristles.h"

#include "model/force/contact.h"

int lg_model_count_bristles(const lg_model *m)
{
    int count = 0;
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        count += lg_contact_has_bristles(f);
    return count;
}

static void open_motion(const lg_force *f, const lg_point *at, lg_mutual *out)
{
    const lg_pose *pose[2];
    lg_element_poses(&f->e, at, pose);
    lg_mutual_open(pose, 0, out);
}

static int has_slid(const lg_force *f, const double *before, const double *mem)
{
    return lg_contact_has_bristles(f) && lg_contact_has_slid(f, before + f->e.mem, mem + f->e.mem);
}

static int some_have_slid(const lg_model *m, const double *before, const double *mem)
{
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (has_slid(f, before, mem))
            return 1;
    return 0;
}

void lg_bristle_ends(const lg_force *f, const lg_point *at, lg_ends *out)
{
    const lg_pose *pose[2];
    lg_element_poses(&f->e, at, pose);
    lg_ends_copy(pose, out);
}

static lg_status follow_all(const lg_model *m, const lg_ends *from, const lg_point *to, double h, const double *before,
                            double *mem)
{
    lg_ends end;
    lg_path path;
    lg_mutual last;
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++) {
        if (has_slid(f, before, mem)) {
            lg_bristle_ends(f, to, &end);
            lg_path_open(from, &end, h, &path);
            lg_ends_open(&end, &last);
            LG_TRY(lg_contact_follow(f, &path, &last, before + f->e.mem, mem + f->e.mem));
        }
        from += lg_contact_has_bristles(f);
    }
    return LG_OK;
}

lg_status lg_model_follow(const lg_model *m, const lg_point *from, const lg_point *to, double *mem)
{
    const double h = to->t - from->t, *before = from->mem.values;
    lg_ends *start = (lg_ends *)(void *)(to->work + m->motions), *next = start;
    if (!(h > 0) || !some_have_slid(m, before, mem))
        return LG_OK;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, from, LG_TWISTS, LG_REACH_USED));
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++)
        if (lg_contact_has_bristles(f))
            lg_bristle_ends(f, from, next++);
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    return follow_all(m, start, to, h, before, mem);
}

lg_status lg_model_memory_error(void *self, const lg_point *from, const lg_point *to, double rtol, double atol,
                                lg_memory_error *error)
{
    const lg_model *m = self;
    const double *before = from->mem.values, *mem = to->mem.values;
    lg_mutual at;
    *error = (lg_memory_error){0, NULL};
    if (!some_have_slid(m, before, mem))
        return LG_OK;
    LG_TRY(lg_model_move(m, LG_FORM_DYNAMICS, to, LG_TWISTS, LG_REACH_USED));
    for (const lg_force *f = m->forces; f < m->forces + m->nforces; f++) {
        double *straight = to->work + m->turned + f->e.mem;
        if (!has_slid(f, before, mem))
            continue;
        open_motion(f, to, &at);
        lg_copy(f->e.info->nmem, before + f->e.mem, straight);
        LG_TRY(lg_contact_renew(f, &at, straight));
        double size = lg_contact_bristle_error(f, before + f->e.mem, straight, mem + f->e.mem, rtol, atol);
        if (size > error->size)
            *error = (lg_memory_error){size, f->e.name};
    }
    return LG_OK;
}
