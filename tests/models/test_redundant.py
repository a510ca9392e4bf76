"""Redundant and contradictory constraints: found at build, named, dropped, and their reactions shared."""

import re
import time

import numpy as np
import pytest

import lgint
from face import systems
from kinds import FORMULATIONS
from lgint._build import redundancy
from lgint._model import loops

BAR = {"mass": 2.0, "inertia": (0.01, 0.2, 0.2)}
NORMAL = systems.turn(0.6, (1, 2, 0.5)) @ np.array([0.0, 0.0, 1.0])
PLANE = systems.turn(0.6, (1, 2, 0.5))


def bar(builder, name, a, b, **more):
    """A bar from a to b with its x axis along the bar and its z axis along NORMAL."""
    x = (b - a) / np.linalg.norm(b - a)
    R = np.column_stack([x, np.cross(NORMAL, x), NORMAL])
    return builder.add_body(name, **BAR, position=(a + b) / 2, rotation=R, **more)


def four_bar(formulation="R3xSO3", corners=((0, 0), (0.3, 1.0), (1.6, 1.3), (1.2, 0)), tilt=0.0, carrier=None):
    """Three bars and the ground in a tilted plane; `tilt` (rad) turns the axis of the last hinge off the normal."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    points = [PLANE @ np.array([x, y, 0.0]) for x, y in corners]
    bars = [lgint.ground] + [bar(b, f"bar{i + 1}", points[i], points[i + 1]) for i in range(3)] + [lgint.ground]
    for i in range(4):
        axis = systems.turn(tilt, points[2] - points[1]) @ NORMAL if i == 3 else NORMAL
        b.add_joint("revolute", bars[i], bars[i + 1], point=points[i], axis=axis, name=f"hinge{i}", carrier=carrier)
    return b


def door(second=(0.0, 0.0, 1.0)):
    """A door on two hinges along z, 2 m apart; `second` is the place of the upper hinge on the frame."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body(
        "door", mass=20.0, inertia=(6, 8, 2), position=(0.5, 0, 0), angular_velocity=(0, 0, 1), velocity=(0, 0.5, 0)
    )
    b.add_joint("revolute", lgint.ground, "door", point=(0, 0, -1), axis=(0, 0, 1), name="lower")
    b.add_joint("revolute", lgint.ground, "door", point_a=second, point_b=(-0.5, 0, 1), axis=(0, 0, 1), name="upper")
    return b


# ---- naming ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("carrier", ["inertial", "first"])
def test_a_planar_four_bar_is_three_times_overconstrained(formulation, carrier):
    with pytest.raises(
        ValueError, match=r"redundant constraints: hinge3: translation along e?[xyz3], rotation about e2, ro"
    ):
        four_bar(formulation, carrier=carrier).build()
    model = four_bar(formulation, carrier=carrier).build(redundant="drop")
    assert len(model.dropped_rows) == 3
    assert all(row.startswith("hinge3: ") for row in model.dropped_rows)
    assert model.row_names == model.complete.row_names


def test_the_second_hinge_of_a_door_is_redundant_altogether():
    with pytest.raises(
        ValueError, match="redundant constraints: upper: translation along x, translation along y, transl"
    ):
        door().build()
    model = door().build(redundant="drop")
    assert model.dropped_rows == [f"upper: translation along {x}" for x in "xyz"] + [
        f"upper: rotation about {e}" for e in ("e2", "e1")
    ]


@pytest.mark.parametrize("start", ["check", "project"])
@pytest.mark.parametrize("redundant", ["error", "drop", "minimum_norm"])
def test_hinges_that_do_not_fit_contradict_each_other(start, redundant):
    with pytest.raises(ValueError, match="contradictory constraints: upper: .*translation along z.*no position"):
        door(second=(0.0, 0.0, 1.25)).build(start=start, redundant=redundant)


