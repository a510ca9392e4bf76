"""The verb `pair` of compiled models, for every row of elements: a step between two states in Euler parameters."""

import numpy as np
import pytest

from cores import core_model, motion
from elements.rows import AXIS, INERTIA, JOINTS, ON_BODIES, OTHER, ROWS, TRIAD, difference, random_point, rigid

STEPPED = [element for element in ON_BODIES if not ROWS[element.kind]["control"]]  # controls have no steps
HOLONOMIC = [element for element in STEPPED if not ROWS[element.kind]["nnonholonomic"]]  # all rows have phi

KINDS = [("euler_parameters", "euler_parameters"), ("euler_parameters_fixed", "euler_parameters")]
TERMS = ("force", "Gtlam", "phi", "G", "B")


@pytest.fixture(params=KINDS, ids=lambda k: "+".join(k))
def kinds(request):
    return request.param


def random_step(model, bare, seed, length=0.1):
    """q0, q1, lam and the size of the step; q0 and q1 have unit quaternions."""
    q0, v, _, lam = random_point(model, bare, seed)
    q1, _ = bare.project(0.0, q0 + length * v, v)
    return q0, q1, lam, 0.3


@pytest.mark.parametrize("element", STEPPED, ids=str)
def test_the_midpoint_rule_is_an_evaluation_at_the_middle(element, kinds):
    if ROWS[element.kind]["locked"] == "123" and element.parameters[0] == 0:
        element = element._replace(parameters=(1.0, *element.parameters[1:]))  # the axes of the first body
    model = rigid(kinds, element)
    q0, q1, lam, h = random_step(model, rigid(kinds), 1)
    got = model.evaluate_pair(0.2, h, q0, q1, lam=lam, midpoint=True, equivariant=True, want=TERMS)
    middle = model.evaluate(0.2 + h / 2, (q0 + q1) / 2, (q1 - q0) / h, lam=lam, want=("force", "Btlam", "B"))
    end = model.evaluate(0.2 + h, q1, q1, want=("phi", "B"), t_in=0.2 + h / 2)
    assert all(np.array_equal(got[key], middle[of]) for key, of in [("force", "force"), ("Gtlam", "Btlam"), ("G", "B")])
    for rows in (got, end):
        rows["phi"][model.nonholonomic], rows["B"][model.nonholonomic] = 0, 0  # see the next test
    assert all(np.array_equal(got[key], end[key]) for key in ("phi", "B"))
    assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("equivariant", [True, False], ids=["equivariant", "printed"])
@pytest.mark.parametrize("midpoint", [False, True])
@pytest.mark.parametrize("element", [e for e in STEPPED if e not in HOLONOMIC], ids=str)
def test_nonholonomic_rows_are_slips_in_the_step(element, kinds, midpoint, equivariant):
    """B is the derivative by q1 of what takes the place of phi: h B(q_m) v_m in the midpoint rule."""
    model = rigid(kinds, element)
    q0, q1, lam, h = random_step(model, rigid(kinds), 1)
    form = {"lam": lam, "midpoint": midpoint, "equivariant": equivariant}

    def phi(q):
        return model.evaluate_pair(0.2, h, q0, q, want=("phi",), **form)["phi"]

    got = model.evaluate_pair(0.2, h, q0, q1, want=("phi", "B", "G"), **form)
    for seed in range(2):
        w = np.random.default_rng(seed).normal(size=model.nv)
        change = difference(lambda s, w=w: phi(q1 + s * w))
        assert np.allclose((got["B"] @ w)[model.nonholonomic], change[model.nonholonomic], rtol=1e-8, atol=1e-8)
    if midpoint or not equivariant:  # without slip there is no work
        assert np.allclose(got["phi"][model.nonholonomic], (got["G"] @ (q1 - q0))[model.nonholonomic], rtol=1e-13)
    if midpoint and equivariant:
        middle = model.evaluate(0.2 + h / 2, (q0 + q1) / 2, (q1 - q0) / h, want=("phidot",))
        assert np.allclose(got["phi"][model.nonholonomic], h * middle["phidot"][model.nonholonomic], rtol=1e-14)


