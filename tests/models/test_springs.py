"""Springs by tables and functions, torsion springs and springs in joints: forces, energy, closed forms, refusals."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

import lgint
from kinds import FREE, MOMENTUM

LENGTHS, FORCES = [0.4, 0.8, 1.0, 1.3, 2.0], [-60.0, -5.0, 0.0, 12.0, 90.0]
RATES, RESISTANCE = [-2.0, -0.5, 0.0, 0.5, 2.0], [-3.0, -2.0, 0.0, 4.0, 6.0]
SPLINE, DAMPER = PchipInterpolator(LENGTHS, FORCES), PchipInterpolator(RATES, RESISTANCE)


def rail(formulation="R3xSO3", mass=2.0, rate=1.0, **spring):
    """A mass that moves along x, and a spring to the origin."""
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("mass", mass=mass, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0), velocity=(rate, 0, 0))
    if formulation == "minimal":
        b.add_joint("prismatic", lgint.ground, "mass", point=(1, 0, 0), axis=(1, 0, 0), rate=rate, name="rail")
    b.add_spring(lgint.ground, "mass", name="spring", **spring)
    return b.build()


def by_scipy(t, pull, rate=1.0, mass=2.0):
    found = solve_ivp(lambda t, y: (y[1], -pull(*y) / mass), (0, t), (1.0, rate), rtol=1e-11, atol=1e-12)
    return found.y[:, -1]


WAYS = {
    "table": ({"force": (LENGTHS, FORCES)}, lambda x, v: SPLINE(x)),
    "table and damper": (
        {"force": (LENGTHS, FORCES), "damping": (RATES, RESISTANCE)},
        lambda x, v: SPLINE(x) + DAMPER(v),
    ),
    "stiffness and damper": (
        {"stiffness": 50.0, "length": 0.9, "damping": (RATES, RESISTANCE)},
        lambda x, v: 50 * (x - 0.9) + DAMPER(v),
    ),
    "function": ({"force": lambda t, x, v: 40 * (x - 1) ** 3 + 10 * (x - 1) + 2 * v}, None),
    "function and tangent": (
        {
            "force": lambda t, x, v: 40 * (x - 1) ** 3 + 10 * (x - 1) + 2 * v,
            "tangent": lambda t, x, v: (120 * (x - 1) ** 2 + 10, 2),
        },
        None,
    ),
}


@pytest.mark.parametrize("formulation", ["R3xSO3", "tait_bryan", "minimal"])
@pytest.mark.parametrize("way", WAYS)
def test_a_mass_on_a_spring(way, formulation):
    """Its motion is that of one equation; the force is along the spring, and genalpha agrees as well."""
    how, pull = WAYS[way]
    pull = pull or (lambda x, v: how["force"](0, x, v))
    model = rail(formulation, **how)
    x, v = by_scipy(0.8, pull)
    run = lgint.integrate(model, "dopri5", t_end=0.8, rtol=1e-10, atol=1e-11)
    assert np.allclose((run.position("mass")[-1, 0], run.velocity("mass")[-1, 0]), (x, v), rtol=0, atol=1e-8)
    assert np.isclose(run.force("spring")[-1], -pull(x, v), rtol=0, atol=1e-6)
    run = lgint.integrate(model, "genalpha", t_end=0.8, h=1e-3)
    assert np.abs(run.position("mass")[-1, 0] - x) < 2e-5


def test_energy_of_a_table():
    run = lgint.integrate(rail(force=(LENGTHS, FORCES)), "dopri5", t_end=2.0, rtol=1e-11, atol=1e-13)
    assert np.ptp(run.energy("total")) < 1e-8
    x, V = run.position("mass")[:, 0], run.energy("potential")
    expected = [SPLINE.integrate(x[0], end) for end in x[::20]]
    assert np.allclose(V[::20] - V[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", [name for name in MOMENTUM if name not in ("mpl", "mph")])
def test_momentum_methods_conserve(method):
    b = lgint.ModelBuilder(formulation="euler_parameters")
    for i, w in enumerate(((0.3, 1, 2), (0, 0.2, -1))):
        b.add_body(f"{i}", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(i, 0, 0), angular_velocity=w)
    b.add_spring("0", "1", force=(LENGTHS, FORCES), point_a=(0.1, 0.1, 0), point_b=(0, 0.1, 0.2))
    b.add_torsion_spring("0", "1", axis=(1, 2, 2), stiffness=([-2, 0, 1], [-3, 0, 2]), rest=0.1)
    run = lgint.integrate(b.build(), method, t_end=0.4, h=0.02)
    assert np.ptp(run.energy()) < 1e-11
    assert np.ptp(run.angular_momentum(), axis=0).max() < 1e-12


# ---- in joints, and about axes ----


def hinged(formulation, spring, rate=2.0):
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, rate))
    how = {"rate": rate} if formulation == "minimal" else {}
    b.add_joint("revolute", lgint.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), name="hinge", **how)
    spring(b)
    return b.build()


SPRINGS = {
    "joint": lambda b: b.add_joint_spring("hinge", stiffness=5.0, rest=0.3, name="spring"),
    "bodies": lambda b: b.add_torsion_spring(
        lgint.ground, "wheel", axis=(0, 0, 2), stiffness=5.0, rest=0.3, name="spring"
    ),
}


@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize("formulation", [*FREE, "minimal"])
def test_a_torsion_pendulum(formulation, kind):
    """phi = rest - rest cos(w t) + (rate/w) sin(w t), through more than a full turn, with its energy."""
    w, rate = np.sqrt(5.0 / 0.2), 60.0
    run = lgint.integrate(hinged(formulation, SPRINGS[kind], rate), "rk44", t_end=0.5, h=2.5e-4)
    phi = 0.3 - 0.3 * np.cos(w * run.t) + rate / w * np.sin(w * run.t)
    assert phi.max() > 2 * np.pi
    assert np.allclose(run.joint_angle("hinge"), phi, rtol=0, atol=1e-6)
    assert np.allclose(run.energy("potential"), 2.5 * (phi - 0.3) ** 2, rtol=0, atol=1e-4)
    torque = run.force("spring") if kind == "joint" else run.force("spring").moment[:, 2]
    assert np.allclose(torque, -5 * (phi - 0.3), rtol=0, atol=1e-5)
    assert np.isclose(lgint.linearize(lgint.equilibrium(run.model).state(-1)).frequencies[-1], w, rtol=1e-8)


@pytest.mark.parametrize("formulation", ["R3xSO3", "minimal"])
def test_a_slide(formulation):
    """A curve and a damper on a slide."""
    b = lgint.ModelBuilder(formulation=formulation)
    b.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 1, 0))
    how = {"rate": 1.0} if formulation == "minimal" else {}
    b.add_joint("prismatic", lgint.ground, "block", point=(0, 0, 0), axis=(0, 1, 0), name="rail", **how)
    table = np.subtract(LENGTHS, 1).tolist()
    b.add_joint_spring("rail", stiffness=(table, FORCES), damping=(RATES, RESISTANCE), rest=0.1, name="spring")
    run = lgint.integrate(b.build(), "dopri5", t_end=0.5, rtol=1e-10, atol=1e-11)
    y, v = by_scipy(0.5, lambda x, v: SPLINE(x - 0.1) + DAMPER(v))
    assert np.isclose(run.joint_position("rail")[-1], y - 1, rtol=0, atol=1e-8)
    assert np.isclose(run.force("spring")[-1], -SPLINE(y - 0.1) - DAMPER(v), rtol=0, atol=1e-6)


def test_axes_that_tilt_keep_the_energy():
    """A torsion spring between free bodies has a potential, wherever its axes go."""
    b = lgint.ModelBuilder()
    for i, w in enumerate(((0.3, 1, 2), (0, 0.2, -1))):
        b.add_body(f"{i}", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(i, 0, 0), angular_velocity=w)
    b.add_torsion_spring("0", "1", axis=(1, 2, 2), stiffness=0.6, rest=0.1)
    run = lgint.integrate(b.build(), "dopri5", t_end=1.0, rtol=1e-10, atol=1e-12)
    assert np.ptp(run.energy("total")) < 1e-8 and np.ptp(run.energy("potential")) > 1e-2
    assert np.ptp(run.angular_momentum(), axis=0).max() < 1e-9


# ---- files, restarts, refusals ----


def test_files_and_restarts(tmp_path):
    model = hinged(
        "R3xSO3", lambda b: b.add_joint_spring("hinge", stiffness=([-1, 0, 7], [-3, 0, 9]), name="spring"), 20
    )
    whole = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3)
    lgint.integrate(model, "genalpha", t_end=0.3, h=1e-3).save(tmp_path / "run.npz")
    first = lgint.load(tmp_path / "run.npz")
    rest = lgint.integrate(first.model, "genalpha", t_end=0.5, h=1e-3, start=first)
    assert rest.q[-1].tobytes() == whole.q[-1].tobytes()
    assert lgint.check(model).ok


WRONG = [
    ({}, "'s': give a stiffness, or a table or a function as force"),
    ({"stiffness": 1.0, "force": (LENGTHS, FORCES)}, "give a stiffness, or"),
    ({"force": (LENGTHS[::-1], FORCES)}, "stiffness of 's': at least two values, ascending"),
    ({"force": (LENGTHS, FORCES), "length": 1.0}, "length of 's': the table"),
    (
        {"force": (LENGTHS, FORCES), "tangent": lambda *x: (0, 0)},
        "tangent of 's': only a force that is a function takes one",
    ),
    ({"force": lambda t, x, v: 0.0, "damping": 1.0}, "a function includes damping and length; leave them out"),
    ({"force": lambda state: 0.0}, r"a function\(t, length, rate\) expected"),
    ({"stiffness": 1.0, "damping": ([-1, 1], [0.1, 0.5])}, r"damping of 's': the point \(0, 0\) expected"),
]


@pytest.mark.parametrize(("how", "message"), WRONG)
def test_bad_arguments(how, message):
    b = lgint.ModelBuilder()
    b.add_body("mass", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    with pytest.raises(ValueError, match=message):
        b.add_spring(lgint.ground, "mass", name="s", **how)
    assert b.add_spring(lgint.ground, "mass", name="s", stiffness=1.0) == "s"


def test_what_nothing_makes_act_is_refused():
    b = lgint.ModelBuilder()
    b.add_body("mass", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    b.add_joint("revolute", lgint.ground, "mass", point=(0, 0, 0), axis=(0, 0, 1), name="pin")
    with pytest.raises(ValueError, match="saturation of 's': 2.0 has nothing to cut off; give a torque"):
        b.add_joint_drive("pin", saturation=2.0, name="s")
    with pytest.raises(ValueError, match="'s': nothing is given; give a torque, a stiffness or a damping"):
        b.add_joint_drive("pin", name="s")
    with pytest.raises(ValueError, match="motion of 's': it has no effect without stiffness and damping"):
        b.add_joint_drive("pin", torque=1.0, motion=0.3, name="s")
    with pytest.raises(ValueError, match="motion of 's': it has no rate, .*; give a stiffness as well"):
        b.add_joint_drive("pin", damping=1.0, motion=0.3, name="s")
    b.add_joint_drive("pin", damping=1.0, motion=[(0.0, 0.0, 0.5, 0.0)], name="s")