def test_a_distance_can_be_redundant():
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_joint("spherical", lgint.ground, "ball", point=(0, 0, 0), name="pivot")
    b.add_joint("distance", lgint.ground, "ball", point_b=(0, 0, 0), name="rod")
    with pytest.raises(ValueError, match="redundant constraints: rod: distance;"):
        b.build()
    assert b.build(redundant="drop").dropped_rows == ["rod: distance"]


def parallelogram_bars(angle):
    """Corners, positions and rotations of three bars that fold flat at angle 0."""
    c, s = np.cos(angle), np.sin(angle)
    corners = np.array([(0, 0, 0), (c, s, 0), (2 + c, s, 0), (2, 0, 0)])
    x = np.diff(corners, axis=0) / np.linalg.norm(np.diff(corners, axis=0), axis=1, keepdims=True)
    rotations = [np.column_stack([e, np.cross((0, 0, 1), e), (0, 0, 1)]) for e in x]
    return corners, (corners[1:] + corners[:-1]) / 2, rotations


def parallelogram(angle):
    """A loop that is not overconstrained: its joints are revolute, spherical, universal and inline."""
    corners, positions, rotations = parallelogram_bars(angle)
    b = lgint.ModelBuilder(gravity=(0, -9.81, 0))
    bars = [b.add_body(f"bar{i}", **BAR, position=positions[i], rotation=rotations[i]) for i in range(3)]
    b.add_joint("revolute", lgint.ground, bars[0], point=corners[0], axis=(0, 0, 1))
    b.add_joint("spherical", bars[0], bars[1], point=corners[1])
    b.add_joint("universal", bars[1], bars[2], point=corners[2], axis=(0, 0, 1), second_axis=rotations[2][:, 0])
    b.add_joint("inline", bars[2], lgint.ground, point=corners[3], axis=(0, 0, 1), name="last")
    return b


def parallelogram_q(angle):
    _, positions, rotations = parallelogram_bars(angle)
    return np.concatenate([[*x, *R.ravel()] for x, R in zip(positions, rotations, strict=True)])


def test_a_start_in_a_singular_configuration_is_told_apart():
    """In a parallelogram that is folded flat, rows depend on each other only there, and the error says so."""
    assert parallelogram(0.7).build().dropped_rows == []
    with pytest.raises(ValueError, match="singular start: last: translation along e"):
        parallelogram(0.0).build(redundant="drop")


def test_a_rod_across_its_slider_is_no_contradiction():
    """If the rod is normal to the slot its row is dependent, but there are configurations in which it is not."""
    b = lgint.ModelBuilder()
    b.add_body("slider", **BAR)
    b.add_joint("prismatic", lgint.ground, "slider", point=(0, 0, 0), axis=(1, 0, 0), name="slot")
    b.add_joint("distance", lgint.ground, "slider", point_a=(0, 1, 0), length=1.001, name="rod")
    with pytest.raises(ValueError, match="singular start: rod: distance"):
        b.build(start="project")


def test_what_is_nearly_redundant_is_kept():
    """If a hinge is tilted by a milliradian, its rows lock the four-bar but are independent of the others."""
    model = four_bar(tilt=1e-3).build(redundant="drop")
    assert len(model.dropped_rows) == 2


def test_a_rough_start_is_projected():
    b = lgint.ModelBuilder()
    b.add_body("door", mass=20.0, inertia=(6, 8, 2), position=(0.52, 0.01, 0.02))
    for z in (-1, 1):
        b.add_joint(
            "revolute", lgint.ground, "door", point_a=(0, 0, z), point_b=(-0.5, 0, z), axis=(0, 0, 1), name=str(z)
        )
    model = b.build(start="project", redundant="drop")
    assert len(model.dropped_rows) == 5
    assert np.abs(model.complete.core.residual(0.0, model.q0, model.v0)[0]).max() < 1e-12


def test_bad_option():
    with pytest.raises(ValueError, match="redundant 'keep'"):
        door().build(redundant="keep")


