"""Starts of runs: states of the same model bit for bit, those of similar models if they fit, valid states by hand."""

import time

import numpy as np
import pytest

import lgint
from face import systems
from face.tops import functions
from kinds import FREE

FIELDS = ("t", "q", "v", "vdot", "lam")


def top(formulation="R3xSO3", **parameters):
    return lgint.models.heavy_top(formulation=formulation, **{"omega0": (1.0, 16.0, -4.0), **parameters})


def slider(t, q, v):
    """An event that changes sign in the middle of a step of every run below."""
    return t - 0.1003


slider.terminal = True

# Runs that drift: model, method, options, and lower bounds of the last residual at position and velocity level.
DRIFTING = {
    "index 3": (top(), "genalpha", {"index": 3}, (0, 1e-6)),
    "index 2": (top(), "genalpha", {"index": 2}, (1e-7, 0)),
    "not projected": (top(), "euler", {}, (1e-5, 1e-5)),
    "four parameters": (top("euler_parameters_omega"), "euler", {}, (1e-5, 1e-5)),
    "closed loop": (lgint.models.slider_crank(), "genalpha", {"index": 3}, (0, 1e-6)),
}


@pytest.mark.parametrize("name", DRIFTING)
def test_a_state_of_the_same_model_is_taken_bit_for_bit(name):
    model, method, options, least = DRIFTING[name]
    given = {"h": 2e-3, **options}
    whole = lgint.integrate(model, method, t_end=0.2, stops=[0.1], **given)
    first = lgint.integrate(model, method, t_end=0.1, **given)
    for level, bound in zip(("position", "velocity"), least, strict=True):
        assert np.abs(first.constraint_residual(level)[-1]).max() >= bound
    rest = lgint.integrate(model, method, t_end=0.2, start=first, **given)
    for field in FIELDS:
        joined = np.concatenate([getattr(first, field), getattr(rest, field)[1:]])
        assert joined.tobytes() == getattr(whole, field).tobytes(), field


@pytest.mark.parametrize("name", DRIFTING)
def test_a_run_that_an_event_ended_goes_on_from_its_bits(name):
    """Dense output violates constraints inside a step, but the run continues from exactly the state at the event."""
    model, method, options, _ = DRIFTING[name]
    cut = lgint.integrate(model, method, t_end=0.2, h=2e-3, events=slider, **options)
    assert cut.status == 1 and cut.t[-1] == pytest.approx(0.1003, abs=1e-12)
    rest = lgint.integrate(model, method, t_end=0.2, h=2e-3, start=cut, **options)
    for field in FIELDS:
        assert np.array_equal(getattr(rest, field)[0], getattr(cut, field)[-1])
    assert rest.t[-1] == 0.2


def test_a_model_built_anew_is_the_same_model():
    """This includes elements with functions: they are the same if their code and the values it refers to are."""

    def build(size):
        builder = lgint.ModelBuilder()
        builder.add_body("body", mass=2.0, inertia=(1, 2, 3), angular_velocity=(1, 2, 3))
        builder.add_force("body", torque=lambda t: (0, 0, size * t), frame="body")
        return builder.build()

    runs = [lgint.integrate(build(size), "genalpha", t_end=0.5, h=0.01) for size in (1.0, 1.0)]
    rests = [lgint.integrate(build(1.0), "genalpha", t_end=1.0, h=0.01, start=run) for run in runs]
    whole = lgint.integrate(build(1.0), "genalpha", t_end=1.0, h=0.01, stops=[0.5])
    assert all(np.array_equal(rest.q[-1], whole.q[-1]) for rest in rests)
    assert np.array_equal(rests[0].vdot[0], runs[0].vdot[-1])
    louder = lgint.integrate(build(3.0), "genalpha", t_end=1.0, h=0.01, start=runs[0])
    assert louder.vdot[0, 5] - runs[0].vdot[-1, 5] == pytest.approx(2 * 0.5 / 3, rel=1e-3)


def test_a_callable_model_built_anew_is_the_same_model():
    first = lgint.integrate(lgint.CallableModel("R3xSO3", **functions()), "genalpha", t_end=5e-3, h=1e-3)
    rest = lgint.integrate(lgint.CallableModel("R3xSO3", **functions()), "genalpha", t_end=1e-2, h=1e-3, start=first)
    whole = lgint.integrate(lgint.CallableModel("R3xSO3", **functions()), "genalpha", t_end=1e-2, h=1e-3, stops=[5e-3])
    assert np.array_equal(rest.q[-1], whole.q[-1])


