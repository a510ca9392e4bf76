"""Fits of parameters to measurements: residuals, exact Jacobians, one run for each x, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import lgint
from lgint._run import fit

TIMES = np.linspace(0.013, 1.5, 40)
NAMES = ["bar.inertia[1,1]", "friction.damping", "start.pin"]


def pendulum(form="minimal", length=0.5):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=form)
    b.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.03), position=(0, 0, -length))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    b.add_joint_drive("pin", damping=0.1, name="friction")
    model = b.build()
    return model.with_state(model.state(joints={"pin": 1.2}))


def free_body():
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("ball", mass=2.0, inertia=(0.2, 0.25, 0.3), angular_velocity=(1.0, 2.0, 0.5), velocity=(1, 0, 2))
    b.add_spring(
        lgint.ground, "ball", stiffness=40.0, length=0.5, point_a=(1, 0, 1), point_b=(0, 0.2, 0), name="spring"
    )
    return b.build()


def problem(model=None, outputs=(("joint_angle", "pin"),), parameters=NAMES, method="genalpha", h=0.02, **arguments):
    model = model or pendulum()
    run = lgint.integrate(model, method, t_end=TIMES[-1], h=h, t_eval=TIMES)
    values = [np.asarray(getattr(run, name)(*rest)) for name, *rest in outputs]
    return lgint.fit_problem(model, method, (TIMES, *values), parameters, outputs=outputs, h=h, **arguments)


def differences(one, x, step=2.0**-11):
    """Of the sixth order, of `fun`."""
    total = np.zeros((len(one.fun(x)), len(x)))
    for times, weight in ((1, 45), (2, -9), (3, 1)):
        for k, e in enumerate(times * step * np.eye(len(x))):
            total[:, k] += weight / (60 * step) * (one.fun(x + e) - one.fun(x - e))
    return total


@pytest.mark.parametrize("form", ["minimal", "R3xSO3"])
def test_the_jacobian_is_that_of_the_residuals(form):
    one = problem(pendulum(form), [("joint_angle", "pin"), ("position", "bar")])
    x = one.x0 + [0.02, 0.03, -0.1]
    expected = differences(one, x)
    np.testing.assert_allclose(one.jac(x), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    assert one.jac(x).shape == (40 + 120, 3) and np.abs(expected).max(axis=0).min() > 0.1


def test_starts_of_free_bodies_and_points_of_joints():
    """Rotations begin at zero; a length moves the start, whose derivative is that of its projection from the guess."""
    names = ["start.ball.rotation[0]", "start.ball.rotation[2]", "start.ball.velocity[2]", "spring.length"]
    one = problem(free_body(), [("position", "ball")], names, h=0.05)
    np.testing.assert_allclose(one.x0, [0, 0, 2, 0.5], rtol=0, atol=1e-14)
    two = problem(pendulum("R3xSO3"), [("position", "bar")], ["pin.point_b[2]", "start.pin", "start.pin.rate"], h=0.05)
    for each, x in ((one, one.x0 + 0.1), (two, two.x0 + [0.05, 0.2, 0.1])):
        expected = differences(each, x)
        np.testing.assert_allclose(each.jac(x), expected, rtol=0, atol=2e-8 * np.abs(expected).max())


@pytest.fixture
def runs(monkeypatch):
    """A list with an entry for each run of a fit."""
    done = []

    def counted(*args, **kwargs):
        done.append(args[0])
        return lgint.integrate(*args, **kwargs)

    monkeypatch.setattr(fit, "integrate", counted)
    return done


def test_a_fit_takes_one_run_for_each_x(runs):
    """Damping and inertia from noise of 0.01 rad, within three standard errors of the truth."""
    truth = pendulum().with_parameters(**{"bar.inertia[1,1]": 0.083, "friction.damping": 0.15})
    angle = lgint.integrate(truth, "genalpha", t_end=1.5, h=0.02, t_eval=TIMES).joint_angle("pin")
    angle += 0.01 * np.random.default_rng(1).normal(size=40)
    one = lgint.fit_problem(pendulum(), "genalpha", (TIMES, angle), NAMES[:2], outputs=[("joint_angle", "pin")], h=0.02)
    found = least_squares(one.fun, one.x0, one.jac, x_scale="jac")
    error = np.sqrt(np.diag(one.covariance(found.x)))
    assert found.success and len(runs) == found.nfev <= 8
    assert (np.abs(found.x - [0.083, 0.15]) < 3 * error).all() and (error < 0.02 * found.x).all()
    J, r = one.jac(found.x), one.fun(found.x)
    np.testing.assert_allclose(one.covariance(found.x), np.linalg.inv(J.T @ J) * (r @ r) / 38, rtol=1e-9)
    assert len(runs) == found.nfev
    assert one.run(found.x).model.values["friction.damping"] == found.x[1]


def test_missing_values_and_weights():
    model = pendulum()
    run = lgint.integrate(model, "genalpha", t_end=1.5, h=0.02, t_eval=TIMES)
    angle, position = run.joint_angle("pin") + 0.1, run.position("bar")
    angle[3], position[:, 1] = np.nan, np.nan
    outputs = [("joint_angle", "pin"), ("position", "bar")]
    one = lgint.fit_problem(
        model, "genalpha", (TIMES, angle, position), NAMES, outputs=outputs, weights=(10.0, [1, 1, 2]), h=0.02
    )
    residual, slopes = one.fun(one.x0), one.jac(one.x0)
    assert residual.shape == (39 + 80,) and slopes.shape == (119, 3)
    np.testing.assert_allclose(residual, [-1.0] * 39 + [0.0] * 80, rtol=0, atol=1e-6)
    plain = problem(model, outputs).jac(one.x0)
    np.testing.assert_allclose(slopes[:3], 10 * plain[:3], rtol=1e-12)
    np.testing.assert_allclose(slopes[40], 2 * plain[42], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"data": (TIMES,)}, "data: times and one array for each of 1 outputs"),
        ({"data": (TIMES[::-1], TIMES)}, "data: increasing times"),
        ({"data": (TIMES, TIMES[:-1])}, r"data: joint_angle\('pin'\) has the shape \(40,\), but its data have \(39,\)"),
        ({"data": (TIMES, np.full(40, np.inf))}, "data: values of output 0: finite numbers"),
        ({"data": (TIMES, np.full(40, np.nan))}, "data: all values of output 0 are missing"),
        ({"data": (TIMES, ["a"] * 40)}, "data: values of output 0: numbers expected"),
        ({"parameters": ["bar.mas"]}, "parameters: 'bar.mas' is not a value .*did you mean 'bar.mass'"),
        ({"parameters": ["start.pi"]}, "parameters: 'start.pi'.*did you mean 'start.pin'"),
        ({"parameters": []}, "parameters: a list of names"),
        ({"outputs": [("joint_angel", "pin")]}, "outputs: .*did you mean 'joint_angle'"),
        ({"outputs": "joint_angle"}, "outputs: a list"),
        ({"outputs": [3]}, "outputs: a tuple"),
        ({"outputs": [("joint_angle", "pim")]}, "did you mean 'pin'"),
        ({"weights": [1.0, 2.0]}, "weights: one number or array for each of 1 outputs"),
        ({"weights": [-1.0]}, "weights: positive"),
        ({"weights": [[1.0, 2.0]]}, "weights: those of output 0 have the shape"),
        ({"t_eval": [1.0]}, "t_eval: a fit cannot have it"),
        ({"t_end": 1.0}, "t_eval must be ascending times"),
        ({"method": "reml"}, "reml"),
    ],
)
def test_what_is_refused(arguments, text):
    given = {"data": (TIMES, np.zeros(40)), "parameters": NAMES, "outputs": [("joint_angle", "pin")], "h": 0.02}
    given |= {"method": "genalpha", **arguments}
    method, data, parameters = (given.pop(name) for name in ("method", "data", "parameters"))
    with pytest.raises(ValueError, match=text):
        lgint.fit_problem(pendulum(), method, data, parameters, **given)


def test_what_the_data_do_not_determine():
    one = problem(parameters=["bar.inertia[0,0]", "friction.damping"])
    with pytest.raises(ValueError, match=r"do not depend on 'bar.inertia\[0,0\]'"):
        one.covariance(one.x0)
    two = problem(parameters=["bar.mass", "gravity[2]", "bar.inertia[1,1]", "friction.damping"])
    with pytest.raises(ValueError, match="do not tell 'bar.mass', .* apart"):
        two.covariance(two.x0)


def test_a_run_that_fails_names_its_parameters():
    one = problem(parameters=["friction.damping", "bar.mass"], max_iter=4)
    with pytest.raises(ValueError, match=r"bar.mass = -1\]"):
        one.fun([0.1, -1.0])
    with pytest.raises(lgint.IntegrationError, match=r"with friction.damping = -30, bar.mass = 1\]") as caught:
        one.fun([-30.0, 1.0])
    assert len(caught.value.trajectory) > 0
    assert one.fun(one.x0).shape == (40,)


def test_shooting_takes_few_runs(runs):
    """A torque of 21 knots swings a pendulum up; with differences each of the steps would take 22 runs."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    b.add_body("bar", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    b.add_joint_drive("pin", torque=(np.linspace(0, 2, 21), np.ones(21)), name="motor")
    names, outputs = [f"motor.load[{i},0]" for i in range(21)], [("joint_angle", "pin"), ("joint_rate", "pin")]
    one = lgint.fit_problem(b.build(), "genalpha", ([2.0], [np.pi], [0.0]), names, outputs=outputs, h=0.04)
    torque, change = one.x0, np.inf
    while np.abs(change).max() > 1e-3:
        J = one.jac(torque)
        change = np.linalg.pinv(J) @ (J @ torque - one.fun(torque)) - torque
        torque = torque + change
    assert len(runs) <= 40 and np.abs(one.fun(torque)).max() < 1e-5
    assert abs(torque @ torque - 74.18) < 0.01  # as by sequential quadratic programming
    multipliers, *_ = np.linalg.lstsq(one.jac(torque).T, torque, rcond=None)
    np.testing.assert_allclose(one.jac(torque).T @ multipliers, torque, rtol=0, atol=5e-3)
