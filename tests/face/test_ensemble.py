"""Ensembles and models with other values: runs have the bits of freshly built models and cost no more than steps do."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import lgint
from lgint._model.compare import same_record


def arm(formulation="R3xSO3", **values):
    """Two links with a spring, a drive, a load and gravity; `values` replace some of the numbers below."""
    given = {
        "mass": 2.0,
        "inertia": (0.1, 0.2, 0.15),
        "stiffness": 40.0,
        "torque": 0.3,
        "load": (0.0, 0.5, 0.0),
    } | values
    builder = lgint.ModelBuilder(gravity=given.get("gravity", (0, 0, -9.81)), formulation=formulation)
    builder.add_body("upper", mass=given["mass"], inertia=given["inertia"], position=(0.5, 0, 0))
    builder.add_body("lower", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0), name="shoulder")
    builder.add_joint("revolute", "upper", "lower", point=(1, 0, 0), axis=(0, 1, 0), name="elbow")
    builder.add_spring(
        lgint.ground, "lower", stiffness=given["stiffness"], damping=1.0, point=[(0, 0, 2), (2, 0, 0)], name="spring"
    )
    builder.add_joint_drive("elbow", torque=given["torque"], name="motor")
    builder.add_force("lower", force=given["load"], frame="body", name="push")
    return builder.build()


CHANGES = {
    "upper.mass": ("mass", 3.5),
    "upper.inertia": ("inertia", (0.3, 0.25, 0.2)),
    "spring.stiffness": ("stiffness", 70.0),
    "motor.torque": ("torque", -0.7),
    "push.load": ("load", (0.1, 0.0, -0.4)),
    "gravity": ("gravity", (0.0, 1.0, -3.0)),
}


def same_run(a, b):
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("t", "q", "v", "vdot", "lam"))


def run(model, method="genalpha", **arguments):
    return lgint.integrate(model, method, t_end=0.05, h=1e-3, **arguments)


# ---- values of a model that has been built ----


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "minimal", "tait_bryan"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_model_is_the_model_built_with_that_value(name, formulation):
    keyword, value = CHANGES[name]
    built, changed = arm(formulation, **{keyword: value}), arm(formulation).with_parameters(**{name: value})
    first, second = run(built, "rk44"), run(changed, "rk44")
    assert same_run(first, second)
    assert np.array_equal(first.energy(), second.energy())
    assert not np.array_equal(first.v, run(arm(formulation), "rk44").v)
    assert lgint._model.compare.same_record(built.record(), changed.record())


def test_changes_add_up_and_leave_the_model_as_it_was():
    model = arm()
    before = model.record()
    both = model.with_parameters(**{"upper.mass": 3.0}).with_parameters(**{"spring.stiffness": 50.0, "upper.mass": 4.0})
    assert same_run(run(both), run(arm(mass=4.0, stiffness=50.0)))
    assert model.record() == before
    assert both.values["upper.mass"] == 4.0 and model.values["upper.mass"] == 2.0
    moved = model.with_state(v=np.zeros(model.nv)).with_parameters(**{"upper.mass": 3.0})
    assert not moved.v0.any() and moved.values["upper.mass"] == 3.0


def test_gravity_may_appear():
    weightless = arm(gravity=(0, 0, 0))
    assert same_run(run(weightless.with_parameters(gravity=(0, 0, -2.0))), run(arm(gravity=(0, 0, -2.0))))


def test_values_of_rods_tendons_drags_and_distances():
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="S3R3")
    rod = builder.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=2, stiffness=np.ones(6), inertia=np.ones(4))
    builder.add_drag(rod.nodes[1], drag=(1, 2, 3), name="air")
    builder.add_tendon(rod.nodes, tension=2.0, name="tendon")
    builder.add_joint("distance", lgint.ground, rod.nodes[0], point=[(0, 0, 1), (0, 0, 0)], name="bar")
    model = builder.build()
    edge = model.rod("rod")["edges"][0]
    changes = {
        f"{edge}.stiffness": np.arange(1.0, 7),
        "air.drag": 4.0,
        "tendon.0.load": 3.0,
        f"{edge}.damping": np.ones(6),
    }
    changed = model.with_parameters(**changes)
    assert np.array_equal(changed.values[f"{edge}.stiffness"], np.diag(np.arange(1.0, 7)))
    assert same_run(run(changed, "rk44"), run(lgint.Model(changed.record()), "rk44"))
    units = {model.unit(name) for name in ("gravity", "air.drag", "bar.length", "tendon.0.load", f"{edge}.damping")}
    assert units == {"m/s^2", "N s/m", "m", "N", "N s, N m^2 s"}
    for name, value in ((f"{edge}.damping", -np.ones(6)), ("air.drag", -1.0), (f"{edge}.stiffness", np.ones((6, 5)))):
        with pytest.raises(ValueError, match=name.rpartition(".")[0]):
            model.with_parameters(**{name: value})


@pytest.mark.filterwarnings("ignore:inertia of 'link")
@pytest.mark.parametrize("name", lgint.models.names())
def test_the_values_of_a_model_give_the_model(name):
    model = lgint.models.get(name)()
    same = model.with_parameters(**model.values)
    assert same_record(same.record(), model.record()) and same_record(same.parameters, model.parameters)


def test_values_are_accepted_in_the_shapes_that_they_have():
    """Those of every kind of force, joint and rod, twice as large."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="S3R3")
    rod = builder.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=2, stiffness=np.ones(6), inertia=np.ones(4))
    builder.add_body("arm", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.5, 0.0, 0.0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_joint_drive("pin", stiffness=3.0, damping=1.0, torque=2.0, name="drive")
    builder.add_drag("arm", drag=(1, 2, 3), name="air")
    builder.add_spring(lgint.ground, "arm", point=[(0, 0, 1), (0, 0, 0)], stiffness=2.0, damping=1.0, name="spring")
    builder.add_cartesian_spring(lgint.ground, "arm", stiffness=np.ones(3), damping=np.ones(3), name="support")
    builder.add_force("arm", force=(1.0, 2.0, 3.0), name="push")
    builder.add_tendon(rod.nodes, tension=2.0, name="tendon")
    builder.add_joint("distance", lgint.ground, rod.nodes[0], point=[(0, 0, 1), (0, 0, 0)], name="bar")
    model = builder.build()
    twice = {name: 2 * np.asarray(value) for name, value in model.values.items()}
    changed = model.with_parameters(**twice).values
    assert changed.keys() == twice.keys() and all(np.array_equal(changed[name], twice[name]) for name in twice)
    with pytest.raises(ValueError, match="air.drag: a symmetric matrix without negative eigenvalues expected"):
        model.with_parameters(**{"air.drag": np.arange(9.0).reshape(3, 3)})


def test_a_keyword_and_a_value_of_one_name():
    """The gravity of the rotor is a number in its torque; as a vector it is that of all bodies."""
    rotor = lgint.models.rotor()
    assert rotor.with_parameters(gravity=5.0).parameters["gravity"] == 5.0
    assert rotor.with_parameters(gravity=(0, 0, -5.0)).values["gravity"] == [0, 0, -5.0]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("upper.mass", -1.0, "upper.mass: a positive number"),
        ("upper.inertia", (1.0, -1.0, 1.0), "inertia of 'upper'"),
        ("spring.stiffness", (1.0, 2.0), r"spring.stiffness: shape \(\)"),
        ("upper.masss", 1.0, "upper.masss"),
        ("mass", 1.0, "'upper.mass'"),
    ],
)
def test_wrong_values_are_refused(name, value, text):
    with pytest.raises(ValueError, match=text):
        arm().with_parameters(**{name: value})


