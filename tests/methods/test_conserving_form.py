"""The conserving form of energy-momentum methods: energy and momenta together, on rods and rigid joints too."""

import numpy as np
import pytest

import lgint
from face import systems
from lgint._build.edges import add_edge
from test_conserve_bodies import KINDS, chain, linear_momentum, spread

EULER = {"formulation": "euler_parameters"}
KEPT = 1e-12  # of the range of energy and momenta, over their size
METHODS = pytest.mark.parametrize("method", ["reml", "emh"])
EVERY_METHOD = pytest.mark.parametrize("method", ["eml", "reml", "null_eml", "emh"])
SECTION = {"stiffness": (4e3, 4e3, 1e4, 30.0, 20.0, 15.0), "inertia": (0.5, 2e-3, 3e-3, 5e-3)}


def run(model, method, t_end, h, **options):
    return lgint.integrate(model, method, t_end=t_end, h=h, equivariant=True, **options)


def check(found, late=slice(None)):
    """Check energy, linear and angular momentum, and constraints."""
    assert spread(found.energy("generalized")[late]) < KEPT
    assert spread(linear_momentum(found)[late]) < KEPT
    assert spread(found.angular_momentum()[late]) < KEPT
    assert np.abs(found.constraint_residual()).max(initial=0) < KEPT


# ---- free systems ----


def hub(constraints=None, moves=(0.3, -0.1, 0.2)):
    """A rigid body that spins with a rod of six edges, whose first node a rigid joint holds."""
    b = lgint.ModelBuilder(**EULER)
    spin = np.array([0.4, 0.2, 3.0])
    b.add_body("hub", mass=2.0, inertia=(0.1, 0.2, 0.25), velocity=moves, angular_velocity=spin)
    nodes = np.linspace((0.2, 0, 0), (1.2, 0, 0), 7)
    turning = {"velocity": np.add(moves, np.cross(spin, nodes)), "constraints": constraints}
    b.add_rod("arm", nodes=nodes, attached={0: "hub"}, **SECTION, **turning, **EULER)
    return b.build(start="project")


def pair(perturbed, moves=(0.3, -0.1, 0.2)):
    """Two bodies that turn about their common centre like one, but for rates of a size.

    The edge between them exerts a force across the distance of its ends, which have arms.
    """
    rng, mass, spin, place = np.random.default_rng(0), 1.3, 2.0, np.array([0.5, 0.0, 0.0])

    def model(reference, perturbed):
        b = lgint.ModelBuilder(**EULER)
        for i, x in enumerate((-place, place)):
            b.add_body(
                f"body{i}",
                mass=mass,
                inertia=(0.1, 0.2, 0.25),
                position=x,
                velocity=moves + np.cross((0, 0, spin), x) + perturbed * rng.normal(size=3),
                angular_velocity=(0, 0, spin) + perturbed * rng.normal(size=3),
            )
        frames = (np.eye(3), systems.turn(0.4, (1, 0, 2)), (0.1, -0.3, 0.1), (0.1, 0.3, 0.2))
        add_edge(b, "body0", "body1", *frames, 0.8, systems.COUPLED, np.zeros(6), reference, None, "edge")
        return b.build(start="project")

    def force(reference):
        core = model(reference, 0.0)
        return core.core.evaluate(0.0, core.q0, 0 * core.v0, want=["force"])["force"]

    at_zero, needed = force(np.zeros(6)), np.zeros(14)
    needed[:3], needed[7:10] = mass * spin**2 * place, -mass * spin**2 * place
    slopes = np.transpose([force(unit) - at_zero for unit in np.eye(6)])
    return model(np.linalg.lstsq(slopes, needed - at_zero, rcond=None)[0], perturbed)


def connected(builder, **section):
    """A spring and a rod of two edges between the first and the last body of a chain."""
    builder.add_spring("body0", "body2", point_a=(0, 0.2, 0.1), point_b=(0.1, 0, 0), stiffness=30.0, length=1.0)
    nodes = np.linspace((0.1, 0.3, 0.0), (1.5, 0.4, -0.3), 3)
    how = {"attached": {0: "body0", 2: "body2"}, "constraints": None}
    builder.add_rod("rod", nodes=nodes, **how, **(section or SECTION), **EULER)


def softly(builder):
    connected(builder, stiffness=(40, 40, 60, 3, 2, 1.5), inertia=(0.5, 0.1, 0.1, 0.1))


