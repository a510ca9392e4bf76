/* The queries of systems and of models. */
#include "bind/query.h"
#include "model/model.h"
#include "solve/query.h"

/* The method of a row, and its entry in the table of a type. */
#define METHOD(row)                                                                                                    \
    static PyObject *ask_##row(PyObject *self, PyObject *args, PyObject *kwargs)                                       \
    {                                                                                                                  \
        return lg_ask(&row, self, args, kwargs);                                                                       \
    }
#define ENTRY(row) {#row, LG_KEYWORDS(ask_##row), row##_doc}

/* ---- of all systems ---- */

#define RESULT(term, shape) {#term, shape},

PyDoc_STRVAR(
    evaluate_doc,
    "evaluate(t, q, v, a=None, lam=None, *, mem=None, want=None, k=(0, 0, 1), X=None, t_in=None, wa=1.0,\n"
    "         load=1.0, body_axes=False, static=False)\n--\n\nThe terms of the waist that are wanted, by name.");
static const lg_query evaluate = {
    "OOO|OO$OOOOOOOOO:evaluate",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_lam, LG_ARG_mem, LG_ARG_want, LG_ARG_k, LG_ARG_X, LG_ARG_t_in,
     LG_ARG_wa, LG_ARG_load, LG_ARG_body_axes, LG_ARG_static},
    {LG_TERMS(RESULT)},
    .at = lg_probe_terms,
    .named = 1,
    .coupling = LG_COUPLING_TANGENTS,
    .planned = 1 << LG_TERM_S,
};
METHOD(evaluate)

PyDoc_STRVAR(derivative_doc,
             "derivative(parameter, t, q, v, a=None, lam=None, *, mem=None, want=None, k=(0, 0, 1), X=None,\n"
             "           wa=1.0, load=1.0, body_axes=False, static=False)\n--\n\n"
             "Derivatives of these terms at fixed arguments by one of the numbers for which a model was\n"
             "`differentiated`, by its place in that list.");
static const lg_query derivative = {
    "OOOO|OO$OOOOOOOO:derivative",
    {LG_ARG_parameter, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_lam, LG_ARG_mem, LG_ARG_want, LG_ARG_k, LG_ARG_X,
     LG_ARG_wa, LG_ARG_load, LG_ARG_body_axes, LG_ARG_static},
    {LG_TERMS(RESULT)},
    .at = lg_probe_derivatives,
    .named = 1,
    .coupling = LG_COUPLING_TANGENTS,
    .planned = 1 << LG_TERM_S,
};
METHOD(derivative)

PyDoc_STRVAR(acceleration_rows_doc, "acceleration_rows(t, q, v, a, *, mem=None, body_axes=False, static=False)\n--\n\n"
                                    "The derivatives (..., nrows, nv) of B a - zeta by q and v at fixed a.\n"
                                    "ValueError if some row has none in closed form.");
static const lg_query acceleration_rows = {
    "OOOO|$OOO:acceleration_rows",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_mem, LG_ARG_body_axes, LG_ARG_static},
    {{"of_q", "rv"}, {"of_v", "rv"}},
    .at = lg_probe_acceleration_rows,
};
METHOD(acceleration_rows)

PyDoc_STRVAR(linearise_doc, "linearise(t, q, v, a=None, lam=None, *, mem=None)\n--\n\n"
                            "Stiffness, damping and mass in one evaluation, (..., nv, nv) each: the derivatives of\n"
                            "M a + gyro - force + B^T lam by q (in local coordinates), v and a.");
static const lg_query linearise = {
    "OOO|OO$O:linearise",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_lam, LG_ARG_mem},
    {{"K", "vv"}, {"D", "vv"}, {"M", "vv"}},
    .at = lg_probe_linear,
    .coupling = LG_COUPLING_TANGENTS,
    .planned = ~0u,
};
METHOD(linearise)

PyDoc_STRVAR(sparse_doc, "sparse(t, q, v, a=None, lam=None, *, mem=None, want=None, load=1.0, body_axes=False, "
                         "static=False)\n--\n\n"
                         "The entries of stiffness, damping, mass and B that are wanted, by name, in the order of\n"
                         "`sparsity`.");
