"""Runs of generalized-alpha, and their derivatives, beside copies in complex arithmetic."""

import functools

import numpy as np
import pytest

import lgint
from methods.alpha_by_complex import GROUND, Mechanism, hat, run

H, STEPS, RHO = 2e-3, 10, 0.8
INERTIA = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.25]])
COM, OMEGA, ANCHOR, TIP = (
    np.array([0.1, 1.0, 0.2]),
    np.array([3.0, 40.0, -4.0]),
    np.array([0.5, 0.4, 0.9]),
    (0.2, 0.3, 0.1),
)
TOP = {
    "top.mass": 15.0,
    "top.inertia[0,1]": INERTIA[0, 1],
    "fixed_point.point_b[1]": -COM[1],
    "spring.stiffness": 300.0,
    "spring.damping": 8.0,
    "pull.load[2]": 20.0,
    "start.fixed_point.rate[0]": OMEGA[0],
}


@functools.cache
def top():
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    moving = {"velocity": np.cross(OMEGA, COM), "angular_velocity": OMEGA}
    builder.add_body("top", mass=15.0, inertia=INERTIA, position=COM, **moving)
    builder.add_joint("spherical", lgint.ground, "top", point=(0, 0, 0), name="fixed_point")
    points = {"point_a": ANCHOR, "point_b": TIP}
    builder.add_spring(lgint.ground, "top", **points, stiffness=300.0, damping=8.0, length=0.4, name="spring")
    builder.add_force("top", force=(1.0, -2.0, 20.0), local_point=TIP, name="pull")
    return builder.build()


def top_by_complex(name=None, step=0.0):
    """The top with one number greater by a step."""
    p = {key: value + (step if key == name else 0.0) for key, value in TOP.items()}
    J = INERTIA.astype(complex)
    J[0, 1] = J[1, 0] = p["top.inertia[0,1]"]
    pivot = np.array([-COM[0], p["fixed_point.point_b[1]"], -COM[2]])

    def forces(q, v):
        (x, R), X = q[0], np.array(TIP)
        d, rate = x + R @ X - ANCHOR, v[:3] + R @ hat(v[3:]) @ X
        length = np.sqrt(d @ d)
        size = p["spring.stiffness"] * (length - 0.4) + p["spring.damping"] * (d @ rate) / length
        force = np.array([1.0, -2.0, p["pull.load[2]"]]) - size * d / length
        return [(0, force, hat(X) @ R.T @ force)]

    gravity = np.array([0, 0, -9.81])
    mechanism = Mechanism([p["top.mass"]], [J], gravity, [("point", GROUND, np.zeros(3), 0, pivot)], forces)
    omega = np.array([p["start.fixed_point.rate[0]"], *OMEGA[1:]])
    q, v = [(COM.astype(complex), np.eye(3, dtype=complex))], np.concatenate([hat(omega) @ COM, omega])
    return mechanism, *mechanism.projected(q, v)


@pytest.mark.parametrize("index", [3, 2, "stabilized"])
def test_states_of_a_top(index):
    found = lgint.integrate(top(), "genalpha", **options(index))
    ((x, R),) = (q := run(*top_by_complex(), H, STEPS, RHO, index))[0]
    np.testing.assert_allclose(found.position("top")[-1], x.real, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.rotation("top")[-1], R.real, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.v[-1], q[1].real, rtol=0, atol=1e-9)


def options(index):
    return {
        "t_end": H * STEPS,
        "h": H,
        "rho_inf": RHO,
        "sigma": 0.0,
        "index": index,
        "start": "plain",
        "newton_rtol": 1e-13,
    }


def end_of(model, index):
    """The position and a matrix of the end of a run, and its velocities."""
    found = lgint.integrate(model, "genalpha", **options(index))
    return np.concatenate([found.position("top")[-1], found.rotation("top")[-1].ravel(), found.v[-1]])


def changed(name, s):
    """The model with one number greater by s, from the start that follows."""
    if name.startswith("start"):
        return top().with_state(rates={"fixed_point": OMEGA + (s, 0, 0)})
    return top().with_parameters(**{name: TOP[name] + s}).with_state(project=True)


