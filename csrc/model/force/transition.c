/* Derivatives of the memory of bristles; see transition.h. The memory that follows a step in parts is renewed at one
   station after the other, and so are its derivatives: s_0 and p_0 follow from where the point is touched there, and z
   from that and from the displacement that the memory has had before, z + y + S s_0 - p_0. */
#include "model/force/transition.h"

enum { Z = 0, S_0 = 3, P_0 = 6 }; /* rows */

/* ---- the memory at the end ---- */

/* The memory of all points at the end of a step whose motion is taken in `parts` of equal time. */
static lg_status follow_parts(const lg_force *force, const lg_path *path, const lg_mutual *to, int parts, double *mem)
{
    lg_mutual at;
    for (int i = 1; i < parts; i++) {
        lg_path_at(path, (double)i / parts, &at);
        LG_TRY(lg_contact_renew(force, &at, mem));
    }
    return lg_contact_renew(force, to, mem);
}

/* Extrapolates displacements by two numbers of parts, whose errors are of first order. */
lg_status lg_contact_follow(const lg_force *force, const lg_path *path, const lg_mutual *to, const double *before,
                            double *mem)
{
    enum { FEW = LG_FEW_PARTS, MOST = LG_BRISTLE_MEMORY * 2 * LG_POINTS_OF_box };
    double few[MOST], many[MOST];
    const int n = force->e.info->nmem;
    lg_copy(n, before, few);
    lg_copy(n, before, many);
    LG_TRY(follow_parts(force, path, to, FEW, few));
    LG_TRY(follow_parts(force, path, to, 2 * FEW, many));
    for (int k = 0; k < n; k += LG_BRISTLE_MEMORY) {
        double *m = mem + k;
        for (int i = LG_BRISTLE_Z; i < LG_BRISTLE_Z + 3 && lg_contact_point_has_slid(before + k, m); i++)
            m[i] = 2 * many[k + i] - few[k + i];
    }
    return LG_OK;
}

/* ---- stations ---- */

static void set_end(const lg_ends *to, lg_station *out)
{
    lg_ends_open(to, &out->at);
    lg_zero(LG_END_COLUMNS * LG_MUTUAL_NUMBERS, out->by_ends[0]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < LG_CHANGE_NUMBERS; i++) {
            lg_frame_change unit = {.x = {0}};
            ((double *)&unit)[i] = 1;
            lg_mutual_change(&out->at, to->of[1].R, side, &unit, out->by_ends[(2 * side + 1) * LG_CHANGE_NUMBERS + i]);
        }
}

/* Column i of one side's. */
static void set_column(const lg_path *path, int side, int i, const lg_ends ends[LG_STATIONS],
                       lg_station station[LG_STATIONS])
{
    lg_frame_change unit[2] = {{.x = {0}}, {.x = {0}}}, here;
    lg_way_change change;
    ((double *)unit)[i] = 1;
    lg_way_change_open(path, side, &unit[0], &unit[1], &change);
    for (int k = 0; k < LG_STATIONS - 1; k++) {
        lg_way_change_at(path, side, &change, (k + 1.0) / LG_STATIONS, &ends[k].of[side], &here);
        lg_mutual_change(&station[k].at, ends[k].of[1].R, side, &here,
                         station[k].by_ends[2 * side * LG_CHANGE_NUMBERS + i]);
    }
}

void lg_stations_open(const lg_ends *from, const lg_ends *to, double h, lg_station station[LG_STATIONS])
{
    lg_ends ends[LG_STATIONS];
    lg_path path;
    set_end(to, &station[LG_STATIONS - 1]);
    if (!from)
        return;
    lg_path_open(from, to, h, &path);
    for (int k = 0; k < LG_STATIONS - 1; k++) {
        lg_path_ends(&path, (k + 1.0) / LG_STATIONS, &ends[k]);
        lg_ends_open(&ends[k], &station[k].at);
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 2 * LG_CHANGE_NUMBERS; i++)
            set_column(&path, side, i, ends, station);
}

