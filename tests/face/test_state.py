"""States: they have the accessors of trajectories without the first axis."""

import copy
import inspect
import itertools
import pickle
import timeit
from functools import partial

import numpy as np
import pytest

import lgint
from face import systems
from kinds import FREE, NODES
from lgint._model.model import Model
from lgint._state.outputs import OutputAccessors
from pace import in_turn

# values of the accessors' parameters except for names, of which all are tried; one that is missing here fails the test
VALUES = {
    "X": [(0.1, -0.2, 0.3), None],
    "kind": [None, "total", "kinetic", "potential", "generalized"],
    "level": ["position", "velocity"],
    "coordinate": [None, "angle", "slide"],
    "frame": ["inertial", "body", "joint"],
    "on": ["first", "second", None],
    "drives": [False, True],
}
ACCESSORS = [name for name in dir(OutputAccessors) if name[0] != "_"]


def jointed(formulation):
    """Two bodies on joints with an angle, a slide and both, a drive, a law, and a support that moves."""
    builder = lgint.ModelBuilder(gravity=systems.GRAVITY, formulation=formulation)
    support = builder.add_support(
        "crane", position=(0, 0, 1), motion=lambda t: np.array([[0.1 * t, 0, 1, 0, 0, 0], [0.1, *[0] * 5], [0] * 6])
    )
    body = {"mass": 1.3, "inertia": (0.3, 0.4, 0.5, 0.02, -0.03, 0.01), "rotation": systems.turn(0.9, (1, -1, 2))}
    builder.add_body("first", position=(0.1, -0.2, 0.3), velocity=(0.1, 0, 0), **body)
    builder.add_body("second", position=(0.9, 0.4, -0.3), velocity=(0.1, 0, 0), **body)
    builder.add_joint("revolute", support, "first", point=(0, 0, 1), axis=(0, 1, 1), name="pin", angle=7.0)
    builder.add_joint("cylindrical", "first", "second", point=(0.5, 0.1, 0), axis=(1, 2, -1), name="guide")
    builder.add_joint_drive("pin", stiffness=3.0, damping=0.2, torque=1.0)
    builder.add_joint_drive("guide", stiffness=30.0, coordinate="slide")
    builder.add_force_law(lambda t, angle, rate: -0.3 * rate, joint="guide", coordinate="angle")
    return builder.build()