def check_tangent(model, step, midpoint, **form):
    """Check that S is the derivative of Gtlam - force by q1."""
    q0, q1, lam, h = step
    form = {"midpoint": midpoint, "lam": lam, **form}

    def residual(q):
        got = model.evaluate_pair(0.2, h, q0, q, want=("force", "Gtlam"), **form)
        return got["Gtlam"] - got["force"]

    S = model.evaluate_pair(0.2, h, q0, q1, want=("S",), **form)["S"]
    for seed in range(2):
        du = np.random.default_rng(seed).normal(size=model.nv)
        expected = difference(lambda s, du=du: residual(q1 + s * du), 1e-5)
        assert np.abs(S @ du - expected).max() < 4e-8 * (np.abs(expected).max() + 1)


by_form = pytest.mark.parametrize("equivariant", [True, False], ids=["equivariant", "printed"])
IN_BOTH_FORMS = [(element, form) for element in STEPPED for form in (True, False)]
in_both_forms = pytest.mark.parametrize(
    ("element", "equivariant"),
    IN_BOTH_FORMS,
    ids=[f"{element}-{'equivariant' if form else 'printed'}" for element, form in IN_BOTH_FORMS],
)


@in_both_forms
def test_tangent_of_the_midpoint_rule(element, kinds, equivariant):
    model = rigid(kinds, element)
    check_tangent(model, random_step(model, rigid(kinds), 2), True, equivariant=equivariant)


# ---- attitudes that are not normalised ----

OFFSETS = [(0.3, -0.2, 0.1), (-0.7, -0.2, 0.6)]  # of the two frames: rows.rigid


def quadratic_bodies(model, q):
    """x and R = E G^T of each body, (50), which may be complex."""
    for kind, _, first, *_ in model.blocks:
        place = kind == "euler_parameters"
        w, x, y, z = q[first + 3 * place : first + 3 * place + 4]
        E = np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
        G = np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
        yield q[first : first + 3] if place else np.zeros(3), E @ G.T, E, G


def printed_rows(model, element, q):
    """The rows of a lower pair: distances along axes of the carrier, and products of axes of both bodies."""
    (x_a, R_a, *_), (x_b, R_b, *_) = quadratic_bodies(model, q)
    d = x_b + R_b @ OFFSETS[1] - x_a - R_a @ OFFSETS[0]
    triads = [R @ np.reshape(p, (3, 3)) for R, p in ((R_a, element.parameters[1:10]), (R_b, element.parameters[10:]))]
    carrier = [np.eye(3), *triads][int(element.parameters[0])]
    row = ROWS[element.kind]
    pairs = [row["pairs"][i : i + 2] for i in range(0, len(row["pairs"]), 2)]
    return np.array(
        [carrier[:, int(i) - 1] @ d for i in row["locked"]]
        + [triads[0][:, int(i) - 1] @ triads[1][:, int(j) - 1] for i, j in pairs]
    )


@pytest.mark.parametrize("element", [e for e in JOINTS if len(e.parameters) == 19], ids=str)
def test_rows_as_printed_are_those_of_quadratic_attitudes(element, kinds):
    """Their gradients at the middle, where |e| < 1, are those of the formulas, axes of joints included."""
    model = rigid(kinds, element)
    q0, q1, lam, h = random_step(model, rigid(kinds), 1, 0.5)
    got = model.evaluate_pair(0.2, h, q0, q1, lam=lam, midpoint=True, want=("G", "Gtlam"))
    middle, n = (q0 + q1) / 2, ROWS[element.kind]["nrows"]
    columns = [printed_rows(model, element, middle + 1e-30j * unit).imag / 1e-30 for unit in np.eye(model.nv)]
    assert np.allclose(got["G"][:n], np.transpose(columns), rtol=1e-13, atol=1e-13)
    assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-13, atol=1e-13)


LOADS = [e for e in STEPPED if str(e) in ("force-0-0", "force-1-0", "torque-0-0", "torque-1-0", "drag", "force_law-1")]