def arms():
    """Two bodies that tumble as one, with a rigid joint beside both."""
    b, spin = lgint.ModelBuilder(**EULER), np.array([1.0, 2.0, -1.5])
    for i, x in enumerate(np.array([[-0.4, 0.1, 0.0], [0.5, -0.2, 0.3]])):
        R = systems.turn(1.1 * i, (1, 2, -1))
        b.add_body(
            f"body{i}",
            mass=1.0 + i,
            inertia=(0.1, 0.2, 0.15 + 0.1 * i),
            position=x,
            rotation=R,
            velocity=(0.1, 0.2, -0.3) + np.cross(spin, x),
            angular_velocity=R.T @ spin,
        )
    b.add_joint("rigid", "body0", "body1", point=(0.1, 0.4, -0.2))
    return b.build(start="project")


@METHODS
@pytest.mark.parametrize("h", [1e-2, 4e-3, 2e-3])
@pytest.mark.parametrize("constraints", [None, "kirchhoff", "inextensible"])
def test_a_hub_with_a_rod(constraints, h, method):
    check(run(hub(constraints), method, 0.5, h))


@EVERY_METHOD
@pytest.mark.parametrize("perturbed", [0.0, 1e-6, 1e-3])
def test_a_pair_in_steady_spin_with_a_force_across(perturbed, method):
    """Between the bodies nothing changes but what is perturbed, and the steps turn by 0.1."""
    model = pair(perturbed)
    found = run(model, method, 10.0, 0.05)
    check(found)
    apart = np.linalg.norm(found.position("body1") - found.position("body0"), axis=1)
    assert np.abs(apart - 1.0).max() < 5 * perturbed + 1e-12
    assert np.ptp(found.energy("kinetic")) < 30 * perturbed + 1e-12


@EVERY_METHOD
@pytest.mark.parametrize("kind", KINDS)
def test_free_chains_with_a_spring_and_a_rod(kind, method):
    check(run(chain(kind, 0.5, connected), method, 0.5, 0.01))


@EVERY_METHOD
def test_a_rigid_joint_with_arms(method):
    """Rows are not corrected there, and the two bodies move like one."""
    found = run(arms(), method, 1.0, 0.01)
    check(found)


def spaghetti(steps, method):
    """It holds after its load, which ends at t = 5 with a step."""
    return run(lgint.models.flying_spaghetti(**EULER), method, 5.0 + 0.02 * steps, 0.02)


@METHODS
def test_the_flying_spaghetti_after_its_load(method):
    found = spaghetti(50, method)
    check(found, found.t > 5 - 1e-9)


@pytest.mark.slow
def test_the_flying_spaghetti_over_5000_steps():
    found = spaghetti(5000, "emh")
    check(found, found.t > 5 - 1e-9)


def test_a_four_bar_linkage_to_ten_seconds_at_the_paper_s_step():
    found = run(lgint.models.four_bar(), "emh", 10.0, 0.1)
    check(found, found.t > 1 - 1e-9)


def test_round_off_of_stiff_elements_does_not_add_up_in_momenta():
    """The residual of stiff edges from the round-off of positions is as large as the momentum of a node."""
    found = run(hub(), "emh", 20.0, 0.01)
    assert spread(linear_momentum(found)) < 3e-13


def test_the_energy_far_from_the_origin():
    """It changes by the work along the round-off of positions; that of the rates, divided by h, is not in it."""
    near = pair(1e-3)
    q = near.q0.reshape(2, 7) + [0, 500.0, 0, 0, 0, 0, 0]
    found = run(near.with_state(q=q.ravel(), v=near.v0, project=True), "emh", 10.0, 0.01)
    E = found.energy("generalized")
    assert np.sqrt(np.mean(np.diff(E) ** 2)) < 3e-13 * np.abs(E).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [lambda: hub("inextensible", (0.0, -0.45, 0.01)), lambda: pair(1e-3, (0.02, -0.01, 0.01))],
    ids=["hub", "pair"],
)
def test_over_100000_steps(make):
    """Within 20 m of the origin: the round-off of a position is relative to its distance from there."""
    found = run(make(), "emh", 1000.0, 0.01, save_every=100)
    assert found.stats.steps == 100000 and np.abs(linear_momentum(found)[0]).max() > 0.01
    check(found)


# ---- joints to the ground ----

VERTICAL = {  # axes of joints whose axis in the ground is vertical, and which momenta they leave free
    "revolute": ({"axis": (0, 0, 1)}, [], True),
    "prismatic": ({"axis": (0, 0, 1)}, [2], False),
    "cylindrical": ({"axis": (0, 0, 1)}, [2], True),
    "universal": ({"axis": (0, 0, 1), "second_axis": (1, 0, 0)}, [], True),
    "inline": ({"axis": (0, 0, 1)}, [2], True),
    "planar": ({"axis": (0, 0, 1)}, [0, 1], True),
}


