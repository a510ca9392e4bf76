"""The midpoint rules of energy-momentum methods on trees of hinges and slides."""

import functools

import numpy as np
import pytest

import lgint

METHODS = ["mpl", "mph"]
END = 0.4


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def arm(formulation="minimal", more=lambda builder: None, moving=True):
    """Six coordinates that turn and slide: a hinge about the vertical with two branches on it."""
    b = lgint.ModelBuilder(formulation=formulation, gravity=(0, 0, -9.81))
    for name, mass, x in [("hub", 1.0, (0.5, 0, 0)), ("left", 0.7, (1, 0.4, 0)), ("right", 0.5, (0.5, -0.5, 0.2))]:
        b.add_body(name, mass=mass, inertia=(0.1, 0.2, 0.25, 0.01, -0.02, 0.03), position=x)
    b.add_body("tip", mass=0.4, inertia=(0.05, 0.04, 0.06), position=(1, 1, 0.1))
    rates = [1.5, -1.0, (0.4, 0.3), (0.5, 1.0)] if formulation == "minimal" and moving else [None] * 4
    yaw, elbow, screw, cross = ({"rate": rate} for rate in rates)
    b.add_joint("revolute", "ground", "hub", name="yaw", point=(0, 0, 0), axis=(0, 0, 1), **yaw)
    b.add_joint("revolute", "hub", "left", name="elbow", point=(1, 0, 0), axis=(0, 1, 0), **elbow)
    b.add_joint("cylindrical", "hub", "right", name="screw", point=(0.5, 0, 0), axis=(0.6, 0.8, 0), **screw)
    axes = {"axis": (0, 0, 1), "second_axis": (1, 0, 0)}
    b.add_joint("universal", "left", "tip", name="cross", point=(1, 0.8, 0), **axes, **cross)
    b.add_spring("tip", "right", stiffness=20.0, name="spring")
    more(b)
    return b.build()


def closed():
    """A four-bar linkage with a loop that rows close, and a belt from its crank to a wheel."""
    b = lgint.ModelBuilder(formulation="minimal", gravity=(0, 0, -9.81))
    points = np.array([[0, 0, 0], [0.2, 0, 0.4], [1.1, 0, 0.6], [1.0, 0, 0]])
    for i, name in enumerate(["crank", "rod", "rocker"]):
        b.add_body(name, mass=1.0 + i, inertia=(0.1, 0.1, 0.1), position=points[i : i + 2].mean(axis=0))
    b.add_body("wheel", mass=1.0, inertia=(0.2, 0.2, 0.2), position=(-1, 0, 0))
    axis = {"axis": (0, 1, 0)}
    b.add_joint("revolute", "ground", "crank", name="a", point=points[0], **axis)
    b.add_joint("revolute", "crank", "rod", name="b", point=points[1], **axis)
    b.add_joint("revolute", "rod", "rocker", name="c", point=points[2], **axis)
    b.add_joint("revolute", "rocker", "ground", name="d", point=points[3], **axis)
    b.add_joint("revolute", "ground", "wheel", name="w", point=(-1, 0, 0), **axis)
    b.add_coupling({"a": 2.0, "w": 1.0}, name="belt")
    return b.build(redundant="drop")


def drag(t, x, R, xdot, omega):
    return np.concatenate([-0.3 * xdot, -0.1 * omega])


def damped():
    """With forces that depend on velocities, and a drive."""

    def more(builder):
        builder.add_joint_drive("elbow", stiffness=3.0, damping=0.2, torque=0.5)
        builder.add_force_law(drag, bodies="tip")

    return arm(more=more)


MODELS = {"arm": arm, "closed": closed, "damped": damped}


@functools.cache
def exact(name):
    """The model, and its q, v and p = M v at the end of a fine run."""
    model = MODELS[name]()
    run = lgint.integrate(model, "rk67" if name != "closed" else "herk5", t_end=END, h=END / 800, save_every=800)
    p = model.core.evaluate(END, run.q[-1], run.v[-1], run.v[-1], want=("Ma",))["Ma"]
    return model, (run.q[-1], run.v[-1], p)


