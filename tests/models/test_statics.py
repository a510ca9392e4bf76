"""Static equilibria: closed forms, minima of potentials from SciPy, and systems without an equilibrium."""

import contextlib
import signal

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar, root

import lgint
from kinds import FORMULATIONS
from lgint import modal

G = 9.81
ALL = [*FORMULATIONS, "minimal"]


def weight_on_spring(mass=2.0, stiffness=50.0):
    """A weight, guided along z by a rail, on a spring that is one metre long without load."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("weight", mass=mass, inertia=np.eye(3), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, 0), axis=(0, 0, 1), name="rail")
    builder.add_spring(lgint.ground, "weight", stiffness=stiffness, length=1.0)
    return builder.build()


MASSES, STIFFNESS = np.array([1.0, 2.0, 0.5, 1.5]), 6.0


def links(formulation, masses=MASSES, stiffness=STIFFNESS):
    """Links of one metre that lie along x, on revolutes about -y whose springs exert no torque there."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    last = lgint.ground
    for i, mass in enumerate(masses):
        body = builder.add_body(f"link{i}", mass=mass, inertia=(0.01, 0.02, 0.03), position=(i + 0.5, 0, 0))
        builder.add_joint("revolute", last, body, point=(i, 0, 0), axis=(0, -1, 0), name=f"joint{i}")
        if stiffness:
            builder.add_joint_drive(f"joint{i}", stiffness=stiffness)
        last = body
    return builder.build()


def sagging_angles(load=1.0, masses=MASSES):
    """The angles of the links' directions from x that minimise the potential of the springs and weights."""

    def potential(angle):
        z = np.cumsum(np.sin(angle)) - np.sin(angle) / 2
        return STIFFNESS / 2 * np.sum(np.diff(angle, prepend=0) ** 2) + load * G * masses @ z

    def gradient(angle):
        twist = STIFFNESS * np.diff(angle, prepend=0, append=angle[-1])
        beyond = np.cumsum(masses[::-1])[::-1] - masses / 2
        return twist[:-1] - twist[1:] + load * G * beyond * np.cos(angle)

    return root(gradient, minimize(potential, -np.ones(len(masses)), jac=gradient).x, tol=1e-14).x


def near_singular(formulation, where):
    """The warning that link3 hangs at a cosine of 0.0026."""
    hangs = pytest.warns(UserWarning, match=f"Tait-Bryan angles of link3 come near their singularity at {where}")
    return hangs if formulation.startswith("tait_bryan") else contextlib.nullcontext()


def centres(angle):
    """Positions (n, 3) of the links' centres."""
    d = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    return np.cumsum(d, axis=0) - d / 2


# ---- closed forms and minima ----


def test_a_weight_on_a_spring():
    model = weight_on_spring()
    found = lgint.equilibrium(model, loads=(0.25, 0.5, 1.0))
    sag = 2.0 * G / 50.0 * found.t
    assert np.allclose(found.position("weight")[:, 2], -1 - sag, rtol=0, atol=1e-15)
    assert np.allclose(found.energy(), 25.0 * sag**2 - found.t * 2.0 * G * (1 + sag), rtol=1e-14)
    assert (found.v == 0).all() and (found.vdot == 0).all() and (found.energy("kinetic") == 0).all()
    assert found.h.tolist() == [0.25, 0.25, 0.5] and found.method == "equilibrium"


@pytest.mark.parametrize("formulation", ALL)
def test_links_with_springs_sag_alike_in_every_formulation(formulation):
    """The horizontal start is far from the equilibrium, where the last link is almost upright."""
    with near_singular(formulation, "load factor = 1"):
        found = lgint.equilibrium(links(formulation), loads=(0.3, 1.0))
    for row, load in enumerate(found.t):
        x = np.stack([found.position(f"link{i}")[row] for i in range(4)])
        assert np.abs(x - centres(sagging_angles(load))).max() < 1e-11
    angles = sagging_angles()
    twist = STIFFNESS * np.diff(angles, prepend=0)
    assert np.allclose(found.joint_angles()[-1], np.diff(angles, prepend=0), rtol=0, atol=1e-11)
    reaction = found.reaction("joint0", on="second")
    assert np.allclose(reaction[:, :3], np.outer(found.t, [0, 0, G * MASSES.sum()]), rtol=0, atol=1e-11)
    if formulation != "minimal":
        assert np.abs(reaction[-1, 3:]).max() < 1e-11
    assert abs(twist[0]) > 1


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_a_long_chain_falls_from_the_horizontal(formulation):
    """K is singular at the start, where nothing but gravity acts; the equilibrium is the stable one."""
    n = 20
    found = lgint.equilibrium(links(formulation, np.ones(n), stiffness=0))
    assert found.stats.dense_fallbacks == 1  # at the start, where K is singular
    x = np.stack([found.position(f"link{i}")[-1] for i in range(n)])
    assert np.abs(x - np.outer(-0.5 - np.arange(n), [0, 0, 1])).max() < 1e-12
    assert np.allclose([found.reaction(f"joint{i}")[-1, 2] for i in range(n)], G * (n - np.arange(n)), rtol=1e-13)