def test_values_of_a_model_of_the_library():
    model = lgint.models.heavy_top(mass=12.0)
    assert model.values["top.mass"] == 12.0
    assert same_run(run(model.with_parameters(**{"top.mass": 9.0})), run(model.with_parameters(mass=9.0)))
    both = model.with_parameters(**{"mass": 9.0, "top.inertia": (1.0, 1.0, 1.0)})
    assert both.values["top.mass"] == 9.0 and both.parameters == {}
    with pytest.raises(ValueError, match="did you mean 'mass'"):
        model.with_parameters(masss=1.0)
    assert lgint.models.mass_spring().values == {}


def test_a_changed_model_keeps_its_shape_alive_and_frees_it():
    model = arm()
    changed = model.with_parameters(**{"upper.mass": 3.0})
    shape = weakref.ref(model)
    del model
    gc.collect()
    assert shape() is None
    assert np.isfinite(run(changed).q).all()


# ---- ensembles ----


@pytest.mark.parametrize("arguments", [{}, {"t_eval": [0.0101, 0.02]}, {"save_every": 7, "stops": [0.0123]}])
@pytest.mark.parametrize("method", ["genalpha", "rk44", "dop853", "herk5"])
def test_an_ensemble_has_the_bits_of_its_runs(method, arguments):
    masses = [1.0, 2.5, 4.0]
    ensemble = run(arm().variants({"upper.mass": masses}), method, **arguments)
    assert len(ensemble) == 3 and ensemble.errors == [None] * 3
    for mass, trajectory in zip(masses, ensemble, strict=True):
        single = run(arm(mass=mass), method, **arguments)
        assert same_run(trajectory, single)
        assert np.array_equal(trajectory.energy(), single.energy())
        assert trajectory.stats.newton_iterations == single.stats.newton_iterations
        assert same_run(
            lgint.integrate(trajectory.model, method, t_end=0.07, h=1e-3, start=trajectory),
            lgint.integrate(single.model, method, t_end=0.07, h=1e-3, start=single),
        )