def test_a_saved_run_goes_on_with_the_functions_of_the_model_given(tmp_path):
    model = lgint.CallableModel("R3xSO3", **functions())
    lgint.integrate(model, "genalpha", t_end=5e-3, h=1e-3).save(tmp_path / "run.npz")
    rest = lgint.integrate(model, "genalpha", t_end=1e-2, h=1e-3, start=lgint.load(tmp_path / "run.npz"))
    whole = lgint.integrate(model, "genalpha", t_end=1e-2, h=1e-3, stops=[5e-3])
    assert np.array_equal(rest.q[-1], whole.q[-1])
    # the loaded model has no functions and the other one differs, so that the residual before the change is unknown
    other = lgint.CallableModel("R3xSO3", **{**functions(), "kinks": [0.7]})
    with pytest.raises(
        ValueError,
        match=r"constraint\[0\]' by .* at velocity level \(unknown under the run's own model, whose functions",
    ):
        lgint.integrate(other, "genalpha", t_end=1e-2, h=1e-3, start=lgint.load(tmp_path / "run.npz"))


OTHERS = [
    (lambda: top("SE3"), r"its bodies are top \(R3xSO3\), those of the model given are top \(SE3\)"),
    (lambda: top(constrained=False), r"its bodies are .*, those .* top \(R3xSO3, fixed at a point\)"),
    (lambda: lgint.models.free_body(formulation="R3xSO3"), r"its bodies are top \(R3xSO3\)"),
    (lambda: lgint.CallableModel("R3xSO3", **functions()), "its kinds of models are Model"),
]


@pytest.mark.parametrize(("make", "message"), OTHERS, ids=[message for _, message in OTHERS])
@pytest.mark.parametrize("begin", [lgint.integrate, lgint.Stepper])
def test_runs_of_other_models_are_refused(make, message, begin):
    run = lgint.integrate(top(), "rk44", t_end=1e-2, h=1e-3)
    given = {"t_end": 1.0, "h": 1e-3} if begin is lgint.integrate else {}
    with pytest.raises(ValueError, match=f"start: this trajectory belongs to another model; {message}"):
        begin(make(), "rk44", start=run, **given)


def test_joints_that_differ_are_refused():
    runs = [lgint.integrate(systems.two_bodies(kind), "rk44", t_end=1e-2, h=1e-3) for kind in ("revolute", "universal")]
    with pytest.raises(ValueError, match=r"its joints are joint \(universal, first, second\)"):
        lgint.integrate(systems.two_bodies("revolute"), "rk44", t_end=1.0, h=1e-3, start=runs[1])


@pytest.mark.parametrize("method", ["rk44", "genalpha", "hht"])
def test_a_switch_in_mid_run(method):
    """A second model has a torque: together the two runs are that of one model whose torque sets in halfway."""

    def body(torque):
        builder = lgint.ModelBuilder()
        builder.add_body("body", mass=1.0, inertia=(3.0, 3.0, 4.0), angular_velocity=(0.0, 0.0, 1.0))
        builder.add_force("body", torque=torque, name="motor")
        return builder.build()

    first = lgint.integrate(body((0, 0, 0)), method, t_end=0.5, h=5e-3)
    rest = lgint.integrate(body((0, 0, 8.0)), method, t_end=1.0, h=5e-3, start=first)
    assert rest.vdot[0, 5] == pytest.approx(2.0, abs=1e-12)
    assert rest.angular_velocity("body")[:, 2] == pytest.approx(1.0 + 2.0 * (rest.t - 0.5), abs=1e-10)


def test_a_heavier_top_goes_on_with_its_own_accelerations():
    """Only the mass changes, not the constraints: the state is taken although index 3 has drifted at velocity level."""
    run = lgint.integrate(top(), "genalpha", t_end=0.1, h=2e-3)
    assert np.abs(run.constraint_residual("velocity")[-1]).max() > 1e-6
    heavier = top(mass=30.0)
    rest = lgint.integrate(heavier, "genalpha", t_end=0.2, h=2e-3, start=run)
    consistent = heavier.with_state(run.q[-1], run.v[-1], project=True)
    lam = heavier.core.initial(run.t[-1], consistent.q0, consistent.v0)[1]
    assert rest.lam[0] == pytest.approx(lam, rel=1e-3)
    assert np.linalg.norm(rest.lam[0] - run.lam[-1]) > 0.5 * np.linalg.norm(run.lam[-1])


def test_changed_constraints_are_checked():
    run = lgint.integrate(top(), "genalpha", t_end=0.1, h=2e-3)
    for change in (1e-6, -1e-6):
        with pytest.raises(ValueError, match="changed parameters.*violates 'fixed_point.*model.with_state"):
            lgint.integrate(top(com=(0, 1 + change, 0)), "genalpha", t_end=1.0, h=2e-3, start=run)
    near = top(com=(0, 1 + 1e-10, 0))
    assert lgint.integrate(near, "genalpha", t_end=0.2, h=2e-3, start=run).t[-1] == 0.2


def test_angles_that_count_from_another_reference_are_refused():
    def bar(reference):
        builder = lgint.ModelBuilder(formulation="tait_bryan")
        builder.add_body("bar", mass=1.0, inertia=(1, 1, 1), reference=reference)
        return builder.build()

    run = lgint.integrate(bar(np.eye(3)), "rk44", t_end=0.1, h=1e-2)
    with pytest.raises(ValueError, match="'bar' mean a different rotation"):
        lgint.integrate(bar(systems.turn(0.1, (1, 0, 0))), "rk44", t_end=0.2, h=1e-2, start=run)