def test_a_chain_that_grows_lighter_falls_from_the_horizontal():
    """Links of the chain would separate if steps were not projected onto the constraints."""
    n = 12
    found = lgint.equilibrium(links("R3xSO3", np.arange(n, 0.0, -1), stiffness=0))
    x = np.stack([found.position(f"link{i}")[-1] for i in range(n)])
    assert np.abs(x - np.outer(-0.5 - np.arange(n), [0, 0, 1])).max() < 1e-11


def slider_crank(formulation):
    """Crank 0.3 m, rod 0.5 m, slider on x; a spring from (1.2, 0, 0.1) to the slider, gravity along -z."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    tip = 0.3 * np.array([np.cos(0.4), 0, np.sin(0.4)])
    end = np.array([tip[0] + np.sqrt(0.25 - tip[2] ** 2), 0, 0])
    for name, mass, place in (("crank", 2.0, tip / 2), ("rod", 1.0, (tip + end) / 2), ("slider", 0.5, end)):
        builder.add_body(name, mass=mass, inertia=(0.01, 0.02, 0.03), position=place)
    builder.add_joint("revolute", lgint.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    builder.add_joint("spherical", "crank", "rod", point=tip)
    builder.add_joint("universal", "slider", "rod", point=end, axis=(0, 0, 1), second_axis=(0, 1, 0))
    builder.add_joint("prismatic", lgint.ground, "slider", point=end, axis=(1, 0, 0))
    builder.add_spring(lgint.ground, "slider", stiffness=60.0, length=0.3, point=[(1.2, 0, 0.1), end])
    return builder.build()


def test_a_slider_crank_rests_at_the_minimum_of_its_potential():
    def potential(angle):
        z = 0.3 * np.sin(angle)
        x = 0.3 * np.cos(angle) + np.sqrt(0.25 - z * z)
        stretch = np.hypot(1.2 - x, 0.1) - 0.3
        return 3.0 * G * z / 2 + 30.0 * stretch**2

    lowest = minimize_scalar(potential, bounds=(-1.5, 0.5), method="bounded", options={"xatol": 1e-10})
    for formulation in ("R3xSO3", "S3R3", "tait_bryan"):
        found = lgint.equilibrium(slider_crank(formulation))
        expected = 0.15 * np.array([np.cos(lowest.x), 0, np.sin(lowest.x)])
        assert np.abs(found.position("crank")[-1] - expected).max() < 1e-8
        assert abs(found.energy()[-1] - lowest.fun) < 1e-12


@pytest.mark.parametrize("formulation", ["R3xSO3", "SE3", "euler_parameters"])
def test_a_modal_cantilever_bends_as_a_beam(formulation):
    """F L^3/(3 E I) + q L^4/(8 E I); each mode that is left out would add its share 1/k^4."""
    L, EI, line, force = 2.0, 5e4, 0.3, 4.0
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    shapes = modal.beam(L, mass=line, bending=(EI, EI), modes={"bending_z": 10}, section=(1e-6, 1e-6))
    builder.add_modal_body("beam", shapes)
    builder.add_joint("rigid", lgint.ground, "beam", point=(0, 0, 0), name="clamp")
    builder.add_force("beam.end", force=(0, 0, -force))
    found = lgint.equilibrium(builder.build(), loads=(0.5, 1.0))
    tip = -found.position("beam.end")[:, 2]
    expected = force * L**3 / (3 * EI) + line * G * L**4 / (8 * EI)
    assert np.allclose(tip, found.t * expected, rtol=2e-5)
    reaction = found.reaction("clamp")[-1]
    assert np.allclose(reaction[:3], [0, 0, force + line * L * G], rtol=0, atol=1e-9)
    assert abs(reaction[4] + force * L + line * L * G * L / 2) < 1e-4 * force * L


# ---- starts far from the equilibrium ----


def bar(angle, **options):
    """A bar on a hinge, at an angle from upright: where it comes to rest."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    place = 0.5 * np.array([np.sin(angle), 0, np.cos(angle)])
    builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=place)
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    return lgint.equilibrium(builder.build(), **options)