/* ---- a point ---- */

static void begin(double *J)
{
    lg_zero(LG_TRANSITION_SIZE, J);
    for (int i = 0; i < LG_BRISTLE_NUMBERS; i++)
        J[LG_BRISTLE_NUMBERS * (LG_END_COLUMNS + i) + i] = 1;
}

/* Renews the derivatives at a station. */
static void renew(const lg_station *station, const lg_bristle_renewal *by, double *J)
{
    for (int column = 0; column < LG_TRANSITION_COLUMNS; column++) {
        double *x = J + LG_BRISTLE_NUMBERS * column, kept[3];
        lg_mul3(station->at.S, x + S_0, kept);
        for (int i = 0; i < 3; i++)
            kept[i] += x[Z + i] - x[P_0 + i];
        lg_mul_columns(3, by->kept, kept, x + Z);
        lg_zero(6, x + S_0);
        if (column >= LG_END_COLUMNS)
            continue;
        const double *motion = station->by_ends[column];
        lg_mul_columns(LG_MUTUAL_NUMBERS, by->z, motion, kept);
        lg_axpy(3, 1, kept, x + Z);
        lg_mul_columns(6, by->s_0, motion, x + S_0);
        lg_mul_columns(6, by->p_0, motion, x + P_0);
    }
}

/* Goes to the end of the step by every so many stations. */
static lg_status follow(const lg_force *force, int k, const lg_station *station, int every, const double *before,
                        double *J)
{
    double m[LG_BRISTLE_MEMORY];
    lg_bristle_renewal by;
    lg_copy(LG_BRISTLE_MEMORY, before, m);
    begin(J);
    for (int i = every - 1; i < LG_STATIONS; i += every) {
        LG_TRY(lg_contact_renewal(force, k, &station[i].at, m, &by));
        renew(&station[i], &by, J);
    }
    return LG_OK;
}

lg_status lg_transition_open(const lg_force *force, const lg_station station[LG_STATIONS], int slides,
                             const double *before, const double *after, double *J)
{
    double few[LG_TRANSITION_SIZE], many[LG_TRANSITION_SIZE];
    for (int k = 0; k < lg_contact_points(force); k++, J += LG_TRANSITION_SIZE) {
        const double *was = before + LG_BRISTLE_MEMORY * k, *is = after + LG_BRISTLE_MEMORY * k;
        LG_TRY(follow(force, k, station, LG_STATIONS, was, J));
        if (!slides || !lg_contact_point_has_slid(was, is))
            continue;
        LG_TRY(follow(force, k, station, 2, was, few));
        LG_TRY(follow(force, k, station, 1, was, many));
        for (int column = 0; column < LG_TRANSITION_COLUMNS; column++)
            for (int i = LG_BRISTLE_NUMBERS * column; i < LG_BRISTLE_NUMBERS * column + S_0; i++)
                J[i] = 2 * many[i] - few[i];
    }
    return LG_OK;
}

/* ---- beside a reference ---- */

/* Where both frames are at the stations. */
static void set_stations(const lg_ends *from, const lg_ends *to, double h, int slides, lg_mutual at[LG_STATIONS])
{
    lg_path path;
    lg_ends_open(to, &at[LG_STATIONS - 1]);
    if (!slides)
        return;
    lg_path_open(from, to, h, &path);
    for (int k = 0; k < LG_STATIONS - 1; k++)
        lg_path_at(&path, (k + 1.0) / LG_STATIONS, &at[k]);
}

/* Goes to the end of the step by every so many stations. */
static lg_status follow_beside(const lg_force *force, const double *p_0, int k, const lg_mutual *at,
                               const lg_mutual *at_0, int every, const double *before, double *m)
{
    double m_0[LG_BRISTLE_MEMORY];
    lg_copy(LG_BRISTLE_MEMORY, before, m_0);
    lg_copy(LG_BRISTLE_MEMORY, before, m);
    for (int i = every - 1; i < LG_STATIONS; i += every)
        LG_TRY(lg_contact_renew_beside(force, p_0, k, &at[i], &at_0[i], m, m_0));
    return LG_OK;
}