# ---- running ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_dropped_rows_stay_satisfied(formulation):
    model = four_bar(formulation).build(redundant="drop")
    run = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3)
    assert run.stats.dense_fallbacks == 0
    assert np.ptp(run.joint_angle("hinge3")) > 0.5
    assert np.abs(model.complete.core.residual(run.t, run.q, run.v)[0]).max() < 1e-11


def test_the_reduced_motion_is_that_of_a_planar_loop():
    """The motion is that of the same mechanism with a joint that does not overconstrain it."""
    run = lgint.integrate(four_bar().build(redundant="drop"), "genalpha", t_end=0.5, h=1e-3)
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    points = [PLANE @ np.array([x, y, 0.0]) for x, y in ((0, 0), (0.3, 1.0), (1.6, 1.3), (1.2, 0))]
    bars = [lgint.ground, *(bar(b, f"bar{i + 1}", points[i], points[i + 1]) for i in range(3))]
    for i in range(3):
        b.add_joint("revolute", bars[i], bars[i + 1], point=points[i], axis=NORMAL, name=f"hinge{i}")
    b.add_joint("inline", bars[3], lgint.ground, point=points[3], axis=NORMAL, name="hinge3")
    open_loop = lgint.integrate(b.build(), "genalpha", t_end=0.5, h=1e-3)
    assert np.allclose(run.position("bar2"), open_loop.position("bar2"), rtol=0, atol=1e-10)


# ---- reactions ----