def test_upright_is_an_unstable_equilibrium_and_next_to_it_there_is_none():
    upright = bar(0.0, leave_saddles=False)
    assert np.abs(upright.position("bar")[-1] - [0, 0, 0.5]).max() < 1e-15 and upright.stable == [False]
    for angle in (0.0, 0.3, 1.0, np.pi / 2, 2.0, -3.0):
        found = bar(angle)
        assert np.abs(found.position("bar")[-1] - [0, 0, -0.5]).max() < 1e-14 and found.stable == [True]


# ---- stability ----


def standing(formulation, stiffness, loads=(1.0,), **options):
    """Six upright links on hinges with springs, whose potential is known."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    last, n = lgint.ground, 6
    for i in range(n):
        body = builder.add_body(f"link{i}", mass=1.0, inertia=(0.01, 0.02, 0.03), position=(0, 0, i + 0.5))
        builder.add_joint("revolute", last, body, point=(0, 0, i), axis=(0, -1, 0), name=f"joint{i}")
        builder.add_joint_drive(f"joint{i}", stiffness=stiffness)
        last = body
    return lgint.equilibrium(builder.build(), loads, **options)


def standing_directions(stiffness, load):
    """Negative eigenvalues of the second derivative of the potential by the angles of the links from upright."""
    n = 6
    difference = np.eye(n) - np.eye(n, k=-1)
    beyond = n - np.arange(n) - 0.5
    hessian = stiffness * difference.T @ difference - load * G * np.diag(beyond)
    return int((np.linalg.eigvalsh(hessian) < 0).sum())


@pytest.mark.parametrize("formulation", ALL)
def test_the_directions_in_which_links_fall_are_counted(formulation):
    found = set()
    for stiffness in (5.0, 20.0, 60.0, 200.0, 2000.0):
        rest = standing(formulation, stiffness, (0.5, 1.0), leave_saddles=False)
        expected = [standing_directions(stiffness, load) for load in (0.5, 1.0)]
        assert rest.extra["unstable"].ravel().tolist() == expected
        assert rest.stable == [n == 0 for n in expected]
        found |= {*expected}
    assert len(found) >= 5


def test_links_that_fall_come_to_rest_where_their_potential_has_a_minimum():
    def potential(angle, stiffness):
        z = np.cumsum(np.cos(angle)) - np.cos(angle) / 2
        return stiffness / 2 * np.sum(np.diff(angle, prepend=0) ** 2) + G * z.sum()

    for stiffness in (5.0, 60.0):
        rest = standing("R3xSO3", stiffness)
        angle = -np.cumsum(rest.joint_angles()[-1])
        lowest = minimize(potential, angle, args=(stiffness,), tol=1e-12)
        assert rest.stable == [True] and np.abs(lowest.x - angle).max() < 1e-4


def test_a_trajectory_keeps_what_is_known_of_stability(tmp_path):
    rest = standing("R3xSO3", 60.0, (0.1, 1.0), leave_saddles=False)
    assert rest.stable == [True, False] and rest[1].stable == [False]
    rest.save(tmp_path / "rest.npz")
    assert lgint.load(tmp_path / "rest.npz").stable == rest.stable
    assert rest.to_xarray()["unstable"].values.tolist() == rest.extra["unstable"].ravel().tolist()
    run = lgint.integrate(lgint.models.heavy_top(), "rk44", t_end=0.01, h=1e-3)
    assert run.stable == [None] * len(run)


@pytest.mark.parametrize("add", ["torque", "own axes", "law"])
def test_without_a_potential_nothing_is_said_of_stability(add):
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.5))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    if add == "law":
        builder.add_force_law(lambda t, x, R, v, omega: np.zeros(6), bodies="bar")
    elif add == "torque":
        builder.add_force("bar", torque=(1e-9, 0, 0))
    else:
        builder.add_force("bar", force=(0, 0, -1e-9), frame="body")
    rest = lgint.equilibrium(builder.build())
    assert rest.stable == [None] and rest.position("bar")[-1, 2] == pytest.approx(0.5)


def slope(force=None):
    """A ball in the potential x^4/4 - x^2/2 + y^2/2, at its saddle."""
    return lgint.LagrangianModel(
        q0=[0.0, 0.0],
        v0=[0.0, 0.0],
        mass=lambda q: np.eye(2),
        potential=lambda q: q[0] ** 4 / 4 - q[0] ** 2 / 2 + q[1] ** 2 / 2,
        force=force,
    )


def test_a_lagrangian_model_has_a_potential_if_it_has_no_force_beside_it():
    rest = lgint.equilibrium(slope())
    assert rest.stable == [True] and abs(rest.q[-1, 0]) == pytest.approx(1, rel=1e-10)
    kept = lgint.equilibrium(slope(), leave_saddles=False)
    assert kept.stable == [False] and kept.extra["unstable"].tolist() == [[1.0]]
    assert lgint.equilibrium(slope(lambda t, q, v: 0 * q)).stable == [None]


def test_a_saddle_from_which_everything_falls_for_ever_is_named():
    model = lgint.LagrangianModel(
        q0=[0.0], v0=[0.0], mass=lambda q: np.eye(1), potential=lambda q: -(q[0] ** 2) * (1 + q[0] ** 2)
    )
    with pytest.raises(lgint.ConvergenceError, match="found first is unstable.*leave_saddles=False keeps it"):
        lgint.equilibrium(model, max_iter=100)
    assert lgint.equilibrium(model, leave_saddles=False).stable == [False]


def test_a_search_that_falls_for_ever_from_a_saddle_finds_no_equilibrium():
    """V = x^2 - y^2 falls without bound, until numbers overflow."""
    model = lgint.LagrangianModel(
        q0=[0.0, 0.0], v0=[0.0, 0.0], mass=lambda q: np.eye(2), potential=lambda q: q[0] ** 2 - q[1] ** 2
    )
    with pytest.raises(lgint.ConvergenceError, match="found first is unstable.*leave_saddles=False keeps it"):
        lgint.equilibrium(model)


@pytest.mark.parametrize("rise", [1e-2, 1e-4, 1e-7])
def test_minima_close_to_a_saddle_are_found(rise):
    """V = x^4/4 - rise x^2/2, just above a critical load, has minima at the root of `rise`."""
    model = lgint.LagrangianModel(
        q0=[0.0], v0=[0.0], mass=lambda q: np.eye(1), potential=lambda q: q[0] ** 4 / 4 - rise * q[0] ** 2 / 2
    )
    rest = lgint.equilibrium(model, newton_atol=0)
    assert rest.stable == [True] and abs(rest.q[-1, 0]) == pytest.approx(np.sqrt(rise), rel=1e-6)


# ---- angles that become singular ----


@pytest.mark.parametrize("formulation", ["tait_bryan", "tait_bryan_omega"])
def test_angles_that_are_singular_in_equilibrium_are_named(formulation):
    """A bar along x falls by 90 degrees about y, the axis of the middle angle."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G), formulation=formulation)
    builder.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(lgint.SingularError, match="the angles of bar are near their singularity.*R3xSO3 has none"):
        lgint.equilibrium(builder.build())