def flexible():
    """A flexible body that turns on a hinge."""
    beam = lgint.modal.beam(length=2.0, mass=3.0, bending=(500.0, 100.0), modes={"bending_y": 2}, elements=4)
    builder = lgint.ModelBuilder(gravity=systems.GRAVITY)
    builder.add_modal_body("beam", beam)
    builder.add_joint("revolute", lgint.ground, "beam", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    return builder.build()


def short(model, method="genalpha", **options):
    return lgint.integrate(model, method, t_end=3e-3, h=1e-3, **options)


def equilibria():
    builder = lgint.ModelBuilder(gravity=systems.GRAVITY)
    builder.add_rod(
        "rod", start=(0, 0, 0), end=(1, 0, 0), edges=3, stiffness=(1e3, 1e3, 1e4, 20.0, 30.0, 25.0),
        inertia=(1.0, 1e-3, 1e-3, 2e-3), clamped=[0],
    )  # fmt: skip
    return lgint.equilibrium(builder.build(), loads=(0.5, 1.0))


RUNS = {
    **{name: lambda name=name: short(lgint.models.get(name)()) for name in lgint.models.names()},
    **{
        f"jointed, {name}": lambda name=name: short(
            jointed(name), "genalpha" if name not in NODES or not NODES[name]["explicit_only"] else "rk44"
        )
        for name in FREE
    },
    "minimal": lambda: short(systems.double_pendulum("minimal", "minimal")),
    "equilibria": equilibria,
    "flexible": lambda: short(flexible()),
    **{name: lambda name=name: short(lgint.models.four_bar(), name) for name in ("eml", "mph", "emh")},
    "equivariant": lambda: short(lgint.models.four_bar(), "eml", equivariant=True),
    "dense": lambda: short(systems.pendulum(omega=3.0), "rk44", dense_output=True).at([1e-4, 1.5e-3]),
}


def names_in(model):
    """Names of all parts of a model that accessors take, and one that it does not have."""
    known = isinstance(model, lgint.Model)
    parts = (model.bodies, model.joints, model.rods, model.forces, model.supports) if known else ()
    listed = [name for part in parts for name in [*part][:4]]
    return [*listed, *(f"{name}.com" for name in listed[:1]), "nobody"]


def calls(accessor, model):
    """The arguments with which an accessor is called: all names, and all values of the other parameters."""
    function = inspect.getattr_static(OutputAccessors, accessor)
    parameters = [*inspect.signature(function).parameters][1:]
    named = {"name": names_in(model), "rod": names_in(model), "body": [*names_in(model), None]}
    values = [named.get(name) or VALUES[name] for name in parameters]
    return [dict(zip(parameters, given, strict=True)) for given in itertools.product(*values)]


def outcome(states, accessor, arguments):
    """What an accessor returns, or the text of its error."""
    found = getattr(type(states), accessor, None)
    try:
        return getattr(states, accessor) if isinstance(found, property) else getattr(states, accessor)(**arguments)
    except (ValueError, AttributeError) as error:
        return str(error)


def cases(accessor, model):
    static = inspect.getattr_static(OutputAccessors, accessor)
    return [{}] if isinstance(static, property) else calls(accessor, model)


def same(one, many, i):
    """Whether the value of a state is that of a trajectory at its index; texts and names are those of all states."""
    if isinstance(many, tuple):
        return all(same(*values, i) for values in zip(one, many, strict=True))
    if isinstance(many, np.ndarray):
        one, of_run = np.asarray(one), many[i]
        return one.shape == of_run.shape and np.allclose(one, of_run, rtol=1e-12, atol=1e-13, equal_nan=True)
    return one == many or (isinstance(many, list) and one == many[i])


@pytest.mark.filterwarnings("ignore:inertia of 'link")
@pytest.mark.parametrize("name", RUNS)
def test_every_accessor_gives_what_the_trajectory_has_at_each_index(name):
    run = RUNS[name]()
    found = 0
    for accessor in ACCESSORS:
        for arguments in cases(accessor, run.model):
            expected = outcome(run, accessor, arguments)
            found += isinstance(expected, (np.ndarray, tuple))
            for i in range(len(run)):
                value = outcome(run.state(i), accessor, arguments)
                if accessor == "quaternion" and not isinstance(expected, str):
                    value = value * (1 if value @ expected[i] > 0 else -1)  # a trajectory has no jumps of sign
                assert same(value, expected, i), (accessor, arguments, i, value)
    assert found > 5


def test_all_accessors_of_a_trajectory_are_those_of_a_state():
    own = {name for name in vars(lgint.Trajectory) if name[0] != "_"}
    of_runs = {"animate", "at", "derivative", "plot", "save", "sensitivity", "state", "to_pandas", "to_xarray", "view"}
    assert own == of_runs
    assert {"position", "joint_angle", "reaction", "energy", "stable", "constraint_residual"} <= {*ACCESSORS}
    assert {*ACCESSORS} <= {*dir(lgint.State)} & {*dir(lgint.Trajectory)}


# ---- where states come from ----


@pytest.fixture(scope="module")
def run():
    return short(jointed("R3xSO3"), dense_output=True)


def parts_of(state):
    return {name: getattr(state, name) for name in ("t", "q", "v", "vdot", "lam", "mem")}


def equal_parts(one, other):
    return all(np.array_equal(value, parts_of(other)[name]) for name, value in parts_of(one).items())


def test_a_state_by_its_time_is_the_saved_one_or_that_of_dense_output(run):
    assert equal_parts(run.state(t=run.t[2]), run.state(2)) and equal_parts(run.state(-1), run.state(3))
    between = run.at(1.5e-3)
    assert equal_parts(run.state(t=1.5e-3), between.state(0))
    assert run.state(t=1.5e-3).joint_angle("pin") == between.joint_angle("pin")[0]
    assert run.state(np.int64(1)).t == run.t[1] and type(run.state(1).t) is float


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({}, "the number of a state"),
        ({"index": 0, "t": 0.0}, "the number of a state"),
        ({"index": 0.5}, r"state\(t=0.5\) takes a time"),
        ({"index": True}, "a whole number expected"),
        ({"index": [1]}, "a whole number expected"),
        ({"t": 9.0}, "times between 0 and 0.003"),
        ({"t": "now"}, "numbers expected"),
    ],
)
def test_states_that_a_run_does_not_have(run, arguments, text):
    with pytest.raises(ValueError, match=text):
        run.state(**arguments)


