"""Force laws that are called with a `State`: against the same laws of plain arguments, and what their states hold."""

import concurrent.futures
import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import lgint
from lgint._model.formulations import FORMULATIONS

EVERY = list(FORMULATIONS)
FIXED = {"h": 2e-3}
TOLERANT = {"rtol": 1e-6, "atol": 1e-8}
FORBIDDEN = {
    "vdot": lambda s: s.vdot,
    "lam": lambda s: s.lam,
    "reaction": lambda s: s.reaction("elbow"),
    "force": lambda s: s.force("pull"),
    "power": lambda s: s.power("pull"),
    "acceleration": lambda s: s.acceleration("hand"),
    "generalized force": lambda s: s.generalized_force(),
    "accelerations": lambda s: s.accelerations(),
    "stiffness": lambda s: s.stiffness_matrix(),
    "damping": lambda s: s.damping_matrix(sparse=True),
}
WORDS = {
    "reaction": "lam",
    "power": "force",
    "acceleration": "vdot",
    "stiffness": "stiffness or damping",
    "damping": "stiffness or damping",
}


def pull(t, x, R, xdot, omega):
    return np.concatenate([-30 * (x - [1, 0, 0.3]) - 2 * xdot + t * R[:, 0], -0.2 * omega])


def bind(t, x, R, xdot, omega):
    f = 20 * (x[1] - x[0]) + 2 * (xdot[1] - xdot[0])
    return np.array([[*f, *(R[0].T @ omega[1])], [*-f, *(R[1].T @ omega[0])]])


def twist(t, angle):
    return np.cos(t) - 3 * angle - angle**3


def of(state, *names):
    """The arguments of a plain law on the COMs of bodies."""
    parts = state.position, state.rotation, state.velocity, state.angular_velocity
    found = [[part(name) for name in names] for part in parts]
    return state.t, *(np.array(part if len(names) > 1 else part[0]) for part in found)


