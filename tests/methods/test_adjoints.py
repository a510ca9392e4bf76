"""Adjoints of the steps of every method that has derivatives, against those that its runs carry along."""

import numpy as np
import pytest

import lgint
from methods.test_explicit_sensitivities import closed_tree
from methods.test_gradients import LIE, M, Weighted, arm, compared, difference_to_forward, pushed
from methods.test_sensitivities import ONE_FOR_EACH, dragged, pairs
from methods.test_sensitivities_in_runs import follow

METHODS = [name for name in lgint.methods() if lgint.method_info(name)["differentiated"]]
OPTIONS = {name: {row["name"]: row for row in lgint.method_info(name)["options"]} for name in METHODS}
PROJECTIONS = [
    (name, project) for name in METHODS if "project" in OPTIONS[name] for project in OPTIONS[name]["project"]["choices"]
]
ADAPTIVE = [name for name in METHODS if "rtol" in OPTIONS[name]]
CASES = {
    "top": (lambda form: M.heavy_top(formulation=form), ["top.mass", "top.inertia[2,2]"], "top", 1e-3, 10),
    "crank": (lambda form: M.slider_crank(formulation=form), ["rod.mass", "slider.mass"], "slider", 1e-3, 30),
    "chain": (lambda form: M.pendulum_chain(n=3, formulation=form), ["link2.mass", "gravity[0]"], "link3", 2e-3, 10),
}
pytestmark = pytest.mark.filterwarnings("ignore:inertia of")


def of_body(body):
    return [("position", body), ("angular_velocity", body)]


def with_acceleration(body):
    return [*of_body(body), ("acceleration", body)]


def sway(t, rate=9.0):
    s, c = 0.2 * np.sin(rate * t), 0.2 * np.cos(rate * t)
    return np.outer([s, rate * c, -rate * rate * s], [1, 0.3, 0.5])