def printed_load(element, x, xdot, R, E, G, rate):
    """A force, and a moment as a force on the parameters: moments have the powers of 2 E e' or 2 G e' (128)."""
    if element.kind == "drag":
        return -R @ np.reshape(element.parameters, (3, 3)) @ R.T @ xdot, np.zeros(4)
    if element.kind == "force_law":
        n = np.sqrt((R @ R.T)[0, 0])
        return -2 * x - 0.3 * xdot, 2 * G.T @ (-0.4 * 2 * G @ rate / n)
    value, in_body = np.array(element.parameters[-3:]), element.parameters[0] == 1
    if element.kind == "force":
        return R @ value if in_body else value, np.zeros(4)
    return np.zeros(3), 2 * (G if in_body else E).T @ value


@pytest.mark.parametrize("element", LOADS, ids=str)
def test_loads_as_printed(element, kinds):
    """At the middle, where |e| < 1: axes of the body turn with R = E G^T, and its point moves with it."""
    model = rigid(kinds, element)
    q0, q1, _, h = random_step(model, rigid(kinds), 1, 0.5)
    q, v, first = (q0 + q1) / 2, (q1 - q0) / h, 3 * (kinds[0] == "euler_parameters")

    def place(q):
        x, R, *_ = next(quadratic_bodies(model, q))
        return x + R @ OFFSETS[0]

    def along(v):
        return place(q + 1e-30j * v).imag / 1e-30

    _, *attitude = next(quadratic_bodies(model, q))
    force, on_parameters = printed_load(element, place(q), along(v), *attitude, v[first : first + 4])
    expected = np.array([along(unit) @ force for unit in np.eye(model.nv)])
    expected[first : first + 4] += on_parameters
    got = model.evaluate_pair(0.2, h, q0, q1, midpoint=True, want=("force",))["force"]
    assert np.allclose(got, expected, rtol=1e-13, atol=1e-13)


# ---- discrete gradients ----


def along_symmetries(model, q):
    """Rates of q in common translations along the inertial axes and rotations about them, (6, nv)."""
    moves = np.zeros((6, model.nv))
    for kind, _, first, *_ in model.blocks:
        place, e = (first, q[first + 3 : first + 7]) if kind == "euler_parameters" else (None, q[first : first + 4])
        start = first if place is None else first + 3
        for axis in np.eye(3):
            row = int(axis.argmax())
            moves[3 + row, start] = -axis @ e[1:] / 2
            moves[3 + row, start + 1 : start + 4] = (axis * e[0] + np.cross(axis, e[1:])) / 2
            if place is not None:
                moves[row, first : first + 3] = axis
                moves[3 + row, first : first + 3] = np.cross(axis, q[first : first + 3])
    return moves


@in_both_forms
def test_tangent_of_discrete_gradients(element, kinds, equivariant):
    model = rigid(kinds, element)
    step = random_step(model, rigid(kinds), 3, 0.05)
    check_tangent(model, step, False, equivariant=equivariant)


@pytest.mark.parametrize("element", JOINTS, ids=str)
def test_tangent_as_printed_where_the_parameters_are_not_of_unit_length(element, kinds):
    """This also holds while Newton's method iterates, when e.e' is not zero at the middle."""
    model = rigid(kinds, element)
    q0, q1, lam, h = random_step(model, rigid(kinds), 3, 0.05)
    check_tangent(model, (q0, 1.2 * q1, lam, h), False)


@pytest.mark.parametrize("length", [0.05, 1e-3, 0.0])
@pytest.mark.parametrize("element", JOINTS, ids=str)
def test_discrete_gradients_of_rows(element, length):
    """They have directionality (69) and, for common motions of both bodies, orthogonality (90), (91)."""
    model, bare = rigid(KINDS[0], element), rigid(KINDS[0])
    for seed in range(3):
        step = random_step(model, bare, seed, length)
        q0, q1, lam, h = step
        form = {"lam": lam, "equivariant": True}
        got = model.evaluate_pair(0.2, h, q0, q1, want=("G", "Gtlam", "phi"), **form)
        start = model.evaluate_pair(0.2, h, q0, q0, want=("phi",), **form)["phi"]
        assert np.abs(got["G"] @ motion(model, q0, q1) - (got["phi"] - start)).max() < 1e-14
        assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-12, atol=1e-12)
        joint = got["G"][: ROWS[element.kind]["nrows"]]
        middle = (q0 + q1) / 2
        translations = along_symmetries(model, middle)[:3]
        assert np.abs(joint @ translations.T).max(initial=0) < 1e-13
        in_space = (
            ROWS[element.kind]["locked"] not in (None, "", "123") and element.parameters[0] == 0
        )  # rows in inertial axes
        if not in_space:
            assert np.abs(joint @ along_symmetries(model, middle).T).max(initial=0) < 1e-13