def arm(formulation, by_state, **options):
    """Two links, a law on the second one, one between both, and one in the joint between them."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for i, name in enumerate(("upper", "hand")):
        b.add_body(
            name, mass=2.0 - i, inertia=np.diag([0.1, 0.2, 0.3]), position=(1 + i, 0, 0), formulation=formulation
        )
    b.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0), name="shoulder")
    b.add_joint("revolute", "upper", "hand", point=(1.5, 0, 0), axis=(0, 1, 0), name="elbow")
    laws = (
        (
            lambda s: pull(*of(s, "hand")),
            lambda s: bind(*of(s, "upper", "hand")),
            lambda s: twist(s.t, s.joint_angle("elbow")),
        )
        if by_state
        else (pull, bind, lambda t, angle, rate: twist(t, angle))
    )
    b.add_force_law(laws[0], bodies="hand", name="pull", **options)
    b.add_force_law(laws[1], bodies=("upper", "hand"), name="bind")
    b.add_force_law(laws[2], joint="elbow", name="twist")
    return b.build()


def moved(model, rng):
    return model.core.retract(model.q0, 0.1 * rng.normal(size=model.nv)), rng.normal(size=model.nv)


@pytest.mark.parametrize("formulation", EVERY)
@pytest.mark.parametrize(("method", "how"), [("rk44", FIXED), ("herk4", FIXED), ("dopri5", TOLERANT)])
def test_a_law_of_a_state_gives_the_bits_of_the_plain_one(formulation, method, how):
    plain, by_state = (lgint.integrate(arm(formulation, x), method, t_end=0.04, **how) for x in (False, True))
    assert plain.q.tobytes() == by_state.q.tobytes() and plain.v.tobytes() == by_state.v.tobytes()


@pytest.mark.parametrize("formulation", [name for name in EVERY if not name.endswith("_omega")])
@pytest.mark.parametrize(("method", "how"), [("genalpha", FIXED), ("hht", FIXED), ("radau5", TOLERANT)])
def test_implicit_methods_converge_to_the_same_steps(formulation, method, how):
    plain, by_state = (lgint.integrate(arm(formulation, x), method, t_end=0.04, **how) for x in (False, True))
    np.testing.assert_allclose(by_state.q, plain.q, atol=1e-12)
    assert by_state.stats.newton_iterations <= plain.stats.newton_iterations + 2


@pytest.mark.parametrize(("equivariant", "tolerance"), [(True, 1e-9), (False, 1e-12)])
@pytest.mark.parametrize("method", ["eml", "emh"])
def test_steps_between_two_states_see_the_middle(method, equivariant, tolerance):
    how = {"h": 1e-3, "t_end": 0.01, "equivariant": equivariant}
    plain, by_state = (lgint.integrate(arm("euler_parameters", x), method, **how) for x in (False, True))
    np.testing.assert_allclose(by_state.q, plain.q, atol=tolerance)


@pytest.mark.parametrize("formulation", EVERY)
def test_the_tangent_is_that_of_the_plain_law(formulation, rng):
    plain, by_state = (arm(formulation, x) for x in (False, True))
    q, v = moved(plain, rng)
    for k in np.eye(3):
        one, other = (m.core.evaluate(0.1, q, v, v, np.ones(m.nc), want="S", k=k)["S"] for m in (plain, by_state))
        np.testing.assert_allclose(other, one, atol=1e-8)


@pytest.mark.parametrize("formulation", EVERY)
@pytest.mark.parametrize("joint", [False, True])
def test_the_tangent_follows_what_the_law_reads_elsewhere(formulation, joint, rng):
    b = lgint.ModelBuilder()
    for i, name in enumerate(("near", "far")):
        b.add_body(name, mass=1.0, inertia=np.diag([0.1, 0.2, 0.3]), position=(1, i, 0), formulation=formulation)
        b.add_joint("revolute", lgint.ground, name, point=(0, i, 0), axis=(0, 1, 0), name=f"{name} joint")
    if joint:
        b.add_force_law(lambda s: s.position("far")[2] * s.joint_rate("far joint"), joint="near joint", reads="far")
    else:
        b.add_force_law(lambda s: np.append(s.velocity("far") * s.joint_angle("far joint"), np.zeros(3)), bodies="near")
    model = b.build()
    q, v = moved(model, rng)
    core, e = model.core, 1e-6

    def difference(ends):
        high, low = (core.evaluate(0.1, *end, want=("force",))["force"] for end in ends)
        return (high - low) / (2 * e)

    alone = arm_without_laws(model)
    for level, k in enumerate(np.eye(3)[:2]):
        found = core.evaluate(0.1, q, v, want="S", k=k)["S"] - alone.evaluate(0.1, q, v, want="S", k=k)["S"]
        for i, unit in enumerate(e * np.eye(model.nv)):
            ends = ((core.retract(q, s * unit), v) if level == 0 else (q, v + s * unit) for s in (1, -1))
            np.testing.assert_allclose(-found[:, i], difference(ends), atol=1e-7)


def arm_without_laws(model):
    return lgint.Model({**model.record(), "forces": {}}).core


def test_a_law_with_a_tangent_depends_on_its_bodies_alone(rng):
    calls = []

    def slopes(state):
        calls.append(state.t)
        K, D = np.zeros((2, 6, 6))
        K[:3, :3], K[:3, 3:], D[:3, :3], D[3:, 3:] = -30 * np.eye(3), 0, -2 * np.eye(3), -0.2 * np.eye(3)
        return K, D

    with_tangent, without = arm("R3xSO3", True, tangent=slopes), arm("R3xSO3", True)
    q, v = moved(without, rng)
    one, other = (m.core.evaluate(0.0, q, v, want="S", k=(1.0, 0.0, 0.0))["S"] for m in (with_tangent, without))
    assert calls
    np.testing.assert_allclose(one, other, atol=1e-8)


def test_what_is_read_may_be_named():
    counted = [0]

    def law(state):
        counted[0] += 1
        return np.append(-state.position("body3"), np.zeros(3))

    calls = []
    for reads in (None, ("hinge1",), "body3", ()):
        b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
        for i in range(6):
            b.add_body(f"body{i}", mass=1.0, inertia=np.eye(3), position=(i + 0.5, 0, 0))
            b.add_joint(
                "revolute",
                f"body{i - 1}" if i else lgint.ground,
                f"body{i}",
                point=(i, 0, 0),
                axis=(0, 1, 0),
                name=f"hinge{i}",
            )
        b.add_force_law(law, bodies="body3", reads=reads)
        model, counted[0] = b.build(), 0
        model.core.evaluate(0.0, model.q0, model.v0, want="S", k=(1.0, 0.0, 0.0))
        calls.append(counted[0])
    assert calls == [1 + 2 * 36, 1 + 2 * 12, 1 + 2 * 6, 1]


@pytest.mark.parametrize("formulation", ["R3xS3", "minimal"])
def test_states_that_a_law_keeps_stay_as_they_were(formulation):
    kept, seen = [], []

    def law(state):
        kept.append(state)
        seen.append((state.t, state.q.copy(), state.v.copy(), state.position("hand")))
        return pull(*of(state, "hand"))

    record = arm(formulation, True).record()
    record["forces"] = {**record["forces"], "pull": {**record["forces"]["pull"], "function": law}}
    lgint.integrate(lgint.Model(record), "rk44", t_end=0.02, h=2e-3)
    assert len(kept) > 40
    for state, (t, q, v, x) in zip(kept, seen, strict=True):
        assert state.t == t and not state.q.flags.writeable
        assert state.q.tobytes() == q.tobytes() and state.v.tobytes() == v.tobytes()
        assert state.position("hand").tobytes() == x.tobytes()
    assert copy.copy(kept[3]) is kept[3]


@pytest.mark.parametrize("formulation", EVERY)
def test_accessors_inside_an_evaluation_do_not_disturb_it(formulation):
    def busy(state):
        for each in ("upper", "hand"):
            state.jacobian(each), state.position(each), state.jacobian_bias(each)
        state.mass_matrix(), state.mass_matrix(sparse=True), state.constraint_matrix(), state.energy()
        state.joint_angles(), state.constraint_residual(), state.model.state().position("hand")
        return pull(*of(state, "hand"))

    plain = arm(formulation, False)
    record = plain.record()
    record["forces"] = {**record["forces"], "pull": {**record["forces"]["pull"], "function": busy}}
    one, other = (lgint.integrate(model, "herk4", t_end=0.02, h=2e-3) for model in (plain, lgint.Model(record)))
    assert one.q.tobytes() == other.q.tobytes()


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_follows_from_forces_is_refused_by_name(what):
    b = lgint.ModelBuilder()
    b.add_body("hand", mass=1.0, inertia=np.eye(3))
    b.add_joint("revolute", lgint.ground, "hand", point=(0, 0, 0), axis=(0, 1, 0), name="elbow")
    b.add_force_law(lambda s: FORBIDDEN[what](s), bodies="hand", name="pull")
    with pytest.raises(AttributeError, match=rf"no ({WORDS.get(what, what)}): .* called before forces are known"):
        lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)


def test_angles_count_full_turns_inside_steps():
    angles = []

    def brake(state):
        angles.append((state.t, state.joint_angle("axle")))
        return 0.0

    for formulation in ("R3xSO3", "minimal"):
        b = lgint.ModelBuilder()
        b.add_body("wheel", mass=1.0, inertia=np.eye(3), angular_velocity=(0, 0, 40.0), formulation=formulation)
        b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="axle")
        b.add_force_law(brake, joint="axle")
        lgint.integrate(b.build(), "rk44", t_end=1.0, h=0.05)
    times, turned = np.array(angles).T
    np.testing.assert_allclose(turned, 40 * times, atol=1e-9)


def test_a_variant_and_a_copy_see_themselves():
    seen = []

    def law(state):
        seen.append((state.model.values["hand.mass"], state.mass_matrix()[-1, -1]))
        return np.zeros(6)

    b = lgint.ModelBuilder()
    b.add_body("hand", mass=1.0, inertia=np.eye(3), formulation="SE3")
    b.add_force_law(law, bodies="hand")
    model = b.build()
    other = model.with_parameters(**{"hand.mass": 3.0, "hand.inertia": 5 * np.eye(3)})
    for each in (other, model, other.with_state(v=np.ones(6))):
        lgint.integrate(each, "euler", t_end=0.1, h=0.1)
    assert [row[0] for row in seen[:1] + seen[-1:]] == [3.0, 3.0] and {row for row in seen} == {(3.0, 5.0), (1.0, 1.0)}


def spin(state):
    return np.append(np.zeros(3), -0.5 * state.angular_velocity("top"))


def top(drag=0.5):
    b = lgint.ModelBuilder()
    b.add_body("top", mass=1.0, inertia=np.diag([1.0, 2.0, 3.0]), angular_velocity=(1, 2, 3 * drag))
    b.add_force_law(spin, bodies="top", name="drag")
    return b.build()


def test_such_models_are_pickled_saved_and_swept_as_others(tmp_path):
    run = lgint.integrate(top(), "rk44", t_end=0.2, h=0.01)
    kept = []
    twin = pickle.loads(pickle.dumps(run.model))
    again = lgint.integrate(twin, "rk44", t_end=0.2, h=0.01, events=lambda state: kept.append(state) or 1.0)
    assert again.q.tobytes() == run.q.tobytes()
    assert pickle.loads(pickle.dumps(kept[-1])).velocity("top").tobytes() == run.velocity("top")[-1].tobytes()
    run.save(tmp_path / "run.npz")
    loaded = lgint.load(tmp_path / "run.npz")
    assert loaded.position("top").tobytes() == run.position("top").tobytes()
    with pytest.raises(RuntimeError, match=r"drag.*was not saved"):
        lgint.integrate(loaded.model, "rk44", t_end=0.2, h=0.01)
    data = lgint.sweep(
        top, {"drag": [0.5, 1.0]}, "rk44", t_end=0.2, h=0.01, observables={"v": lambda run: run.v[-1, 5]}
    )
    assert float(data["v"][0]) == run.v[-1, 5]


def test_threads_and_ensembles_have_the_bits_of_single_runs():
    models = [top(drag) for drag in (0.5, 0.7, 0.9)]
    single = [lgint.integrate(model, "rk44", t_end=0.5, h=0.01).q.tobytes() for model in models]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = [*pool.map(lambda model: lgint.integrate(model, "rk44", t_end=0.5, h=0.01), models * 3)]
    assert [run.q.tobytes() for run in runs] == single * 3
    family = [models[0].with_state(v=model.v0) for model in models]
    ensemble = lgint.integrate(family, "rk44", t_end=0.5, h=0.01)
    assert [run.q.tobytes() for run in ensemble] == single


def test_equilibria_and_outputs_of_a_law_of_a_state():
    plain, by_state = (lgint.equilibrium(arm("minimal", x)) for x in (False, True))
    np.testing.assert_allclose(by_state.q[-1], plain.q[-1], atol=1e-9)
    runs = [lgint.integrate(arm("SE3", x), "dopri5", t_end=0.1, **TOLERANT) for x in (False, True)]
    for name in ("pull", "bind", "twist"):
        one, other = (run.force(name) for run in runs)
        np.testing.assert_array_equal(getattr(one, "force", one), getattr(other, "force", other))


def test_a_failing_law_reaches_the_caller():
    b = lgint.ModelBuilder()
    b.add_body("hand", mass=1.0, inertia=np.eye(3))
    b.add_force_law(lambda s: s.position("hnad"), bodies="hand", name="pull")
    with pytest.raises(ValueError, match="did you mean 'hand'"):
        lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)
    b = lgint.ModelBuilder()
    b.add_body("hand", mass=1.0, inertia=np.eye(3))
    b.add_force_law(lambda s: s.position("hand"), bodies="hand", name="pull")
    with pytest.raises(ValueError, match="function of element pull"):
        lgint.integrate(b.build(), "rk44", t_end=0.1, h=0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"function": lambda s: 0, "reads": "hnad"}, "unknown reads of 'pull'.*did you mean 'hand'"),
        ({"function": lambda s: 0, "reads": 3}, "reads of 'pull': names of bodies and joints expected, got 3"),
        ({"function": lambda *_: 0, "reads": "hand"}, "it is not a function of a state"),
        ({"function": lambda s: 0, "tangent": lambda s: 0, "reads": "hand"}, "it has a tangent"),
        ({"function": lambda s: 0, "tangent": lambda *_: 0}, "a function of a state expected"),
        ({"function": lambda *_: 0, "tangent": lambda s: 0}, "the arguments of the law expected"),
    ],
)
def test_bad_arguments_are_refused(given, message):
    b = lgint.ModelBuilder()
    b.add_body("hand", mass=1.0, inertia=np.eye(3))
    with pytest.raises(ValueError, match=message):
        b.add_force_law(**given, bodies="hand", name="pull")


@pytest.mark.parametrize("formulation", ["minimal", "SE3"])
def test_a_law_that_evaluates_its_own_model_is_refused_by_name(formulation):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("bar", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 0, 1), name="pin")

    def push(state):
        return [state.model.inverse_dynamics(state.q, state.v, 0 * state.v, state.t, actuators=["pin"])[0], *[0] * 5]

    b.add_force_law(push, bodies="bar", name="push")
    with pytest.raises(ValueError, match="the function of push at t = 0.0: its calls never end.* a model without it"):
        lgint.integrate(b.build(), "rk44", h=0.01, t_end=0.1)


def chain_seen_by(function):
    """A chain whose last link has a law, and a run of it with an event, both of which call the function."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for i in range(60):
        b.add_body(f"link{i}", mass=1.0, inertia=np.eye(3), position=(i, 0, 0))
        b.add_joint("spherical", f"link{i - 1}" if i else lgint.ground, f"link{i}", point=(i - 0.5, 0, 0))
    b.add_force_law(lambda state: function(state) or np.zeros(6), bodies="link59", name="law")
    return lgint.integrate(b.build(), "rk44", t_end=2e-3, h=1e-3, events=lambda state: function(state) or 1.0)