def test_many_starts_and_adaptive_steps():
    model = lgint.models.free_body()
    v = model.v0 + np.linspace(0, 5, 4)[:, None] * np.eye(model.nv)[-1]
    models = model.variants(q=np.tile(model.q0, (4, 1)), v=v) if model.nc == 0 else [model] * 4
    ensemble = lgint.integrate(models, "dopri5", t_end=0.5, rtol=1e-8)
    for trajectory, one in zip(ensemble, models, strict=True):
        single = lgint.integrate(one, "dopri5", t_end=0.5, rtol=1e-8)
        assert same_run(trajectory, single)
        assert np.isnan(single.error[0]) and np.isfinite(single.error[1:]).all()
        assert np.array_equal(trajectory.error, single.error, equal_nan=True)


def test_parts_are_stacked_if_the_runs_are_equally_long():
    ensemble = run(arm().variants({"upper.mass": [1.0, 2.0]}))
    assert ensemble.stacked("q").shape == (2, 51, 24)
    assert [trajectory.status for trajectory in ensemble[:]] == [0, 0]
    ensemble = lgint.integrate(arm().variants({"spring.stiffness": [1.0, 1e5]}), "dopri5", t_end=0.1, rtol=1e-8)
    with pytest.raises(ValueError, match="t_eval"):
        ensemble.stacked("q")


def test_a_failed_run_keeps_its_report_and_the_others_go_on():
    model = lgint.models.rotor()
    models = [model, model.with_state(v=model.v0 + 1e200), model]
    ensemble = lgint.integrate(models, "rk44", t_end=1e-3, h=1e-4)
    first, error, last = ensemble.errors
    assert first is None and last is None
    with pytest.raises(type(error)) as single:
        lgint.integrate(models[1], "rk44", t_end=1e-3, h=1e-4)
    assert str(error) == str(single.value) and error.report == single.value.report
    assert error.trajectory is ensemble[1] and ensemble[1].status == -1
    assert same_run(ensemble[2], lgint.integrate(model, "rk44", t_end=1e-3, h=1e-4))


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interruption_and_an_error_of_the_user_s_functions_end_the_ensemble(failure):
    begun = []

    def member(i):
        def force(t):
            begun.append(i)
            if i == 1 and t > 0.01:
                raise failure
            return (0.0, 0.0, t)

        builder = lgint.ModelBuilder()
        builder.add_body("ball", mass=1.0, inertia=(1, 1, 1))
        builder.add_force("ball", force=force)
        return builder.build()

    models = [member(i) for i in range(3)]
    with pytest.raises(failure) as caught:
        lgint.integrate(models, "rk44", t_end=0.05, h=0.01)
    assert begun[-1] == 1 and len(caught.value.trajectory[0]) == 6


def test_progress_is_a_number_of_runs():
    models, done = [lgint.models.heavy_top()] * 10, []
    lgint.integrate(models, "genalpha", t_end=1.0, h=1e-4, save_every=10000, progress=done.append)
    assert done and done == sorted(done) and set(map(type, done)) == {int} and 0 <= done[0] <= done[-1] <= 10


def springs():
    """Two systems of functions."""

    def spring(k):
        return lgint.LagrangianModel([1.0], [0.0], mass=lambda q: np.eye(1), potential=lambda q: k * q[0] ** 2 / 2)

    return [spring(1.0), spring(2.0)]


def test_systems_of_functions_and_models_of_different_sizes_run_in_ensembles():
    for models in (springs(), [arm(), lgint.models.free_body(), *springs()]):
        ensemble = run(models)
        for model, trajectory in zip(models, ensemble, strict=True):
            single = run(model)
            assert same_run(trajectory, single)
            assert trajectory.stats.gradients_formed == single.stats.gradients_formed