def test_numbers_and_times_that_a_run_does_not_have(run):
    with pytest.raises(IndexError, match="4 is not one of the 4 states"):
        run.state(4)
    with pytest.raises(ValueError, match=r"no state was saved at 0.0015; integrate with dense_output=True"):
        short(run.model).state(t=1.5e-3)


@pytest.mark.parametrize("method", ["genalpha", "dopri5", "eml"])
def test_the_state_of_a_stepper_is_that_of_the_run_and_stays(method):
    model = lgint.models.four_bar()
    run = lgint.integrate(model, method, t_end=0.04, h=0.01)
    stepper = lgint.Stepper(model, method)
    states = [stepper.state]
    for _ in range(4):
        stepper.step(0.01)
        states.append(stepper.state)
    for i, state in enumerate(states):
        assert equal_parts(state, run.state(i)) and state.options == run.options
        assert np.array_equal(state.momentum(), run.state(i).momentum())
        assert np.isclose(state.energy(), run.energy()[i], rtol=1e-14)


@pytest.mark.filterwarnings("ignore:inertia of 'link")
@pytest.mark.parametrize("model", [jointed("SE3"), systems.double_pendulum("minimal", "minimal"), flexible()])
def test_the_state_of_a_model_is_the_start_of_its_runs(model):
    state, first = model.state(), short(model, "rk44").state(0)
    for name, value in parts_of(state).items():
        assert np.allclose(value, parts_of(first)[name], rtol=1e-12, atol=1e-10), name
    assert state.method is None and state.extra == {} and "t = 0:" in repr(state)


def test_the_state_of_a_model_at_other_coordinates(run):
    last = run.state(-1)
    state = run.model.state(last.q, last.v, t=last.t)
    assert np.allclose(state.position("second"), last.position("second"), rtol=1e-15)
    assert np.isclose(state.joint_angle("pin"), last.joint_angle("pin"), rtol=1e-14)
    for q, text in ((last.q[1:], "q: shape"), (np.full_like(last.q, np.nan), "finite"), (2 * last.q, "orthogonal")):
        with pytest.raises(ValueError, match=text):
            run.model.state(q)
    with pytest.raises(ValueError, match="v: shape"):
        run.model.state(v=last.q)
    with pytest.raises(ValueError, match="t: "):
        run.model.state(t=np.inf)
    moved = run.model.state(run.model.q0 + 0.1 * (np.arange(run.model.nq) == 0))
    assert moved.position("first")[0] == pytest.approx(0.2)
    with pytest.raises(ValueError, match="violates"):
        _ = moved.vdot


def test_states_are_read_only(run):
    stepper = lgint.Stepper(run.model, "genalpha")
    for state in (run.state(1), run.state(t=1e-4), stepper.state, run.model.state()):
        for name, value in parts_of(state).items():
            assert name == "t" or not value.flags.writeable
            with pytest.raises(AttributeError, match=f"{name}: a state is read-only"):
                setattr(state, name, value)
        with pytest.raises(AttributeError, match="read-only"):
            del state.q
        assert copy.copy(state) is state and copy.deepcopy(state) is state
    assert run.q.flags.writeable
    with pytest.raises(AttributeError, match="jointangle"):
        _ = run.state(1).jointangle


def test_states_in_files():
    model = lgint.models.four_bar()
    stepper = lgint.Stepper(model, "eml")
    for state in (model.state(), stepper.state, short(model, "eml").state(2)):
        twin = pickle.loads(pickle.dumps(state))
        assert equal_parts(twin, state) and twin.energy() == state.energy() and twin.method == state.method
    many = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=1.0, h=1e-3)
    assert len(pickle.dumps(many.state(3))) < 0.1 * len(pickle.dumps(many))


