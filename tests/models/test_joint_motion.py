"""Prescribed coordinates of joints: their multiplier is the effort of the actuator."""

import numpy as np
import pytest

import lgint
from models.robots import BASE, LEGS, TOP, motion, stewart

W, A = 2.0, 0.3
INERTIA = 0.2 + 2 * 0.25  # about the pin
FORMULATIONS = ["R3xSO3", "R3xS3", "R3xRV", "SE3", "S3R3", "euler_parameters", "minimal"]
METHODS = [method for method in lgint.methods() if not lgint.method_info(method)["momentum"]]
MOMENTUM = [method for method in lgint.methods() if lgint.method_info(method)["momentum"]]


def course(t):
    return W * t + A * t**2, W + 2 * A * t, 2 * A


def crank(formulation, course, rate=W):
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    tree = formulation == "minimal"
    moving = {} if tree else {"velocity": (0, 0.5 * rate, 0), "angular_velocity": (rate, 0, 0)}
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5), **moving)
    along = {"rate": rate} if tree else {}
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin", **along)
    assert b.add_joint_motion("pin", course) == "pin.motion"
    return b.build()


def torque(run):
    phi, _, second = np.array([[*course(t)] for t in run.t]).T
    return INERTIA * second + 2 * 9.81 * 0.5 * np.sin(phi)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_crank_at_a_prescribed_speed_takes_the_torque_of_inverse_dynamics(method, formulation):
    run = lgint.integrate(crank(formulation, course), method, t_end=1.0, h=1e-3)
    assert np.allclose(run.joint_angle("pin"), course(run.t)[0], rtol=0, atol=0.05 if method == "euler" else 1e-5)
    late = slice(20, None)
    assert np.allclose(
        run.force("pin.motion")[late], torque(run)[late], rtol=0, atol=0.5 if method == "euler" else 3e-2
    )
    found = run.model.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=["pin"])[:, 0]
    assert np.allclose(found[late], run.force("pin.motion")[late], rtol=0, atol=1e-3)
    assert np.allclose(run.power("pin.motion"), run.force("pin.motion") * run.joint_rate("pin"))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_torque_is_exact_where_the_rows_are(formulation):
    run = lgint.integrate(crank(formulation, course), "rk44", t_end=5.0, h=1e-3)
    assert run.joint_angle("pin")[-1] > 2 * np.pi
    assert np.allclose(run.force("pin.motion"), torque(run), rtol=0, atol=1e-10)
    moment = run.reaction("pin.motion", frame="joint")[:, 5]
    assert np.allclose(moment, run.force("pin.motion"), rtol=0, atol=1e-12)
    assert np.allclose(run.force("pin.motion", on="bar").moment[:, 0], moment, rtol=0, atol=1e-12)


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("method", MOMENTUM)
def test_energy_momentum_methods_follow_motions(method, equivariant):
    """The rows hold at the ends of steps; their multipliers belong to the middles, and converge from the first step."""
    model, errors = crank("euler_parameters", course), []
    for n in (100, 200, 400):
        run = lgint.integrate(model, method, t_end=1.0, h=1 / n, equivariant=equivariant)
        assert np.allclose(run.joint_angle("pin"), course(run.t)[0], rtol=0, atol=1e-12)
        phi, _, second = (np.array(x) for x in course((run.t[1:] + run.t[:-1]) / 2))
        exact = INERTIA * second + 2 * 9.81 * 0.5 * np.sin(phi)
        errors.append(np.abs(run.force("pin.motion")[1:] - exact).max())
    assert np.log2(errors[0] / errors[2]) == pytest.approx(2, abs=0.15)  # order one