# ---- elements between a body and the ground ----

WITH_TWO_ENDS = [e for e in STEPPED if ROWS[e.kind]["nframes"] == 2 and not e.kind.endswith("edge")]


GROUND = (0.2, -0.1, 0.4)


def grounded(element, first):
    """A body under its weight, and the element from the ground to it if `first` is the ground, or the reverse."""
    frames = [(0, (0.0,) * 6), (0, (0.0, 0, 0, 0.3, -0.2, 0.1)), (-1, (*GROUND, 0.0, 0.0, 0.0))]
    parts = [
        ("rigid_body", "body", (0,), (1.5, *INERTIA), None),
        ("gravity", "weight", (0,), (1.5, 0.0, 0.0, -9.81), None),
    ]
    if element:
        parts.append(element.on((2, 1) if first == "ground" else (1, 2)))
    return core_model([("euler_parameters", 0)], frames, parts)


def undamped(element):
    """The element without its damping."""
    values, row = list(element.parameters), ROWS[element.kind]["parameters"]
    place = 0
    for parameter in row:
        if parameter["name"] == "damping":
            values[place : place + parameter["count"]] = [0.0] * parameter["count"]
        place += max(parameter["count"], 0)
    return element._replace(parameters=tuple(values))


INVARIANT_ON_THE_GROUND = [e for e in WITH_TWO_ENDS if e.kind in ("spherical", "distance", "spring")]
from_or_to_ground = pytest.mark.parametrize("first", ["ground", "body"])


@from_or_to_ground
@pytest.mark.parametrize(("element", "equivariant"), [(e, form) for e, form in IN_BOTH_FORMS if e in WITH_TWO_ENDS])
def test_tangents_of_elements_on_the_ground(element, equivariant, first):
    model = grounded(element, first)
    step = random_step(model, grounded(None, first), 3, 0.05)
    for midpoint in (True, False):
        check_tangent(model, step, midpoint, equivariant=equivariant)


ENDED = [(e, equivariant) for e in WITH_TWO_ENDS if e in JOINTS for equivariant in (True, False)]


@from_or_to_ground
@pytest.mark.parametrize(("element", "equivariant"), ENDED, ids=[f"{e}-{form}" for e, form in ENDED])
def test_rows_of_joints_to_the_ground(element, equivariant, first):
    """They have directionality (69), along Cayley vectors in the equivariant form; motions are terms of time alone."""
    model = grounded(element, first)
    for seed in range(2):
        step = random_step(model, grounded(None, first), seed, 0.05)
        q0, q1, lam, h = step
        form = {"lam": lam, "equivariant": equivariant}
        got = model.evaluate_pair(0.2, h, q0, q1, want=("G", "phi"), **form)
        start = model.evaluate_pair(0.2, h, q0, q0, want=("phi",), **form)["phi"]
        moved = motion(model, q0, q1) if equivariant else q1 - q0
        assert np.abs(got["G"] @ moved - (got["phi"] - start)).max() < 1e-14