static const lg_query sparse = {
    "OOO|OO$OOOOO:sparse",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_lam, LG_ARG_mem, LG_ARG_want, LG_ARG_load, LG_ARG_body_axes,
     LG_ARG_static},
    {{"K", "s"}, {"D", "s"}, {"M", "s"}, {"B", "b"}},
    .at = lg_probe_sparse,
    .named = 1,
    .coupling = LG_COUPLING_GROUPS,
    .planned = 7,
};
METHOD(sparse)

PyDoc_STRVAR(sparsity_doc, "sparsity()\n--\n\n"
                           "Rows and columns of the entries of K, D and M, and those of B, that `sparse` returns.");
static PyObject *ask_sparsity(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const lg_pattern *pattern = lg_system_of(self)->pattern;
    PyObject *indices[4] = {NULL};
    int done = 1;
    for (int i = 0; i < 4 && done; i++) {
        npy_intp count = (npy_intp)lg_probe_count(pattern, i / 2);
        done = (indices[i] = PyArray_SimpleNew(1, &count, NPY_INT)) != NULL;
    }
    for (int rows = 0; rows < 2 && done; rows++)
        lg_probe_sparsity(pattern, rows, PyArray_DATA((PyArrayObject *)indices[2 * rows]),
                          PyArray_DATA((PyArrayObject *)indices[2 * rows + 1]));
    PyObject *all = done ? PyTuple_Pack(4, indices[0], indices[1], indices[2], indices[3]) : NULL;
    for (int i = 0; i < 4; i++)
        Py_XDECREF(indices[i]);
    return all;
}

PyDoc_STRVAR(evaluate_pair_doc, "evaluate_pair(t, h, q0, q1, *, lam=None, mem=None, midpoint=False, equivariant=False, "
                                "want=None)\n--\n\nThe terms that are wanted in a step between two states, by name.");
static const lg_query evaluate_pair = {
    "OOOO|$OOOOO:evaluate_pair",
    {LG_ARG_t, LG_ARG_h, LG_ARG_q0, LG_ARG_q1, LG_ARG_lam, LG_ARG_mem, LG_ARG_midpoint, LG_ARG_equivariant,
     LG_ARG_want},
    {LG_PAIR_TERMS(RESULT)},
    .at = lg_probe_pair,
    .named = 1,
    .coupling = LG_COUPLING_GROUPS,
    .planned = ~0u,
};
METHOD(evaluate_pair)

PyDoc_STRVAR(energy_doc, "energy(t, q, v, load=1.0, mem=None)\n--\n\nKinetic and potential energy.");
static const lg_query energy = {
    "OOO|OO:energy",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_load, LG_ARG_mem},
    {{"T", ""}, {"V", ""}},
    .at = lg_probe_energy,
};
METHOD(energy)

PyDoc_STRVAR(residual_doc, "residual(t, q, v, mem=None, static=False)\n--\n\n"
                           "phi and phidot of the constraints. static: prescribed motions are taken at rest.");
static const lg_query residual = {
    "OOO|OO:residual",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem, LG_ARG_static},
    {{"phi", "r"}, {"phidot", "r"}},
    .at = lg_probe_residual,
};
METHOD(residual)

PyDoc_STRVAR(
    remember_doc,
    "remember(t, q, v, a, mem, span=0.0, theta=None)\n--\n\n"
    "The memory with which a run begins at a state, from a guess of it, or from the memory that the system had\n"
    "`span` ago, and the displacement theta (..., nv) since then; None: span v.");
static const lg_query remember = {
    "OOOOO|OO:remember",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_mem, LG_ARG_span, LG_ARG_theta},
    {{"mem", "m"}},
    .at = lg_probe_remember,
};
METHOD(remember)

PyDoc_STRVAR(sample_doc, "sample(t, q, v, mem)\n--\n\nThe memory after the samples that are due at a state.");
static const lg_query sample = {
    "OOOO:sample",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem},
    {{"mem", "m"}},
    .at = lg_probe_sample,
};
METHOD(sample)

PyDoc_STRVAR(stretch_doc,
             "stretch(t, q, v, mem)\n--\n\n"
             "Factors (..., nmem) by which the memory at a state can be multiplied so that no force changes\n"
             "and the kinks that forces have at it are far: bristles that slide are bent further.");
static const lg_query stretch = {
    "OOOO:stretch",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem},
    {{"factor", "m"}},
    .at = lg_probe_stretch,
};
METHOD(stretch)

