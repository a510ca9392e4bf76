"""`gradient`: derivatives of a number by one pass backwards, against those that runs carry along."""

import signal
import threading

import numpy as np
import pytest

import lgint
from lgint._run.outputs import outputs_of
from lgint._run.pullback import pull_back

METHODS = {
    "genalpha": [{}, {"index": 2}, {"index": "stabilized"}, {"index": "stabilized", "sigma": 0.0}],
    "newmark": [{}],
    "hht": [{}],
}
WAYS = [(method, options) for method, all_options in METHODS.items() for options in all_options]
LIE = ("R3xSO3", "SE3", "S3R3", "euler_parameters")
M = lgint.models
CASES = {
    "top": (lambda form: M.heavy_top(formulation=form), ["top.mass", "top.inertia[2,2]"], "top", 1e-3),
    "crank": (lambda form: M.slider_crank(formulation=form), ["rod.mass", "slider.mass"], "slider", 1e-3),
    "chain": (lambda form: M.pendulum_chain(n=3, formulation=form), ["link2.mass", "gravity[0]"], "link3", 2e-3),
    "tree": (lambda form: M.pendulum_chain(n=4, formulation="minimal"), ["link3.mass"], "link4", 2e-3),
    "disk": (lambda form: M.rolling_disk(), ["disk.mass"], "disk", 5e-3),
}


class Weighted:
    """A cost that is linear in its arrays, with random weights, which it keeps."""

    def __init__(self):
        self.times, self.weights = None, None

    def __call__(self, t, *arrays):
        random = np.random.default_rng(1)
        self.times, self.weights = t, [random.standard_normal(array.shape) for array in arrays]
        value = sum(np.sum(weight * array) for weight, array in zip(self.weights, arrays, strict=True))
        return float(value), self.weights


