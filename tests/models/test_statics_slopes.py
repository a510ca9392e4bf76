"""Derivatives of equilibria by numbers of the model: closed forms, the elastica, and differences."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import lgint
from linear.test_gradients import on_a_slope


def difference(f, step):
    """Central difference of the sixth order."""
    return sum(w * (f(k * step) - f(-k * step)) for k, w in ((1, 45), (2, -9), (3, 1))) / (60 * step)


def hanging(form):
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation=form)
    builder.add_body("block", mass=2.0, inertia=np.eye(3), position=(0, 0, -1))
    builder.add_joint("prismatic", lgint.ground, "block", point=(0, 0, -1), axis=(0, 0, 1), name="guide")
    builder.add_spring(lgint.ground, "block", stiffness=30.0, length=0.5, name="spring", point_a=(0, 0, 0))
    return builder.build()


@pytest.mark.parametrize("form", ["R3xSO3", "SE3", "euler_parameters"])
def test_a_mass_on_a_spring(form):
    """z = -(length + load m g / k), and the spring pulls with the weight."""
    names = ["spring.stiffness", "block.mass", "spring.length"]
    rest = lgint.equilibrium(hanging(form), loads=(0.5, 1.0), sensitivity=names)
    loads = np.array([0.5, 1.0])
    expected = np.stack([loads * 2.0 * 9.81 / 30.0**2, -loads * 9.81 / 30.0, [-1, -1]], axis=-1)
    np.testing.assert_allclose(rest.derivative("position", "block")[:, 2], expected, rtol=0, atol=1e-10)
    assert rest.sensitivity.parameters == names and not rest.sensitivity.dv.any()


def cantilever(edges, force=2.5):
    builder = lgint.ModelBuilder(gravity=(0, 0, 0))
    stiffness = (1e5, 1e5, 1e5, 1, 1, 1)
    rod = builder.add_rod(
        "rod", start=(0, 0, 0), end=(1, 0, 0), edges=edges, stiffness=stiffness, inertia=(1, 1, 1, 1), clamped=(0,)
    )
    builder.add_force(rod.nodes[-1], force=(0, 0, force), name="tip")
    return builder.build()


def elastica(force):
    """The tip of a cantilever of unit length and stiffness under a transverse force."""
    s = np.linspace(0, 1, 201)

    def slopes(_, y):
        return np.stack([y[1], -force * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a, b):
        return np.array([a[0], b[1], a[2], a[3]])

    found = solve_bvp(slopes, ends, s, np.stack([s, 1 - s, s, s**2 / 2]), tol=1e-9, max_nodes=100000)
    return found.y[2:, -1]


def test_tip_of_an_elastica_by_its_load():
    """Exact for the rod as it is; of second order in the edges to the elastica."""
    rest = lgint.equilibrium(cantilever(8), sensitivity=["tip.load[2]"])
    found = rest.derivative("position", "rod.node8")[0, :, 0]

    def at(s):
        return lgint.equilibrium(cantilever(8, 2.5 + s)).position("rod.node8")[0]

    np.testing.assert_allclose(found, difference(at, 1e-2), rtol=0, atol=1e-8)
    exact = difference(lambda s: elastica(2.5 + s), 2e-2)
    errors = []
    for edges in (8, 16):
        tip = lgint.equilibrium(cantilever(edges), sensitivity=["tip.load[2]"])
        errors.append(np.abs(tip.derivative("position", f"rod.node{edges}")[0, [0, 2], 0] - exact).max())
    assert errors[0] < 5e-3 and 3.3 < errors[0] / errors[1] < 4.7


def test_fine_rods_without_shear_whose_equations_are_ill_conditioned():
    """Of second order over four refinements."""
    tips = []
    for edges in (8, 16, 32, 64):
        builder = lgint.ModelBuilder(gravity=(0, 0, 0))
        section = {"stiffness": (1e6, 1e6, 1e6, 1, 1, 1), "inertia": (1, 0.01, 0.01, 0.02), "constraints": "kirchhoff"}
        builder.add_rod("rod", start=(0, 0, 0), end=(1, 0, 0), edges=edges, clamped=(0,), **section)
        builder.add_force(f"rod.node{edges}", force=(0, 0, 3.0), name="tip")
        rest = lgint.equilibrium(builder.build(), loads=(0.5, 1.0), sensitivity=["tip.load[2]"])
        tips.append(rest.derivative("position", f"rod.node{edges}")[-1, [0, 2], 0])
    changes = np.abs(np.diff(tips, axis=0))
    np.testing.assert_allclose(changes[:-1] / changes[1:], 4.0, rtol=0.05)


def test_what_is_refused():
    with pytest.raises(ValueError, match="did you mean 'spring.stiffness'"):
        lgint.equilibrium(hanging("R3xSO3"), sensitivity=["spring.stifness"])
    with pytest.raises(ValueError, match="an equilibrium does not depend on the start"):
        lgint.equilibrium(hanging("R3xSO3"), sensitivity=["start.guide"])
    builder = lgint.ModelBuilder(gravity=(1, 0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.1))
    shapes, law = [("sphere", (0, 0, 0), 0.1), ("plane", (0, 0, 0), (0, 0, 1))], {"friction": 0.3, "bristle": 1e4}
    builder.add_contact("ball", lgint.ground, shapes=shapes, stiffness=1e4, **law)
    with pytest.raises(ValueError, match="with bristles of contacts an equilibrium depends on the corrections"):
        lgint.equilibrium(builder.build(), sensitivity=["ball.mass"])


def test_equilibria_under_bristles_jump_with_parameters():
    """A block that falls by 1 cm onto a slope touches it, and slides there, where the search happens to lead it."""
    places = [lgint.equilibrium(on_a_slope(40 * (1 + 1e-3 * i), 0.11)).q[-1, 0] for i in range(6)]
    changes = np.diff(places)
    assert changes.min() < -1e-6 < 1e-6 < changes.max()