@pytest.mark.parametrize("models", [springs(), arm().variants({"upper.mass": [1.0, 2.5]})])
def test_events_dense_output_and_quantities_of_ensembles(models):
    def moves(t, q, v):
        return np.abs(v).sum() - 0.02

    moves.terminal = True
    arguments = {"events": moves, "dense_output": True, "save": {"speed": lambda part: part.v[:, 0]}}
    ensemble = run(models, "rk44", **arguments)
    for model, trajectory in zip(models, ensemble, strict=True):
        single = run(model, "rk44", **arguments)
        assert np.array_equal(trajectory.t_events[0], single.t_events[0]) and trajectory.status == single.status
        assert np.array_equal(trajectory.saved["speed"], single.saved["speed"])
        assert np.array_equal(trajectory.sol(5e-4).q, single.sol(5e-4).q)
    assert [trajectory.status for trajectory in ensemble] == [1, 1]


def test_failed_runs_of_ensembles_with_events():
    model = lgint.models.rotor()
    models, done = [model, model.with_state(v=model.v0 + 1e200), model], []
    arguments = {"t_end": 1e-3, "h": 1e-4, "events": lambda t, q, v: t - 5e-4, "progress": done.append}
    ensemble = lgint.integrate(models, "rk44", **arguments)
    first, error, last = ensemble.errors
    assert first is None and last is None
    assert isinstance(error, lgint.IntegrationError) and error.trajectory is ensemble[1]
    assert [trajectory.status for trajectory in ensemble] == [0, -1, 0]
    assert np.allclose(ensemble[2].t_events[0], 5e-4, rtol=1e-12)

    def third(t, q, v):
        starts.extend([v[0]] if t == 0 else [])
        if len(starts) == 3:
            raise KeyError("third")
        return 1.0

    starts = []
    with pytest.raises(KeyError) as error:
        lgint.integrate([model] * 4, "rk44", t_end=1e-3, h=1e-4, events=third)
    assert len(error.value.trajectory) == 2


def test_what_an_ensemble_does_not_take(tmp_path):
    models = arm().variants({"upper.mass": [1.0, 2.0]})
    with pytest.raises(ValueError, match="path: it is for single runs"):
        run(models, path=tmp_path / "run")
    with pytest.raises(ValueError, match="start: it is for single runs"):
        run(models, start=run(models[0]))
    with pytest.raises(ValueError, match="item 1 of the list is 'arm'"):
        run([models[0], "arm"])
    with pytest.raises(ValueError, match="at least one model"):
        run([])
    with pytest.raises(ValueError, match="same numbers of coordinates"):
        lgint._core.ensemble(
            [models[0].core, lgint.models.heavy_top().core],
            "rk44",
            0,
            1,
            1e-3,
            1,
            *[np.zeros((2, 24))],
            np.zeros((2, 12)),
            np.zeros((2, 0)),
            {},
        )
    with pytest.raises(ValueError, match="values: lists by the names"):
        arm().variants([3.0])
    with pytest.raises(ValueError, match="upper.mass: a list of values"):
        arm().variants({"upper.mass": 3.0})
    with pytest.raises(ValueError, match=r"v: shape \(n, nv\) expected, got \(12,\)"):
        arm().variants(v=np.zeros(12))
    with pytest.raises(ValueError, match="equally many values"):
        arm().variants({"upper.mass": [1.0], "gravity": [(0, 0, 1)] * 2})


def test_laws_in_python_run_in_ensembles():
    builder = lgint.ModelBuilder()
    builder.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    builder.add_force("ball", force=lambda t: (t, 0, 0))
    ensemble = run(builder.build().variants({"ball.mass": [1.0, 2.0]}))
    speeds = [trajectory.velocity("ball")[-1, 0] for trajectory in ensemble]
    assert np.allclose(speeds, [0.05**2 / 2, 0.05**2 / 4], rtol=1e-12)


@pytest.mark.measures
def test_other_threads_run_beside_an_ensemble():
    """The calling thread releases the GIL, so that another one can count."""
    models = [lgint.models.heavy_top()] * 100
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    lgint.integrate(models, "genalpha", t_end=1.0, h=1e-3, save_every=1000)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(begin < t < end for t in counted) > 5


@pytest.mark.measures
def test_a_thousand_runs_cost_little_more_than_their_steps():
    model = lgint.models.heavy_top()
    ratios = []
    for _ in range(3):
        begin = time.perf_counter()
        models = model.variants({"top.mass": np.linspace(10, 20, 1000)})
        ensemble = lgint.integrate(models, "genalpha", t_end=1.0, h=1e-3)
        steps = sum(trajectory.stats.wall_time for trajectory in ensemble)
        ratios.append((time.perf_counter() - begin) / steps)
    assert min(ratios) < 1.2