@from_or_to_ground
@pytest.mark.parametrize("element", INVARIANT_ON_THE_GROUND, ids=str)
def test_elements_on_the_ground_keep_the_momentum_about_the_vertical(element, first):
    """Rows and forces, that of the weight too, do no work in a rotation about the vertical through the fixed point."""
    model = grounded(undamped(element), first)
    for length in (0.05, 1e-3):
        step = random_step(model, grounded(None, first), 5, length)
        q0, q1, lam, h = step
        form = {"lam": lam, "equivariant": True}
        got, plain = (
            model.evaluate_pair(0.2, h, q0, q1, midpoint=midpoint, want=("G", "force"), **form)
            for midpoint in (False, True)
        )
        moves = along_symmetries(model, (q0 + q1) / 2)
        turn = moves[5] - np.cross([0, 0, 1], GROUND) @ moves[:3]
        for name, of in got.items():
            assert np.abs(of @ turn).max() < 1e-13 * (1 + np.abs(of).max()), name
        changed = [np.abs(of - plain[name]).max() for name, of in got.items()]
        assert length == 1e-3 or max(changed) > 1e-6, "no correction to be tested"


# ---- potentials, and both in the printed form ----

CONSERVATIVE = [e for e in STEPPED if e.kind in ("gravity", "cartesian_spring", "spring") or e.kind.endswith("edge")]


@by_form
@pytest.mark.parametrize("element", STEPPED, ids=str)
def test_without_motion_all_gradients_are_those_at_the_middle(element, kinds, equivariant):
    model = rigid(kinds, element)
    q, _, lam, h = random_step(model, rigid(kinds), 4)
    form = {"lam": lam, "equivariant": equivariant, "want": ("force", "G", "Gtlam", "S")}
    discrete, middle = (model.evaluate_pair(0.2, h, q, q, midpoint=midpoint, **form) for midpoint in (False, True))
    for name, found in discrete.items():
        assert np.abs(found - middle[name]).max(initial=0) < 1e-14 * (1 + np.abs(middle[name]).max(initial=0)), name


@pytest.mark.parametrize("length", [0.05, 1e-3, 0.0])
@pytest.mark.parametrize("element", [*JOINTS, *CONSERVATIVE], ids=str)
def test_discrete_gradients_as_printed(element, length, kinds):
    """Every row and potential has directionality if attitudes at the middle are quadratic functions of quaternions."""
    model, bare = rigid(kinds, undamped(element)), rigid(kinds)
    for seed in range(2):
        q0, q1, lam, h = random_step(model, bare, seed, length)
        got = model.evaluate_pair(0.2, h, q0, q1, lam=lam, want=("G", "Gtlam", "phi", "force"))
        start = model.evaluate_pair(0.2, h, q0, q0, want=("phi",))["phi"]
        assert np.abs(got["G"] @ (q1 - q0) - (got["phi"] - start)).max() < 1e-14
        assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-12, atol=1e-12)
        V = model.energy(0.2 + h / 2, np.array([q0, q1]), np.zeros((2, model.nv)))[1]
        assert abs(V[1] - V[0] + got["force"] @ (q1 - q0)) < 1e-14 * (1 + np.abs(V).max())


@pytest.mark.parametrize("element", [*JOINTS, *CONSERVATIVE], ids=str)
def test_corrections_as_printed_are_along_the_step(element, kinds):
    """(71): what is added to a gradient at the middle is a multiple of q1 - q0 on the bodies of the element."""
    model, bare = rigid(kinds, undamped(element)), rigid(kinds)
    q0, q1, lam, h = random_step(model, bare, 1, 0.5)
    found, middle = (
        model.evaluate_pair(0.2, h, q0, q1, lam=lam, midpoint=midpoint, want=("G", "force"))
        for midpoint in (False, True)
    )
    dq, bodies = q1 - q0, ROWS[element.kind]["nframes"]
    first = model.blocks[1][2] if bodies == 1 else model.nv  # an element on one body is on the first
    direction = np.where(np.arange(model.nv) < first, dq, 0.0)
    for apart in [found["force"] - middle["force"], *(found["G"] - middle["G"])]:
        rest = apart - (apart @ direction) / (direction @ direction) * direction
        assert np.abs(rest).max() < 1e-12 * (1 + np.abs(middle["force"]).max())