@pytest.mark.parametrize("index", [3, 2, "stabilized"])
@pytest.mark.parametrize("name", TOP)
def test_derivatives_of_a_top(name, index):
    """An imaginary step in the copy, and differences of the sixth order of our runs."""
    step = 1e-3 * abs(TOP[name])
    ends = [(w, end_of(changed(name, k * step), index) - end_of(changed(name, -k * step), index)) for k, w in WEIGHTS]
    expected = sum(w * end for w, end in ends) / (60 * step)
    ((x, R),), v = run(*top_by_complex(name, 1e-30j), H, STEPS, RHO, index)
    found = np.concatenate([x, R.ravel(), v]).imag / 1e-30
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    assert np.abs(found).max() > 1e-7


WEIGHTS = ((1, 45), (2, -9), (3, 1))


@pytest.mark.parametrize("index", [3, 2, "stabilized"])
def test_sensitivities_of_a_top(index):
    ours = lgint.integrate(top(), "genalpha", sensitivity=[*TOP], **options(index))
    place, turned = ours.derivative("position", "top")[-1], ours.derivative("rotation", "top")[-1].reshape(9, -1)
    for k, name in enumerate(TOP):
        ((x, R),), v = run(*top_by_complex(name, 1e-30j), H, STEPS, RHO, index)
        expected = np.concatenate([x, R.ravel(), v]).imag / 1e-30
        found = np.concatenate([place[:, k], turned[:, k], ours.sensitivity.dv[-1, :, k]])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=name)


# ---- the slider-crank ----

CRANK = {
    "crank.mass": 0.12,
    "rod.mass": 0.5,
    "rod.inertia[2,2]": 4e-3,
    "slider.mass": 2.0,
    "B.point_b[0]": -0.15,
    "A.point_b[2]": -0.04,
}
X, Y, Z = np.eye(3)


def crank_by_complex(model, name=None, step=0.0, more=None):
    """The slider-crank with one number greater by a step; `more`: the forces and the start of one with a spring."""
    p = {key: value + (step if key == name else 0.0) for key, value in {**CRANK, **(more or {})}.items()}
    values = model.values
    rod = np.array(values["rod.inertia"], dtype=complex)
    rod[2, 2] = p["rod.inertia[2,2]"]
    inertia = [np.array(values["crank.inertia"]), rod, np.array(values["slider.inertia"])]
    points = {joint: [np.array(values[f"{joint}.point_{end}"], dtype=complex) for end in "ab"] for joint in "ABC"}
    points["B"][1][0], points["A"][1][2] = p["B.point_b[0]"], p["A.point_b[2]"]
    guide = np.array(model.joints["guide"]["points"][0])
    rows = [
        ("point", GROUND, points["A"][0], 0, points["A"][1]),
        *(("normal", GROUND, axis, 0, X) for axis in (Y, Z)),
        ("point", 0, points["B"][0], 1, points["B"][1]),
        ("point", 2, points["C"][0], 1, points["C"][1]),
        ("normal", 2, X, 1, Y),
        *(("along", GROUND, axis, 2, np.zeros(3), guide) for axis in (Y, Z)),
        *(("normal", GROUND, e, 2, f) for e, f in ((X, Y), (X, Z), (Y, Z))),
    ]
    forces = [pulls(p)] if more else []
    mechanism = Mechanism([p[f"{body}.mass"] for body in BODIES], inertia, np.array([0, 0, -9.81]), rows, *forces)
    state, v = model.state(), model.v0.astype(complex)
    q = [(state.position(body).astype(complex), state.rotation(body).astype(complex)) for body in BODIES]
    if more:
        faster = model.state(rates={"A": p[RATE].real + 1}).v - model.state(rates={"A": p[RATE].real}).v
        v += (p[RATE] - more[RATE]) * faster
    return mechanism, *mechanism.projected(q, v)


BODIES = ("crank", "rod", "slider")


