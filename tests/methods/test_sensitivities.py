"""Derivatives of runs by parameters, of every method that has them, against differences of whole runs."""

import numpy as np
import pytest

import lgint
from battery import slow_top
from kinds import EXPLICIT_ONLY

METHODS = [name for name in lgint.methods() if lgint.method_info(name)["differentiated"]]
# sixth order: multiples of a step, and weights
STENCIL = [(-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60)]
LIE = ("R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters")


def pairs(formulations):
    """Each method with these formulations, explicit ones also with those to whose coordinates they add rates."""
    return [
        (method, formulation)
        for method in METHODS
        for formulation in (*formulations, *(EXPLICIT_ONLY if lgint.method_info(method)["explicit"] else ()))
    ]


TIGHT = {"newton_rtol": 1e-13, "newton_atol": 0.0}  # for the runs of differences
M = lgint.models


def pendulum(length=0.8):
    """A body that swings on a rod of a given length."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bob", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(length, 0, 0))
    builder.add_distance(lgint.ground, "bob", length=length, point_a=(0, 0, 0), point_b=(0, 0.1, 0), name="rod")
    return builder.build(start="project")


def by_differences(model, method, name, t_end, h, relative=1e-2, **options):
    """Derivatives of q, v and lam by a value, and by the start that is projected with it."""
    value = float(model.values[name])
    step = relative * (abs(value) or 1)
    known = [row["name"] for row in lgint.method_info(method)["options"]]
    own = {key: value for key, value in TIGHT.items() if key in known}
    total = [0.0, 0.0, 0.0]
    middle = lgint.integrate(model, method, t_end=t_end, h=h, **own, **options)
    for times, weight in STENCIL:
        other = model.with_parameters(**{name: value + times * step}).with_state(project=True)
        run = lgint.integrate(other, method, t_end=t_end, h=h, **own, **options)
        parts = model.core.difference(middle.q, run.q), run.v, run.lam
        total = [sofar + weight / step * part for sofar, part in zip(total, parts, strict=True)]
    return total


def distance(found, expected):
    return np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3)


def top(formulation):
    """The top; a slow one where its angles would come near their singularity."""
    return slow_top(formulation) if formulation == "tait_bryan_omega" else M.heavy_top(formulation=formulation)


CASES = {
    "top": (top, ["top.mass", "top.inertia[2,2]"], 1e-3),
    "crank": (lambda formulation: M.slider_crank(formulation=formulation), ["rod.mass", "slider.mass"], 1e-3),
    "chain": (lambda formulation: M.pendulum_chain(n=3, formulation=formulation), ["link2.mass", "gravity[0]"], 2e-3),
}


@pytest.mark.filterwarnings("ignore:inertia of")
@pytest.mark.parametrize(("method", "formulation"), pairs(LIE))
@pytest.mark.parametrize("case", CASES)
def test_every_family_agrees_with_differences_on_every_formulation(method, case, formulation):
    make, names, h = CASES[case]
    model = make(formulation)
    run = lgint.integrate(model, method, t_end=50 * h, h=h, sensitivity=names)
    for k, name in enumerate(names):
        q, v, _ = by_differences(model, method, name, 50 * h, h)
        assert distance(run.sensitivity.dq[..., k], q) < 1e-7
        assert distance(run.sensitivity.dv[..., k], v) < 1e-7


@pytest.mark.filterwarnings("ignore:inertia of")
@pytest.mark.parametrize("options", [{"index": 2}, {"index": "stabilized"}, {"sigma": 0.0, "index": "stabilized"}])
def test_multipliers_of_every_index_agree_with_differences(options):
    model = M.heavy_top(formulation="S3R3")
    run = lgint.integrate(model, "genalpha", t_end=0.05, h=1e-3, sensitivity=["top.inertia[1,1]"], **options)
    q, v, lam = by_differences(model, "genalpha", "top.inertia[1,1]", 0.05, 1e-3, **options)
    assert distance(run.sensitivity.dq[..., 0], q) < 1e-8
    assert distance(run.sensitivity.dv[..., 0], v) < 1e-8
    assert distance(run.sensitivity.dlam[..., 0], lam) < 1e-7


@pytest.mark.parametrize("options", [{}, {"index": 2}, {"index": "stabilized"}])
def test_velocity_rows_and_minimal_coordinates(options):
    for model, name in [
        (M.rolling_disk(), "disk.mass"),
        (M.pendulum_chain(n=4, formulation="minimal"), "link3.mass"),
    ]:
        run = lgint.integrate(model, "genalpha", t_end=0.05, h=1e-3, sensitivity=[name, "gravity[1]"], **options)
        for k, one in enumerate(run.sensitivity.parameters):
            q, v, _ = by_differences(model, "genalpha", one, 0.05, 1e-3, **options)
            assert distance(run.sensitivity.dq[..., k], q) < 1e-7
            assert distance(run.sensitivity.dv[..., k], v) < 1e-7


def dragged(formulation):
    """On a floor with bristles: a bar on a pin, whose tip slides and then sticks, and a ball that slides and spins."""
    minimal = formulation == "minimal"
    builder = lgint.ModelBuilder(gravity=(2.0, 0, -9.81), formulation=formulation)
    moving = {} if minimal else {"velocity": (0, 0.1, 0), "angular_velocity": (0, 0, 0.25)}
    builder.add_body("bar", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(0.4, 0, 0.1), **moving)
    turning = {"rate": (0, 0, 0.25)} if minimal else {}
    builder.add_joint("spherical", lgint.ground, "bar", point=(0, 0, 0.1), name="pin", **turning)
    law = {"stiffness": 1e3, "exponent": 1.25, "damping": 2.0, "friction": 0.4, "bristle": (2e3, 3.0)}
    floor = ("plane", (0, 0, 0), (0, 0, 1))
    builder.add_contact("bar", lgint.ground, shapes=[("sphere", (0.4, 0, 0), 0.1109), floor], name="tip", **law)
    spin = {"velocity": (0.6, 0.2, 0), "angular_velocity": (0.5, 1, 2)}
    spin |= {"formulation": "R3xSO3"} if minimal else {}
    builder.add_body("ball", mass=0.7, inertia=(0.004, 0.005, 0.006), position=(0, 2, 0.1), **spin)
    shape = ("sphere", (0.01, 0.02, 0.01), 0.1252)
    builder.add_contact("ball", lgint.ground, shapes=[shape, floor], name="touch", **law)
    return builder.build()


EVERY = (*LIE, "minimal")
ONE_FOR_EACH = [(method, EVERY[i % len(EVERY)]) for i, method in enumerate(METHODS)]


@pytest.mark.parametrize(("method", "formulation"), ONE_FOR_EACH)
def test_bristles_that_stick_and_slide_in_every_family(method, formulation):
    """Their memory changes from step to step by the motion, by itself and by the numbers of the contact."""
    model, names = dragged(formulation), ["tip.friction", "tip.bristle", "touch.radius_a", "bar.mass"]
    run = lgint.integrate(model, method, t_end=0.05, h=1e-3, sensitivity=names)
    assert {1, 2} <= {*run.mem[:, 0]}
    for k, name in enumerate(names):
        for relative in (1e-3, 1e-4, 1e-5):  # those of whole runs must not pass a change of branch
            q, v, _ = by_differences(model, method, name, 0.05, 1e-3, relative)
            errors = distance(run.sensitivity.dq[..., k], q), distance(run.sensitivity.dv[..., k], v)
            if max(errors) < 1e-7:
                break
        else:
            raise AssertionError(f"{name}: {errors}")


def arm(formulation):
    """Two links in a plane, and a spring to the ground."""
    builder = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation=formulation)
    builder.add_body("upper", mass=1.3, inertia=(0.02, 0.03, 0.04), position=(0.5, 0, 0))
    builder.add_body("lower", mass=0.7, inertia=(0.012, 0.013, 0.014), position=(1.2, 0, 0))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0), name="shoulder")
    builder.add_joint("revolute", "upper", "lower", point=(1, 0, 0), axis=(0, 1, 0), name="elbow")
    builder.add_spring(lgint.ground, "lower", stiffness=40.0, length=0.5, point_a=(1, 0, 1), point_b=(1.4, 0, 0))
    return builder.build(redundant="drop")


def test_points_of_a_tree_move_all_that_its_links_carry():
    model = arm("minimal")
    names = ["shoulder.point[0]", "shoulder.point_a[2]", "elbow.point_a[0]"]
    run = lgint.integrate(model, "genalpha", t_end=0.05, h=2e-3, sensitivity=names)
    for k, name in enumerate(names):
        q, v, _ = by_differences(model, "genalpha", name, 0.05, 2e-3)
        assert distance(run.sensitivity.dq[..., k], q) < 1e-7
        assert distance(run.sensitivity.dv[..., k], v) < 1e-7


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3"])
def test_a_parameter_without_influence_does_not_stop_the_stabilised_form(formulation):
    builder = lgint.ModelBuilder(gravity=(0.3, 0, -9.81), formulation=formulation)
    builder.add_body("upper", mass=1.3, inertia=np.diag([0.02, 0.03, 0.04]) + 0.002, position=(0.5, 0, 0))
    builder.add_body("lower", mass=0.7, inertia=(0.012, 0.013, 0.014), position=(1.2, 0, 0))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0))
    builder.add_joint("spherical", "upper", "lower", point=(1, 0, 0))
    ends = {"point_a": (1, 0, 1), "point_b": (1.4, 0, 0)}
    builder.add_spring(lgint.ground, "lower", stiffness=40.0, damping=0.7, length=0.5, **ends)
    builder.add_force("lower", force=(0.3, 0.2, 0.1), frame="body", point=(1.4, 0, 0))
    name = ["upper.inertia[0,0]"]  # the link turns about y alone
    run = lgint.integrate(builder.build(), "genalpha", t_end=0.3, h=2e-3, index="stabilized", sensitivity=name)
    assert np.abs(run.sensitivity.dv).max() < 1e-10


def test_a_length_moves_the_start_and_the_frequency():
    model, h = pendulum(), 2e-3
    run = lgint.integrate(model, "genalpha", t_end=0.2, h=h, sensitivity=["rod.length"])
    q, v, _ = by_differences(model, "genalpha", "rod.length", 0.2, h)
    assert np.abs(run.sensitivity.dq[0]).max() > 0.5
    assert distance(run.sensitivity.dq[..., 0], q) < 1e-8
    assert distance(run.sensitivity.dv[..., 0], v) < 1e-7
    position = run.derivative("position", "bob")
    np.testing.assert_allclose(position[..., 0], q[:, :3], rtol=0, atol=1e-8)


def test_accessors_include_the_influence_of_the_parameter_itself():
    run = lgint.integrate(M.heavy_top(), "genalpha", t_end=0.02, h=1e-3, sensitivity=["top.mass", "gravity[2]"])
    energy = run.derivative("energy", "total")
    mass, height = run.model.values["top.mass"], run.position("top")[:, 2]
    assert energy.shape == (21, 2)
    # conserved by the motion, so that its derivatives are those of its start but for errors of the method
    start = 0.5 * np.sum(run.velocity("top")[0] ** 2) + 9.81 * height[0]
    np.testing.assert_allclose(energy[0], [start, -mass * height[0]], rtol=1e-9, atol=1e-9)


def test_what_is_no_accessor_is_refused_with_a_guess(tmp_path):
    run = lgint.integrate(M.heavy_top(), "genalpha", t_end=0.002, h=1e-3, sensitivity=["top.mass"])
    with pytest.raises(ValueError, match=r"got 'positon' \(did you mean 'position'\?\)"):
        run.derivative("positon", "top")
    with pytest.raises(ValueError, match="the name of a method of a trajectory expected, got array"):
        run.derivative(np.array(["position", "velocity"]), "top")
    with pytest.raises(ValueError, match="the name of a method of a trajectory expected, got 'save'"):
        run.derivative("save", tmp_path / "run.npz")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="accelerations gives no array of numbers, but tuple"):
        run.derivative("accelerations")


def test_slices_and_files_keep_derivatives(tmp_path):
    run = lgint.integrate(M.heavy_top(), "genalpha", t_end=0.01, h=1e-3, sensitivity=["top.mass"])
    run.save(tmp_path / "run.npz")
    for other in (run[::2], lgint.load(tmp_path / "run.npz")[::2]):
        assert other.sensitivity.parameters == ["top.mass"]
        np.testing.assert_array_equal(other.sensitivity.dv, run.sensitivity.dv[::2])
        np.testing.assert_array_equal(other.derivative("position", "top"), run.derivative("position", "top")[::2])
    assert lgint.integrate(M.heavy_top(), "genalpha", t_end=0.01, h=1e-3).sensitivity is None


def test_derivatives_go_on_over_kinks_and_adaptive_steps():
    builder = lgint.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("body", mass=2.0, inertia=(0.2, 0.25, 0.3), angular_velocity=(1.0, 2.0, 0.5))
    builder.add_force("body", force=([0.0, 0.245, 0.246, 1.0], [[0, 0, 1], [0, 0, 1], [3, 0, 0], [3, 0, 0]]))
    model = builder.build()
    run = lgint.integrate(model, "genalpha", t_end=0.5, h=0.01, sensitivity=["body.mass", "body.inertia[0,0]"])
    for k, name in enumerate(run.sensitivity.parameters):
        q, v, _ = by_differences(model, "genalpha", name, 0.5, 0.01)
        assert distance(run.sensitivity.dq[..., k], q) < 1e-9
        assert distance(run.sensitivity.dv[..., k], v) < 1e-9


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"sensitivity": ["top.mas"]}, "top.mass"),
        ({"sensitivity": ["start.fixed_pont"]}, r"did you mean 'start.fixed_point.rotation\[2\]'"),
        ({"sensitivity": ["start.fixed_point.rotaton[1]"]}, r"did you mean 'start.fixed_point.rotation\[1\]'"),
        ({"sensitivity": ["top.inertia"]}, "one of its entries"),
        ({"sensitivity": ["top.inertia[0,3]"]}, r"has the shape \(3, 3\).* such as 'top.inertia\[2,2\]'"),
        ({"sensitivity": ["top.mass[0]"]}, "top.mass is one number"),
        ({"sensitivity": []}, "a list of names"),
        ({"sensitivity": [""]}, "a list of names"),
        ({"sensitivity": np.array(["top.mass", "gravity[2]"])}, "sensitivity: a list of names"),
        ({"sensitivity": ["top.mass"] * 2}, "different names"),
        ({"sensitivity": ["top.mass"], "form": "printed"}, "printed"),
        ({"sensitivity": ["top.mass"], "start": "optimal"}, "optimal"),
        ({"sensitivity": ["top.mass"], "method": "reml"}, "reml"),
    ],
)
def test_what_has_no_derivatives_is_refused_by_name(arguments, text):
    method = arguments.pop("method", "genalpha")
    formulation = "euler_parameters" if method == "reml" else "R3xSO3"
    with pytest.raises(ValueError, match=text):
        lgint.integrate(M.heavy_top(formulation=formulation), method, t_end=0.01, h=1e-3, **arguments)


def test_a_single_name_and_lists_of_models():
    top = M.heavy_top()
    run = lgint.integrate(top, "genalpha", t_end=0.01, h=1e-3, sensitivity="top.mass")
    assert run.sensitivity.parameters == ["top.mass"] and run.sensitivity.dq.shape == (11, 6, 1)
    many = lgint.integrate([top, top], "genalpha", t_end=0.01, h=1e-3, sensitivity=["top.mass"])
    np.testing.assert_array_equal(many[1].sensitivity.dq, run.sensitivity.dq)


def bob():
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bob", mass=1.0, inertia=(1e-4, 1e-4, 1e-4), position=(0.6, 0, -0.8))
    builder.add_distance(lgint.ground, "bob", point_a=(0, 0, 0), point_b=(0, 0, 0), length=1.0, name="rod")
    return builder.build()


def test_start_values_that_loops_forbid_alone_follow_the_projection():
    names = ["start.bob.position[0]", "start.bob.velocity[2]"]
    found = lgint.integrate(bob(), "genalpha", t_end=1e-3, h=1e-3, sensitivity=names).sensitivity
    np.testing.assert_allclose(found.dq[0, :3], np.transpose([[0.64, 0, 0.48], [0, 0, 0]]), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.dv[0, :3], np.transpose([[0, 0, 0], [0.48, 0, 0.36]]), rtol=0, atol=1e-11)


@pytest.mark.parametrize("turn", [0, 2])
def test_a_disk_that_is_turned_at_its_start_stays_on_its_plane(turn):
    model = M.rolling_disk()
    assert model.nq == 12  # so that velocities are those of the world and of turns about the body's axes
    found = lgint.integrate(
        model, "genalpha", t_end=1e-3, h=1e-3, sensitivity=[f"start.disk.rotation[{turn}]"]
    ).sensitivity
    q, v = 0.0, 0.0
    for times, weight in STENCIL:
        change = 1e-2 * times * np.eye(6)[3 + turn]
        at = model.with_state(q=model.core.retract(model.q0, change), v=model.v0).with_state(project=True)
        q, v = q + weight / 1e-2 * model.core.difference(model.q0, at.q0), v + weight / 1e-2 * at.v0
    np.testing.assert_allclose(found.dq[0, :, 0], q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.dv[0, :, 0], v, rtol=0, atol=1e-9)


def test_start_values_agree_with_differences():
    model, h = M.pendulum_chain(n=2, joint="revolute", formulation="minimal"), 2e-3
    names = [f"start.{[*model.joints][0]}", f"start.{[*model.joints][1]}.rate"]
    run = lgint.integrate(model, "genalpha", t_end=0.1, h=h, sensitivity=names)
    for k in range(2):
        runs = []
        for sign in (1, -1):
            q, v = model.q0.copy(), model.v0.copy()
            (v if k else q)[k] += sign * 1e-5
            runs.append(lgint.integrate(model.with_state(q, v), "genalpha", t_end=0.1, h=h, **TIGHT))
        assert distance(run.sensitivity.dq[..., k], (runs[0].q - runs[1].q) / 2e-5) < 1e-7
        assert distance(run.sensitivity.dv[..., k], (runs[0].v - runs[1].v) / 2e-5) < 1e-7
    assert run.derivative("joint_angles").shape == (51, 2, 2)


@pytest.mark.parametrize(("formulation", "method"), [("R3xSO3", "genalpha"), ("SE3", "genalpha"), ("SE3", "dopri5")])
def test_derivatives_between_steps_are_those_of_dense_output(formulation, method):
    """Those of the curve at fixed times, and exact at the ends of steps."""
    model, times, names = (
        M.heavy_top(formulation=formulation),
        [0.0003, 0.0071, 0.0125, 0.02],
        ["top.mass", "gravity[2]"],
    )
    options = {"t_end": 0.02, "h": 1e-3, **({"index": "stabilized"} if method == "genalpha" else {})}
    run = lgint.integrate(model, method, sensitivity=names, t_eval=times, **options)
    whole = lgint.integrate(model, method, sensitivity=names, dense_output=True, **options)
    assert run.sol is None and run.sensitivity.dq.shape == (4, 6, 2)
    for k, name in enumerate(names):
        parts = by_differences(model, method, name, t_eval=times, **options)
        for part, expected in zip(("dq", "dv", "dlam"), parts, strict=True):
            assert distance(getattr(run.sensitivity, part)[..., k], expected) < 1e-7
    for part in ("dq", "dv", "dvdot", "dlam"):
        np.testing.assert_array_equal(getattr(whole.at(times).sensitivity, part), getattr(run.sensitivity, part))
        found, own = getattr(whole.at(whole.t).sensitivity, part), getattr(whole.sensitivity, part)
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-10 * np.abs(own).max())


def test_angles_that_memory_holds_have_derivatives():
    model = M.pendulum_chain(n=2, joint="revolute", formulation="R3xSO3")
    names = [f"start.{name}" for name in model.joints]
    found = lgint.integrate(model, "genalpha", t_end=0.1, h=2e-3, sensitivity=names).derivative("joint_angles")
    np.testing.assert_allclose(found[0], np.eye(2), rtol=0, atol=1e-10)
    minimal = M.pendulum_chain(n=2, joint="revolute", formulation="minimal")
    other = lgint.integrate(minimal, "genalpha", t_end=0.1, h=2e-3, sensitivity=names).derivative("joint_angles")
    np.testing.assert_allclose(found, other, rtol=0, atol=5e-4)
