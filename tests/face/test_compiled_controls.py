"""Compiled controls, and systems of compiled functions, against the same functions in Python."""

import numpy as np
import pytest

import lgint
from compiled import compiled


def held(function, *, every=None, tangent=None, reads=None):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    more = {} if every else {"tangent": tangent, "reads": reads}
    builder.add_control(function, joints="hinge", states={"sum": 0.1}, every=every, name="pid", **more)
    return builder.build()


def pid(state):
    angle, rate, own = state.q[0], state.v[0], state.control("pid").states["sum"]
    return [-5.0 * angle - 0.5 * rate - 2.0 * own + state.t, angle - 0.1]


@pytest.mark.parametrize("method", ["rk44", "genalpha", "radau5"])
@pytest.mark.parametrize("every", [None, 0.02])
def test_a_compiled_control_has_the_bits_of_the_same_control_in_python(method, every):
    own, twin = held(compiled("pid", "control"), every=every), held(pid, every=every)
    assert not own.core.needs_gil and twin.core.needs_gil
    own, twin = (lgint.integrate(model, method, t_end=0.2, h=5e-3) for model in (own, twin))
    assert np.array_equal(own.q, twin.q)
    for one in ("hinge", "sum"):
        kind = "efforts" if one == "hinge" else "states"
        first, second = (getattr(run.control("pid"), kind)[one] for run in (own, twin))
        assert np.array_equal(first, second) and np.ptp(first) > 1e-3
    assert own.state(7).control("pid").efforts["hinge"] == twin.state(7).control("pid").efforts["hinge"]


def test_a_compiled_tangent_is_that_of_differences():
    function = compiled("pid", "control")
    exact, plain = (held(function, tangent=tangent).state(v=[0.3, 0.2], t=0.1) for tangent in (True, None))
    assert np.abs(exact.stiffness_matrix() - plain.stiffness_matrix()).max() < 1e-8
    assert np.abs(exact.damping_matrix() - plain.damping_matrix()).max() < 1e-8
    assert np.abs(exact.damping_matrix()).max() > 0.4


def test_another_type_is_refused():
    with pytest.raises(
        ValueError, match=r"function of control 'pid': .*signatures\.control\), got int \(double, double,"
    ):
        held(compiled("torque", "joint_law"))


PYTHON = {
    "mass": lambda t, q: 2.0 * np.eye(2),
    "force": lambda t, q, v: [-3.0 * q[0] - 0.1 * v[0], -9.81 + 0.2 * t],
    "constraint": lambda t, q: [q[0] * q[0] + q[1] * q[1] - 1.0],
    "constraint_jacobian": lambda t, q: [[2.0 * q[0], 2.0 * q[1]]],
}
COMPILED = {"mass": "mass", "force": "spring", "constraint": "circle", "constraint_jacobian": "slopes"}


def bead(compiled_ones):
    functions = {**PYTHON, **{name: compiled(COMPILED[name], "callable") for name in compiled_ones}}
    return lgint.CallableModel(("Rn", 2), (1.0, 0.0), (0.0, 0.5), **functions, nrows=1)


@pytest.mark.parametrize("method", ["rk44", "genalpha", "herk3"])
def test_compiled_functions_of_a_system_have_the_bits_of_those_in_python(method):
    models = bead(COMPILED), bead(["force"]), bead([])
    assert [model.core.needs_gil for model in models] == [False, True, True]
    own, mixed, twin = (lgint.integrate(model, method, t_end=0.3, h=0.01).q for model in models)
    assert np.array_equal(own, twin) and np.array_equal(mixed, twin)
    assert lgint.check(bead(COMPILED)).ok


def test_systems_refuse_other_types_and_unknown_sizes():
    with pytest.raises(ValueError, match=r"force: .*signatures\.callable\)"):
        lgint.CallableModel(("Rn", 2), (1, 0), (0, 1), PYTHON["mass"], compiled("push", "load"))
    functions = {**PYTHON, "constraint": compiled("circle", "callable")}
    with pytest.raises(ValueError, match="nrows: the number of rows of a compiled constraint"):
        lgint.CallableModel(("Rn", 2), (1, 0), (0, 1), **functions)
