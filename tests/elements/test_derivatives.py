"""Derivatives of the terms of every element by its parameters and by the points where it acts, against differences."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import lgint
from cores import core_model
from elements.rows import (
    INERTIA,
    ON_BODIES,
    ON_TREES,
    ROWS,
    bodies,
    body_on,
    random_links,
    random_point,
    rigid,
    tree,
)
from lgint._model.sensitivity import differentiated

BODIES = [1.5, *INERTIA, 2.5, *INERTIA]
FORCE = (0.0, 0.0, 1.0, -2.0, 3.0)  # constant, in inertial axes
APART = ("torque", "joint_", "slide_", "angle_", "force_law")  # may not depend on the points
FIXED = ("rotation", "unit vector", "choice")


def numbers(kind, count):
    """The places of parameters that change alone, in a row with `count` values."""
    place = 0
    for parameter in ROWS[kind]["parameters"]:
        own = parameter["count"] if parameter["count"] >= 0 else count - place
        moves = parameter["valid"] not in FIXED and parameter["name"] not in ("value", "nbodies")
        if moves and not (kind.startswith("contact") and parameter["name"][-2:] in ("_a", "_b")):
            yield from range(place, place + own) if parameter["count"] >= 0 else ()
        place += own


def symmetric(kind, place):
    """The other place of an entry of a symmetric matrix, or the same place."""
    for parameter in ROWS[kind]["parameters"]:
        count = max(parameter["count"], 0)
        if 0 <= place < count and parameter["valid"] in ("symmetric", "semidefinite") and count > 1:
            n = parameter["shape"][0]
            return place % n * n + place // n - place
        place -= count
    return 0


def definite(element):
    """The element with matrices that stay without negative eigenvalues where an entry changes a little."""
    values, place = list(element.parameters), 0
    for parameter in ROWS[element.kind]["parameters"]:
        count = max(parameter["count"], 0)
        if parameter["valid"] == "semidefinite" and count > 1:
            n = parameter["shape"][0]
            for i in range(place, place + count, n + 1):
                values[i] += 1.0
        place += count
    return element._replace(parameters=tuple(values))


def check(model, bare, direction, at, kind, seed=1, linear=False):
    """The derivatives of all terms in a direction against differences of the models at(s); returns the largest.

    `linear`: terms are, so that a wide difference shows that they have no error but round-off.
    """
    size, places, rates, ends, motions = direction
    found = model.differentiated(
        np.array([size]),
        np.array([[len(places), len(ends)]], np.intc),
        np.array(places, np.intc).reshape(-1, 1),
        np.array(rates, float),
        np.array(ends, np.intc).reshape(-1, 1),
        np.ravel(motions).astype(float),
    )
    q, v, a, lam = random_point(model, bare, seed)
    options = {"k": (0.3, -0.7, 1.1), "X": random_links(model, np.random.default_rng(seed)), "wa": 0.8}
    own = found.derivative(0, 0.1, q, v, a, lam, **options)
    step, most = (size, 1e-13) if linear else (size / 900, 3e-11)
    if kind == "curved_bushing":
        most *= 64  # a step 64 times shorter, because of the points of curves, has so much more round-off
    one, two = ([at(sign * s).evaluate(0.1, q, v, a, lam, **options) for sign in (1, -1)] for s in (step, 2 * step))
    largest = 0.0
    if "law" in kind or ROWS[kind]["control"]:
        del own["S"]  # which has derivatives of the user's function by differences
    for name, value in own.items():
        expected = (8 * (one[0][name] - one[1][name]) - (two[0][name] - two[1][name])) / (12 * step)
        scale = max(1.0, np.abs(one[0][name]).max(initial=0) / size, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(value, expected, rtol=0, atol=most * scale, err_msg=name)
        largest = max(largest, np.abs(value).max(initial=0))
    return largest


def accepts(model, flat):
    """Whether the parameters are valid."""
    try:
        model.varied(flat)
    except ValueError:
        return False
    return True


def check_all(make, element, before, bare, without=()):
    """All numbers of an element; those at the places `without` have no effect."""
    element = definite(element)
    base, flat = make(element), np.array([*before, *element.parameters], float)
    for place in numbers(element.kind, len(element.parameters)):
        places = sorted({len(before) + place, len(before) + place + symmetric(element.kind, place)})
        change = np.zeros(len(flat))
        change[places] = 1.0
        size = abs(element.parameters[place]) or 1.0
        if not element.parameters[place] and not accepts(base, flat - 0.01 * change):
            continue
        direction = size, places, [1.0] * len(places), [], []
        found = check(base, bare, direction, lambda s, change=change: base.varied(flat + s * change), element.kind)
        assert (
            (found == 0 if place in without else found > 0)
            or element.kind.startswith("contact")
            or "saturated" in element.kind
            or "tendon" in element.kind
        ), place


@pytest.mark.parametrize("kinds", [("SE3", "R3xS3"), ("euler_parameters", "R3xSO3")], ids=str)
@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_elements_between_bodies(element, kinds):
    check_all(lambda element: rigid(kinds, element), element, BODIES, rigid(kinds))


@pytest.mark.parametrize("element", ON_TREES, ids=str)
def test_elements_on_trees(element):
    check_all(tree, element, ROWS["tree"]["example"], tree())


@pytest.mark.parametrize(("element", "block"), [*bodies()], ids=lambda given: str(given))
def test_bodies(element, block):
    model = body_on(block, element)
    turns_only = block[0] in ("SO3", "S3", "RV") or block[0].endswith("_fixed")
    without = (0,) if element.kind == "rigid_body" and turns_only else ()  # the mass
    check_all(lambda element: body_on(block, element), element, (), model, without)


@pytest.mark.parametrize("element", [element for element in ON_BODIES if "contact" not in element.kind], ids=str)
def test_points(element):
    """The points of an element on both bodies, one of which another element shares."""
    kinds, ends = ("SE3", "R3xS3"), ROWS[element.kind]["nframes"]
    X = np.array([(0.0,) * 6, (0.0, 0.0, 0.0, 0.3, -0.2, 0.1), (0.0,) * 6, (0.0, 0.0, 0.0, -0.7, -0.2, 0.6)])

    def at(points, s, end, motion):
        frames = [(i // 2, tuple(point)) for i, point in enumerate(points)]
        frames.append((frames[1 + 2 * end][0], tuple(points[1 + 2 * end] + s * motion)))
        bodies = [("rigid_body", f"body{i}", (2 * i,), (1.5 + i, *INERTIA), None) for i in range(2)]
        on = [1, 3]
        on[end] = 4
        return core_model(
            [(kind, 0) for kind in kinds], frames, [*bodies, ("force", "f", (1,), FORCE), element.on((*on,))]
        )

    motion = np.array([0, 0, 0, 0.4, -0.7, 0.5])
    for end in range(ends):
        base = at(X, 0.0, end, motion)
        direction = 1.0, [], [], [6 + end], [motion]
        moved, linear = lambda s, end=end: at(X, s, end, motion), ROWS[element.kind]["locked"] is not None
        found = check(base, rigid(kinds), direction, moved, element.kind, linear=linear)
        assert found > 0 or element.kind.startswith(APART)


def test_a_point_where_a_curve_has_its_next_point_a_millimetre_away():
    """Between points of a curve the derivative has no error but round-off; at one its curvature jumps."""
    x, f = np.array([-0.2, -0.1, 0.0, 0.1, 0.2]) * 0.01, np.array([-300.0, -100, 0, 200, 500])
    slope = PchipInterpolator(x, f).derivative()
    for place, most in [(0.0003, 1e-9), (0.0, 3e-3)]:
        builder = lgint.ModelBuilder()
        builder.add_body("body", mass=1.0, inertia=np.eye(3), position=(0.4, 0.1, 0))
        stiffness, ends = [(x, f), 5.0, 5.0, 1.0, 1.0, 1.0], [(0, 0, 0), (place, 0, 0)]
        builder.add_bushing(lgint.ground, "body", stiffness=stiffness, point=ends, name="bushing")
        model = builder.build()
        core = differentiated(model, ["bushing.point_b[0]"])
        found = core.derivative(0, 0.0, model.q0, model.v0, want="force")["force"][0]
        assert found == pytest.approx(-slope(place), rel=most)


@pytest.mark.parametrize("depth", [1e-2, 1e-3])
def test_shape_of_a_contact(depth):
    """k depth^n on a sphere by its radius, which is much larger than the depth."""
    radius, k, n = 0.5, 1e6, 1.5
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=np.eye(3), position=(0.3, 0.2, radius - depth))
    shapes = ("sphere", (0, 0, 0), radius), ("plane", (0, 0, 0), (0, 0, 1))
    builder.add_contact("ball", lgint.ground, shapes=shapes, stiffness=k, exponent=n, name="touch")
    model = builder.build()
    names = ["touch.radius_a", "touch.origin_b[2]", "touch.exponent"]
    core = differentiated(model, names)
    by = [core.derivative(i, 0.0, model.q0, model.v0, want="force")["force"][2] for i in range(3)]
    slope = n * k * depth ** (n - 1)
    assert by[:2] == pytest.approx([slope, slope], rel=1e-8)
    assert by[2] == pytest.approx(k * depth**n * np.log(depth), rel=1e-10)


def test_a_small_coordinate_of_a_shape_far_from_the_origin():
    """The centre of a sphere is nearly on an axis of its body, and the plane on which it lies is 100 m away."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("ball", mass=1.0, inertia=np.eye(3), position=(100.3, 0.2, 0.499))
    shapes = ("sphere", (0.7, 0, 1e-5), 0.5), ("plane", (100, 0, 1e-5), (0, 0, 1))
    builder.add_contact("ball", lgint.ground, shapes=shapes, stiffness=1e3, name="touch")
    model = builder.build()
    core = differentiated(model, ["touch.center_a[2]", "touch.origin_b[2]"])
    by = [core.derivative(i, 0.0, model.q0, model.v0, want="force")["force"][2] for i in range(2)]
    assert by == pytest.approx([-1e3, 1e3], rel=1e-9)
