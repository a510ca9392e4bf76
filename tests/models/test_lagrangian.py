"""Systems given by M(q), V(q) and g(q), against references in other coordinates that share no code with the library."""

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

import lgint
from compiled import compiled
from lgint._model.compare import same_record
from lgint._model.gradients import contradiction

MODELS = [
    ("mass_spring", {}),
    ("mass_spring", {"variant": "code"}),
    ("spring_pendulum", {"axial_stiffness": 30.0}),
]


def springs_by_scipy(t_end, masses=(1.0, 1.0), factor=0.25):
    """x1, x2 of mass_spring, which are minimal coordinates; x2 is relative to x1."""
    (m1, m2), k = masses, np.array([1.0, 3.0])

    def rhs(t, y):
        pull = factor * k * (2 * y[:2] + 4 * y[:2] ** 3)
        # m1 x1'' = -pull1 + pull2,  m2 (x1 + x2)'' = -pull2
        a1 = (pull[1] - pull[0]) / m1
        return [*y[2:], a1, -pull[1] / m2 - a1]

    return solve_ivp(rhs, (0, t_end), [0, 0, 1, -1], method="DOP853", rtol=1e-13, atol=1e-14).y[:2, -1]


def pendulum_by_scipy(t_end, stiffness):
    """Positions of spring_pendulum by SciPy in Cartesian coordinates."""

    def rhs(t, y):
        return [*y[3:], *(-stiffness * (y[:3] @ y[:3] - 1) / 2 * y[:3])]

    # at theta = 90 degrees, phi = 0: e_theta = -e_z, e_phi = e_y
    start = [1.05, 0, 0, 0, 1.05, -1.05]
    return solve_ivp(rhs, (0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:3, -1]


def cartesian(q):
    r, theta, phi = q
    return r * np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


def place(name, q):
    """The quantities of a run that are compared with `reference`."""
    return cartesian(q) if name == "spring_pendulum" else q[[0, 2]]


def reference(name, parameters, t_end):
    if name == "spring_pendulum":
        return pendulum_by_scipy(t_end, parameters.get("axial_stiffness", 300.0))
    return springs_by_scipy(t_end, *(((2.0, 1.0), 0.5) if parameters else ()))


@pytest.mark.parametrize("method", lgint.methods())
@pytest.mark.parametrize(("name", "parameters"), MODELS, ids=str)
def test_every_method_meets_the_reference_with_its_order(name, parameters, method):
    model = lgint.models.get(name)(**parameters)
    if method == "emh" or (method == "mph" and name == "mass_spring"):  # for bodies; for regular masses
        pytest.raises(ValueError, lgint.integrate, model, method, t_end=1.0, h=0.1)
        return
    order = lgint.method_info(method)["order"]
    # errors of order eight reach round-off before they fall as evenly as the others
    t_end, steps, band = (6.0, (6, 12), 0.35) if order == 8 else (1.0, (32, 64), 0.3)
    exact = reference(name, parameters, t_end)
    errors = []
    for n in steps:
        run = lgint.integrate(model, method, t_end=t_end, h=1.0 / n)
        errors.append(np.abs(place(name, run.q[-1]) - exact).max())
    assert errors[1] < 2e-2
    assert order - band < np.log2(errors[0] / errors[1]) < order + band


def test_what_is_constant_stays_constant():
    """A fine run keeps the energy and the angular momentum about z, and q2 stays tied to x1."""
    run = lgint.integrate(lgint.models.spring_pendulum(), "rk67", t_end=1.0, h=2e-3, save_every=50)
    r, theta, _ = run.q.T
    moment = (r * np.sin(theta)) ** 2 * run.v[:, 2]
    assert np.ptp(moment) < 1e-11 and moment[0] == pytest.approx(1.05**2)
    assert np.ptp(run.energy()) < 1e-8 and np.ptp(run.energy("kinetic")) > 0.1
    springs = lgint.integrate(lgint.models.mass_spring(), "genalpha", t_end=1.0, h=1e-2)
    assert np.abs(springs.q[:, 1] - springs.q[:, 0] - 1.1).max() < 1e-13
    assert np.ptp(springs.q[:, 0]) > 0.1


def test_a_singular_mass_matrix_costs_no_dense_solutions_in_implicit_steps():
    """The matrix of a step contains the stiffness and is regular; only the start needs the singular mass matrix."""
    run = lgint.integrate(lgint.models.mass_spring(), "genalpha", t_end=1.0, h=1e-2)
    assert run.stats.dense_fallbacks <= 1


# ---- gradients that are not given ----


def without(model, *names, **others):
    """The model made again from its functions, with some of them left out."""
    given = {name: function for name, function in model.given.items() if name not in names}
    return lgint.LagrangianModel(model.q0, model.v0, **{**given, **others})


ALL = ("mass_gradient", "potential_gradient", "constraint_jacobian")


@pytest.mark.parametrize(("name", "parameters"), MODELS, ids=str)
def test_gradients_by_complex_step_are_exact(name, parameters):
    """The same trajectory up to round-off."""
    model = lgint.models.get(name)(**parameters)
    formed = without(model, *ALL)
    assert set(model.gradients.values()) == {"given"} and set(formed.gradients.values()) == {"complex step"}
    runs = [lgint.integrate(m, "rk44", t_end=0.2, h=0.01) for m in (model, formed)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-14
    assert runs[0].stats.gradients_formed == 0 < runs[1].stats.gradients_formed


def test_gradients_of_functions_of_real_numbers_are_formed_by_differences():
    model = lgint.models.spring_pendulum(axial_stiffness=30.0)

    def potential(q):
        return 15.0 * ((math.pow(q[0], 2) - 1) / 2) ** 2

    def mass(q):
        M = np.eye(3)
        M[1, 1] = q[0] ** 2
        M[2, 2] = (q[0] * np.sin(q[1])) ** 2
        return M

    real = without(model, *ALL, potential=potential, mass=mass)
    assert real.gradients == {"mass_gradient": "differences", "potential_gradient": "differences"}
    runs = [lgint.integrate(m, "genalpha", t_end=0.2, h=0.01) for m in (model, real)]
    assert 0 < np.abs(runs[0].q - runs[1].q).max() < 1e-10
    assert lgint.check(real).ok


@pytest.mark.parametrize(
    "potential",
    [
        lambda q: abs(q[0]) ** 3,  # the modulus is real
        lambda q: float(np.real(q[0])) ** 2,  # the conversion drops the imaginary part
        lambda q: np.vdot(q, q).real,  # vdot takes the complex conjugate
        lambda q: np.linalg.norm(q),
    ],
)
def test_functions_that_are_not_analytic_are_recognised(potential):
    model = lgint.LagrangianModel([0.7], [0.2], mass=lambda q: np.eye(1), potential=potential)
    assert model.gradients == {"mass_gradient": "complex step", "potential_gradient": "differences"}
    force = model.core.evaluate(0.0, model.q0, model.v0, want=["force"])["force"]
    step = 1e-5
    assert force[0] == pytest.approx(-(potential(np.array([0.7 + step])) - potential(np.array([0.7 - step]))) / 2e-5)


def test_every_gradient_that_is_formed_is_counted():
    """rk44 takes four evaluations per step, each of which needs the gradients of mass and potential."""
    model = without(lgint.models.spring_pendulum(), *ALL)
    run = lgint.integrate(model, "rk44", t_end=0.1, h=0.01)
    assert run.stats.gradients_formed == 2 * run.stats.force_evaluations > 80


def test_runs_in_several_threads_count_their_own():
    model = without(lgint.models.spring_pendulum(), *ALL)

    def count(h):
        return lgint.integrate(model, "rk44", t_end=0.1, h=h).stats.gradients_formed

    alone = [count(h) for h in (0.01, 0.005)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(count, (0.01, 0.005))) == alone


def test_a_run_that_fails_has_counted():
    def force(t, q, v):
        if t > 0.05:
            raise ZeroDivisionError("no force here")
        return [0.0]

    model = lgint.LagrangianModel([1.0], [0.0], lambda q: np.eye(1), lambda q: q[0] ** 2, force=force)
    with pytest.raises(ZeroDivisionError) as caught:
        lgint.integrate(model, "rk44", t_end=0.1, h=0.01)
    assert caught.value.trajectory.stats.gradients_formed >= 2 * 4 * 4


# ---- forces ----


def test_a_force_takes_the_energy_that_it_takes():
    """With a linear damper, the change of energy is the integral of its power."""
    model = without(lgint.models.spring_pendulum(axial_stiffness=30.0), force=lambda t, q, v: -0.3 * v)
    run = lgint.integrate(model, "rk67", t_end=1.0, h=5e-3)
    power = -0.3 * (run.v**2).sum(1)
    work = simpson(power, x=run.t)
    change = np.diff(run.energy()[[0, -1]])[0]
    assert change == pytest.approx(work, rel=1e-5) and change < -0.1


def test_runs_land_on_the_kinks_of_a_force():
    def force(t, q, v):
        return [1.0 if t < 0.43 else -1.0]

    model = lgint.LagrangianModel([0.0], [0.0], lambda q: np.eye(1), lambda q: 0.0, force=force, kinks=[0.43])
    run = lgint.integrate(model, "rk44", t_end=1.0, h=0.1)
    assert 0.43 in run.t
    assert run.v[-1, 0] == pytest.approx(0.43 - 0.57, abs=1e-14)


# ---- a model like any other ----


def test_wrong_gradients_are_found():
    model = lgint.models.spring_pendulum()
    right = model.given
    for name, wrong in {
        "mass_gradient": lambda q: 1.00005 * right["mass_gradient"](q),
        "potential_gradient": lambda q: 1.00005 * np.asarray(right["potential_gradient"](q)),
    }.items():
        report = lgint.check(without(model, **{name: wrong}))
        assert any(item.name.startswith(name) and not item.ok for item in report.items), f"\n{report}"
    springs = lgint.models.mass_spring()
    rows = springs.given["constraint_jacobian"]
    report = lgint.check(without(springs, constraint_jacobian=lambda q: 1.00005 * np.asarray(rows(q))))
    assert any(item.name.startswith("constraint_jacobian") and not item.ok for item in report.items), f"\n{report}"


NEAR_ONE = {  # functions of numbers near 1 and 0.3, and their gradients
    "quadratic": (lambda q: q @ q / 2, lambda q: q),
    "steep": (lambda q: math.exp(1e4 * (q[0] - 1)), lambda q: [1e4 * math.exp(1e4 * (q[0] - 1)), 0.0]),
    "near a pole": (lambda q: 1 / (q[0] - 0.97), lambda q: [-1 / (q[0] - 0.97) ** 2, 0.0]),
    "near the end of its domain": (lambda q: math.sqrt(q[0] - 0.97), lambda q: [0.5 / math.sqrt(q[0] - 0.97), 0.0]),
    "in short waves": (lambda q: math.sin(1e6 * q[0]), lambda q: [1e6 * math.cos(1e6 * q[0]), 0.0]),
    "in short waves on long ones": (
        lambda q: q[0] ** 2 / 2 + 1e-6 * math.sin(1e6 * q[0]),
        lambda q: [q[0] + math.cos(1e6 * q[0]), 0.0],
    ),
    "narrow": (
        lambda q: math.exp(-(((q[0] - 1) / 1e-3) ** 2)),
        lambda q: [-2e6 * (q[0] - 1) * math.exp(-(((q[0] - 1) / 1e-3) ** 2)), 0.0],
    ),
    "with kinks": (lambda q: abs(q[0] - 1) + abs(q[1]), lambda q: [np.sign(q[0] - 1), np.sign(q[1])]),
    "with cancellation": (lambda q: (1e8 + q[0]) - 1e8, lambda q: [1.0, 0.0]),
    "in single precision": (lambda q: float(np.float32(q @ q)), lambda q: 2 * q),
    "of two sizes": (lambda q: 1e6 * q[0] ** 2 + 10 * q[1] ** 2, lambda q: [2e6 * q[0], 20 * q[1]]),
}


@pytest.mark.parametrize("name", NEAR_ONE)
def test_a_gradient_is_refused_where_it_is_wrong_alone(name):
    """Right ones pass, whatever the curvature of their function; an error of 1 % in any entry does not."""
    function, gradient = NEAR_ONE[name]
    for q in np.array([1.0, 0.3]) + np.random.default_rng(0).uniform(-0.02, 0.02, (30, 2)):
        assert contradiction(gradient, function, q) is None
        for k in np.flatnonzero(np.abs(gradient(q)) > 1e-3):
            wrong = 1 + 1e-2 * (np.arange(2) == k)
            assert contradiction(lambda x, wrong=wrong: wrong * np.asarray(gradient(x)), function, q) is not None


def test_a_gradient_that_is_right_at_one_point_alone_is_refused():
    given = {"mass": lambda q: np.eye(2), "potential": lambda q: q @ q / 2}
    right = lgint.LagrangianModel([1.0, 0.5], [0.0, 0.0], **given, potential_gradient=lambda q: q)
    assert right.gradients["potential_gradient"] == "given"
    for wrong in (lambda q: 1.001 * q, lambda q: q if q[0] > 0.99 else 3 * q):
        with pytest.raises(ValueError, match="potential_gradient: the gradient of potential expected"):
            lgint.LagrangianModel([1.0, 0.5], [0.0, 0.0], **given, potential_gradient=wrong)


def test_files_pickles_and_resumed_runs(tmp_path):
    """The factory makes the functions again, so that a loaded trajectory has an energy."""
    for name, parameters in MODELS:
        model = lgint.models.get(name)(**parameters)
        first = lgint.integrate(model, "genalpha", t_end=0.05, h=0.01)
        first.save(tmp_path / "run.npz")
        loaded = lgint.load(tmp_path / "run.npz")
        assert np.array_equal(loaded.energy(), first.energy()) and loaded.model.reference == model.reference
        assert same_record(loaded.model.parameters, model.parameters)
        assert pickle.loads(pickle.dumps(model)).parameters == model.parameters
        whole = lgint.integrate(model, "genalpha", t_end=0.1, h=0.01, stops=[0.05])
        for again in (first, loaded):
            for same in (model, lgint.models.get(name)(**parameters), pickle.loads(pickle.dumps(model))):
                rest = lgint.integrate(same, "genalpha", t_end=0.1, h=0.01, start=again)
                assert np.array_equal(rest.q[-1], whole.q[-1])


def _mass(q):
    return np.eye(1)


def _potential(q):
    return 2.0 * q[0] ** 2


def test_models_of_the_user_pickle_and_load(tmp_path):
    model = lgint.LagrangianModel([0.3], [0.1], _mass, _potential)
    again = pickle.loads(pickle.dumps(model))
    runs = [lgint.integrate(m, "rk44", t_end=0.1, h=0.01) for m in (model, again)]
    assert np.array_equal(runs[0].q, runs[1].q) and again.gradients == model.gradients
    runs[0].save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    assert np.array_equal(loaded.q, runs[0].q) and isinstance(loaded.model, lgint.LagrangianModel)
    with pytest.raises(RuntimeError, match="was not saved"):
        loaded.energy()


def test_other_parameters_and_other_starts():
    model = lgint.models.mass_spring()
    other = model.with_parameters(variant="code", stiffness=(2.0, 3.0))
    assert other.parameters["stiffness"] == (2.0, 3.0) and isinstance(other, lgint.LagrangianModel)
    assert other.core.energy(0.0, model.q0, model.v0)[0] == 1.0 and model.core.energy(0.0, model.q0, model.v0)[0] == 0.5
    moved = model.with_state(q=[0.2, 1.3, 0.1])
    assert moved.q0[0] == 0.2 and moved.core is model.core and moved.parameters == model.parameters
    with pytest.raises(ValueError, match="unknown parameter 'stifness' .did you mean 'stiffness'"):
        model.with_parameters(stifness=(1.0, 1.0))
    with pytest.raises(ValueError, match="with_parameters: .* is not a value of this model"):
        without(model).with_parameters(variant="code")


def test_what_needs_bodies_says_so():
    run = lgint.integrate(lgint.models.spring_pendulum(), "rk44", t_end=0.01, h=0.01)
    with pytest.raises(ValueError, match="a LagrangianModel has no bodies or joints"):
        run.position("bob")


WRONG = [
    ({"mass": None}, "mass: a function is required"),
    ({"potential": 3.0}, "potential: a function expected, got 3.0"),
    ({"force": compiled("spring", "callable")}, "force: a Python function expected, .*; CallableModel takes compiled"),
    ({"mass": lambda q: np.eye(3)}, r"mass\(q0\): shape \(2, 2\) expected, got \(3, 3\)"),
    ({"mass": lambda q: [[1.0, 0.5], [0.4, 1.0]]}, r"mass\(q0\): a symmetric matrix expected"),
    ({"mass": lambda q: np.diag([1.0, -2.0])}, r"mass\(q0\): no negative eigenvalue expected, got -2"),
    ({"potential_gradient": lambda q: [-2 * q[0], 0.0]}, "potential_gradient: the gradient of potential expected"),
    ({"mass_gradient": lambda q: np.ones((2, 2, 2))}, "mass_gradient: the gradient of mass expected"),
    ({"constraint": lambda q: q[: 1 + (np.real(q[0]) > 0)]}, "constraint: values of one shape expected"),
    ({"potential": lambda q: q}, r"potential\(q0\): shape \(\) expected, got \(2,\)"),
    ({"potential_gradient": lambda q: [q]}, r"potential_gradient\(q0\): shape \(2,\) expected"),
    ({"mass_gradient": lambda q: np.eye(2)}, r"mass_gradient\(q0\): shape \(2, 2, 2\) expected"),
    ({"constraint_jacobian": lambda q: np.eye(2)}, "constraint_jacobian requires constraint"),
    ({"constraint": lambda q: q[0]}, r"constraint\(q0\): shape \(1,\) expected, got \(\)"),
    ({"constraint": lambda q: q[:1], "constraint_jacobian": lambda q: q}, r"constraint_jacobian\(q0\): shape \(1, 2\)"),
    ({"force": lambda t, q, v: [0.0]}, r"force\(0, q0, v0\): shape \(2,\) expected, got \(1,\)"),
    ({"v0": [1.0]}, r"v0: shape \(2,\) expected, got \(1,\)"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message for _, message in WRONG])
def test_mistakes_are_named(wrong, message):
    right = {"q0": [0.0, 1.0], "v0": [0.0, 0.0], "mass": lambda q: np.eye(2), "potential": lambda q: q[0] ** 2}
    with pytest.raises(ValueError, match=message):
        lgint.LagrangianModel(**{**right, **wrong})


# ---- the paper's multibody models ----


def steady_precession(t, height=0.1, nutation=np.pi / 3, precession=10.0):
    """The centre of mass of steady_top by (120)."""
    l, s, c = 0.75 * height, np.sin(nutation), np.cos(nutation)  # noqa: E741
    return l * np.stack([s * np.sin(precession * t), -s * np.cos(precession * t), c + 0 * t], axis=-1)


@pytest.mark.parametrize("formulation", ["euler_parameters", "R3xSO3", "SE3"])
def test_the_steady_top_precesses_steadily(formulation):
    for parameters in ({}, {"height": 0.2, "nutation": 0.7, "precession": -6.0}):
        model = lgint.models.steady_top(formulation=formulation, **parameters)
        run = lgint.integrate(model, "rk67", t_end=0.2, h=2.5e-4, save_every=50)
        assert np.abs(run.position("body") - steady_precession(run.t, **parameters)).max() < 1e-10
    assert (model.nq == 4) == (formulation == "euler_parameters")


def test_a_top_whose_precession_is_not_about_gravity_is_refused():
    with pytest.raises(ValueError, match="gravity: a vector along -z expected"):
        lgint.models.steady_top(gravity=(0, 1, -9.81))
    with pytest.raises(ValueError, match="precession: a rate other than 0 expected"):
        lgint.models.steady_top(precession=0.0)


@pytest.mark.parametrize("formulation", ["euler_parameters", "SE3"])
def test_momenta_of_the_four_bars_are_the_impulses_of_the_load(formulation):
    run = lgint.integrate(lgint.models.four_bar(formulation=formulation), "rk67", t_end=1.5, h=1e-2)
    after = run.t >= 1.0
    assert np.abs(run.momentum()[after] - (400, 0, 0)).max() < 1e-9
    assert np.abs(run.angular_momentum()[after] - (300, 0, 0)).max() < 1e-9
    assert np.ptp(run.energy()[after]) < 1e-9 * run.energy()[-1]
    about_long_axes = [run.angular_velocity(f"bar{i}")[:, i % 2] for i in (1, 2, 3, 4)]
    assert np.abs(about_long_axes).max() < 1e-10


def test_the_mild_load_turns_the_first_bar_about_its_long_axis_as_well():
    run = lgint.integrate(lgint.models.four_bar(load="mild"), "rk67", t_end=1.5, h=1e-2)
    after = run.t >= 1.0
    assert np.abs(run.momentum()[after] - (40, 20, 10)).max() < 1e-10
    assert np.ptp(run.angular_momentum()[after], axis=0).max() < 1e-10 and np.ptp(run.energy()[after]) < 1e-10
    assert np.ptp(run.angular_velocity("bar1")[:, 1]) > 1.0