@pytest.mark.parametrize("equivariant", [True, False])
@pytest.mark.parametrize("motion", [course, [(0.0, 0.0, W, 2 * A)]], ids=["function", "pieces"])
@pytest.mark.parametrize("method", MOMENTUM)
def test_a_bar_on_a_driven_crank_swings_under_energy_momentum_methods(method, motion, equivariant):
    """Order two from both sides; in each step of `emh` the energy grows by the work of the motor, to round-off."""

    def swung(formulation, method, n, **options):
        b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
        for i in range(2):
            b.add_body(f"bar{i}", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5 - i))
        b.add_joint("revolute", lgint.ground, "bar0", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
        b.add_joint("revolute", "bar0", "bar1", point=(0, 0, -1), axis=(1, 0.3, 0), name="elbow")
        b.add_joint_motion("pin", motion, name="motor")
        return lgint.integrate(b.build(start="project"), method, t_end=0.5, h=0.5 / n, **options)

    exact = swung("R3xSO3", "dop853", 50).joint_angle("elbow")[-1]
    runs = [swung("euler_parameters", method, n, equivariant=equivariant) for n in (25, 50, 100)]
    errors = [abs(run.joint_angle("elbow")[-1] - exact) for run in runs]
    assert np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - 2).max() < 0.05
    assert runs[0].stats.newton_iterations < 5 * runs[0].stats.steps  # as with an exact tangent
    work = runs[0].force("motor")[1:] * np.diff(runs[0].joint_angle("pin"))
    assert method != "emh" or np.allclose(np.diff(runs[0].energy()), work, rtol=0, atol=1e-11)


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_motions_in_every_form_are_the_same(formulation):
    pieces = [[0.0, 0.0, W, 2 * A], [1.0, W + A, W + 2 * A, -1.0]]
    function, two, at_rest = crank(formulation, course), crank(formulation, pieces), crank(formulation, 0.0, rate=0.0)
    runs = [lgint.integrate(model, "rk44", t_end=1.0, h=1e-3) for model in (function, two)]
    assert np.allclose(runs[0].force("pin.motion")[:-1], runs[1].force("pin.motion")[:-1], rtol=0, atol=1e-10)
    assert lgint.integrate(two, "rk44", t_end=1.5, h=0.07).t.tolist().count(1.0) == 1  # a step ends where it kinks
    still = lgint.integrate(at_rest, "rk44", t_end=0.1, h=1e-2)
    assert np.allclose(still.force("pin.motion"), 0, atol=1e-12) and np.allclose(still.joint_angle("pin"), 0)
    table = lgint.integrate(
        crank(formulation, ([0, 1, 2, 3, 4], [0, 0.3, -0.5, 1.0, 1.0]), rate=0.0),
        "rk44",
        t_end=4.0,
        h=1e-2,
        dense_output=True,
    )
    assert np.allclose(table.at([1, 2, 3, 4]).joint_angle("pin"), [0.3, -0.5, 1.0, 1.0], rtol=0, atol=1e-9)


def driven_bar(motion, name=None):
    b = lgint.ModelBuilder(formulation="minimal")
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.2, 0.01), position=(0, 0, -0.5))
    b.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="pin", rate=W)
    b.add_joint_drive("pin", stiffness=300.0, damping=20.0, motion=motion, name=name)
    return b.build()


def test_a_drive_takes_the_same_motions():
    def driven(motion):
        return lgint.integrate(driven_bar(motion), "rk44", t_end=1.0, h=1e-3).joint_angle("pin")

    pieces = [[0.0, 0.0, W, 2 * A]]
    assert np.allclose(driven(course), driven(pieces), rtol=0, atol=1e-12)
    assert np.allclose(driven(0.5), driven([[0.0, 0.5, 0.0, 0.0]]), rtol=0, atol=0)
    assert driven(([0.0, 0.5, 1.0], [0.0, 0.4, 0.4]))[-1] == pytest.approx(0.4, abs=0.05)


