"""Mechanisms with loops, wheels and chains."""

from __future__ import annotations

import numpy as np

from lgint import models
from lgint._args import Array
from lgint._build.builder import ModelBuilder
from lgint._build.parts import Partner, ground
from lgint._linear.linearization import linearize
from lgint._model.model import Model
from lgint._run.integrate import integrate
from lgint._validation.case import Number, case
from lgint._validation.linkages import LIBRARY, SOLUTION
from lgint._validation.roots import root

AGREED = "three methods of ours agree to 1e-12; the printed solution has an error of 1e-9"


def _cross(angle: float, along: float, across: float) -> Array:
    """A point in the plane of a link at an angle: along its axis, which points down at the angle zero, and across."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([along * s + across * c, -along * c + across * s, 0.0])


def _ray(angle: float) -> Array:
    return np.array([np.cos(angle), np.sin(angle), 0.0])


START = {  # of the squeezer, rad
    "beta": -0.0617138900142764496,
    "Theta": 0.0,
    "gamma": 0.455279819163070380,
    "Phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "Omega": -0.222668390165885885,
    "epsilon": 1.23054744454982120,
}
SQUEEZER = {  # after 0.03 s, rad
    "beta": "15.81077119629904",
    "Theta": "-15.75637105984298",
    "gamma": "0.04082224013073101",
    "Phi": "-0.5347301163226948",
    "delta": "0.5244099658805304",
    "Omega": "0.5347301163226948",
    "epsilon": "1.048080741042263",
}
A, B, C = np.array([-0.06934, -0.00227, 0]), np.array([-0.03635, 0.03273, 0]), np.array([0.014, 0.072, 0])
Link = tuple[float, float, Array, float, Partner, Array]  # mass, inertia, COM, angle, which link holds it, their joint


def _squeezer() -> Model:
    """Links in space of which three loops close; rows that are redundant there are dropped."""
    beta, theta, gamma, phi, delta, omega, epsilon = START.values()
    crank = 7e-3 * _ray(beta)  # the joint between links 1 and 2
    knot = crank - 28e-3 * _ray(beta + theta)  # where links 2, 3, 4 and 6 meet
    elbow, knee = A + 4e-2 * _ray(delta), A + _cross(epsilon, 4e-2, 0)
    links: dict[str, Link] = {
        "link1": (0.04325, 2.194e-6, 92e-5 * _ray(beta), beta, ground, np.zeros(3)),
        "link2": (0.00365, 4.410e-7, crank - 115e-4 * _ray(beta + theta), beta + theta, "link1", crank),
        "link3": (0.02373, 5.255e-6, B + _cross(gamma, 1874e-5, 1043e-5), gamma, ground, B),
        "link5": (0.07050, 1.169e-5, A + _cross(delta + np.pi / 2, 2308e-5, 916e-5), delta, ground, A),
        "link4": (0.00706, 5.667e-7, elbow + _cross(phi + delta, 2e-2 - 1421e-5, 0), phi + delta, "link5", elbow),
        "link7": (0.05498, 1.912e-5, A + _cross(epsilon, 1228e-5, 449e-5), epsilon, ground, A),
        "link6": (0.00706, 5.667e-7, knee + (2e-2 - 1421e-5) * _ray(omega + epsilon), omega + epsilon, "link7", knee),
    }
    builder = ModelBuilder(formulation="minimal")
    for name, (mass, inertia, com, angle, before, pivot) in links.items():
        builder.add_body(name, mass=mass, inertia=(inertia,) * 3, position=com, rotation=(0, 0, angle))
        builder.add_joint("revolute", before, name, point=pivot, axis=(0, 0, 1), name=f"pin{name[-1]}")
    for name in ("link3", "link4", "link6"):
        builder.add_joint("revolute", "link2", name, point=knot, axis=(0, 0, 1))
    builder.add_joint_drive("pin1", torque=0.033)
    builder.add_spring(ground, "link3", point=(C, B + _cross(gamma, 18e-3, 2e-2)), stiffness=4530, length=0.07785)
    return builder.build(redundant="drop")


@case(
    "andrews-squeezer",
    title="Andrews' squeezer, seven links in three loops, after 0.03 s",
    source="Hairer and Wanner 1996, sect. VII.7; Mazzia and Magherini 2008, Test Set for IVP Solvers",
)
def squeezer() -> list[Number]:
    """The angles of the seven links."""
    run = integrate(_squeezer(), "dop853", t_end=0.03, rtol=1e-13, atol=1e-13)
    turned = [float(run.joint_angle(f"pin{i}")[-1]) for i in range(1, 8)]
    return [
        Number(f"{name} / rad", SQUEEZER[name], start + turn, 2e-9, AGREED)
        for (name, start), turn in zip(START.items(), turned, strict=True)
    ]


@case(
    "iftomm-squeezer",
    title="Andrews' squeezer, which starts at a crank angle of -0.0620 rad, after 0.05 s: the end of the crank",
    source=f"{LIBRARY}A03, and {SOLUTION}",
)
def iftomm_squeezer() -> list[Number]:
    """The other angles close the loops."""
    model = _squeezer().with_state(joints={"pin1": -0.0620 - START["beta"]})
    run = integrate(model, "dop853", t_end=0.05, rtol=1e-11, atol=1e-11)
    x, y, _ = run.position("link1")[-1] * 7e-3 / 92e-5
    return [Number("x / m", "-0.00515899", float(x)), Number("y / m", "0.00473127", float(y))]


def _bicycle(v: float) -> Model:
    """Rider and frame, fork, and two wheels of the benchmark at the speed v; z is up."""
    base, trail, tilt = 1.02, 0.08, np.pi / 10
    inertia = {
        "frame": np.array([[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]]),
        "fork": np.array([[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]]),
        "rear": np.diag([0.0603, 0.12, 0.0603]),
        "front": np.diag([0.1405, 0.28, 0.1405]),
    }
    mass = {"frame": 85, "fork": 4, "rear": 2, "front": 3}
    place = {"frame": (0.3, 0, 0.9), "fork": (0.9, 0, 0.7), "rear": (0, 0, 0.3), "front": (base, 0, 0.35)}
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    for name, at in place.items():
        spin = v / at[2] if name in ("rear", "front") else 0.0
        builder.add_body(
            name,
            mass=mass[name],
            inertia=inertia[name],
            position=at,
            velocity=(v, 0, 0),
            angular_velocity=(0, spin, 0),
        )
    for carrier, wheel in (("frame", "rear"), ("fork", "front")):
        builder.add_joint("revolute", carrier, wheel, point=place[wheel], axis=(0, 1, 0))
        builder.add_rolling(wheel, radius=place[wheel][2], axis=(0, 1, 0))
    steering = (-np.sin(tilt), 0, np.cos(tilt))
    builder.add_joint("revolute", "frame", "fork", point=(base + trail, 0, 0), axis=steering)
    return builder.build()


def _motions(v: float) -> Array:
    """The four eigenvalues that are not zero, in increasing order of the real and the imaginary part."""
    values = linearize(_bicycle(v).state()).eigenvalues
    values = values[np.argsort(np.abs(values))][-4:]
    return np.asarray(values[np.lexsort((values.imag, values.real))])


@case(
    "bicycle",
    title="a bicycle with rider, linearised about its straight motion: eigenvalues, and the speeds of stability",
    source="Meijaard, Papadopoulos, Ruina and Schwab 2007, table 2, and its weave and capsize speeds",
)
def bicycle() -> list[Number]:
    """Two wheels that roll without slip, held by rows of velocity alone."""
    still, five = _motions(0.0), _motions(5.0)
    weave = root(lambda v: float(_motions(v)[-1].real), 4.0, 5.0, xtol=1e-11)
    capsize = root(lambda v: float(_motions(v)[-1].real), 5.5, 6.5, xtol=1e-11)
    printed = {
        "v = 0, falling / (1/s)": ("3.13164324790656", still[2].real),
        "v = 0, falling and steering / (1/s)": ("5.53094371765393", still[3].real),
        "v = 5 m/s, castering / (1/s)": ("-14.07838969279822", five[0].real),
        "v = 5 m/s, weave, real / (1/s)": ("-0.77534188219585", five[1].real),
        "v = 5 m/s, weave, imaginary / (1/s)": ("4.46486771378823", five[2].imag),
        "v = 5 m/s, capsize / (1/s)": ("-0.32286642900409", five[3].real),
        "weave speed / (m/s)": ("4.29238253634111", weave),
    }
    among = "the eigenvalue that vanishes there is one among others that are zero"
    vanishing = Number("capsize speed / (m/s)", "6.02426201538837", capsize, 1e-8, among)
    round_off = "round-off of the eigenvalues"
    numbers = [Number(what, digits, float(x), 2e-12, round_off) for what, (digits, x) in printed.items()]
    return [*numbers, vanishing]


def _road(t: float) -> Array:
    """The turned axis of the wheels that are on the road: a rotation vector, its rate and second rate."""
    s, rate, second = 0.1 * np.sin(10 * t), np.cos(10 * t), -10 * np.sin(10 * t)
    c = np.sqrt(1 - s**2)
    motion = np.zeros((3, 6))
    motion[:, 5] = np.arcsin(s), rate / c, second / c + s * rate**2 / c**3
    return motion


@case(
    "car-axis",
    title="a car's axis on two springs above a bumpy road, after 3 s",
    source="Mazzia and Magherini 2008, Test Set for IVP Solvers, car axis problem",
)
def car_axis() -> list[Number]:
    """The left end stays on a line that turns with the road; the mass of the source is multiplied by eps^2/2."""
    m = 10 * 1e-4 / 2
    builder = ModelBuilder(gravity=(0, -1, 0))
    builder.add_support("road", motion=_road)
    builder.add_body("left", mass=m, inertia=(m, m, m), position=(0, 0.5, 0), velocity=(-0.5, 0, 0))
    builder.add_body("right", mass=m, inertia=(m, m, m), position=(1, 0.5, 0), velocity=(-0.5, 0, 0))
    builder.add_joint("inline", "road", "left", point=(0, 0.5, 0), axis=(0, 1, 0))
    builder.add_distance("left", "right")
    for end, x in (("left", 0.0), ("right", 1.0)):
        builder.add_spring("road", end, point=((x, 0, 0), (x, 0.5, 0)), stiffness=1, length=0.5)
    run = integrate(builder.build(), "dop853", t_end=3.0, rtol=1e-11, atol=1e-11)
    left, right = run.position("left")[-1], run.position("right")[-1]
    printed = {
        "left, x": ("0.04934557842755629", left[0]),
        "left, y": ("0.4969894602303324", left[1]),
        "right, x": ("1.041742524885400", right[0]),
        "right, y": ("0.3739110272652214", right[1]),
    }
    return [Number(what, digits, float(x), 1e-11, "the tolerances of both") for what, (digits, x) in printed.items()]


@case(
    "beads-on-a-string",
    title="three equal beads on a hanging string without mass, at equal distances: omega^2 l/g",
    source="Abramowitz and Stegun 1964, table 25.9 (zeros of the Laguerre polynomial of order 3)",
)
def beads() -> list[Number]:
    """Daniel Bernoulli's problem of 1733; the rods between the beads are rigid."""
    builder = ModelBuilder(gravity=(0, 0, -1), formulation="minimal")
    before: Partner = ground
    for i in range(3):
        builder.add_body(f"bead{i}", mass=1.0, inertia=(0, 0, 0), position=(0, 0, -1 - i))
        builder.add_joint("revolute", before, f"bead{i}", point=(0, 0, -i), axis=(0, 1, 0))
        before = f"bead{i}"
    found = np.sort(linearize(builder.build().state()).frequencies) ** 2
    printed = ("0.415774556783", "2.294280360279", "6.289945082937")
    return [Number(f"mode {i + 1}", p, float(w)) for i, (p, w) in enumerate(zip(printed, found, strict=True))]