# ---- systems with several equilibria ----


def test_a_shallow_truss_snaps_through():
    """A weight on two struts stays above up to F = max k (1 - l/L) h and hangs below beyond that."""
    k, half, height = 100.0, 1.0, 0.3
    length = np.hypot(half, height)

    def truss():
        builder = lgint.ModelBuilder()
        builder.add_body("knee", mass=1.0, inertia=(1, 1, 1), position=(0, 0, height))
        builder.add_joint("prismatic", lgint.ground, "knee", point=(0, 0, height), axis=(0, 0, 1))
        for side in (-half, half):
            builder.add_spring(lgint.ground, "knee", stiffness=k, point=[(side, 0, 0), (0, 0, height)])
        builder.add_force("knee", force=(0, 0, -1))
        return builder.build()

    def lift(z):
        return 2 * k * (length / np.hypot(half, z) - 1) * z

    limit = -minimize_scalar(lambda z: -lift(z), bounds=(0, height), method="bounded").fun
    found = lgint.equilibrium(truss(), loads=(0.5 * limit, 0.95 * limit, 1.05 * limit))
    z = found.position("knee")[:, 2]
    assert (z[:2] > 0).all() and z[2] < -height
    assert np.allclose(lift(z), found.t, rtol=1e-9)


def test_one_step_of_the_loads_or_several():
    for model in (links("SE3"), slider_crank("R3xSO3")):
        once, twice = lgint.equilibrium(model), lgint.equilibrium(model, loads=(0.5, 1.0))
        apart = model.core.difference(once.q[-1], twice.q[-1])
        assert np.abs(apart).max() < 1e-12
        assert np.allclose(once.lam[-1], twice.lam[-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_run_that_begins_in_equilibrium_stays_at_rest(formulation):
    model = links(formulation)
    method = "rk44" if formulation.endswith("omega") else "genalpha"
    with near_singular(formulation, "load factor = 1"):
        found = lgint.equilibrium(model)
    with near_singular(formulation, "t = "):
        run = lgint.integrate(model.with_state(found.q[-1], found.v[-1]), method, t_end=0.5, h=1e-2)
    for i in range(4):
        x = run.position(f"link{i}")
        assert np.abs(x - x[0]).max() < 1e-13
    assert np.abs(run.v).max() < 2e-12
    assert np.allclose(run.lam, found.lam[-1], rtol=0, atol=2e-8)


# ---- the load factor and the time ----


def test_what_the_factor_multiplies():
    """It multiplies loads, gravity and the constant torque of a drive, but no springs and no controllers of drives."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("bar", mass=2.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "bar", point=(0, 0, 0), axis=(0, -1, 0), name="pin")
    builder.add_joint_drive("pin", torque=3.0, stiffness=40.0, damping=5.0, motion=[(0.0, 0.1, 2.0, 0.0)])
    builder.add_force("bar", force=(0, 0, 1.5), torque=(0, -0.5, 0), point=(1, 0, 0))
    found = lgint.equilibrium(builder.build(), loads=(0.0, 0.4, 1.0), time=0.05)
    angle = found.joint_angle("pin")
    arm = np.cos(angle)
    torque = found.t * (3.0 + 0.5 + 1.5 * arm - 2.0 * G * arm / 2) + 40.0 * (0.1 + 2.0 * 0.05 - angle)
    assert abs(angle[0] - 0.2) < 1e-14
    assert np.abs(torque).max() < 1e-12


def test_rows_that_are_driven_stand_still():
    """A support that moves, and the constrained strain of a rod."""

    def moves(t):
        return np.array([[0, 0, 2 * t], [0, 0, 2.0], [0, 0, 0]])

    def grows(t):
        return np.array([[0, 0, 1 + t, 0, 0, 0], [0, 0, 1.0, 0, 0, 0], np.zeros(6)])

    builder = lgint.ModelBuilder()
    builder.add_support("hook", motion=moves)
    builder.add_body("weight", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("spherical", "hook", "weight", point=(0, 0, 0))
    section = {"stiffness": (100, 100, 100, 1, 1, 1), "inertia": (0.1, 1e-2, 1e-2, 1e-2), "constraints": "inextensible"}
    builder.add_rod("rod", start=(1, 0, 0), end=(2, 0, 0), edges=2, reference_strain=grows, **section)
    model = builder.build(start="project")
    for static in (False, True):
        phidot = model.core.residual(0.0, model.q0, np.zeros(model.nv), static=static)[1]
        assert (np.abs(phidot) > 0.4).sum() == (0 if static else 3) and (not static or not phidot.any())


def test_loads_and_prescribed_motions_are_those_of_one_time():
    """A moving support is taken at rest: the damper between it and the weight exerts no force."""
    builder = lgint.ModelBuilder()
    builder.add_support("hook", motion=lambda t: np.array([[0, 0, 2 * t], [0, 0, 2.0], [0, 0, 0]]))
    builder.add_body("weight", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, -1), axis=(0, 0, 1))
    builder.add_spring("hook", "weight", stiffness=10.0, damping=3.0, length=1.0)
    builder.add_force("weight", force=([0.0, 1.0], [(0, 0, 0), (0, 0, -4.0)]))
    found = lgint.equilibrium(builder.build(), time=0.5)
    assert abs(found.position("weight")[-1, 2] - (1.0 - 1.0 - 2.0 / 10.0)) < 1e-15
    assert np.allclose(found.position("hook")[-1], [0, 0, 1.0])
    assert np.allclose(found.reaction("hook")[-1, :3], [0, 0, 2.0])


def test_reactions_in_trees_include_the_factor():
    found = lgint.equilibrium(links("minimal"), loads=(0.5, 1.0))
    assert np.allclose(found.reaction("joint0")[:, 2], G * MASSES.sum() * found.t, rtol=1e-13)
    assert np.allclose(found.reaction("joint0", on="first")[:, 2], -G * MASSES.sum() * found.t, rtol=1e-13)


def test_files_and_starts(tmp_path):
    model = weight_on_spring()
    found = lgint.equilibrium(model, loads=(0.5, 1.0), time=2.0)
    found.save(tmp_path / "rest.npz")
    back = lgint.load(tmp_path / "rest.npz")
    assert back.method == "equilibrium" and back.options == found.options
    assert np.array_equal(back.q, found.q) and np.array_equal(back.energy(), found.energy())
    assert np.array_equal(back.reaction("rail"), found.reaction("rail"))
    with pytest.raises(ValueError, match="with_state"):
        lgint.integrate(model, "genalpha", t_end=3.0, h=0.1, start=found)


# ---- systems of functions ----


@pytest.mark.parametrize("space", ["SO3", "S3"])
def test_a_system_of_functions(space):
    """A spherical pendulum with a torsional spring about the vertical, on the rotation group."""
    arm, weight, stiffness = np.array([1.0, 0, 0]), np.array([0, 0, -2.0 * G]), 3.0

    def rotation(q):
        if len(q) == 9:
            return q.reshape(3, 3)
        w, r = q[0], q[1:]
        hat = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        return np.eye(3) + 2 * w * hat + 2 * hat @ hat

    def force(t, q, v):
        R = rotation(q)
        side = np.array([0.0, 0.6, 0.8])
        return np.cross(arm, R.T @ weight) + stiffness * np.cross(arm + [0, 1, 0], R.T @ side)

    identity = np.eye(3).ravel() if space == "SO3" else [1.0, 0, 0, 0]
    model = lgint.CallableModel(space, identity, np.zeros(3), lambda t, q: np.diag([1.0, 2.0, 3.0]), force)
    found = lgint.equilibrium(model)
    assert np.abs(force(0, found.q[-1], None)).max() < 1e-9
    with pytest.raises(ValueError, match=r"one function.*\(1,\) expected, got \(0\.5, 1\)"):
        lgint.equilibrium(model, loads=(0.5, 1))


def test_a_system_of_functions_with_constraints():
    """A particle on the unit sphere under gravity and a spring along x."""
    model = lgint.CallableModel(
        ("Rn", 3),
        [0.0, 0.6, 0.8],
        np.zeros(3),
        lambda t, q: 2.0 * np.eye(3),
        lambda t, q, v: np.array([-30.0 * (q[0] - 2.0), 0.0, -2.0 * G]),
        constraint=lambda t, q: [(q @ q - 1) / 2],
        constraint_jacobian=lambda t, q: q[None, :],
    )
    found = lgint.equilibrium(model)
    q, lam = found.q[-1], found.lam[-1, 0]
    assert abs(q @ q - 1) < 1e-14
    assert np.allclose([-30.0 * (q[0] - 2.0), 0, -2.0 * G], lam * q, rtol=0, atol=1e-9)
    assert q[0] > 0 and q[2] < 0


def test_a_linear_system_takes_one_correction_and_the_last():
    """The start violates the constraint."""
    K = np.array([[5.0, -1.0, 0.5], [-1.0, 4.0, 0.0], [0.5, 0.0, 3.0]])
    f, G = np.array([1.0, -2.0, 3.0]), np.array([[1.0, 2.0, -1.0]])
    model = lgint.CallableModel(
        ("Rn", 3),
        [0.3, 0.1, -0.4],
        np.zeros(3),
        lambda t, q: np.eye(3),
        lambda t, q, v: f - K @ q,
        constraint=lambda t, q: G @ q - 2.0,
        constraint_jacobian=lambda t, q: G,
        tangent=lambda t, q, v, a, lam: (K, np.zeros((3, 3))),
    )
    found = lgint.equilibrium(model)
    expected = np.linalg.solve(np.block([[K, G.T], [G, np.zeros((1, 1))]]), [*f, 2.0])
    assert np.allclose([*found.q[-1], *found.lam[-1]], expected, rtol=1e-14)
    assert found.stats.newton_iterations == 2


def test_a_lagrangian_system():
    model = lgint.LagrangianModel(
        [0.5, 0.2], [0.0, 0.0], lambda q: np.eye(2), lambda q: q[0] ** 4 + (q[1] - q[0]) ** 2 - 3 * q[1]
    )
    q = lgint.equilibrium(model).q[-1]
    assert np.allclose(q, [0.75 ** (1 / 3), 0.75 ** (1 / 3) + 1.5], rtol=1e-8)


# ---- corrections ----


def test_a_support_that_has_moved_takes_one_correction():
    """Far from the constraints a correction leads downhill if c^T K c is positive, not c^T times the forces alone."""
    builder = lgint.ModelBuilder()
    builder.add_support("lift", motion=lambda t: np.array([[0, 0, 2 * t * t], [0, 0, 4 * t], [0, 0, 4]]))
    builder.add_body("weight", mass=1.0, inertia=np.eye(3))
    builder.add_joint("rigid", "lift", "weight", point=(0, 0, 0))
    builder.add_cartesian_spring(lgint.ground, "weight", stiffness=(50.0,) * 3, offset=(0, 0, 0))
    rest = lgint.equilibrium(builder.build(), time=0.5)
    assert rest.position("weight")[-1, 2] == pytest.approx(0.5, abs=1e-14)
    assert rest.stats.newton_iterations == 2  # and the last one


def test_the_last_correction_squares_the_error():
    exact = centres(sagging_angles())
    for rtol, bound in ((1e-3, 1e-6), (1e-5, 1e-10)):
        rest = lgint.equilibrium(links("R3xSO3"), newton_rtol=rtol)
        assert np.abs(np.stack([rest.position(f"link{i}")[-1] for i in range(4)]) - exact).max() < bound


def test_progress_is_reported(capsys):
    loads, seen = np.linspace(0.001, 1, 2000), []
    lgint.equilibrium(links("R3xSO3"), loads, progress=seen.append)
    assert seen == sorted(seen) and set(seen) <= {0.0, *loads}
    lgint.equilibrium(links("R3xSO3"), progress=True)
    assert "100" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress: True, False or a function"):
        lgint.equilibrium(links("R3xSO3"), progress="yes")


# ---- systems without an equilibrium ----


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("gravity", [0.0, -G])
def test_a_free_body_is_named(formulation, gravity):
    builder = lgint.ModelBuilder(gravity=(0, 0, gravity), formulation=formulation)
    builder.add_body("held", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("rigid", lgint.ground, "held", point=(0, 0, 0))
    builder.add_body("stone", mass=1.0, inertia=(1, 2, 2.5), position=(3, 0, 0))
    with pytest.raises(lgint.SingularError, match="no unique equilibrium: velocity . of stone") as caught:
        lgint.equilibrium(builder.build())
    assert caught.value.report["status"] == "NOT_UNIQUE" and len(caught.value.trajectory) == 0


SECTION = {"stiffness": (1e4, 1e4, 1e4, 500, 500, 500), "inertia": (1, 0.1, 0.1, 0.1)}


@pytest.mark.parametrize("constraints", [None, "kirchhoff", "inextensible"])
@pytest.mark.parametrize("edges", [1, 4, 12])
def test_a_free_rod_is_named(constraints, edges):
    """The rod falls until round-off of its coordinates ends the search, and no step of the load is halved in vain."""
    for end, stiffer in (((1, 0, 0), 1), ((0.3, 0.5, -0.2), 1e6)):
        builder = lgint.ModelBuilder(gravity=(0, 0, -G))
        builder.add_rod("held", start=(0, 2, 0), end=(1, 2, 0), edges=4, clamped=[0], **SECTION)
        section = SECTION | {"stiffness": stiffer * np.array(SECTION["stiffness"])}
        builder.add_rod("rod", start=(0, 0, 0), end=end, edges=edges, constraints=constraints, **section)
        with pytest.raises(lgint.SingularError, match=r"no unique equilibrium: velocity . of rod\.node") as caught:
            lgint.equilibrium(builder.build())
        assert caught.value.report["status"] == "NOT_UNIQUE" and caught.value.report["h"] == 1


def test_a_body_that_is_free_to_turn_is_named():
    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("upper", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    builder.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(1.5, 0, 0))
    builder.add_joint("revolute", lgint.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0))
    builder.add_joint("spherical", "upper", "bob", point=(1, 0, 0))
    with pytest.raises(lgint.SingularError, match="of bob"):
        lgint.equilibrium(builder.build())


def yielding(free=()):
    """A weight on a rail, held by a law x exp(-x^2/2) <= exp(-1/2) and pulled by 1 N times the factor; free bodies."""

    def law(t, x, R, v, omega):
        return np.array([0, 0, -x[2] * np.exp(-(x[2] ** 2) / 2), 0, 0, 0])

    builder = lgint.ModelBuilder()
    builder.add_body("weight", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, 0), axis=(0, 0, 1))
    builder.add_force_law(law, bodies="weight")
    builder.add_force("weight", force=(0, 0, 1))
    for name in free:
        builder.add_body(name, mass=1.0, inertia=(1, 2, 2.5), position=(3, 0, 0))
    return builder.build()


def test_the_advice_is_that_of_the_last_attempt():
    """The first load step fails and is halved; only then is a body without load found to be free."""
    with pytest.raises(lgint.SingularError, match="of stone.*hold whatever moves freely") as caught:
        lgint.equilibrium(yielding(free=["stone"]), max_iter=10)
    assert caught.value.report["h"] < 1


def test_beyond_the_largest_load_there_is_no_equilibrium():
    """The last state found lies within a halved step of the limit."""
    with pytest.raises(lgint.ConvergenceError, match="no equilibrium was found.*smaller steps of the loads") as caught:
        lgint.equilibrium(yielding(), loads=(0.3, 1.0), max_iter=40)
    error, limit = caught.value, np.exp(-0.5)
    reached = error.trajectory
    assert reached.t[0] == 0.3 and limit - 2e-3 < reached.t[-1] < limit
    assert error.report["t"] == reached.t[-1] and reached.t[-1] + error.report["h"] > limit
    x = reached.position("weight")[:, 2]
    assert np.allclose(x * np.exp(-(x**2) / 2), reached.t, rtol=1e-7)


def above_a_cushion(height, stiffness):
    """A weight on a rail that falls freely until it reaches a spring below."""

    def law(t, x, R, v, omega):
        return np.array([0, 0, stiffness * max(0.0, -height - x[2]), 0, 0, 0])

    builder = lgint.ModelBuilder(gravity=(0, 0, -G))
    builder.add_body("weight", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, 0), axis=(0, 0, 1))
    builder.add_force_law(law, bodies="weight")
    return builder.build()


@pytest.mark.parametrize(
    "model", [links("R3xSO3", np.ones(8), stiffness=0), above_a_cushion(1.0, 100.0), above_a_cushion(50.0, 100.0)]
)
def test_a_search_that_ends_on_the_way_does_not_say_that_the_system_is_free(model):
    """K is singular where these searches begin, and remains so until the weight lands on the spring."""
    for max_iter in range(1, 12):
        with pytest.raises(lgint.ConvergenceError, match="no equilibrium was found"):
            lgint.equilibrium(model, max_iter=max_iter)
    lgint.equilibrium(model)


@pytest.mark.parametrize(("height", "stiffness"), [(1000.0, 1e3), (1000.0, 1e4)])
def test_a_search_that_fails_where_a_spring_holds_does_not_say_that_the_system_is_free(height, stiffness):
    """The weight has fallen by long steps, but K is regular at its last position."""
    with pytest.raises(lgint.ConvergenceError, match="no equilibrium was found"):
        lgint.equilibrium(above_a_cushion(height, stiffness), max_iter=25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loads": ()}, "loads: increasing factors expected"),
        ({"loads": (1.0, 0.5)}, "loads: increasing factors expected"),
        ({"loads": (0.5, np.nan)}, "loads"),
        ({"max_iter": 0}, "max_iter: a whole number"),
        ({"newton_rtol": -1}, "newton_rtol: a number >= 0"),
        ({"time": np.inf}, "time"),
        ({"leave_saddles": "yes"}, "leave_saddles: True or False expected, got 'yes'"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        lgint.equilibrium(weight_on_spring(), **arguments)


def test_ctrl_c_returns_what_was_found():
    """After an interruption the exception carries the states found so far."""
    calls = []

    def law(t, x, R, v, omega):
        calls.append(t)
        if len(calls) == 60:
            signal.raise_signal(signal.SIGINT)
        return np.array([0, 0, -x[2] - 0.1 * x[2] ** 3, 0, 0, 0])

    builder = lgint.ModelBuilder()
    builder.add_body("weight", mass=1.0, inertia=(1, 1, 1))
    builder.add_joint("prismatic", lgint.ground, "weight", point=(0, 0, 0), axis=(0, 0, 1))
    builder.add_force_law(law, bodies="weight")
    builder.add_force("weight", force=(0, 0, 1))
    model = builder.build()
    with pytest.raises(lgint.Interrupted) as caught:
        lgint.equilibrium(model, loads=np.linspace(0.001, 1, 3000))
    assert 0 < len(caught.value.trajectory) < 3000