def test_two_hinges_share_the_weight_of_a_door():
    """With least multipliers, each hinge carries half the weight, and a part of the couple by a force and a moment."""
    runs = {
        redundant: lgint.integrate(door().build(redundant=redundant), "rk44", t_end=0.1, h=1e-2)
        for redundant in ("drop", "minimum_norm")
    }
    assert np.array_equal(runs["drop"].lam, runs["minimum_norm"].lam)
    weight = 20.0 * 9.81
    lower, upper = (runs["minimum_norm"].reaction(name) for name in ("lower", "upper"))
    assert np.allclose(lower[:, 2], weight / 2)
    assert np.allclose(upper[:, 2], weight / 2)
    assert np.abs(runs["drop"].reaction("upper")).max() == 0

    # in sum, both choices of rows load the door alike: same force, same moment about the lower hinge
    arm = np.array([0.0, 0.0, 2.0])
    alone = runs["drop"].reaction("lower")
    assert np.allclose(lower[:, :3] + upper[:, :3], alone[:, :3])
    assert np.allclose(lower[:, 3:] + upper[:, 3:] + np.cross(arm, upper[:, :3]), alone[:, 3:])

    # A couple holds the door up: forces F at a distance of 2 m and moments M in both hinges, with the least F^2 + M^2.
    couple = np.linalg.norm(alone[0, 3:] - np.cross(arm / 2, alone[0, :3]))
    M = np.linalg.norm((lower[0, 3:] + upper[0, 3:]) / 2)
    assert couple == pytest.approx(weight / 2)  # the weight acts half a metre from the hinges
    assert M == pytest.approx(couple / 4)  # 2 F + 2 M = couple, and F = M, as each F has an arm of 1 m


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_reactions_of_least_norm_do_not_depend_on_the_formulation(formulation):
    run, other = (
        lgint.integrate(four_bar(kind).build(redundant="minimum_norm"), "rk44", t_end=0.05, h=1e-3)
        for kind in ("R3xSO3", formulation)
    )
    rows = run.all_multipliers().shape[1]
    assert rows == 20
    assert np.allclose(other.all_multipliers()[:, :20], run.all_multipliers(), rtol=1e-6, atol=1e-6)
    for name in ("hinge0", "hinge3"):
        assert np.allclose(run.reaction(name), other.reaction(name), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("equivariant", [True, False])
def test_reactions_of_least_norm_do_not_depend_on_the_axes_of_rows(equivariant):
    """At the start, where methods solve for the same multipliers."""
    model = four_bar("euler_parameters").build(redundant="minimum_norm")
    how = {"t_end": 0.01, "h": 0.01}
    run, other = lgint.integrate(model, "emh", equivariant=equivariant, **how), lgint.integrate(model, "rk44", **how)
    for name in model.joints:
        expected = other.reaction(name)[0]
        assert np.allclose(run.reaction(name)[0], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_least_norm_against_the_pseudo_inverse():
    model = four_bar().build(redundant="minimum_norm")
    run = lgint.integrate(model, "genalpha", t_end=0.1, h=1e-3)
    for i in (0, 50, -1):
        B = model.complete.core.evaluate(0.0, run.q[i], run.v[i], want=["B"])["B"]
        force = model.core.evaluate(0.0, run.q[i], run.v[i], lam=run.lam[i], want=["Btlam"])["Btlam"]
        least = np.linalg.pinv(B.T, rcond=1e-9) @ force
        assert np.allclose(run.all_multipliers()[i], least, rtol=1e-9, atol=1e-9 * np.abs(least).max())
        assert np.linalg.norm(least) < 0.999 * np.linalg.norm(run.lam[i])


def test_a_saved_run_knows_its_dropped_rows(tmp_path):
    run = lgint.integrate(door().build(redundant="minimum_norm"), "rk44", t_end=0.02, h=1e-2)
    run.save(tmp_path / "door.npz")
    again = lgint.load(tmp_path / "door.npz")
    assert again.model.dropped_rows == run.model.dropped_rows
    assert np.array_equal(again.reaction("upper"), run.reaction("upper"))


# ---- later in a run ----


@pytest.mark.parametrize("names", [None, ["bar0.mass"]], ids=["", "with sensitivities"])
@pytest.mark.parametrize(
    ("method", "when"), [("rk44", "at t = 0 in step 1"), ("genalpha", "at the start, t = 0;")], ids=["step", "start"]
)
def test_a_singularity_names_its_row_and_time(method, when, names):
    """The parallelogram is built where it is open, and started where it is flat."""
    builder, q = parallelogram(0.7), parallelogram_q(0.0)
    row = f"(last|universal|ground-bar0|bar0-bar1): (translation|rotation) along e., {when}"
    with pytest.raises(lgint.SingularError, match=row):
        lgint.integrate(builder.build().with_state(q=q), method, t_end=0.1, h=0.01, sensitivity=names)


# ---- the graph, and its cost ----


def test_components_of_a_graph():
    """The graph has a triangle and a double edge with a common vertex, a bridge, a loop, and a tree."""
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 4), (4, 4), (4, 5), (5, 6)]
    found = sorted(sorted(component) for component in loops.biconnected(7, edges))
    assert found == [[0, 1, 2], [3, 4], [6]]


def test_loops_are_found_one_by_one():
    """A door hangs on a bar of a four-bar, and a chain on the door: there are two loops without the chain."""
    b = four_bar()
    b.add_body("door", **BAR)
    b.add_joint("revolute", "bar2", "door", point=(0, 0, 0), axis=(1, 0, 0), name="first")
    b.add_joint("revolute", "bar2", "door", point=(1, 0, 0), axis=(1, 0, 0), name="second")
    b.add_body("bob", **BAR)
    b.add_joint("spherical", "door", "bob", point=(2, 0, 0), name="string")
    model = b.build(redundant="drop")
    found = [sorted(loop.joints) for loop in loops.loops(model.complete)]
    assert sorted(found) == [["first", "second"], [f"hinge{i}" for i in range(4)]]
    assert len(model.dropped_rows) == 8


@pytest.mark.measures
def test_a_long_chain_costs_linear_time():
    def seconds(n):
        model = lgint.models.pendulum_chain(n=n)
        times = []
        for _ in range(5):
            start = time.process_time()
            redundancy.resolve(model, "check", "error")
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(8000) < 32 * seconds(1000)  # about 10 for 8 times the length; quadratic growth would give 64