PyDoc_STRVAR(
    follow_doc,
    "follow(parameter, t, q, v, mem, mem_from, change, dmem, *, t_from=0.0, q_from=None, v_from=None)\n--\n\n"
    "The change (..., nmem) of the memory mem at the end of a step from that at its start, mem_from, which changes\n"
    "by dmem, while q and v there and then at the end change by change (..., 4, nv); also by one of the numbers for\n"
    "which a model was `differentiated`, unless it is negative. Without q_from the end is a start of a run, and\n"
    "mem_from its guess.");
static const lg_query follow = {
    "OOOOOOOO|$OOO:follow",
    {LG_ARG_parameter, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem, LG_ARG_mem_from, LG_ARG_change, LG_ARG_dmem,
     LG_ARG_t_from, LG_ARG_q_from, LG_ARG_v_from},
    {{"dmem", "m"}},
    .at = lg_probe_follow,
};
METHOD(follow)

PyDoc_STRVAR(retract_doc, "retract(q, theta)\n--\n\nq exp(theta) block by block: (..., nq), (..., nv) -> (..., nq).");
static const lg_query retract = {"OO:retract", {LG_ARG_q, LG_ARG_theta}, {{"q", "q"}}, .at = lg_probe_retract};
METHOD(retract)

PyDoc_STRVAR(difference_doc,
             "difference(q0, q1)\n--\n\nlog(q0^-1 q1) block by block: (..., nq), (..., nq) -> (..., nv).");
static const lg_query difference = {
    "OO:difference", {LG_ARG_q0, LG_ARG_q1}, {{"theta", "v"}}, .at = lg_probe_difference};
METHOD(difference)

PyDoc_STRVAR(
    initial_doc,
    "initial(t, q, v, mem=None, *, load=1.0, body_axes=False, static=False, check=True)\n--\n\n"
    "Accelerations a (..., nv) and multipliers lam (..., nrows) at t (...,), q (..., nq), v (..., nv), and\n"
    "the memory that follows from the guess mem (..., nmem).\n"
    "ValueError naming the worst row if the start violates the constraints, unless check=False; SingularError\n"
    "if these are redundant.");
static const lg_query initial = {
    "OOO|O$OOOO:initial",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem, LG_ARG_load, LG_ARG_body_axes, LG_ARG_static, LG_ARG_check},
    {{"a", "v"}, {"lam", "r"}},
    .at = lg_probe_initial,
    .coupling = LG_COUPLING_MASS,
    .planned = ~0u,
    .solves = 1,
};
METHOD(initial)

PyDoc_STRVAR(project_doc,
             "project(t, q, v, mem=None, *, position=True, velocity=True)\n--\n\n"
             "The nearest consistent q (..., nq) and v (..., nv), by the shortest way in the mass metric, with the\n"
             "memory that follows from the guess mem (..., nmem).\n"
             "ConvergenceError if Newton's method does not find them, SingularError if the constraints are redundant.");
static const lg_query project = {
    "OOO|O$OO:project",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem, LG_ARG_position, LG_ARG_velocity},
    {{"q", "q"}, {"v", "v"}},
    .at = lg_probe_project,
    .coupling = LG_COUPLING_MASS,
    .planned = ~0u,
    .solves = 1,
};
METHOD(project)

PyDoc_STRVAR(
    project_slopes_doc,
    "project_slopes(t, q, v, slopes, mem=None)\n--\n\n"
    "The derivatives (..., nv) of the q and v to which `project` leads from a consistent start, by a number by\n"
    "which phi and phidot there have the derivatives `slopes` (..., 2, nrows).");
static const lg_query project_slopes = {
    "OOOO|O:project_slopes",
    {LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_slopes, LG_ARG_mem},
    {{"dq", "v"}, {"dv", "v"}},
    .at = lg_probe_slopes,
    .coupling = LG_COUPLING_MASS,
    .planned = ~0u,
    .solves = 1,
};
METHOD(project_slopes)

static PyMethodDef system_queries[] = {
    ENTRY(evaluate),       ENTRY(linearise),         ENTRY(evaluate_pair),
    ENTRY(derivative),     ENTRY(project_slopes),    ENTRY(energy),
    ENTRY(residual),       ENTRY(retract),           ENTRY(difference),
    ENTRY(initial),        ENTRY(project),           ENTRY(remember),
    ENTRY(sample),         ENTRY(stretch),           ENTRY(follow),
    ENTRY(sparse),         ENTRY(acceleration_rows), {"sparsity", ask_sparsity, METH_NOARGS, sparsity_doc},
    {NULL, NULL, 0, NULL},
};

