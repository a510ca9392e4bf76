"""Functions for models, in C, each with its twin in Python, which computes the same bits."""

import ctypes
import functools
import os
import shlex
import subprocess
import sysconfig
import tempfile

import numpy as np

import lgint

SOURCE = r"""
#include <math.h>
#include <stddef.h>

static double stiffness_of(const void *data) { return data ? *(const double *)data : 3.0; }

int torque(double t, double angle, double rate, double *effort, double *tangent, void *data)
{
    double k = stiffness_of(data);
    *effort = -k * angle - 0.2 * rate * rate * rate + t;
    if (tangent)
        tangent[0] = -k, tangent[1] = -0.6 * rate * rate;
    return 0;
}

int wrench(double t, const double *x, const double *R, const double *xdot, const double *omega, double *w,
           double *tangent, void *data)
{
    double k = stiffness_of(data);
    for (int i = 0; i < 3; i++) {
        w[i] = -k * x[i] - 0.1 * xdot[i] * xdot[i] * xdot[i];
        w[3 + i] = t * R[3 * i] - (0.1 + 0.1 * i) * omega[i];
    }
    if (!tangent)
        return 0;
    double *K = tangent, *D = tangent + 36;
    for (int i = 0; i < 72; i++)
        tangent[i] = 0;
    for (int i = 0; i < 3; i++) {
        K[7 * i] = -k;
        D[7 * i] = -0.3 * xdot[i] * xdot[i];
        K[6 * (3 + i) + 4] = -t * R[3 * i + 2]; /* d(R e1) = R (dphi x e1) */
        K[6 * (3 + i) + 5] = t * R[3 * i + 1];
        D[7 * (3 + i)] = -(0.1 + 0.1 * i);
    }
    return 0;
}

int wrenches(double t, const double *x, const double *R, const double *xdot, const double *omega, double *w,
             double *tangent, void *data)
{
    (void)t, (void)R, (void)data;
    for (int i = 0; i < 3; i++) {
        w[i] = 2 * (x[3 + i] - x[i]) + 0.3 * (xdot[3 + i] - xdot[i]);
        w[6 + i] = -w[i];
        w[3 + i] = -0.1 * omega[i] * omega[i];
        w[9 + i] = -0.2 * omega[3 + i] * omega[3 + i];
    }
    if (!tangent)
        return 0;
    double *K = tangent, *D = tangent + 144;
    for (int i = 0; i < 288; i++)
        tangent[i] = 0;
    for (int i = 0; i < 3; i++) {
        K[13 * i] = K[13 * (6 + i)] = -2, K[12 * i + 6 + i] = K[12 * (6 + i) + i] = 2;
        D[13 * i] = D[13 * (6 + i)] = -0.3, D[12 * i + 6 + i] = D[12 * (6 + i) + i] = 0.3;
        D[13 * (3 + i)] = -0.2 * omega[i], D[13 * (9 + i)] = -0.4 * omega[3 + i];
    }
    return 0;
}

int fails(double t, double angle, double rate, double *effort, double *tangent, void *data)
{
    (void)angle, (void)rate, (void)tangent, (void)data;
    *effort = 0;
    return t > 0.05 ? 7 : 0;
}

int push(double t, double *value, void *data)
{
    (void)data;
    value[0] = sin(3 * t), value[1] = 0.5 * t, value[2] = 0.2;
    return 0;
}

int pull(double t, double *value, void *data)
{
    (void)data;
    *value = 1.0 + sin(3 * t);
    return 0;
}

int swing(double t, int n, double *value, double *rate, double *second, void *data)
{
    (void)n, (void)data;
    *value = 0.3 * sin(2 * t), *rate = 0.6 * cos(2 * t), *second = -1.2 * sin(2 * t);
    return 0;
}

int travel(double t, int n, double *value, double *rate, double *second, void *data)
{
    static const double weight[6] = {1, 0.5, 0, 0.2, 0, 0.1};
    double one[3];
    swing(t, 1, one, one + 1, one + 2, data);
    for (int i = 0; i < n; i++)
        value[i] = weight[i] * one[0], rate[i] = weight[i] * one[1], second[i] = weight[i] * one[2];
    return 0;
}

/* PID of a link in minimal coordinates: a torque, and the rate of its integral or, if sampled, its new value. */
int pid(double t, const double *q, const double *v, const double *states, double *value, double *tangent, void *data)
{
    (void)data;
    value[0] = -5.0 * q[0] - 0.5 * v[0] - 2.0 * states[0] + t;
    value[1] = q[0] - 0.1;
    if (!tangent)
        return 0;
    for (int i = 0; i < 8; i++)
        tangent[i] = 0;
    tangent[0] = -5.0, tangent[2] = 1.0; /* of the torque and of the rate by the angle */
    tangent[4] = -0.5, tangent[5] = -2.0; /* of the torque by the rate and by the state */
    return 0;
}

int mass(double t, const double *q, const double *v, const double *a, const double *lam, int n, double *out,
         void *data)
{
    (void)t, (void)q, (void)data;
    out[0] = out[3] = 2.0, out[1] = out[2] = 0.0;
    return n != 4 || v || a || lam; /* they are not among the arguments */
}

int spring(double t, const double *q, const double *v, const double *a, const double *lam, int n, double *out,
           void *data)
{
    (void)data;
    out[0] = -3.0 * q[0] - 0.1 * v[0], out[1] = -9.81 + 0.2 * t;
    return n != 2 || a || lam;
}

int circle(double t, const double *q, const double *v, const double *a, const double *lam, int n, double *out,
           void *data)
{
    (void)t, (void)v, (void)a, (void)lam, (void)data;
    *out = q[0] * q[0] + q[1] * q[1] - 1.0;
    return n != 1;
}

int slopes(double t, const double *q, const double *v, const double *a, const double *lam, int n, double *out,
           void *data)
{
    (void)t, (void)v, (void)a, (void)lam, (void)data;
    out[0] = 2.0 * q[0], out[1] = 2.0 * q[1];
    return n != 2;
}

int height(double t, const double *q, const double *v, double *value, void *data)
{
    (void)t, (void)v;
    long *calls = data;
    if (calls)
        ++*calls;
    *value = sin(6 * q[2]);
    return 0;
}

int lost(double t, const double *q, const double *v, double *value, void *data)
{
    (void)v, (void)data;
    *value = q[2] - 10;
    return t > 0.05 ? 4 : 0;
}

int late(double t, double *value, void *data)
{
    push(t, value, data);
    return t > 0.05 ? -1 : 0;
}

int half_wrench(double t, const double *x, const double *R, const double *xdot, const double *omega, double *w,
                double *tangent, void *data)
{
    (void)t, (void)x, (void)R, (void)xdot, (void)omega, (void)data;
    for (int i = 0; i < 6; i++)
        w[i] = 0;
    for (int i = 0; tangent && i < 36; i++)
        tangent[i] = 0;
    return 0;
}

int values_alone(double t, const double *q, const double *v, const double *states, double *value, double *tangent,
                 void *data)
{
    (void)t, (void)q, (void)v, (void)states, (void)tangent, (void)data;
    for (int i = 0; i < 6; i++)
        value[i] = 0;
    return 0;
}

int singular_slope(double t, double angle, double rate, double *effort, double *tangent, void *data)
{
    (void)t, (void)rate, (void)data;
    *effort = sqrt(fabs(angle));
    if (tangent)
        tangent[0] = 0 / angle, tangent[1] = 0;
    return 0;
}

int spoilt(double t, const double *x, const double *R, const double *xdot, const double *omega, double *w,
           double *tangent, void *data)
{
    (void)x, (void)R, (void)xdot, (void)omega, (void)tangent;
    for (int i = 0; i < 6; i++)
        w[i] = 0;
    if (t > 0.05)
        w[4] = *(const double *)data;
    return 0;
}

int broken(double t, double *value, void *data)
{
    value[0] = value[2] = 0;
    if (data)
        value[1] = t > 0.05 ? *(const double *)data : 0;
    return 0;
}

int silent(double t, double angle, double rate, double *effort, double *tangent, void *data)
{
    (void)t, (void)angle, (void)rate, (void)effort, (void)tangent, (void)data;
    return 0;
}
"""