def test_a_state_copies_only_what_its_function_reads():
    copied = []

    def reads(state):
        sizes = [tracemalloc.get_traced_memory()[0]]
        for name in ("t", "v", "q"):
            getattr(state, name)
            sizes.append(tracemalloc.get_traced_memory()[0])
        copied.append(np.diff(sizes))

    tracemalloc.start()
    try:
        run = chain_seen_by(reads)
    finally:
        tracemalloc.stop()
    calls = [row for row in copied if row[1] > 700]
    np.testing.assert_allclose(calls, np.tile([0, run.v[0].nbytes, run.q[0].nbytes], (len(calls), 1)), atol=700)
    assert len(calls) > 10 and len(copied) == len(calls) + 1  # the event takes the start from both ends of a step


def test_a_state_that_is_kept_has_everything_after_the_call():
    kept = []
    run = chain_seen_by(lambda state: kept.append(state))
    ends = {state.t: state for state in kept}
    for t, q, v in zip(run.t, run.q, run.v, strict=True):
        np.testing.assert_array_equal(ends[t].q, q)
        np.testing.assert_array_equal(ends[t].v, v)
        assert ends[t].mem.shape == (0,) and ends[t].rotation("link59").shape == (3, 3)
    assert not any(array.flags.writeable for state in kept for array in (state.q, state.v, state.mem))


def test_a_state_of_a_function_that_fails_is_complete():
    def fails(state):
        if state.t > 1e-3:
            raise KeyError(state)

    with pytest.raises(KeyError) as caught:
        chain_seen_by(fails)
    (state,) = caught.value.args
    assert state.q.shape == (60 * 12,) and np.isfinite(state.energy("kinetic"))