def test_many_doors_cost_linear_time():
    """200 doors stand side by side, each on two hinges."""
    b = lgint.ModelBuilder()
    for i in range(200):
        b.add_body(f"door{i}", **BAR, position=(i, 0, 0))
        for z in (0, 1):
            b.add_joint("revolute", lgint.ground, f"door{i}", point=(i, 0, z), axis=(0, 0, 1), name=f"hinge{i}.{z}")
    model = b.build(redundant="drop")
    assert len(model.dropped_rows) == 1000
    assert len(loops.loops(model.complete)) == 200


def test_a_large_loop_is_left_to_the_sparse_factorisation():
    """A chain of 200 bars whose far end slides on a line is one loop, of full rank."""
    n = 200
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for i in range(n):
        b.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0))
        b.add_joint("spherical", f"link{i - 1}" if i else lgint.ground, f"link{i}", point=(i, 0, 0))
    b.add_joint("inline", f"link{n - 1}", lgint.ground, point=(n, 0, 0), axis=(1, 0, 0))
    model = b.build()
    (loop,) = loops.loops(model)
    assert loop.nrows > loops.LARGE
    assert model.nc == 3 * n + 2


def test_a_residual_shows_what_the_active_rows_do_not_imply():
    """A coordinate moved by hand against a motion that is active and one that is not."""
    builder = lgint.ModelBuilder(formulation="minimal")
    builder.add_body("wheel", mass=1.0, inertia=(0.1, 0.2, 0.3))
    builder.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 1, 0), name="pin")
    builder.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.3))
    builder.add_joint("revolute", lgint.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    for name in ("first", "second"):
        builder.add_coupling({"pin": 1, "hinge": -2}, name=name)
    model = builder.build(redundant="drop")
    assert model.dropped_rows == ["second: sum"]
    state = model.state([0.3, 0.0], [0.5, 0.1])
    assert np.allclose(state.constraint_residual(), -0.3, atol=1e-15)
    assert np.allclose(state.constraint_residual("velocity"), -0.3, atol=1e-15)


# ---- contradictions during a run ----


def geared(part=0.3):
    """Two wheels that a coupling turns alike, with a motion each; these part at t = `part`."""
    builder = lgint.ModelBuilder()
    for body, joint in (("crank", "pin"), ("wheel", "hinge")):
        builder.add_body(body, mass=1.0, inertia=(0.1, 0.2, 0.3))
        builder.add_joint("revolute", lgint.ground, body, point=(0, 0, 0), axis=(0, 1, 0), name=joint)
    builder.add_coupling({"pin": 1, "hinge": -1}, name="belt")

    def course(t, since):
        s = max(t - since, 0.0)
        return t**3 + s**3, 3 * t**2 + 3 * s**2, 6 * t + 6 * s

    builder.add_joint_motion("pin", lambda t: course(t, np.inf), name="first")
    builder.add_joint_motion("hinge", lambda t: course(t, part), name="second")
    return builder.build(redundant="drop")


@pytest.mark.parametrize("method", ["genalpha", "herk5", "rk44", "radau3"])
def test_motions_that_part_end_a_run_by_name_and_time(method):
    """They are 1e-6 apart at t = 0.31, which is less than 1e-6 of 1 + |q|."""
    with pytest.raises(lgint.IntegrationError, match=r"contradict each other: second: angle, at t = 0\.32 ") as failed:
        lgint.integrate(geared(), method, t_end=1.0, h=0.01)
    run = failed.value.trajectory
    assert len(run.t) == 33 and run.t[-1] == pytest.approx(0.32)
    assert np.abs(run[:31].constraint_residual()).max() < 1e-9


@pytest.mark.parametrize("saved", [{"save_every": 1000}, {"t_eval": [0.2, 0.6]}], ids=str)
def test_the_last_row_of_a_run_counts(saved):
    with pytest.raises(lgint.IntegrationError, match="contradict each other: second: angle"):
        lgint.integrate(geared(), "rk44", t_end=0.6, h=0.01, **saved)
    assert lgint.integrate(geared(), "rk44", t_end=0.3, h=0.01, **saved if "save_every" in saved else {}).t[-1] == 0.3


@pytest.mark.parametrize("tilt", [0.0, 5e-9])
@pytest.mark.parametrize(("method", "options"), [("herk5", {"rtol": 1e-6}), ("genalpha", {"h": 1e-2})], ids=str)
def test_rows_that_the_others_imply_end_no_run(method, options, tilt):
    assert lgint.integrate(four_bar(tilt=tilt).build(redundant="drop"), method, t_end=10.0, **options).t[-1] == 10.0


def test_drift_ends_no_run():
    run = lgint.integrate(four_bar().build(redundant="drop"), "rk44", t_end=10.0, h=0.02, project="none")
    residual = np.abs(run.constraint_residual())
    inactive = [run.model.row_names.index(row) for row in run.model.dropped_rows]
    assert run.t[-1] == 10.0 and residual[:, inactive].max() > 1e-3


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
@pytest.mark.parametrize("gap", [3e-10, 3e-9])
def test_a_loop_that_is_open_by_nearly_nothing_says_by_how_much(formulation, gap):
    """Two hinges and a universal joint in space, whose last hinge is off along its axis, which no motion closes."""
    b = lgint.ModelBuilder(formulation=formulation)
    points = np.array([(0.0, 0, 0), (0, 0.3, 1), (1, 0.2, 1.1), (1.2, -0.4, 0)])
    middles = (points[1:] + points[:-1]) / 2
    for i, middle in enumerate(middles):
        b.add_body(f"bar{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=middle)
    b.add_joint("revolute", lgint.ground, "bar0", point=points[0], axis=(0, 1, 0))
    b.add_joint("revolute", "bar0", "bar1", point=points[1], axis=(0.1, 1, 0.3))
    b.add_joint("universal", "bar1", "bar2", point=points[2], axis=(1, 0, 0), second_axis=(0, 1, 0))
    ends = {"point_a": points[3] + gap * np.array([1.0, 2, -1]), "point_b": points[3] - middles[2]}
    b.add_joint("revolute", lgint.ground, "bar2", **ends, axis=(0, 0.2, 1), name="last")
    with pytest.raises(ValueError, match=r"open loop: last: (translation along|rotation about) .* \(\d.*e-") as caught:
        b.build(redundant="drop")
    sizes = [float(size) for size in re.findall(r"\((\d\S*)\)", str(caught.value))]
    assert 0.05 * gap < max(sizes) < 5 * gap


@pytest.mark.parametrize("size", [1.0, 300.0])
@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_a_gap_that_all_rows_of_a_loop_could_share_is_no_singular_start(formulation, size):
    """A planar loop whose last hinge is off along its axis by 1e-7 of its size."""
    b, points = lgint.ModelBuilder(formulation=formulation), size * np.array([(0, 0, 0), (0, 0, 0.4), (0, 1, 0.8)])
    points = np.vstack([points, (0, 1.1 * size, 0)])
    for i, before in enumerate((lgint.ground, "bar0", "bar1")):
        b.add_body(f"bar{i}", mass=1.0, inertia=size**2 / 10 * np.ones(3), position=(points[i] + points[i + 1]) / 2)
        b.add_joint("revolute", before, f"bar{i}", point=points[i], axis=(1, 0, 0))
    ends = {"point_a": points[3], "point_b": points[3] + (1e-7 * size, 0, 0)}
    b.add_joint("revolute", "bar2", lgint.ground, **ends, axis=(1, 0, 0), name="last")
    with pytest.raises(ValueError, match="contradictory constraints: last: translation along x"):
        b.build(redundant="drop", start="project")