@pytest.mark.parametrize(
    ("name", "index"), [*((name, 3) for name in (None, *CRANK)), (None, "stabilized"), ("rod.mass", "stabilized")]
)
def test_slider_crank(name, index):
    model = lgint.models.slider_crank()
    given = {**options(index), "t_end": 2 * H}

    def end(s):
        other = model.with_parameters(**{name: CRANK[name] + s}).with_state(project=True) if name else model
        found = lgint.integrate(other, "genalpha", **given)
        return np.concatenate([*(found.position(body)[-1] for body in BODIES), found.v[-1]])

    def copy(s):
        q, v = run(*crank_by_complex(model, name, s), H, 2, RHO, index)
        return np.concatenate([*(x for x, _ in q), v])

    if name is None:
        np.testing.assert_allclose(end(0.0), copy(0.0).real, rtol=0, atol=1e-10)
        return
    step = 1e-3 * abs(CRANK[name])
    expected = sum(w * (end(k * step) - end(-k * step)) for k, w in WEIGHTS) / (60 * step)
    found = copy(1e-30j).imag / 1e-30
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert np.abs(found).max() > 1e-7


# ---- a slider-crank with a spring, a damper and a load ----

RATE = "start.A.rate"
SPRUNG = {"spring.stiffness": 40.0, "spring.damping": 3.0, "pull.load[1]": 2.0, RATE: 6.0}
POST, EYE = np.array([0.5, 0.2, 0.1]), np.array([0.02, 0.03, 0.01])


def pulls(p):
    def forces(q, v):
        (x, R), (_, R_rod) = q[2], q[1]
        d, rate = x + R @ EYE - POST, v[12:15] + R @ hat(v[15:]) @ EYE
        length = np.sqrt(d @ d)
        size = p["spring.stiffness"] * (length - 0.3) + p["spring.damping"] * (d @ rate) / length
        pull, load = -size * d / length, np.array([0.5, p["pull.load[1]"], -1.0])
        return [(2, pull, hat(EYE) @ R.T @ pull), (1, load, hat(EYE) @ R_rod.T @ load)]

    return forces


@functools.cache
def sprung_crank():
    bare = lgint.models.slider_crank()
    builder, state, v = lgint.ModelBuilder(gravity=(0, 0, -9.81)), bare.state(), bare.v0.reshape(3, 6)
    for body, rates in zip(BODIES, v, strict=True):
        given = {what: bare.values[f"{body}.{what}"] for what in ("mass", "inertia")}
        pose = {"position": state.position(body), "rotation": state.rotation(body)}
        builder.add_body(body, **given, **pose, velocity=rates[:3], angular_velocity=rates[3:])
    B, C = state.position("crank") + bare.values["B.point_a"], state.position("slider")
    builder.add_joint("revolute", lgint.ground, "crank", point=bare.values["A.point"], axis=X, name="A")
    builder.add_joint("spherical", "crank", "rod", point=B, name="B")
    second = state.rotation("rod")[:, 1]
    builder.add_joint("universal", "slider", "rod", point=C, axis=X, second_axis=second, name="C")
    builder.add_joint("prismatic", lgint.ground, "slider", point=C, axis=X, name="guide")
    values = {"stiffness": 40.0, "damping": 3.0, "length": 0.3}
    builder.add_spring(lgint.ground, "slider", point_a=POST, point_b=EYE, **values, name="spring")
    builder.add_force("rod", force=(0.5, 2.0, -1.0), local_point=EYE, name="pull")
    return builder.build()


def check_crank(names, index, steps, h=H):
    """Velocities of index 3 have the round-off of positions over h, and so do their derivatives: steps are longer."""
    model = sprung_crank()
    ours = lgint.integrate(model, "genalpha", sensitivity=names, **{**options(index), "h": h, "t_end": steps * h})
    places = np.concatenate([ours.derivative("position", body)[-1] for body in BODIES])
    for k, name in enumerate(names):
        q, v = run(*crank_by_complex(model, name, 1e-30j, SPRUNG), h, steps, RHO, index)
        expected = np.concatenate([*(x for x, _ in q), v]).imag / 1e-30
        found = np.concatenate([places[:, k], ours.sensitivity.dv[-1, :, k]])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=name)


def test_sensitivities_of_a_slider_crank():
    check_crank(["rod.mass", "B.point_b[0]", *SPRUNG], 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("index", "steps", "h"), [(3, 3, 5 * H), (2, 10, H), ("stabilized", 10, H)])
def test_sensitivities_of_a_slider_crank_by_all_numbers(index, steps, h):
    check_crank([*CRANK, *SPRUNG], index, steps, h)