def slides(formulation, coordinate):
    """A body in a cylindrical joint, of which one coordinate is prescribed and the other one swings."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=formulation)
    tree = formulation == "minimal"
    velocity = {} if tree else {"velocity": (0.5, 0, 0) if coordinate == "slide" else (0, 0.5 * 0.2, 0)}
    turning = {} if tree or coordinate == "slide" else {"angular_velocity": (0.5, 0, 0)}
    b.add_body("bar", mass=2.0, inertia=(0.2, 0.3, 0.1), position=(0.1, 0, -0.2), **velocity, **turning)
    rates = {"rate": (0.5, 0.0) if coordinate == "slide" else (0.0, 0.5)} if tree else {}
    b.add_joint("cylindrical", lgint.ground, "bar", point=(0, 0, 0), axis=(1, 0, 0), name="rod", **rates)
    b.add_joint_motion(
        "rod",
        lambda t: (np.sin(0.5 * t), 0.5 * np.cos(0.5 * t), -0.25 * np.sin(0.5 * t)),
        coordinate=coordinate,
        name="feed",
    )
    return b.build()


@pytest.mark.parametrize("coordinate", ["slide", "angle"])
def test_either_coordinate_of_a_cylindrical_joint(coordinate):
    runs = [lgint.integrate(slides(f, coordinate), "rk44", t_end=2.0, h=1e-3) for f in ("R3xSO3", "S3R3", "minimal")]
    for run in runs:
        assert np.allclose(run.joint_position("rod", coordinate), np.sin(0.5 * run.t), rtol=0, atol=1e-9)
        if coordinate == "slide":
            assert np.allclose(run.force("feed"), 2 * -0.25 * np.sin(0.5 * run.t), rtol=0, atol=1e-9)
        assert np.allclose(run.force("feed"), runs[0].force("feed"), rtol=0, atol=1e-8)
        assert lgint.check(run.model).ok


# ---- a Stewart platform: three ways to its leg forces ----


def leg_lengths(t):
    """Extensions of the legs from t = 0, with both derivatives, (3, 6)."""

    def at(s):
        x = motion(s)[0]
        R = lgint.groups.so3.exp(x[3:])
        return np.linalg.norm(x[:3] + TOP @ R.T - BASE, axis=1)

    d = 1e-3
    v = [at(t + k * d) for k in (-2, -1, 0, 1, 2)]
    rate = (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * d)
    second = (-v[0] + 16 * v[1] - 30 * v[2] + 16 * v[3] - v[4]) / (12 * d**2)
    return np.stack([v[2] - at(0.0), rate, second])


def test_three_ways_to_the_leg_forces_of_a_stewart_platform():
    free = stewart(held=False)
    driven, held = stewart(held=False, motions=leg_lengths), stewart()
    run = lgint.integrate(driven, "rk44", t_end=0.4, h=5e-3)
    own = np.stack([run.force(f"{leg}.motion") for leg in LEGS], axis=-1)
    inverse = free.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=LEGS)
    assert np.abs(own - inverse).max() < 1e-8 * np.abs(own).max()
    named = driven.inverse_dynamics(run.q, run.v, run.vdot, run.t, actuators=LEGS)
    assert np.abs(own - named).max() < 1e-8 * np.abs(own).max()
    # the platform moved by a support: the legs then take what the support exerts
    moved = lgint.integrate(held, "rk44", t_end=0.4, h=5e-3)
    inverse = free.inverse_dynamics(moved.q, moved.v, moved.vdot, moved.t, actuators=LEGS)
    for i in (0, 40, 80):
        state = free.state(moved.q[i], moved.v[i], moved.t[i])
        work = sum(inverse[i, k] * state.joint_rate(leg) for k, leg in enumerate(LEGS))
        assert work == pytest.approx(moved.state(i).power("hand"), rel=1e-8, abs=1e-8)
    assert np.allclose(run.position("platform"), moved.position("platform"), rtol=0, atol=1e-10)
    assert np.abs(own - inverse).max() < 1e-8 * np.abs(own).max()  # leg by leg


@pytest.mark.parametrize("formulation", ["R3xSO3", "euler_parameters", "minimal"])
def test_in_equilibrium_a_motion_stands_still_and_holds(formulation):
    found = lgint.equilibrium(crank(formulation, course), time=0.3)
    phi = course(0.3)[0]
    assert found.joint_angle("pin")[-1] == pytest.approx(phi, abs=1e-10)
    assert found.force("pin.motion")[-1] == pytest.approx(2 * 9.81 * 0.5 * np.sin(phi), abs=1e-8)
    assert crank(formulation, course).mobility().degrees_of_freedom == 0


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_the_work_of_a_motion_is_what_the_energy_gains(formulation):
    run = lgint.integrate(crank(formulation, course), "dopri5", t_end=1.0, rtol=1e-12, atol=1e-14, dense_output=True)
    gained = run.energy("total") - run.energy("total")[0]
    assert np.allclose(run.work("pin.motion"), gained, rtol=0, atol=1e-8 * gained[-1])


# ---- what is refused ----


def test_motions_that_jump_are_refused():
    with pytest.raises(ValueError, match=r"its rate jumps at t = 1 from 2.6 to 3"):
        crank("R3xSO3", [[0.0, 0.0, W, 2 * A], [1.0, W + A, 3.0, 0.0]])
    with pytest.raises(ValueError, match=r"its coordinate jumps at t = 1"):
        crank("R3xSO3", [[0.0, 0.0, W, 2 * A], [1.0, W, W + 2 * A, 0.0]])


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_a_start_that_does_not_agree_is_refused(formulation):
    with pytest.raises(ValueError, match=r"'pin.motion: angle' at velocity level by"):
        crank(formulation, course, rate=1.0)
    with pytest.raises(ValueError, match=r"'pin.motion: angle' at position level by"):
        crank(formulation, lambda t: (0.1 + W * t, W, 0.0))


@pytest.mark.parametrize(
    "course",
    [lambda t: (1.0, 2.0), lambda t: "fast", [[0.0, 1.0]], [[1, 0, 0, 0], [0, 0, 0, 0]], ([1, 0], [0, 0]), "x"],
)
def test_motions_of_other_shapes_are_refused(course):
    with pytest.raises(ValueError, match=r"motion of 'pin.motion'"):
        crank("R3xSO3", course)


RAGGED = r"values of motion of .*: one for each of the 3 times expected, got the shape"
MISSHAPEN = {
    "lengths": (([0.0, 1.0, 2.0], [0.0, 1.0]), RAGGED),
    "columns": (([0.0, 1.0, 2.0], [[0.0, 1.0]] * 3), RAGGED),
    "one number": (([0.0, 1.0, 2.0], 1.0), RAGGED),
    "not ascending": (([0.0, 2.0, 1.0], [0.0, 1.0, 2.0]), r"times of motion of .*: at least two, ascending"),
    "times of no axis": ((1.0, [0.0]), r"(times|motion) of .*expected"),
    "list": ([[0.0, 1.0, 2.0], [0.0, 1.0]], r"motion of .*: a number, a list of rows .* a tuple \(times, values\)"),
    "list of equals": ([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]], r"motion of .*: a number, a list of rows .*\(2, 3\)"),
}


@pytest.mark.parametrize("which", MISSHAPEN)
def test_tables_and_pieces_of_other_shapes_are_refused_by_name(which):
    course, message = MISSHAPEN[which]
    with pytest.raises(ValueError, match=message):
        crank("R3xSO3", course)
    with pytest.raises(ValueError, match=message):
        driven_bar(course)


@pytest.mark.parametrize("sequence", [list, tuple, np.array])
def test_a_tuple_of_two_is_a_table_and_a_list_of_rows_is_pieces(sequence):
    times, values = [0.0, 1.0, 2.0, 3.0], [0.0, 1.2, 1.1, 1.3]
    table = (sequence(times), sequence(values))
    columns = (times, [[value] for value in values])
    for course in (table, columns):
        run = lgint.integrate(crank("R3xSO3", course, rate=0.0), "rk44", t_end=3.0, h=0.01)
        assert np.allclose(run.joint_angle("pin")[[100, 200, 300]], values[1:], rtol=0, atol=1e-6)
    for course in (table, columns, [[0.0, 0.0, W, 0.0], [1.0, W, W, 0.0]]):
        (drive,) = driven_bar(course).forces.values()
        assert isinstance(drive["motion"], list) == isinstance(course, list)


WRONG_RATES = {
    "velocity at 0": (lambda t: (W * t, 0.5 * W, 0.0), r"near t = 0 the velocity is 1"),
    "acceleration at 0": (lambda t: (W * t + A * t**2, W + 2 * A * t, A), r"near t = 0 the acceleration is 0\.3"),
    "acceleration later": (lambda t: (np.sin(W * t), W * np.cos(W * t), -np.sin(W * t)), r"near t = 0\.13 the accel"),
}


@pytest.mark.parametrize("which", WRONG_RATES)
def test_functions_whose_rates_are_not_their_derivatives_are_refused(which):
    course, message = WRONG_RATES[which]
    with pytest.raises(ValueError, match=rf"motion of 'pin.motion': rows .*{message}"):
        crank("R3xSO3", course)
    with pytest.raises(ValueError, match=rf"motion of the drive of 'pin': rows .*{message}"):
        driven_bar(course)
    with pytest.raises(ValueError, match=rf"motion of 'motor': rows .*{message}"):
        driven_bar(course, name="motor")


def test_functions_whose_rate_jumps_at_a_sample_are_for_drives_alone():
    def kinked(t):
        return W * t + max(t - 0.5, 0.0), W + (t >= 0.5), 0.0

    with pytest.raises(ValueError, match=r"near t = 0\.5 the acceleration"):
        crank("R3xSO3", kinked)
    driven_bar(kinked)


def slider(course):
    b = lgint.ModelBuilder(formulation="R3xSO3")
    b.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=(1.0, 0, 0))
    b.add_joint("prismatic", lgint.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0), name="pin")
    b.add_joint_motion("pin", course)
    return b.build()


JUMPS = {
    "rate": (lambda t: (t, 1.0, 0.0) if t < 0.3 else (0.3 + 3 * (t - 0.3), 3.0, 0.0), "rate", "1 to 3"),
    "coordinate": (lambda t: (t + 0.1 * (t >= 0.3), 1.0, 0.0), "coordinate", "0.3 to 0.4"),
}


@pytest.mark.parametrize("which", JUMPS)
@pytest.mark.parametrize("options", [{"h": 0.013}, {"h": 0.01}, {"rtol": 1e-6, "atol": 1e-8}], ids=str)
@pytest.mark.parametrize("model", [lambda f: crank("R3xSO3", f, 1.0), lambda f: crank("minimal", f, 1.0), slider])
def test_a_jump_of_a_function_ends_the_run(model, options, which):
    course, what, values = JUMPS[which]
    message = rf"the {what} of pin.motion jumps from {values} at t = 0.3"
    with pytest.raises(lgint.IntegrationError, match=message) as failure:
        lgint.integrate(model(course), "dopri5", t_end=0.6, **options)
    kept = failure.value.trajectory
    assert 0.3 - kept.t[-1] < options.get("h", 0.3) * (1 + 1e-9)
    np.testing.assert_allclose(kept.joint_position("pin"), kept.t, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["rk44", "genalpha", "radau5"])
def test_a_kink_of_a_function_does_not(method):
    """The second rate jumps; smooth functions of very different scales in one run."""

    def kinked(t):
        late = max(t - 0.3, 0.0)
        return (
            t + late**2 + 1e-3 * np.sin(40 * t) - 0.04 * t,
            0.96 + 2 * late + 0.04 * np.cos(40 * t),
            (2.0 * (t >= 0.3) - 1.6 * np.sin(40 * t)),
        )

    run = lgint.integrate(crank("R3xSO3", kinked, 1.0), method, t_end=0.6, h=0.01)
    assert run.joint_angle("pin")[-1] == pytest.approx(kinked(0.6)[0], abs=2e-3)


def test_functions_may_end_after_the_run():
    def short(t):
        if t > 0.2:
            raise ValueError("no value after t = 0.2")
        return course(t)

    assert lgint.integrate(crank("R3xSO3", short), "rk44", t_end=0.1, h=0.01).t[-1] == 0.1
    assert driven_bar(short)


def test_unknown_joints_and_coordinates_are_refused():
    b = lgint.ModelBuilder()
    b.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("spherical", lgint.ground, "ball", point=(0, 0, 0), name="socket")
    with pytest.raises(ValueError, match="has neither an angle nor a slide"):
        b.add_joint_motion("socket", 0.0)
    with pytest.raises(ValueError, match="did you mean 'socket'"):
        b.add_joint_motion("sockets", 0.0)


def test_a_coordinate_has_one_motion():
    """Otherwise `redundant="drop"` would leave out the second one, which may contradict the first one later."""
    b = lgint.ModelBuilder()
    b.add_body("screw", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("cylindrical", lgint.ground, "screw", point=(0, 0, 0), axis=(0, 0, 1), name="nut")
    b.add_joint_motion("nut", lambda t: (t**3, 3 * t**2, 6 * t), coordinate="slide", name="lift")
    b.add_joint_motion("nut", 0.0)
    with pytest.raises(ValueError, match="joint 'nut': motion 'lift' prescribes its slide already"):
        b.add_joint_motion("nut", 0.0, coordinate="slide")


def test_files_keep_motions(tmp_path):
    pieces = [[0.0, 0.0, W, 2 * A]]
    for course_, runs in ((pieces, True), (course, False)):
        run = lgint.integrate(crank("minimal", course_), "rk44", t_end=0.1, h=1e-2)
        run.save(tmp_path / "run.npz")
        loaded = lgint.load(tmp_path / "run.npz")
        assert np.array_equal(loaded.force("pin.motion"), run.force("pin.motion"))
        if runs:
            again = lgint.integrate(loaded.model, "rk44", t_end=0.1, h=1e-2)
            assert np.array_equal(again.q, run.q)