@pytest.mark.parametrize("equivariant", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_order_two_in_q_v_and_p(name, method, equivariant):
    model, ends = exact(name)
    errors = []
    for n in 20 * 2 ** np.arange(3):
        run = lgint.integrate(model, method, t_end=END, h=END / n, save_every=n, equivariant=equivariant)
        found = run.q[-1], run.v[-1], run.extra["p"][-1]
        errors.append([np.abs(a - b).max() for a, b in zip(found, ends, strict=True)])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - 2).max() < 0.15, f"{errors}: {orders}"
    assert errors[-1][0] < 1e-3


def double_pendulum(formulation="minimal"):
    b = lgint.ModelBuilder(formulation=formulation, gravity=(0, -9.81, 0))
    for i, name in enumerate(["upper", "lower"]):
        b.add_body(name, mass=1.0 + i, inertia=(0.2, 0.2, 0.3 + 0.1 * i), position=(0.5 + i, 0, 0))
    b.add_joint("revolute", "ground", "upper", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    b.add_joint("revolute", "upper", "lower", point=(1, 0, 0), axis=(0, 0, 1), rate=-3.0)
    return b.build()


def double_pendulum_by_functions():
    """The same by its mass matrix and potential."""

    def mass(q):
        c = np.cos(q[1])
        m12 = 0.4 + 2.0 * 0.25 + 2.0 * 0.5 * c
        return np.array([[0.3 + 0.25 + 0.4 + 2.0 * (1.25 + c), m12], [m12, 0.4 + 0.5 + 0.0 * c]])

    def potential(q):
        return 9.81 * (1.0 * 0.5 * np.sin(q[0]) + 2.0 * (np.sin(q[0]) + 0.5 * np.sin(q[0] + q[1])))

    return lgint.LagrangianModel([0.0, 0.0], [2.0, -3.0], mass=mass, potential=potential)


def test_steps_are_those_of_the_mass_matrix(method):
    runs = [
        lgint.integrate(model, method, t_end=1.0, h=0.01, equivariant=True)
        for model in (double_pendulum(), double_pendulum_by_functions())
    ]
    for part in (lambda run: run.q, lambda run: run.v, lambda run: run.extra["p"]):
        assert np.abs(part(runs[0]) - part(runs[1])).max() < 1e-11


def test_maximal_coordinates_differ_by_the_square_of_the_step(method):
    differences = []
    for h in (0.01, 0.005):
        runs = [
            lgint.integrate(arm(formulation, moving=False), method, t_end=0.4, h=h, equivariant=True)
            for formulation in ("minimal", "euler_parameters")
        ]
        differences.append(np.abs(runs[0].position("tip")[-1] - runs[1].position("tip")[-1]).max())
    assert 3.7 < differences[0] / differences[1] < 4.3 and differences[0] < 1e-2


def test_the_momentum_about_the_vertical_and_the_energy(method):
    """The momentum of a coordinate on which nothing depends is kept; the energy stays near its value."""
    run = lgint.integrate(arm(), method, t_end=40.0, h=0.01)
    p = run.extra["p"][:, 0]
    assert np.abs(p - p[0]).max() < 1e-11
    assert np.abs(run.energy() - run.energy()[0]).max() < 5e-3


def test_loops_stay_closed_and_couplings_hold(method):
    run = lgint.integrate(closed(), method, t_end=2.0, h=0.01)
    assert max(np.abs(run.constraint_residual()).max(axis=-1)) < 1e-12
    assert np.ptp(run.joint_position("a")) > 0.5


def test_the_matrix_is_the_derivative_of_the_residual(method):
    """Newton's method converges quadratically: a matrix with a wrong entry takes more iterations."""
    for name in MODELS:
        run = lgint.integrate(MODELS[name](), method, t_end=0.2, h=0.01, equivariant=True)
        assert run.stats.newton_iterations <= 3.5 * run.stats.steps, name


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_forces_are_those_of_differences(name):
    """Without any part of the inertia, although one pass along the tree evaluates both elsewhere."""
    core, rng, step = MODELS[name]().core, np.random.default_rng(1), 1e-6
    q0, lam = 0.3 * rng.normal(size=core.nq), rng.normal(size=core.nrows)
    q1 = q0 + 0.02 * rng.normal(size=core.nq)

    def terms(q):
        return core.evaluate_pair(0.1, 0.01, q0, q, lam=lam, mem=np.zeros(core.nmem), midpoint=True, equivariant=True)

    def residual(q):
        found = terms(q)
        return found["Gtlam"] - found["force"]

    columns = [(residual(q1 + step * e) - residual(q1 - step * e)) / (2 * step) for e in np.eye(core.nq)]
    S = terms(q1)["S"]
    assert np.abs(S - np.transpose(columns)).max() < 1e-8 * np.abs(S).max()


def test_a_tree_beside_a_free_body_in_euler_parameters(method):
    def more(builder):
        builder.add_body("free", mass=1.0, inertia=(1, 2, 3), position=(2, 2, 2), formulation="euler_parameters")
        builder.add_spring("free", "tip", stiffness=10.0)

    model = arm(more=more)
    ends = [lgint.integrate(model, method, t_end=0.2, h=h, equivariant=True).q[-1] for h in (0.01, 0.005, 0.0025)]
    assert 3.7 < np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max() < 4.3
    refusal = f"{method} with equivariant=False does not take hub.tree in this model; equivariant=True does"
    with pytest.raises(ValueError, match=refusal):
        lgint.integrate(model, method, t_end=0.2, h=0.01, equivariant=False)


def test_resumed_runs_have_the_same_bits(method):
    whole = lgint.integrate(arm(), method, t_end=0.4, h=0.01)
    first = lgint.integrate(arm(), method, t_end=0.2, h=0.01)
    rest = lgint.integrate(arm(), method, start=first, t_end=0.4, h=0.01)
    assert rest.q[-1].tobytes() == whole.q[-1].tobytes()
    assert rest.extra["p"][-1].tobytes() == whole.extra["p"][-1].tobytes()


def test_a_step_that_fails_leaves_the_state(method):
    calls = [0, np.inf]

    def wrench(*point):
        calls[0] += 1
        if calls[0] >= calls[1]:
            raise ArithmeticError("enough")
        return drag(*point)

    model = arm(more=lambda builder: builder.add_force_law(wrench, bodies="tip"))
    whole = lgint.integrate(model, method, t_end=0.2, h=0.01)
    calls[:] = [0, 0.4 * calls[0]]
    with pytest.raises(ArithmeticError) as caught:
        lgint.integrate(model, method, t_end=0.2, h=0.01)
    calls[1] = np.inf
    rest = lgint.integrate(model, method, start=caught.value.trajectory, t_end=0.2, h=0.01)
    assert 1 < len(caught.value.trajectory) < len(whole)
    assert rest.q[-1].tobytes() == whole.q[-1].tobytes()


@pytest.mark.parametrize("discrete", ["eml", "reml", "null_eml", "emh"])
def test_discrete_gradients_refuse_trees(discrete):
    with pytest.raises(ValueError, match=f"{discrete} needs .*, but hub.tree is not one; genalpha, .* accept any"):
        lgint.integrate(arm(), discrete, t_end=0.1, h=0.01)


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_trees_with_rotations_are_refused(joint, method):
    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_body("end", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0))
    b.add_joint(joint, "ground", "arm", point=(0, 0, 0))
    b.add_joint("revolute", "arm", "end", point=(1.5, 0, 0), axis=(0, 0, 1))
    with pytest.raises(ValueError, match="trees of hinges and slides, or rigid bodies .* is not one"):
        lgint.integrate(b.build(), method, t_end=0.1, h=0.01, equivariant=True)
