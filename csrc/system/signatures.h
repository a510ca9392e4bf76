/* The functions that users compile: a row for each, with its arguments. All return 0, or another number if they fail.
   Arrays are row-major, with an axis in front if there are two bodies. `data` is the user's own. `tangent` is NULL
   where it is not wanted, and so is whatever a function of the kind in question does not take. Tangents are those of
   Python functions.

   law        wrenches from positions, rotations, velocities and body angular velocities of frames
   joint_law  the effort in a joint from its coordinate and rate
   load       values at a time
   motion     n values at a time with their first and second derivatives
   event      a number that changes its sign
   control    values from q and v of the model and the control's own states
   callable   any function of a system, whose n numbers `out` are what the Python function of that name returns

   No two have the same type, so that each is refused where another is expected. */
#ifndef LG_SYSTEM_SIGNATURES_H
#define LG_SYSTEM_SIGNATURES_H

#define LG_SIGNATURES(ROW)                                                                                             \
    ROW(law, (double t, const double *x, const double *R, const double *xdot, const double *omega, double *wrench,     \
              double *tangent, void *data))                                                                            \
    ROW(joint_law, (double t, double coordinate, double rate, double *effort, double *tangent, void *data))            \
    ROW(load, (double t, double *value, void *data))                                                                   \
    ROW(motion, (double t, int n, double *value, double *rate, double *second_rate, void *data))                       \
    ROW(event, (double t, const double *q, const double *v, double *value, void *data))                                \
    ROW(control, (double t, const double *q, const double *v, const double *states, double *value, double *tangent,    \
                  void *data))                                                                                         \
    ROW(callable, (double t, const double *q, const double *v, const double *a, const double *lam, int n, double *out, \
                   void *data))

/* lg_signature_law and so on: types of functions. */
#define LG_SIGNATURE(name, arguments) typedef int lg_signature_##name arguments;
LG_SIGNATURES(LG_SIGNATURE)
#undef LG_SIGNATURE

typedef enum lg_signature {
#define LG_SIGNATURE(name, arguments) LG_SIGNATURE_##name,
    LG_SIGNATURES(LG_SIGNATURE) LG_SIGNATURE_COUNT
#undef LG_SIGNATURE
} lg_signature;

#endif