def arm():
    """A body on a hinge, with a spring, whose start has a joint angle."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    builder.add_spring(
        lgint.ground, "arm", stiffness=40.0, length=0.8, point_a=(0, 0, 1), point_b=(0.05, 0, 0.1), name="spring"
    )
    return builder.build()


def by_accessors(run, outputs, weights):
    """What the derivatives of accessors along a run give, and how much of it is round-off of their differences."""
    found, size = 0.0, 0.0
    for output, weight in zip(outputs_of(outputs), weights, strict=True):
        found += np.sum(weight[..., None] * output.slopes(run), axis=tuple(range(weight.ndim)))
        size += np.sum(np.abs(weight * output.of(run)))
    return found, 1e-10 * np.abs(found).max() + 1e-11 * size


def compared(model, method, names, outputs, **arguments):
    """A run with derivatives, weights of outputs, and the gradient of their sum: found, expected, size of all terms.

    The run of the gradient has the same bits.
    """
    forward = lgint.integrate(model, method, sensitivity=names, **arguments)
    cost = Weighted()
    _, found, run = lgint.gradient(model, method, cost, names, outputs=outputs, **arguments)
    assert np.array_equal(run.q, forward.q)
    assert np.array_equal(run.lam, forward.lam)
    rows, parts = pull_back(run, names, outputs_of(outputs), cost.weights)
    slopes, held = forward.sensitivity, model.core.nmem - model.first_held
    dheld = slopes.dmem[:, slopes.dmem.shape[1] - held :]
    columns = np.concatenate([slopes.dq, slopes.dv, slopes.dvdot, slopes.dlam, dheld], axis=1)
    expected = parts + np.einsum("ni,nip->p", rows, columns)
    size = np.abs(parts) + np.einsum("ni,nip->p", np.abs(rows), np.abs(columns))
    return forward, cost.weights, found, expected, size


def difference_to_forward(model, method, names, outputs, **arguments):
    """The largest difference to a derivative that a run carries along, over the sum of the sizes of its terms.

    If these are round-off of those of other parameters, they are measured by those.
    """
    forward, weights, found, expected, size = compared(model, method, names, outputs, **arguments)
    other, noise = by_accessors(forward, outputs, weights)
    np.testing.assert_allclose(found, other, rtol=0, atol=noise)
    return (np.abs(found - expected) / np.where(size > 1e-9 * size.max(), size, size.max())).max()


@pytest.mark.filterwarnings("ignore:inertia of")
@pytest.mark.parametrize(
    ("case", "formulation"),
    [(case, form) for case in ("top", "crank", "chain") for form in LIE] + [("tree", None), ("disk", None)],
)
@pytest.mark.parametrize(("method", "options"), WAYS)
def test_the_adjoint_agrees_with_forward_derivatives(method, options, case, formulation):
    make, names, body, h = CASES[case]
    outputs = [("position", body), ("angular_velocity", body)]
    found = difference_to_forward(make(formulation), method, names, outputs, t_end=12 * h, h=h, **options)
    assert found < 1e-12


@pytest.mark.parametrize("options", [{"index": 2}, {"index": "stabilized"}])
def test_every_accessor_and_start_values(options):
    names = ["arm.mass", "arm.inertia[1,1]", "spring.stiffness", "start.hinge", "start.hinge.rate", "hinge.point[0]"]
    outputs = [
        ("jacobian", "arm", (0.1, 0.0, 0.2)),
        ("rotation", "arm"),
        ("velocity", "arm"),
        ("joint_angle", "hinge"),
        ("joint_rate", "hinge"),
        ("reaction", "hinge"),
        ("acceleration", "arm"),
        ("energy",),
    ]
    assert difference_to_forward(arm(), "genalpha", names, outputs, t_end=0.1, h=5e-3, **options) < 1e-12


@pytest.mark.parametrize("options", [{"index": 2}, {"index": "stabilized"}])
def test_adaptive_steps_are_kept(options):
    names, outputs = ["top.mass", "top.inertia[2,2]"], [("position", "top"), ("reaction", "fixed_point")]
    found = difference_to_forward(M.heavy_top(), "genalpha", names, outputs, t_end=0.2, rtol=1e-5, atol=1e-6, **options)
    assert found < 2e-12


def pushed():
    """A body on a spring whose load has two kinks."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("block", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "block", point=(0, 0, -1), axis=(0, 0, 1), name="rail")
    builder.add_spring(lgint.ground, "block", stiffness=30.0, length=0.5, name="spring", point_a=(0, 0, 0))
    table = ([0.0, 0.021, 0.05, 1.0], [[0, 0, 0], [0, 0, 5.0], [0, 0, -3.0], [0, 0, -3.0]])
    builder.add_force("block", force=table, name="push")
    return builder.build()


@pytest.mark.parametrize("options", [{"index": 2}, {"index": "stabilized"}])
def test_restarts_at_kinks(options):
    outputs = [("position", "block"), ("acceleration", "block"), ("reaction", "rail")]
    names = ["block.mass", "spring.stiffness"]
    assert difference_to_forward(pushed(), "genalpha", names, outputs, t_end=0.08, h=5e-3, **options) < 1e-12


def test_differences_of_the_cost():
    model, names = arm(), ["arm.mass", "spring.stiffness"]

    def cost(t, x):
        return float(np.sum(x**2)), [2 * x]

    def value(name, change):
        other = model.with_parameters(**{name: float(model.values[name]) + change})
        return lgint.gradient(other, "genalpha", cost, names, outputs=[("position", "arm")], t_end=0.1, h=5e-3)[0]

    found = lgint.gradient(model, "genalpha", cost, names, outputs=[("position", "arm")], t_end=0.1, h=5e-3)[1]
    for name, slope in zip(names, found, strict=True):
        step = 1e-3 * float(model.values[name])
        assert (value(name, step) - value(name, -step)) / (2 * step) == pytest.approx(slope, rel=1e-5)


# ---- what the cost sees ----