def test_parts_that_a_run_has_not_kept():
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=3e-3, h=1e-3, save=["q"])
    assert run.state(1).joint_angles().size == 0
    with pytest.raises(AttributeError, match="v was not kept"):
        run.state(1).position("top")
    assert np.array_equal(run.state(-1).v, run.end["v"][-1])  # the end of a run has all of them


@pytest.mark.filterwarnings("ignore:inertia of 'link")
@pytest.mark.parametrize("which", RUNS)
def test_positions_are_those_of_kinematics(which):
    """They are computed without rotations and velocities, to the same bits."""
    run = RUNS[which]()
    if isinstance(run.model, Model):
        for name in (*run.model.bodies, *run.model.supports):
            found = run.model.kinematics(name, run.q, run.v, run.clock)[0]
            assert run.position(name).tobytes() == found.tobytes()


@pytest.mark.measures
def test_states_cost_little():
    """In processor time, relative to a small Python object, of 0.12 to 0.15 us.

    A State takes 4 to 7 of these, a position 17 to 21 more (2.4 to 2.9 us), and an angle 7 to 12 more (1.0 to 1.7 us).
    """
    model = lgint.models.slider_crank()
    run, stepper = short(model), lgint.Stepper(model, "genalpha")

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    joint = model.state().angle_names[0]
    for make in (lambda: run.state(2), lambda: stepper.state, model.state):
        calls = (
            lambda: Pair(1, 2),
            make,
            lambda make=make: make().position("rod"),
            lambda make=make: make().joint_angle(joint),
        )
        timers = (timeit.Timer(call) for call in calls)
        plain, made, position, angle = in_turn(*(partial(timer.timeit, 500) for timer in timers), repeat=40)
        assert made < 10 * plain
        assert position - made < 25 * plain
        assert angle - made < 18 * plain


# ---- starts from states ----

CONTINUED = {
    "genalpha": {"h": 1e-3, "rho_inf": 0.8},
    "hht": {"h": 1e-3},
    "rk44": {"h": 1e-3},
    "herk4": {"h": 1e-3},
    "dopri5": {"rtol": 1e-6},
    "eml": {"h": 1e-3},
}


def tail_bits(run, after):
    later = run.t >= after
    return [getattr(run, name)[later].tobytes() for name in ("t", "q", "v", "vdot", "lam", "mem")]


@pytest.mark.parametrize("method", CONTINUED)
def test_a_run_from_the_end_of_a_run_continues_it_bit_for_bit(method, tmp_path):
    model = lgint.models.four_bar() if method == "eml" else lgint.models.slider_crank()
    options = CONTINUED[method]
    first = lgint.integrate(model, method, t_end=0.02, **options)
    whole = lgint.integrate(model, method, t_end=0.04, start=first, **options)
    first.save(tmp_path / "first.npz")
    stepper = lgint.Stepper(model, method, start=first)
    loaded = lgint.load(tmp_path / "first.npz")
    found = [first.state(-1), first, loaded.state(-1), stepper.state, pickle.loads(pickle.dumps(stepper.state))]
    for state in found[: 3 if method == "dopri5" else 5]:  # a stepper has no tolerances, and so other options
        again = lgint.integrate(model.with_state(state), method, t0=0.02, t_end=0.04, **options)
        assert tail_bits(again, 0.02) == tail_bits(whole, 0.02)
    given = {name: value for name, value in options.items() if name not in ("h", "rtol")}
    twin = lgint.Stepper(model.with_state(stepper.state), method, t0=stepper.t, **given)
    for one in (stepper, twin):
        one.step(1e-3)
    assert np.array_equal(stepper.q, twin.q)


