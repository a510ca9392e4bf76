"""Force laws that Numba has compiled."""

import os
import pickle

import numpy as np
import pytest

import compiled
import lgint
from elements.test_compiled_laws import CASES, arm, run, swept

if "asan" in os.environ.get("LD_PRELOAD", ""):
    pytest.skip("Numba's compiler does not run under the address sanitizer", allow_module_level=True)
numba = pytest.importorskip("numba")


@numba.cfunc(lgint.signatures.joint_law)
def torque(t, angle, rate, effort, tangent, data):
    effort[0] = -3.0 * angle - 0.2 * rate * rate * rate + t
    return 0


@numba.cfunc(lgint.signatures.law)
def wrench(t, x, R, xdot, omega, w, tangent, data):
    for i in range(3):
        w[i] = -3.0 * x[i] - 0.1 * xdot[i] * xdot[i] * xdot[i]
        w[3 + i] = t * R[3 * i] - (0.1 + 0.1 * i) * omega[i]
    return 0


@numba.cfunc(lgint.signatures.joint_law)
def raises(t, angle, rate, effort, tangent, data):
    if t > 0.05:
        raise ValueError("this is not seen")
    effort[0] = 0.0
    return 0


@pytest.mark.parametrize("name", ["torque", "wrench"])
def test_a_law_of_numba_has_the_bits_of_the_same_law_in_python(name):
    _, where = CASES[name]
    own, twin = arm(globals()[name], **where), arm(getattr(compiled, name), **where)
    assert not own.core.needs_gil
    assert np.array_equal(run(own).q, run(twin).q)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_that_numba_swallows_ends_the_run():
    with pytest.raises(
        lgint.IntegrationError, match="the function of 'motor' left 1 of 1 numbers unwritten at t = 0.05"
    ):
        run(arm(raises, joint=True))


def test_a_signature_of_numba_is_checked():
    with pytest.raises(ValueError, match=r"got int \(double, double, double, double \*, double \*, void \*\)"):
        arm(torque)
    types = [*[numba.float64] * 3, *[numba.types.CPointer(numba.float32)] * 2, numba.types.voidptr]
    single = numba.cfunc(numba.int32(*types))(lambda t, angle, rate, effort, tangent, data: 0)
    with pytest.raises(ValueError, match=r"got int \(double, double, double, float \*, "):
        arm(single, joint=True)


def test_a_global_law_of_numba_is_pickled_by_its_name():
    model = arm(torque, joint=True)
    assert np.array_equal(run(pickle.loads(pickle.dumps(model))).q, run(model).q)


def test_signatures_without_numba_are_texts(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    assert lgint.signatures.joint_law == "int (double, double, double, double *, double *, void *)"
    assert np.all([isinstance(getattr(lgint.signatures, name), str) for name in lgint.signatures.prototypes])


@numba.cfunc(lgint.signatures.joint_law)
def pull(t, length, rate, force, tangent, data):
    force[0] = 40.0 * (length - 1.0) + 2.0 * rate
    return 0


def test_a_compiled_spring_has_the_bits_of_the_same_one_in_python():
    def spring(force):
        b = lgint.ModelBuilder()
        b.add_body("mass", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1, 0.2, 0), velocity=(0.3, 1, 0))
        b.add_spring(lgint.ground, "mass", force=force, point_b=(0.1, 0, 0), name="spring")
        return lgint.integrate(b.build(), "genalpha", t_end=0.2, h=1e-2)

    own, twin = spring(pull), spring(lambda t, length, rate: 40.0 * (length - 1.0) + 2.0 * rate)
    assert not own.model.core.needs_gil and np.array_equal(own.q, twin.q)


@numba.cfunc(lgint.signatures.joint_law)
def sloped(t, angle, rate, effort, tangent, data):
    effort[0] = -3.0 * angle - 0.2 * rate * rate * rate + t
    slopes = numba.carray(tangent, 2)
    if slopes.ctypes.data != 0:
        slopes[0] = -3.0
        slopes[1] = -0.6 * rate * rate
    return 0


def test_a_law_of_numba_may_write_its_tangent():
    own, twin = (
        arm(sloped, joint=True, tangent=True),
        arm(compiled.compiled("torque", "joint_law"), joint=True, tangent=True),
    )
    for method in ("genalpha", "rk44"):  # explicit methods want no tangent
        assert np.array_equal(run(own, method).q, run(twin, method).q)


def braked(coefficient):
    @numba.cfunc(lgint.signatures.joint_law)
    def brake(t, angle, rate, effort, tangent, data):
        effort[0] = -coefficient * rate
        return 0

    return brake


def test_a_folder_knows_a_law_of_numba_by_its_code(tmp_path):
    first = run(arm(braked(1.0), joint=True), path=tmp_path / "run")
    assert np.array_equal(run(arm(braked(1.0), joint=True), path=tmp_path / "run").q, first.q)
    with pytest.raises(ValueError, match="a different function"):
        run(arm(braked(2.0), joint=True), path=tmp_path / "run")


def test_the_file_of_a_sweep_knows_a_law_that_its_model_captures(tmp_path):
    def model(law):
        return lambda mass: arm(law, joint=True)

    first = swept(model(braked(1.0)), tmp_path / "runs")
    assert swept(model(braked(1.0)), tmp_path / "runs") == first
    with pytest.raises(ValueError, match="belongs to a sweep with model"):
        swept(model(braked(2.0)), tmp_path / "runs")