def held(kind, axes):
    """A body on a joint to the ground, with a second one on a universal joint."""
    b = lgint.ModelBuilder(gravity=(0, 0, 0), **EULER)
    for i, x in enumerate([(0.5, 0.1, -0.3), (1.5, 0.1, -0.3)]):
        b.add_body(
            f"body{i}",
            mass=1.0 + i,
            inertia=(0.3, 0.4, 0.5),
            position=x,
            rotation=systems.turn(0.9 - 0.5 * i, (1, -1, 2)),
            velocity=(0.3, 1.2, -0.5),
            angular_velocity=(0.7, 2.8 * i - 1.4, 2.1),
        )
    b.add_joint(kind, lgint.ground, "body0", point=(0, 0, 0), **axes)
    b.add_joint("universal", "body0", "body1", point=(0.9, 0.3, -0.2), axis=(0, 0, 1), second_axis=(1, 0, 0))
    return b.build(start="project")


@METHODS
@pytest.mark.parametrize("kind", VERTICAL)
def test_joints_to_the_ground_keep_the_momenta_that_they_leave_free(kind, method):
    """Along the axes of sliding, and about an axis of turning; the printed form at order two."""
    axes, slides, turns = VERTICAL[kind]
    model = held(kind, axes)
    found = run(model, method, 0.5, 0.02)
    assert spread(found.energy("generalized")) < KEPT
    for k in slides:
        assert np.ptp(found.momentum()[:, k]) < KEPT
    if turns:
        printed = lgint.integrate(model, method, t_end=0.5, h=0.02, equivariant=False)
        assert np.ptp(found.angular_momentum()[:, 2]) < KEPT < 1e-7 < np.ptp(printed.angular_momentum()[:, 2])


# ---- orders, iterations and attitudes ----


def order_of(h, errors):
    return np.polyfit(np.log(h), np.log(errors), 1)[0]


@EVERY_METHOD
def test_orders_of_places_rates_and_momenta(method):
    """On a free chain with rigid joints and a rod."""
    model, end = chain("rigid", 0.5, softly), 0.2
    best = lgint.integrate(model, "dopri5", t_end=end, rtol=1e-12, atol=1e-12)
    fine = run(model, method, end, end / 1024)
    errors, steps = {"q": [], "v": [], "p": []}, end / np.array([16, 32, 64, 128])
    for h in steps:
        found = run(model, method, end, h)
        for name, reference in (("q", best.q), ("v", best.v), ("p", fine.extra["p"])):
            values = found.extra["p"] if name == "p" else getattr(found, name)
            errors[name].append(np.abs(values[-1] - reference[-1]).max())
    for name, of in errors.items():
        assert abs(order_of(steps, of) - 2) < 0.15, (name, of)


@EVERY_METHOD
@pytest.mark.parametrize("kind", ["rigid", "revolute", "planar"])
def test_orders_of_multipliers(kind, method):
    """Those of a step alternate at order one; the means of two steps have order two at the time between them."""
    model, end, counts = chain(kind, 0.5, softly), 0.2, [32, 64, 128, 256, 2048]
    pairs = np.array([run(model, method, end + end / n, end / n).lam[-2:] for n in counts])
    means = pairs.mean(axis=1)
    errors = np.abs(means[:-1] - means[-1]).max(axis=1)
    assert abs(order_of(end / np.array(counts[:-1]), errors) - 2) < 0.1, errors


def test_the_multipliers_of_a_step_alternate():
    """On a chain that bends they do, by an amount in proportion to the step."""
    model, end = chain("revolute", 0.5), 0.2
    sizes = [np.abs(np.diff(run(model, "emh", end, end / n).lam[-4:], 3, axis=0)).max() for n in (256, 512, 1024)]
    assert abs(order_of(1 / np.array([256, 512, 1024]), sizes) - 1) < 0.1, sizes


def test_rows_have_the_names_of_their_axes():
    """Multipliers in other axes are not compared."""
    model = chain("revolute", 0.5)
    inertial, turning = model.row_names, run(model, "emh", 0.1, 0.05).row_names
    assert [name[:-1] for name in inertial[:3]] == ["body0-body1: translation along "] * 3
    assert [name[-1] for name in inertial[:3]] == list("xyz") and inertial[3:5] == turning[3:5]
    assert [name[-2:] for name in turning[:3]] == ["e1", "e2", "e3"]
    study = lgint.study(model, "emh", [0.02, 0.01], t_end=0.1, reference={"method": "rk44", "h": 0.001})
    alike = lgint.study(model, "emh", [0.02, 0.01], t_end=0.1)
    assert "lam" not in study.errors and "lam" in alike.errors