lg_status lg_transition_beside(const lg_force *force, const double *p_0, const lg_ends *from, const lg_ends *to,
                               const lg_ends *from_0, const lg_ends *to_0, double h, const double *before,
                               const double *after, double *mem)
{
    lg_mutual at[LG_STATIONS], at_0[LG_STATIONS];
    double few[LG_BRISTLE_MEMORY], many[LG_BRISTLE_MEMORY];
    int slides = h > 0 && lg_contact_has_slid(force, before, after);
    set_stations(from, to, h, slides, at);
    set_stations(from_0, to_0, h, slides, at_0);
    for (int k = 0; k < lg_contact_points(force); k++, mem += LG_BRISTLE_MEMORY) {
        const double *was = before + LG_BRISTLE_MEMORY * k, *is = after + LG_BRISTLE_MEMORY * k;
        LG_TRY(follow_beside(force, p_0, k, at, at_0, LG_STATIONS, was, mem));
        if (!slides || !lg_contact_point_has_slid(was, is))
            continue;
        LG_TRY(follow_beside(force, p_0, k, at, at_0, 2, was, few));
        LG_TRY(follow_beside(force, p_0, k, at, at_0, 1, was, many));
        for (int i = LG_BRISTLE_Z; i < LG_BRISTLE_Z + 3; i++)
            mem[i] = 2 * many[i] - few[i];
    }
    return LG_OK;
}

int lg_contact_reference_size(const lg_force *force)
{
    return LG_ENDS_SIZE + force->e.np;
}

void lg_contact_refer(const lg_force *force, const lg_point *at, double *reference)
{
    const lg_pose *pose[2];
    lg_element_poses(&force->e, at, pose);
    lg_ends_copy(pose, (lg_ends *)(void *)reference);
    lg_copy(force->e.np, force->e.p, reference + LG_ENDS_SIZE);
}

/* ---- forces ---- */

lg_status lg_contact_add_held(const lg_force *force, const double *mem, const double *dmem, lg_mutual *at)
{
    for (int k = 0; k < lg_contact_points(force); k++, mem += LG_BRISTLE_MEMORY, dmem += LG_BRISTLE_MEMORY) {
        int acts;
        double z[3], dF[9], displaced[3], force_change[3];
        LG_TRY(lg_contact_held(force, k, at, mem, &acts, z, dF));
        if (!acts)
            continue;
        lg_mul3(at->S, dmem + LG_BRISTLE_Z + S_0, displaced);
        for (int i = 0; i < 3; i++)
            displaced[i] += dmem[LG_BRISTLE_Z + i] - dmem[LG_BRISTLE_Z + P_0 + i];
        lg_mulT3(dF, displaced, force_change);
        lg_axpy(3, 1, force_change, at->Fm);
        lg_add_cross(z, force_change, at->Fm + 3);
    }
    return LG_OK;
}

lg_status lg_contact_held_back(const lg_force *force, const lg_mutual *at, const double *mem, double s,
                               const double motion[6], double *out)
{
    for (int k = 0; k < lg_contact_points(force); k++, mem += LG_BRISTLE_MEMORY, out += LG_BRISTLE_MEMORY) {
        int acts;
        double z[3], dF[9], moved[3], displaced[3], turned[3];
        LG_TRY(lg_contact_held(force, k, at, mem, &acts, z, dF));
        if (!acts)
            continue;
        lg_copy(3, motion, moved);
        lg_add_cross(motion + 3, z, moved);
        lg_mul3(dF, moved, displaced);
        lg_mulT3(at->S, displaced, turned);
        lg_axpy(3, s, displaced, out + LG_BRISTLE_Z);
        lg_axpy(3, s, turned, out + LG_BRISTLE_Z + S_0);
        lg_axpy(3, -s, displaced, out + LG_BRISTLE_Z + P_0);
    }
    return LG_OK;
}