/* ---- of models ---- */

PyDoc_STRVAR(
    kinematics_doc,
    "kinematics(frames, q, v, t=0.0)\n--\n\n"
    "x (..., n, 3), R (..., n, 3, 3), xdot (..., n, 3) and omega (..., n, 3) of n frames in one pass; without\n"
    "the axis n if `frames` is a single number.");
static const lg_query kinematics = {
    "OOO|O:kinematics",
    {LG_ARG_frames, LG_ARG_q, LG_ARG_v, LG_ARG_t},
    {{"x", "n3"}, {"R", "n33"}, {"xdot", "n3"}, {"omega", "n3"}},
    .of_part = lg_model_kinematics,
};
METHOD(kinematics)

PyDoc_STRVAR(positions_doc, "positions(frames, q, v, t=0.0)\n--\n\nx as `kinematics` gives it.");
static const lg_query positions = {
    "OOO|O:positions",
    {LG_ARG_frames, LG_ARG_q, LG_ARG_v, LG_ARG_t},
    {{"x", "n3"}},
    .of_part = lg_model_positions,
};
METHOD(positions)

PyDoc_STRVAR(accelerations_doc,
             "accelerations(frames, q, v, a, t=0.0)\n--\n\n"
             "Inertial accelerations (..., n, 3) and angular accelerations in body axes (..., n, 3)\n"
             "of n frames; without the axis n if `frames` is a single number.");
static const lg_query accelerations = {
    "OOOO|O:accelerations",
    {LG_ARG_frames, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_t},
    {{"xdd", "n3"}, {"omegadot", "n3"}},
    .of_part = lg_model_accelerations,
};
METHOD(accelerations)

PyDoc_STRVAR(jacobian_doc,
             "jacobian(slot, q, v, t=0.0, static=False)\n--\n\n"
             "The derivative (..., 6, nv) of a frame's inertial velocity and angular velocity in body axes\n"
             "by v, and the inertial acceleration and the angular one in body axes, (..., 6), at v' = 0,\n"
             "for t (...,), q (..., nq), v (..., nv). slot: the index of the frame.");
static const lg_query jacobian = {
    "OOO|OO:jacobian",
    {LG_ARG_slot, LG_ARG_q, LG_ARG_v, LG_ARG_t, LG_ARG_static},
    {{"J", "6v"}, {"bias", "6"}},
    .of_part = lg_model_jacobian,
};
METHOD(jacobian)

PyDoc_STRVAR(reaction_doc,
             "reaction(element, slot, t, q, v, lam, static=False, body_axes=False, mem=None)\n--\n\n"
             "Force in inertial axes and moment in body axes, (..., 6), with which a joint acts on its frame in slot\n"
             "0 or 1, by its constraint rows and its stresses, for t (...,), q (..., nq), v (..., nv),\n"
             "lam (..., nrows). static: prescribed motions are taken at rest. body_axes: the multipliers belong to\n"
             "rows in the axes of bodies.");
static const lg_query reaction = {
    "OOOOOO|OOO:reaction",
    {LG_ARG_element, LG_ARG_slot, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_lam, LG_ARG_static, LG_ARG_body_axes,
     LG_ARG_mem},
    {{"wrench", "6"}},
    .of_part = lg_model_reaction,
};
METHOD(reaction)

PyDoc_STRVAR(exerted_doc,
             "exerted(element, slot, t, q, v, mem, load=1.0, static=False)\n--\n\n"
             "Inertial force and moment, (..., 6), that a force exerts on its frame in slot 0 or 1, the position\n"
             "(..., 3) of that frame, and the power (...,) there, for t (...,), q (..., nq), v (..., nv),\n"
             "mem (..., nmem). load: factor of the loads; static: as in `reaction`.");
static const lg_query exerted = {
    "OOOOOO|OO:exerted",
    {LG_ARG_element, LG_ARG_slot, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem, LG_ARG_load, LG_ARG_static},
    {{"wrench", "6"}, {"x", "3"}, {"power", ""}},
    .of_part = lg_model_exerted,
};
METHOD(exerted)

