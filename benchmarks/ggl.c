/* The residual of the stabilised index-2 equations (Gear, Gupta, Leimkuhler) of a system of the core, for peers that
   solve F(t, y, y') = 0 with y = (q, v, lam, mu):

       q' - v + B^T mu = 0,   M v' + gyro - force + B^T lam = 0,   phi = 0,   phidot = 0.

   All blocks of the system are linear, with q' = v: bodies in Euler parameters. `lgint bench --stiff` compiles this
   file, with the flags of the core, and hands over the address of the system, whose own functions evaluate. */
#include "system/system.h"

/* out += B^T mu */
static void add_product(const lg_pattern *p, const double *B, const double *mu, double *out)
{
    for (int g = 0; g < p->ngroups; g++)
        for (int e = p->group_start[g]; e < p->group_start[g + 1]; e++) {
            int b = p->group_block[e], row = p->group_row[g], n = p->group_row[g + 1] - row;
            for (int j = 0; j < p->nv[b]; j++)
                for (int i = 0; i < n; i++)
                    out[p->v_start[b] + j] += B[p->group_value[e] + i + n * j] * mu[row + i];
        }
    for (int b = 0; b < p->nblocks; b++)
        for (int j = 0; j < p->nv[b]; j++)
            for (int i = 0; i < p->nown[b]; i++)
                out[p->v_start[b] + j] += B[p->own_value[b] + i + p->nown[b] * j] * mu[p->own_row[b] + i];
}

/* work: system->nwork, then 2 nv, then the values of B. */
long ggl_work(const lg_system *system)
{
    return system->nwork + 2L * system->space->nv + system->pattern->nvalues;
}

int ggl_residual(const lg_system *system, const double *mem, double *work, double t, const double *y, const double *yp,
                 double *res)
{
    int nv = system->space->nv, nrows = system->pattern->nrows;
    const double *q = y, *v = y + nv, *lam = y + 2 * nv, *mu = lam + nrows;
    double *gyro = work + system->nwork, *force = gyro + nv, *B = force + nv, *balance = res + nv;
    lg_point point = lg_point_after(t, q, v, mem);
    point.a = yp + nv, point.lam = lam, point.work = work;
    lg_status status = system->eval(system->self, &point,
                                    &(lg_wanted){.Ma = balance,
                                                 .gyro = gyro,
                                                 .force = force,
                                                 .Btlam = res,
                                                 .phi = res + 2 * nv,
                                                 .phidot = res + 2 * nv + nrows,
                                                 .B = B});
    for (int i = 0; i < nv; i++) {
        balance[i] += gyro[i] - force[i] + res[i];
        res[i] = yp[i] - v[i];
    }
    add_product(system->pattern, B, mu, res);
    return status;
}

/* The time of n residuals without Python in between. */
void ggl_repeat(const lg_system *system, const double *mem, double *work, const double *y, const double *yp,
                double *res, long n)
{
    for (long i = 0; i < n; i++)
        ggl_residual(system, mem, work, 0, y, yp, res);
}