def test_quaternions_that_drift_in_a_run_keep_their_bits(tmp_path):
    """Quaternions of euler_parameters are held to unit length by a row, which methods satisfy with an error."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="euler_parameters")
    builder.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0.5, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0))
    model = builder.build()
    stepper = lgint.Stepper(model, "rk44")
    first = lgint.integrate(model, "rk44", t_end=0.5, h=1e-2)
    assert abs(np.linalg.norm(first.q[-1, 3:7]) - 1) > 1e-8
    whole = lgint.integrate(model, "rk44", t_end=0.6, h=1e-2, start=first)
    again = lgint.integrate(model.with_state(first.state(-1)), "rk44", t0=first.t[-1], t_end=0.6, h=1e-2)
    assert tail_bits(again, 0.5) == tail_bits(whole, 0.5)
    again.save(tmp_path / "again.npz")
    for twin in (lgint.load(tmp_path / "again.npz").model, pickle.loads(pickle.dumps(again.model))):
        assert twin.q0.tobytes() == first.q[-1].tobytes()
    for _ in range(50):
        stepper.step(1e-2)
    twin = lgint.Stepper(model, "rk44")
    twin.set(stepper.state)
    for one in (stepper, twin):
        one.step(1e-2)
    assert twin.q.tobytes() == stepper.q.tobytes()
    drifted = stepper.q
    stepper.set(v=np.zeros(model.nv))
    assert stepper.q.tobytes() == drifted.tobytes() and not stepper.v.any()
    with pytest.raises(ValueError, match="violates"):
        stepper.set(v=np.ones(model.nv))
    with pytest.warns(UserWarning, match="was normalised"):
        model.with_state(first.q[-1])


def unit(t, q):
    return np.eye(2)


def back(t, q, v):
    return -q


@pytest.mark.parametrize("method", ["genalpha", "herk4", "rk44"])
def test_a_pickled_model_starts_in_the_state_from_which_it_was_taken(method):
    functions = lgint.CallableModel([("Rn", 2)], q0=[1, 2], v0=[0, 0], mass=unit, force=back)
    model = functions if method == "rk44" else lgint.models.slider_crank()
    first = lgint.integrate(model, method, t_end=0.02, h=2e-3)
    start = model.with_state(first.state(-1))
    whole = lgint.integrate(start, method, t0=0.02, t_end=0.04, h=2e-3)
    for twin in (pickle.loads(pickle.dumps(start)), copy.deepcopy(start)):
        again = lgint.integrate(twin, method, t0=0.02, t_end=0.04, h=2e-3)
        assert tail_bits(again, 0.0) == tail_bits(whole, 0.0)


def test_a_state_inside_a_run_is_held_to_the_residual_that_it_had():
    """Index 3 leaves residuals at velocity level far above 1e-8; a run starts there, without projection."""
    model = lgint.models.slider_crank()
    run = lgint.integrate(model, "genalpha", t_end=0.02, h=2e-3)
    state = run.state(5)
    assert np.abs(state.constraint_residual("velocity")).max() > 1e-6
    for method in ("genalpha", "herk4", "newmark"):
        again = lgint.integrate(model.with_state(state), method, t0=state.t, t_end=0.02, h=2e-3)
        assert again.q[0].tobytes() == run.q[5].tobytes() and again.v[0].tobytes() == run.v[5].tobytes()
        assert np.abs(again.q[-1] - run.q[-1]).max() < 1e-4
    others = (state.q, state.v), (state, state.v), (model.state(state.q, state.v),)
    for plain in (model.with_state(*other) for other in others):
        with pytest.raises(ValueError, match="violates"):
            lgint.integrate(plain, "genalpha", t_end=0.02, h=2e-3)
    assert np.isfinite(model.with_state(state).state().vdot).all()


def test_other_parameters_may_not_add_to_the_residual():
    model = jointed("R3xSO3")
    run = lgint.integrate(model, "genalpha", t_end=0.02, h=2e-3)
    start = model.with_state(run.state(-1))
    heavier = start.with_parameters(**{"first.mass": 5.0})
    assert len(lgint.integrate(heavier, "genalpha", t0=0.02, t_end=0.04, h=2e-3)) == 11
    with pytest.raises(ValueError, match="violates"):  # the crane has moved by then
        lgint.integrate(start, "genalpha", t0=0.5, t_end=0.6, h=2e-3)


def test_an_ensemble_starts_in_states_of_runs():
    model = lgint.models.slider_crank()
    run = lgint.integrate(model, "genalpha", t_end=0.02, h=2e-3)
    starts = [model.with_state(run.state(i)) for i in (3, -1)]
    both = lgint.integrate(starts, "genalpha", t0=0.02, t_end=0.04, h=2e-3)
    whole = lgint.integrate(model, "genalpha", t_end=0.04, h=2e-3)
    assert tail_bits(both[1], 0.02)[1:] == tail_bits(whole, 0.02 - 1e-12)[1:]


def test_other_options_start_afresh_from_a_state():
    model = lgint.models.slider_crank()
    state = lgint.integrate(model, "genalpha", t_end=0.02, h=2e-3, rho_inf=0.5).state(-1)
    run = lgint.integrate(model.with_state(state), "genalpha", t0=0.02, t_end=0.03, h=2e-3, rho_inf=0.9)
    assert np.array_equal(run.q[0], state.q) and not np.array_equal(run.vdot[0], state.vdot)
    with pytest.raises(ValueError, match="other coordinates"):
        lgint.models.heavy_top().with_state(state)


# ---- events ----


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters", "minimal"])
def test_an_event_of_a_state_counts_turns(formulation):
    """The event of a state's angle is that of the trajectory's angle, on every formulation, past full turns."""
    model = systems.pendulum(formulation, omega=40.0, gravity=(0, 0, 0))
    kept = []

    def two_turns(state):
        kept.append(state)
        return state.joint_angle("pin") - 4 * np.pi

    def by_arrays(t, q, v):
        return t - 0.1

    two_turns.terminal = True
    run = lgint.integrate(model, "rk44", t_end=1.0, h=5e-3, events=[two_turns, by_arrays])
    assert run.t_events[0] == pytest.approx(np.pi / 10, abs=1e-6) and run.t_events[1] == pytest.approx(0.1, abs=1e-12)
    assert run.joint_angle("pin")[-1] == pytest.approx(4 * np.pi, abs=1e-12)
    inside = [state for state in kept if state.t in run.t[1:-1]]
    assert len(inside) > 50
    for state in inside:  # the states stay what they were
        i = int(np.searchsorted(run.t, state.t))
        assert state.position("bar").tobytes() == run.position("bar")[i].tobytes()
        assert state.joint_angle("pin") == run.joint_angle("pin")[i]


@pytest.mark.parametrize("name", ["vdot", "lam", "reaction", "carry"])
def test_states_of_events_lack_what_is_not_known_yet(name):
    def event(state):
        return state.reaction("pin")[2] if name == "reaction" else getattr(state, name)[0]

    with pytest.raises(AttributeError, match="before accelerations and multipliers are known"):
        lgint.integrate(systems.pendulum(), "rk44", t_end=0.1, h=1e-2, events=event)


class Level:
    """Callable objects, methods and functions with other parameters."""

    def __call__(self, state):
        return state.position("bar")[2] + 0.4

    def method(self, state, *, level=-0.4):
        return state.position("bar")[2] - level

    @staticmethod
    def several(*arguments):
        return arguments[1][2] + 0.4

    @staticmethod
    def default(t, q=None, v=None):
        return q[2] + 0.4


def test_which_functions_get_a_state():
    functions = [Level(), Level().method, Level.several, Level.default, lambda s, **more: s.position("bar")[2] + 0.4]
    run = lgint.integrate(systems.pendulum(omega=6.0), "rk44", t_end=1.0, h=1e-2, events=functions)
    assert len(run.t_events[0]) >= 2
    for times in run.t_events:
        assert np.allclose(times, run.t_events[0], rtol=0, atol=1e-14)
    with pytest.raises(TypeError, match="positional"):
        lgint.integrate(systems.pendulum(), "rk44", t_end=0.1, h=1e-2, events=lambda t, q: 1.0)


def test_strains_are_known_in_events():
    run = RUNS["roll_up"]()
    rod, found = next(iter(run.model.rods)), []
    lgint.integrate(
        run.model, "genalpha", t_end=2e-3, h=1e-3, events=lambda state: found.append(state.strain(rod)) or state.t - 1.0
    )
    assert np.allclose(found[1], run.strain(rod)[1], rtol=1e-14)