PyDoc_STRVAR(
    contact_doc,
    "contact(element, slot, t, q, v, mem)\n--\n\n"
    "The gap (...,) at the point of a contact with the number in slot, the point, the normal out of the second\n"
    "body, and the force on the first one, (..., 3) each in inertial axes.");
static const lg_query contact = {
    "OOOOOO:contact",
    {LG_ARG_element, LG_ARG_slot, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem},
    {{"gap", ""}, {"point", "3"}, {"normal", "3"}, {"force", "3"}},
    .of_part = lg_model_contact,
};
METHOD(contact)

PyDoc_STRVAR(tendon_doc, "tendon(element, t, q, v, mem)\n--\n\n"
                         "The tension, the length and its rate (...,) of the elastic tendon with this piece.");
static const lg_query tendon = {
    "OOOOO:tendon",
    {LG_ARG_element, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_mem},
    {{"tension", ""}, {"length", ""}, {"rate", ""}},
    .of_part = lg_model_tendon,
};
METHOD(tendon)

PyDoc_STRVAR(strain_doc,
             "strain(elements, t, q, v, lam, static=False, mem=None)\n--\n\n"
             "Strains and stresses, (..., n, 6) each, of n edges of rods by their numbers, for t (...,), q (..., nq),\n"
             "v (..., nv), lam (..., nrows). The stresses of constrained strains are multipliers. static: as in\n"
             "`reaction`.");
static const lg_query strain = {
    "OOOOO|OO:strain",
    {LG_ARG_elements, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_lam, LG_ARG_static, LG_ARG_mem},
    {{"strain", "n6"}, {"stress", "n6"}},
    .of_part = lg_model_strain,
};
METHOD(strain)

PyDoc_STRVAR(transmitted_doc,
             "transmitted(element, link, t, q, v, a, lam, mem, load, static, body_axes=False)\n--\n\n"
             "Inertial force and moment, (..., 6), that the joint of a tree's link exerts on the link, at its\n"
             "origin, or a support (link 0) on what is attached to it, at its point. load: factor of the loads;\n"
             "static and body_axes: as in `reaction`.");
static const lg_query transmitted = {
    "OOOOOOOOOO|O:transmitted",
    {LG_ARG_element, LG_ARG_link, LG_ARG_t, LG_ARG_q, LG_ARG_v, LG_ARG_a, LG_ARG_lam, LG_ARG_mem, LG_ARG_load,
     LG_ARG_static, LG_ARG_body_axes},
    {{"wrench", "6"}},
    .of_part = lg_model_transmitted,
};
METHOD(transmitted)

PyDoc_STRVAR(rows_doc,
             "rows(element)\n--\n\n"
             "First constraint row, number of rows, first value of memory and number of values of an element.");
static PyObject *ask_rows(PyObject *self, PyObject *args)
{
    int element, numbers[4];
    lg_report report = {0};
    if (!PyArg_ParseTuple(args, "i:rows", &element))
        return NULL;
    lg_status status = lg_model_rows(lg_system_of(self), element, numbers, &report);
    if (status != LG_OK)
        return lg_raise(lg_module_of(Py_TYPE(self)), status, &report, NULL);
    return Py_BuildValue("(iiii)", numbers[0], numbers[1], numbers[2], numbers[3]);
}

static PyMethodDef model_queries[] = {
    ENTRY(kinematics),
    ENTRY(positions),
    ENTRY(accelerations),
    ENTRY(reaction),
    ENTRY(exerted),
    ENTRY(contact),
    ENTRY(jacobian),
    ENTRY(strain),
    ENTRY(transmitted),
    ENTRY(tendon),
    {"rows", ask_rows, METH_VARARGS, rows_doc},
    {NULL, NULL, 0, NULL},
};

/* ---- as methods of their types ---- */

static int add_methods(PyObject *module, const char *name, PyMethodDef *methods)
{
    PyObject *type = PyObject_GetAttrString(module, name);
    int done = type ? 0 : -1;
    for (; done == 0 && methods->ml_name; methods++) {
        PyObject *method = PyDescr_NewMethod((PyTypeObject *)type, methods);
        done = method ? PyObject_SetAttrString(type, methods->ml_name, method) : -1;
        Py_XDECREF(method);
    }
    Py_XDECREF(type);
    return done;
}

int lg_add_queries(PyObject *module)
{
    return add_methods(module, "System", system_queries) < 0 ? -1 : add_methods(module, "Model", model_queries);
}