@case(
    "rolling-disk",
    title="a thin disk that rolls upright and sways: the frequency of its lean, and its least spin",
    source="Neimark and Fufaev 1972; closed form omega^2 = (12 spin^2 - 4 g/r)/5",
    published=False,
)
def rolling_disk() -> list[Number]:
    """With unit radius and gravity: sqrt(44/5) at the spin 2, and the spin 1/sqrt(3)."""

    def square(spin: float) -> float:
        disk = models.rolling_disk(radius=1.0, gravity=1.0, lean=0.0, precession=0.0, spin=spin)
        return float(-(linearize(disk.state()).eigenvalues[-1] ** 2).real)

    least = root(square, 0.3, 1.0, xtol=1e-10)
    return [
        Number("frequency / (rad/s)", "2.9664793948", square(2.0) ** 0.5),
        Number("spin / (rad/s)", "0.57735", least),
    ]


@case(
    "chaplygin-sleigh",
    title="a sleigh on a knife edge that turns until it runs straight: its velocities after 1 s",
    source="Neimark and Fufaev 1972; closed form by hyperbolic functions",
    published=False,
)
def sleigh() -> list[Number]:
    """It has v = V tanh(tau) and omega = V sqrt(m/J)/cosh(tau), where tau grows with the rate m d V/J."""
    m, d, v, omega = 1.0, 0.4, 0.5, 3.0
    J = 0.2 + m * d**2
    V = np.hypot(v, omega * np.sqrt(J / m))
    tau = np.arctanh(v / V) + m * d * V / J
    model = models.chaplygin_sleigh(mass=m, inertia=0.2, distance=d, speed=v, turning=omega)
    end = integrate(model, "dop853", t_end=1.0, rtol=1e-12, atol=1e-12).state(-1)
    along = end.rotation("sleigh")[:, 0] @ end.velocity("sleigh")
    turning = end.angular_velocity("sleigh")[2]
    return [
        Number("along the edge / (m/s)", f"{V * np.tanh(tau):.10f}", float(along)),
        Number("turning / (rad/s)", f"{V * np.sqrt(m / J) / np.cosh(tau):.10f}", float(turning)),
    ]


@case(
    "cart-and-pendulum",
    title="a pendulum on a cart three times as heavy, which runs freely: omega sqrt(l/g)",
    source="closed form: sqrt(1 + m/M), with m/M = 1/3",
    published=False,
)
def cart() -> list[Number]:
    """Their common centre of mass stays where it is."""
    builder = ModelBuilder(gravity=(0, 0, -1), formulation="minimal")
    builder.add_body("cart", mass=3.0, inertia=(1, 1, 1))
    builder.add_body("bob", mass=1.0, inertia=(0, 0, 0), position=(0, 0, -1))
    builder.add_joint("prismatic", ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
    builder.add_joint("revolute", "cart", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    found = linearize(builder.build().state()).frequencies
    return [Number("frequency", "1.1547005384", float(found.max()))]