# ---- states given by hand ----


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("formulation", FREE)
def test_states_by_hand_are_rotations(formulation, constrained):
    """A stored matrix or quaternion that is scaled by 1 + d has the error d; vectors and angles are always valid."""
    model = lgint.models.heavy_top(formulation=formulation, constrained=constrained)
    first = 3 if constrained else 0
    width = model.nq - first
    scaled = [model.q0 * np.where(np.arange(model.nq) >= first, 1 + d, 1) for d in (1e-12, 1e-5, 2e-5, np.nan)]
    assert np.array_equal(model.with_state(q=scaled[0]).q0, scaled[0])
    with pytest.raises(ValueError, match="q: finite"):
        model.with_state(q=scaled[3])
    if width == 3:
        assert np.array_equal(model.with_state(q=scaled[2]).q0, scaled[2])
        return
    where = rf"q\[{first}:{model.nq}\]: "
    if width == 9:
        for q in scaled[1:3]:
            with pytest.raises(ValueError, match=where + "an orthogonal matrix"):
                model.with_state(q=q)
        with pytest.raises(ValueError, match=where + "an orthogonal matrix"):
            model.with_state(q=model.q0 * np.where(np.arange(model.nq) >= first, -1, 1))
        return
    with pytest.warns(UserWarning, match=where + "a quaternion of length 1.00001 was normalised"):
        near = model.with_state(q=scaled[1])
    assert np.linalg.norm(near.q0[first:]) == pytest.approx(1, abs=1e-15)
    with pytest.raises(ValueError, match=where + "a quaternion of unit length expected, got length 1.00002"):
        model.with_state(q=scaled[2])


def test_the_start_of_a_callable_model_is_a_rotation():
    given = functions()
    with pytest.raises(ValueError, match=r"q\[3:12\]: an orthogonal matrix"):
        lgint.CallableModel("R3xSO3", **{**given, "q0": 1.1 * given["q0"]})
    two = {"mass": lambda t, q: np.eye(5), "force": lambda t, q, v: np.zeros(5), "v0": np.zeros(5)}
    with pytest.raises(ValueError, match=r"q\[2:6\]: a quaternion of unit length expected, got length 2"):
        lgint.CallableModel([("Rn", 2), "S3"], q0=[7.0, 8.0, 2.0, 0, 0, 0], **two)


def test_a_projected_state_may_be_off():
    """The unit length of Euler parameters is a constraint row, onto which states are projected."""
    model = top("euler_parameters")
    q = model.q0.copy()
    q[3:] *= 1.01
    assert np.linalg.norm(model.with_state(q=q, project=True).q0[3:]) == pytest.approx(1, abs=1e-10)


# ---- what short calls cost ----


def shortest(call):
    """The least time of twenty calls, s."""
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.fixture
def hundred():
    """A hundred bodies in a row, with springs between them."""
    builder = lgint.ModelBuilder()
    for i in range(100):
        builder.add_body(f"b{i}", mass=1.0, inertia=(1, 1, 1), position=(i, 0, 0))
    for i in range(99):
        builder.add_spring(f"b{i}", f"b{i + 1}", stiffness=1.0)
    return builder.build()


@pytest.mark.measures
def test_a_resumed_call_costs_what_a_fresh_one_does(hundred):
    run = lgint.integrate(hundred, "rk44", t_end=1e-3, h=1e-3)
    fresh = shortest(lambda: lgint.integrate(hundred, "rk44", t_end=1e-3, h=1e-3))
    assert shortest(lambda: lgint.integrate(hundred, "rk44", t_end=2e-3, h=1e-3, start=run)) < 3 * fresh


@pytest.mark.measures
@pytest.mark.parametrize("built_again", [False, True])
def test_going_on_with_other_values_costs_what_a_few_steps_do(hundred, built_again):
    """The meaning of all coordinates is checked in one pass, not in one for each body."""
    run = lgint.integrate(hundred, "rk44", t_end=1e-3, h=1e-3)
    other = hundred.with_parameters(**{"b3.mass": 2.0})
    model = lgint.Model(other.record()) if built_again else other
    fresh = shortest(lambda: lgint.integrate(hundred, "rk44", t_end=1e-3, h=1e-3))
    assert shortest(lambda: lgint.integrate(model, "rk44", t_end=2e-3, h=1e-3, start=run)) < 10 * fresh


def test_a_built_model_says_why_it_has_no_such_parameter(hundred):
    with pytest.raises(ValueError, match=r"'b3\.mas' is not a value of this model \(did you mean 'b3\.mass'\?\)"):
        hundred.with_parameters(**{"b3.mas": 2.0})
    with pytest.raises(ValueError, match="only by models as that function made them; build this model again"):
        hundred.with_parameters(formulation="SE3")