@pytest.mark.parametrize("length", [0.05, 1e-3, 0.0])
@pytest.mark.parametrize("element", CONSERVATIVE, ids=str)
def test_discrete_gradients_of_potentials(element, length, kinds):
    """They have directionality and are orthogonal to rotations about the vertical (weight) or to all common motions."""
    model, bare = rigid(kinds, undamped(element)), rigid(kinds)
    for seed in range(3):
        step = random_step(model, bare, seed, length)
        q0, q1, _, h = step
        force = model.evaluate_pair(0.2, h, q0, q1, want=("force",), equivariant=True)["force"]
        V = model.energy(0.2 + h / 2, np.array([q0, q1]), np.zeros((2, model.nv)))[1]
        assert abs(V[1] - V[0] + force @ motion(model, q0, q1)) < 1e-14 * (1 + np.abs(V).max())
        power = along_symmetries(model, (q0 + q1) / 2) @ force
        if element.kind == "gravity":
            vertical = np.array(element.parameters[1:4])
            assert abs(power[3:] @ vertical) < 1e-13 * np.abs(force).max() * np.abs(vertical).max()
        elif kinds == KINDS[0]:  # the axes of a Cartesian spring do not turn
            moves = slice(3 if element.kind == "cartesian_spring" else None)
            assert np.abs(power[moves]).max() < 1e-13 * (1 + np.abs(force).max())


# ---- a row of several joints ----

TERMS_OF_ROW = [  # between points of the bodies 0 and 1, 1 and 2, the ground and 1
    ("angle_coupling", (1, 3), (*TRIAD, *OTHER, 0.7, 0.2, 0.0)),
    ("slide_coupling", (3, 5), (*AXIS, -1.3, 0.0, 1.0)),
    ("angle_coupling", (6, 3), (*OTHER, *TRIAD, 0.4, 0.0, 1.0)),
]


def coupled(count=3):
    """Four bodies, of which a row of `count` terms sees all but the last."""
    frames, parts = [], []
    for i in range(4):
        frames += [(i, (0.0,) * 6), (i, (0.0, 0.0, 0.0, 0.3 - i, -0.2, 0.5 * i + 0.1))]
        parts.append(("rigid_body", f"body{i}", (2 * i,), (1.5 + i, *INERTIA), None))
    frames[6:] = [(-1, (0.1, 0.2, -0.4, 0.0, 0.0, 0.0)), (3, (0.0,) * 6)]
    parts[3] = ("rigid_body", "body3", (7,), (2.0, *INERTIA), None)
    parts += [(kind, f"term{i}", at, values, None) for i, (kind, at, values) in enumerate(TERMS_OF_ROW[:count])]
    return core_model([("euler_parameters", 0)] * 4, frames, parts)


@by_form
@pytest.mark.parametrize("midpoint", [False, True])
def test_tangent_of_a_row_of_several_joints(midpoint, equivariant):
    for length in (0.05, 0.5):
        check_tangent(coupled(), random_step(coupled(), coupled(0), 3, length), midpoint, equivariant=equivariant)


@by_form
@pytest.mark.parametrize("length", [0.3, 1e-3, 0.0])
def test_discrete_gradients_of_a_row_of_several_joints(length, equivariant):
    """They have directionality; as printed, one correction is along the step of all bodies of the row (71)."""
    model = coupled()
    for seed in range(3):
        q0, q1, lam, h = random_step(model, coupled(0), seed, length)
        form = {"lam": lam, "equivariant": equivariant, "want": ("G", "Gtlam", "phi")}
        got = model.evaluate_pair(0.2, h, q0, q1, **form)
        start = model.evaluate_pair(0.2, h, q0, q0, **form)["phi"]
        moved = motion(model, q0, q1) if equivariant else q1 - q0
        assert np.abs(got["G"] @ moved - (got["phi"] - start)).max() < 1e-14
        assert np.allclose(got["Gtlam"], got["G"].T @ lam, rtol=1e-12, atol=1e-12)
        middle = model.evaluate_pair(0.2, h, q0, q1, midpoint=True, **form)["G"]
        if not equivariant and length:
            correction, along = got["G"][0] - middle[0], np.where(np.arange(model.nv) < 21, moved, 0.0)
            assert np.abs(correction - (correction @ along) / (along @ along) * along).max() < 1e-13