def crane(motion=sway):
    """A body on a rope from a support that moves."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    hook = builder.add_support("hook", motion=motion)
    builder.add_body("bob", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(0.8, 0.1, 0))
    builder.add_distance(hook, "bob", length=0.8, point_a=(0, 0, 0), point_b=(0, 0.1, 0), name="rope")
    return builder.build(start="project")


@pytest.mark.parametrize(("method", "formulation"), pairs(LIE))
@pytest.mark.parametrize("case", CASES)
def test_every_method_on_every_formulation(method, case, formulation):
    make, names, body, h, steps = CASES[case]
    found = difference_to_forward(make(formulation), method, names, of_body(body), t_end=steps * h, h=h)
    assert found < 1e-12


@pytest.mark.parametrize(("method", "project"), PROJECTIONS)
def test_every_projection_where_corrections_are_long(method, project):
    for model, name, body, h in [
        (M.pendulum_chain(n=3, formulation="SE3"), "link2.mass", "link3", 0.03),
        (M.pendulum_chain(n=3, formulation="euler_parameters"), "link2.mass", "link3", 0.03),
        (M.pendulum_chain(n=3, formulation="euler_parameters_omega"), "link2.mass", "link3", 0.03),
        (M.pendulum_chain(n=3, formulation="tait_bryan_omega"), "link2.mass", "link3", 0.03),
        (M.rolling_disk(), "disk.mass", "disk", 0.05),
        (closed_tree(5), "rope.length", "link3", 0.01),
    ]:
        outputs = with_acceleration(body)
        assert difference_to_forward(model, method, [name], outputs, t_end=3 * h, h=h, project=project) < 1e-12


@pytest.mark.parametrize(("method", "project"), PROJECTIONS)
def test_rows_that_depend_on_time(method, project):
    names, outputs = ["bob.mass", "rope.length"], with_acceleration("bob")
    assert difference_to_forward(crane(), method, names, outputs, t_end=0.03, h=0.01, project=project) < 1e-12


@pytest.mark.parametrize("method", ["euler", "herk3", "radau5", "newmark"])
def test_a_support_that_starts_to_move_where_its_rows_do_not_show_it(method):
    """It moves across the rope and is still at rest: phidot and zeta do not change with time, their derivatives do."""
    builder = lgint.ModelBuilder(gravity=(0.5, 0, -9.81))
    hook = builder.add_support("hook", motion=lambda t: np.outer([2 * t * t, 4 * t, 4], [1, 0, 0]))
    builder.add_body("bob", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(0, 0, -0.8))
    builder.add_distance(hook, "bob", length=0.8, point_a=(0, 0, 0), point_b=(0, 0, 0), name="rope")
    names, model = ["start.bob.velocity[0]", "rope.length", "gravity[0]"], builder.build(start="project")
    assert difference_to_forward(model, method, names, with_acceleration("bob"), t_end=0.02, h=0.01) < 1e-12


@pytest.mark.parametrize("first", ["consistent", "printed"])
@pytest.mark.parametrize("method", [name for name in METHODS if "first_stage" in OPTIONS[name]])
def test_every_first_stage(method, first):
    for model, body, h in [
        (M.pendulum_chain(n=3, formulation="SE3"), "link3", 0.02),
        (M.heavy_top(formulation="euler_parameters"), "top", 1e-3),
        (closed_tree(14), "link3", 1e-3),
    ]:
        names, outputs = [f"{body}.mass", "gravity[0]"], with_acceleration(body)
        arguments = {"t_end": 5 * h, "h": h, "first_stage": first}
        assert difference_to_forward(model, method, names, outputs, project="velocity", **arguments) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_trees_rods_and_velocity_rows(method):
    for model, names, body, h in [
        (M.pendulum_chain(n=4, formulation="minimal"), ["link3.mass"], "link4", 2e-3),
        (M.flying_spaghetti(edges=3), ["edge1.stiffness[4,4]", "node2.mass"], "node3", 1e-3),
        (M.rolling_disk(), ["disk.mass", "gravity[1]"], "disk", 5e-3),
        (closed_tree(14), ["link3.mass", "rope.length"], "link5", 1e-3),
    ]:
        assert difference_to_forward(model, method, names, of_body(body), t_end=5 * h, h=h) < 1e-12


@pytest.mark.parametrize("method", ["radau3", "radau5"])
def test_sweeps_end_where_the_masses_of_a_long_tree_leave_round_off(method):
    model, names = M.pendulum_chain(n=40, formulation="minimal"), ["link2.mass", "gravity[0]"]
    assert difference_to_forward(model, method, names, of_body("link40"), t_end=5e-3, h=1e-3) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_start_values_and_kinks(method):
    names, outputs = ["block.mass", "spring.stiffness"], [("acceleration", "block"), ("reaction", "rail")]
    assert difference_to_forward(pushed(), method, names, outputs, t_end=0.08, h=5e-3) < 1e-12
    names = ["start.hinge", "start.hinge.rate", "hinge.point[0]"]
    assert difference_to_forward(arm(), method, names, of_body("arm"), t_end=0.05, h=5e-3) < 1e-12


BRISTLED = ["tip.friction", "tip.bristle", "touch.bristle_damping", "touch.radius_a", "start.ball.velocity[0]"]


@pytest.mark.parametrize(("method", "formulation"), ONE_FOR_EACH)
def test_the_memory_of_bristles(method, formulation):
    outputs = [*of_body("ball"), ("acceleration", "bar")]
    assert difference_to_forward(dragged(formulation), method, BRISTLED, outputs, t_end=0.03, h=1e-3) < 1e-12


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "minimal"])
def test_outputs_that_read_bristles(formulation):
    """Those that slide are at a kink of the force, where only changes along the motion have derivatives."""
    model, given = dragged(formulation), {"t_end": 0.03, "h": 1e-3}
    outputs = [("power", "tip"), ("power", "touch")]
    assert difference_to_forward(model, "genalpha", [*BRISTLED, "bar.mass"], outputs, **given) < 1e-11
    run = lgint.integrate(model, "genalpha", sensitivity=["touch.friction"], **given)
    step = 1e-4 * 0.4
    powers = [
        lgint.integrate(model.with_parameters(**{"touch.friction": 0.4 + s * step}), "genalpha", **given).power("touch")
        for s in (-1, 1)
    ]
    expected = (powers[1] - powers[0]) / (2 * step)
    np.testing.assert_allclose(run.derivative("power", "touch")[:, 0], expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("method", ["genalpha", "dopri5"])
def test_checkpoints_hold_the_memory_of_bristles(method, tmp_path):
    given = {"outputs": of_body("ball"), "t_end": 0.03} | ({"h": 1e-3} if method == "genalpha" else {"rtol": 1e-6})
    kept, on_disk = (
        lgint.gradient(dragged("SE3"), method, Weighted(), BRISTLED, checkpoints=folder, **given)[1]
        for folder in (None, tmp_path)
    )
    assert np.array_equal(kept, on_disk)


def sprung(formulation):
    """Two bodies with every element whose derivatives by its numbers and its points are in closed form."""
    moving = {} if formulation == "minimal" else {"angular_velocity": (1, 2, 0.3)}
    builder = lgint.ModelBuilder(gravity=(0.3, -0.2, -9.81), formulation=formulation)
    inertia = [[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.25]]
    builder.add_body("a", mass=2.0, inertia=inertia, position=(0.1, 1, 0.2), **moving)
    builder.add_body("b", mass=1.0, inertia=(0.2, 0.3, 0.25), position=(0.1, 2, 0.2), **moving)
    builder.add_joint("spherical", lgint.ground, "a", point=(0, 0, 0), name="pin")
    axes = {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}
    builder.add_joint("universal", "a", "b", point=(0.1, 1.4, 0.2), **axes, name="cross")
    stiff = {"stiffness": 30.0, "damping": 2.0, "length": 0.5}
    builder.add_spring("a", "b", **stiff, point_a=(0, 0.1, 0.2), point_b=(0, 0.2, 0.3), name="spring")
    stiff = {"stiffness": (30.0, 20, 10), "damping": (2.0, 1, 0.5), "point_b": (0, 0.1, -0.3)}
    builder.add_cartesian_spring(lgint.ground, "b", **stiff, point_a=(0, 3, 2), name="mount")
    builder.add_force("a", force=(1, 2, 3.0), point=(0.1, 0.2, 0.3), name="push")
    builder.add_force("b", force=(1, -2, 3.0), point=(0.1, 0.2, -0.3), frame="body", name="jet")
    builder.add_force("a", torque=(1, 2, 3.0), frame="body", name="rotor")
    builder.add_force("b", torque=(3, 2, 1.0), name="twist")
    return builder.build(start="project")


def numbers_of(model):
    """The names of all numbers of a model, those of symmetric matrices once."""
    for name, value in model.values.items():
        for at in np.ndindex(np.shape(value)):
            if not (name.endswith("inertia") and at[0] > at[1]):
                yield f"{name}[{','.join(map(str, at))}]" if at else name


def check_numbers(model, method, names, body, h):
    _, _, found, expected, size = compared(model, method, names, of_body(body), t_end=2 * h, h=h)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size.max())
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("method", "formulation"),
    [("genalpha", form) for form in [*LIE, "minimal"]] + [("rk44", "SE3"), ("rk44", "tait_bryan"), ("herk3", "R3xSO3")],
)
def test_every_number_of_bodies_springs_and_loads(method, formulation):
    model = sprung(formulation)
    names = [*numbers_of(model)]
    assert len(names) > 60
    check_numbers(model, method, names, "b", 2e-3)


def bent_rod(constraints, formulation="R3xSO3"):
    """A rod of two edges on a rope, of which all strains that are not constrained change."""
    builder = lgint.ModelBuilder(gravity=(0.3, -0.2, -9.81), formulation=formulation)
    turns = lgint.groups.so3.exp(np.array([[0.1, 1.5, 0.2], [0.3, 1.2, 0.1], [0.2, 1.0, 0.4]]))
    builder.add_rod(
        "rod",
        nodes=[(0, 0, 0), (0.4, 0.05, 0.1), (0.7, 0.2, 0.25)],
        rotations=turns,
        stiffness=np.diag([50.0, 60, 80, 5, 4, 3]) + 0.5 * (1 - np.eye(6)),
        damping=(1, 2, 3, 0.1, 0.2, 0.3),
        inertia=(0.5, 1e-3, 2e-3, 3e-3),
        constraints=constraints,
        velocity=(0.2, 0.5, -0.3),
        angular_velocity=(1, 2, 0.3),
    )
    points = {"point_a": (0.7, 0.2, 1.25), "point_b": (0, 0, 0)}
    builder.add_distance(lgint.ground, "rod.node2", length=1.0, **points, name="rope")
    return builder.build(start="project")


@pytest.mark.parametrize(
    ("method", "constraints", "formulation"),
    [
        ("genalpha", None, "SE3"),
        ("genalpha", "kirchhoff", "R3xSO3"),
        ("rk44", "kirchhoff", "euler_parameters"),
        ("herk3", None, "R3xSO3"),
        ("radau5", "inextensible", "S3R3"),
    ],
)
def test_stiffness_and_damping_of_rods_and_lengths_of_ropes(method, constraints, formulation):
    model = bent_rod(constraints, formulation)
    names = [
        name for name in numbers_of(model) if any(part in name for part in ("stiffness", "damping", "rope.length"))
    ]
    assert len(names) == 85
    free = [name for name in names if not constrained(name, constraints)]
    check_numbers(model, method, free, "rod.node2", 2e-4)


def constrained(name, constraints):
    """Whether a number of an edge belongs to a strain that is constrained."""
    held = {None: "", "kirchhoff": "01", "inextensible": "012"}[constraints]
    return name.startswith("rod.") and any(entry in held for entry in name.partition("[")[2].rstrip("]").split(","))


@pytest.mark.parametrize("method", ADAPTIVE)
def test_adaptive_steps_are_kept(method):
    names, outputs = ["top.mass", "top.inertia[2,2]"], [*of_body("top"), ("reaction", "fixed_point")]
    found = difference_to_forward(M.heavy_top(), method, names, outputs, t_end=0.05, rtol=1e-5, atol=1e-6)
    assert found < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_values_of_controls(method):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("arm", mass=0.8, inertia=(0.02, 0.02, 0.03), position=(0.3, 0, 0))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_control(follow, joints="pin", states={"x": 0.3}, name="loop")
    names, outputs = ["arm.mass", "arm.inertia[1,1]"], of_body("arm")
    assert difference_to_forward(builder.build(), method, names, outputs, t_end=0.03, h=2e-3) < 1e-12


# ---- checkpoints, failures ----


@pytest.mark.parametrize("method", METHODS)
def test_checkpoints_on_a_disk_or_in_memory_give_the_bits_of_a_tape(method, tmp_path, monkeypatch):
    steps, adjoint = [], lgint._core.adjoint
    monkeypatch.setattr(lgint._core, "adjoint", lambda *given: steps.append(given[10]) or adjoint(*given))

    def run(**given):
        outputs = [("position", "arm")]
        return lgint.gradient(arm(), method, Weighted(), ["arm.mass"], outputs=outputs, t_end=0.2, h=2e-3, **given)

    _, on_a_tape, _ = run()
    assert steps == [100]
    steps.clear()
    monkeypatch.setattr("lgint._run.gradient._TAPE", 1e3)
    _, in_memory, _ = run()
    assert sum(steps) == 100 and len(steps) == 14 and max(steps) <= 14  # sqrt(2 * 100) = 14.1
    _, on_disk, _ = run(checkpoints=tmp_path)
    assert np.array_equal(in_memory, on_a_tape) and np.array_equal(in_memory, on_disk)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_fails_on_the_way_back(method, tmp_path):
    fails = []

    def motion(t):
        if fails:
            raise ZeroDivisionError("mine")
        return sway(t)

    model = crane(motion)
    arguments = {"outputs": [("position", "bob")], "t_end": 0.05, "h": 5e-3, "checkpoints": tmp_path}

    def cost(t, x):
        fails.append(1)
        return float(np.sum(x)), [np.ones_like(x)]

    with pytest.raises(ZeroDivisionError, match="mine"):
        lgint.gradient(model, method, cost, ["bob.mass"], **arguments)
    assert list(tmp_path.iterdir()) == []
    fails.clear()
    again = lgint.gradient(model, method, Weighted(), ["bob.mass"], **arguments)[1]
    assert np.array_equal(again, lgint.gradient(crane(), method, Weighted(), ["bob.mass"], **arguments)[1])