def test_only_stops_and_the_end():
    model, names, stops = arm(), ["arm.mass"], [0.023, 0.05]
    cost = Weighted()
    arguments = {"outputs": [("position", "arm")], "t_end": 0.1, "h": 5e-3, "stops": stops}
    _, found, run = lgint.gradient(model, "genalpha", cost, names, every_state=False, **arguments)
    assert cost.times.tolist() == run.t.tolist() == [*stops, 0.1]
    forward = lgint.integrate(model, "genalpha", t_end=0.1, h=5e-3, stops=stops, sensitivity=names)
    rows = np.searchsorted(forward.t, run.t)
    expected = np.sum(cost.weights[0][..., None] * forward.derivative("position", "arm")[rows], axis=(0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_some_of_the_steps():
    cost = Weighted()
    run = lgint.gradient(arm(), "newmark", cost, ["arm.mass"], outputs=[("energy",)], t_end=0.1, h=5e-3, save_every=7)[
        2
    ]
    assert cost.times.tolist() == run.t.tolist()
    np.testing.assert_allclose(run.t, [0, 0.035, 0.07, 0.1])


# ---- checkpoints ----


def test_checkpoints_are_the_square_root_of_the_steps(monkeypatch):
    steps = []
    adjoint = lgint._core.adjoint
    monkeypatch.setattr(lgint._core, "adjoint", lambda *given: steps.append(given[10]) or adjoint(*given))
    monkeypatch.setattr("lgint._run.gradient._TAPE", 1e4)
    lgint.gradient(arm(), "newmark", Weighted(), ["arm.mass"], outputs=[("energy",)], t_end=1.0, h=1e-3)
    assert sum(steps) == 1000
    assert len(steps) == 45  # sqrt(2 * 1000) = 44.7
    assert max(steps) == 44


def test_steps_that_fit_into_memory_are_taken_once(monkeypatch):
    """More steps than one part of the tape has."""
    segments = []
    adjoint = lgint._core.adjoint
    monkeypatch.setattr(lgint._core, "adjoint", lambda *given: segments.append(given[10]) or adjoint(*given))

    def derivatives():
        return lgint.gradient(arm(), "genalpha", Weighted(), ["arm.mass"], outputs=[("energy",)], t_end=2.0, h=1e-3)[1]

    kept = derivatives()
    assert segments == [2000]
    monkeypatch.setattr("lgint._run.gradient._TAPE", 1e4)
    assert np.array_equal(derivatives(), kept)
    assert len(segments) > 50


def test_a_folder_gives_the_same_bits_and_is_left_empty(tmp_path):
    def run(**given):
        return lgint.gradient(
            arm(), "genalpha", Weighted(), ["arm.mass"], outputs=[("energy",)], t_end=0.2, h=5e-3, **given
        )

    in_memory, on_disk = run(), run(checkpoints=tmp_path / "new")
    assert in_memory[0] == on_disk[0]
    assert np.array_equal(in_memory[1], on_disk[1])
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"checkpoints: no folder can be made at .*file"):
        lgint.gradient(
            arm(),
            "genalpha",
            Weighted(),
            ["arm.mass"],
            outputs=[("energy",)],
            checkpoints=tmp_path / "file",
            t_end=0.1,
            h=0.01,
        )


# ---- mistakes, failures, interruption ----


def refused(cost=None, method="genalpha", names=("arm.mass",), **changes):
    arguments = {"outputs": [("position", "arm")], "t_end": 0.1, "h": 0.01, **changes}
    return lgint.gradient(arm(), method, cost or Weighted(), list(names), **arguments)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda t, x: 3.0, r"cost: a pair \(value, derivatives\) expected, got 3\.0"),
        (lambda t, x: (x, [x]), "cost: a finite number expected as value"),
        (lambda t, x: (np.nan, [x]), "cost: a finite number expected as value"),
        (lambda t, x: (1.0, [x, x]), "cost: a list of 1 arrays of derivatives expected"),
        (lambda t, x: (1.0, [x[0]]), r"derivatives by position\('arm'\) of shape \(11, 3\) .* shape \(3,\)"),
        (lambda t, x: (1.0, [np.full_like(x, np.inf)]), r"finite derivatives by position\('arm'\) expected"),
        (lambda t, x: (1.0, [1j * x]), r"real derivatives by position\('arm'\) expected"),
        (lambda t, x: (1j, [x]), "cost: a finite number expected as value, got 1j"),
        (lambda t, x: ("much", [x]), "cost: a finite number expected as value, got 'much'"),
    ],
)
def test_what_a_cost_must_return(cost, message):
    with pytest.raises(ValueError, match=message):
        refused(cost)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "eml"}, "steps of eml have no derivatives; those of all methods but eml, .*, mph have"),
        ({"form": "printed"}, "the steps of printed forms have no derivatives"),
        ({"names": ["arm.mas"]}, "^parameters: 'arm.mas' is not a value of this model .*'arm.mass'"),
        ({"names": ["start.hing"]}, "^parameters: .*start.hing"),
        ({"every_state": "no"}, "every_state: True or False expected, got 'no'"),
        ({"checkpoints": 3}, "checkpoints: a path of a folder expected, got 3"),
        ({"outputs": [("position", "arn")]}, "arn"),
        ({"outputs": [("place", "arm")]}, "outputs: trajectories have no method 'place'"),
        ({"outputs": [("save", "run.npz")]}, "outputs: trajectories have no method 'save' of states"),
        ({"outputs": [("position", "arm", 0)]}, "outputs: position: too many positional arguments"),
        ({"outputs": ["accelerations"]}, r"outputs: an array of numbers expected, but accelerations\(\) is \("),
        ({"outputs": "position"}, "outputs: a list of methods"),
        ({"t_eval": [0.1]}, "t_eval: gradient does not have this argument"),
        ({"every_state": False, "save_every": 2}, "save_every: with every_state=False"),
        ({"rho": 0.9}, "no option 'rho'"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        refused(**changes)


def test_a_failing_cost_leaves_the_folder_empty_and_reaches_the_caller(tmp_path):
    def fails(t, x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        refused(fails, checkpoints=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert np.isfinite(refused()[1]).all()


def test_a_failing_run_keeps_what_it_computed():
    with pytest.raises(lgint.ConvergenceError) as failed:
        lgint.gradient(
            M.heavy_top(), "genalpha", Weighted(), ["top.mass"], outputs=[("energy",)], t_end=1.0, h=0.1, max_iter=1
        )
    assert len(failed.value.trajectory.t) >= 1


@pytest.mark.parametrize("wanted", ["function", True])
def test_progress_is_shown_on_the_way_back(wanted, monkeypatch, capsys):
    times, adjoint = [], lgint._core.adjoint
    monkeypatch.setattr(lgint._core, "adjoint", lambda *given: given[15](0.02) or adjoint(*given))
    refused(progress=times.append if wanted == "function" else wanted)
    assert times.count(0.02) == (wanted == "function")
    assert capsys.readouterr().err.count("100") >= 2 * (wanted is True)


def test_what_is_no_model_or_no_function_is_named():
    with pytest.raises(ValueError, match="model: a model of bodies expected, got 3"):
        lgint.gradient(3, "rk44", Weighted(), ["arm.mass"], outputs=["energy"], t_end=0.1, h=0.01)
    with pytest.raises(ValueError, match="cost: a function expected, got 3"):
        lgint.gradient(arm(), "rk44", 3, ["arm.mass"], outputs=["energy"], t_end=0.1, h=0.01)


def test_ctrl_c_on_the_way_back(monkeypatch):
    main, adjoint = threading.get_ident(), lgint._core.adjoint

    def interrupted(*given):
        threading.Timer(0.02, signal.pthread_kill, (main, signal.SIGINT)).start()
        return adjoint(*given)

    monkeypatch.setattr(lgint._core, "adjoint", interrupted)
    arguments = {"outputs": [("position", "link20")], "t_end": 4.0, "h": 1e-3, "every_state": False}
    with pytest.raises(KeyboardInterrupt) as stopped:
        lgint.gradient(M.pendulum_chain(n=20), "rk44", Weighted(), ["link7.mass"], **arguments)
    assert isinstance(stopped.value, lgint.Interrupted)
    assert stopped.value.trajectory.t[-1] == 4.0