@functools.cache
def library():
    """The compiled functions."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "laws.c"), os.path.join(folder, "laws.so")
        with open(source, "w") as file:
            file.write(SOURCE)
        flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(
            [*compiler, *flags, source, "-o", target, "-lm"], check=True, env={**os.environ, "LD_PRELOAD": ""}
        )
        return ctypes.CDLL(target)


def compiled(name, signature):
    """A function of the library, as ctypes has it."""
    function = library()[name]
    kinds = {"int": ctypes.c_int, "double": ctypes.c_double, "double *": ctypes.POINTER(ctypes.c_double)}
    result, rest = lgint.signatures.c_type(signature).removesuffix(")").split(" (")
    function.restype = kinds[result]
    function.argtypes = [kinds.get(kind, ctypes.c_void_p) for kind in rest.split(", ")]
    return function


def torque(t, angle, rate):
    return -3.0 * angle - 0.2 * rate * rate * rate + t


def torque_slopes(t, angle, rate):
    return -3.0, -0.6 * rate * rate


def wrench(t, x, R, xdot, omega):
    force = [-3.0 * x[i] - 0.1 * xdot[i] * xdot[i] * xdot[i] for i in range(3)]
    return [*force, *(t * R[i, 0] - (0.1 + 0.1 * i) * omega[i] for i in range(3))]


def wrenches(t, x, R, xdot, omega):
    f = 2 * (x[1] - x[0]) + 0.3 * (xdot[1] - xdot[0])
    m = -0.1 * omega[0] * omega[0], -0.2 * omega[1] * omega[1]
    return np.array([[*f, *m[0]], [*-f, *m[1]]])


def push(t):
    return np.array([np.sin(3 * t), 0.5 * t, 0.2])


def pull(t):
    return 1.0 + np.sin(3 * t)


def swing(t):
    return np.array([0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)])


def travel(t):
    value, rate, second = swing(t)
    return np.array([[value * w for w in WEIGHTS], [rate * w for w in WEIGHTS], [second * w for w in WEIGHTS]])


WEIGHTS = 1.0, 0.5, 0.0, 0.2, 0.0, 0.1