def test_rows_in_axes_of_the_ground_are_not_compared_with_those_of_a_body():
    """The rows of a run in the axes of bodies leave those of the ground, whose name they would have."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="euler_parameters")
    start = {"position": (0, 0, 0.5), "velocity": (0, -0.5, 0), "angular_velocity": (1, 0, 5)}
    b.add_body("top", mass=1.0, inertia=(0.1, 0.2, 0.25), **start)
    b.add_joint("spherical", lgint.ground, "top", point=(0, 0, 0), carrier="first")
    model = b.build()
    assert [name[-2:] for name in model.row_names[:3]] == ["e1", "e2", "e3"]
    assert [name[-9:] for name in run(model, "emh", 0.1, 0.05).row_names[:3]] == ["e1 of top", "e2 of top", "e3 of top"]
    study = lgint.study(model, "emh", [0.02, 0.01], t_end=0.1, reference={"method": "rk44", "h": 0.001})
    assert "lam" not in study.errors and "q" in study.errors


@METHODS
def test_the_phase_of_a_steady_spin(method):
    """Its rate lags by omega^3 h^2/12, and as printed by a quarter of that."""
    b, omega, h = lgint.ModelBuilder(**EULER), 3.0, 0.01
    b.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), angular_velocity=(0, 0, omega))
    for equivariant, part in ((True, 12), (False, 48)):
        found = lgint.integrate(b.build(), method, t_end=1.0, h=h, equivariant=equivariant)
        R = systems.turn(-omega * found.t[-1], (0, 0, 1)) @ found.rotation("body")[-1]
        assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(-(omega**3) * h**2 / part, rel=1e-3)


# ---- runs that continue ----


@EVERY_METHOD
def test_a_run_that_goes_on_has_the_bits_of_one(method):
    model, h = hub(), 4e-3
    whole = run(model, method, 40 * h, h)
    half = run(model, method, 17 * h, h)
    rest = lgint.integrate(model, method, t_end=40 * h, h=h, start=half)
    for name in ("q", "v", "lam"):
        assert getattr(rest, name)[-1].tobytes() == getattr(whole, name)[-1].tobytes()
    assert rest.extra["p"][-1].tobytes() == whole.extra["p"][-1].tobytes()


def tumbling():
    """A body that turns by 0.7 in 0.1 s, so that Cayley vectors matter."""
    b = lgint.ModelBuilder(**EULER)
    b.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), angular_velocity=(3, 4, -5))
    return b.build()


@EVERY_METHOD
@pytest.mark.parametrize(
    ("make", "h"),
    [(lambda: chain("rigid", 2.0, softly), 0.05), (lambda: chain("cylindrical", 2.0, softly), 0.05), (tumbling, 0.1)],
    ids=["rigid", "cylindrical", "tumbling"],
)
def test_newton_s_method_converges_quadratically(make, h, method):
    """The error of each iterate is no more than five times the square of the one before."""
    model, iterates = make(), {}
    end = run(model, method, h, h).q[-1]
    for tolerance in 10.0 ** -np.arange(13):
        found = run(model, method, h, h, newton_rtol=tolerance)
        error, count = np.abs(found.q[-1] - end).max(), found.stats.newton_iterations
        iterates[count] = min(error, iterates.get(count, np.inf))
    errors = [iterates[count] for count in range(4)]
    assert 1e-2 < errors[0] and 1e-11 < errors[2] < 1e-5
    assert all(after < max(5 * before**2, 1e-14) for before, after in zip(errors, errors[1:], strict=False))


@METHODS
def test_newton_s_method_converges_in_few_corrections(method):
    """From the plain first guess to round-off in violent motion, with a matrix that is exact."""
    stats = run(chain("rigid", 2.0, softly), method, 0.5, 5e-3).stats
    assert stats.newton_iterations <= 5 * stats.steps


@METHODS
def test_joints_at_the_centres_of_bodies(method):
    """The points of two joints coincide with centres, so that lengths between them are round-off of places."""
    with pytest.warns(UserWarning, match="inertia"):
        robot = lgint.models.puma560(**EULER)
    for h in (1e-3, 7e-4):
        found = run(robot, method, 20 * h, h)
        assert found.stats.newton_iterations <= 4 * found.stats.steps
        assert np.abs(found.constraint_residual()).max() < KEPT
