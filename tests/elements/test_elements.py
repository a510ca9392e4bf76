"""One battery for every row of elements on every node kind: verbs are compared with each other and with differences."""

from math import comb

import numpy as np
import pytest

from elements.rows import (
    JOINTS,
    ON_BODIES,
    ON_TREES,
    ROWS,
    SUPPORTS,
    Element,
    bodies,
    body_on,
    difference,
    random_links,
    random_point,
    rigid,
    start_of,
    tangent_and_difference,
    tree,
)
from kinds import FREE, NODES
from lgint import _core


def along(model, q, w, s):
    return model.retract(q, s * w)


KINDS = [(kind, kind) for kind in FREE] + [("SE3", "euler_parameters"), ("R3xRV", "S3R3")]


@pytest.fixture(params=KINDS, ids=lambda k: "+".join(k))
def kinds(request):
    return request.param


@pytest.mark.parametrize("element", JOINTS, ids=str)
def test_constraint_jacobian_is_the_derivative_of_phi(element, kinds):
    model = rigid(kinds, element)
    q, v, a, lam = random_point(model, rigid(kinds), 1)
    got = model.evaluate(0.0, q, v, want=("B", "phidot"))
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=model.nv)
        expected = difference(lambda s, w=w: model.evaluate(0.0, along(model, q, w, s), v, want=("phi",))["phi"])
        expected[model.nonholonomic] += (got["B"] @ w)[model.nonholonomic]  # theirs is zero
        assert np.allclose(got["B"] @ w, expected, rtol=1e-8, atol=1e-8)
    driven = model.evaluate(0.0, q, 0 * v, want=("phidot",))["phidot"]  # by motions that are prescribed
    assert np.allclose(got["phidot"], got["B"] @ v + driven, rtol=1e-13, atol=1e-13)
    assert np.allclose(driven, difference(lambda s: model.evaluate(s, q, v, want=("phi",))["phi"]), atol=1e-8)


@pytest.mark.parametrize("element", JOINTS, ids=str)
def test_zeta_and_Z_are_derivatives_of_phidot(element, kinds):
    model = rigid(kinds, element)
    q, v, a, lam = random_point(model, rigid(kinds), 2)
    got = model.evaluate(0.0, q, v, want=("zeta", "Z"))

    def phidot(w, passing=0.0):
        return difference(lambda s: model.evaluate(passing * s, along(model, q, w, s), v, want=("phidot",))["phidot"])

    assert np.allclose(got["zeta"], -phidot(v, 1.0), rtol=1e-8, atol=1e-8)
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=model.nv)
        assert np.allclose(got["Z"] @ w, phidot(w), rtol=1e-8, atol=1e-8)


DIFFERENCED = ("rolling", "knife_edge", "kirchhoff_edge", "inextensible_edge")  # without a closed form


def sharp(f, step=0.01):
    """Central difference of the twelfth order at 0."""
    pairs = ((-1) ** (k + 1) * comb(12, 6 - k) / k * (f(k * step) - f(-k * step)) for k in range(1, 7))
    return sum(pairs) / (comb(12, 6) * step)


@pytest.mark.parametrize("body_axes", [False, True])
@pytest.mark.parametrize("element", [element for element in JOINTS if ROWS[element.kind]["nrows"]], ids=str)
def test_derivatives_of_the_rows_of_accelerations(element, kinds, body_axes):
    model = rigid(kinds, element)
    q, v, a, _ = random_point(model, rigid(kinds), 8)
    if element.kind in DIFFERENCED:
        with pytest.raises(ValueError, match="closed form"):
            model.acceleration_rows(0.1, q, v, a)
        return
    of_q, of_v = model.acceleration_rows(0.1, q, v, a, body_axes=body_axes)

    def residual(dq, dv):
        found = model.evaluate(0.1, along(model, q, dq, 1), v + dv, want=("B", "zeta"), body_axes=body_axes)
        return found["B"] @ a - found["zeta"]

    scale = np.abs(of_q).max() + np.abs(of_v).max() + np.abs(residual(0 * v, 0 * v)).max()
    for seed in range(2):
        w = np.random.default_rng(seed).normal(size=model.nv)
        w /= np.linalg.norm(w)
        for found, expected in (
            (of_q @ w, sharp(lambda s, w=w: residual(s * w, 0 * w))),
            (of_v @ w, sharp(lambda s, w=w: residual(0 * w, s * w))),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)


CHAINS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.3, -0.7, 1.9)]


def check_tangent(model, bare, k):
    """Check that S is the derivative of the residual along a chain."""
    point, X = random_point(model, bare, 3), random_links(model, np.random.default_rng(4))
    for seed in range(2):
        du = np.random.default_rng(seed).normal(size=model.nv)
        got, expected, _ = tangent_and_difference(model, point, k, X, du)
        assert np.abs(got - expected).max() < 2e-8 * (1 + np.abs(expected).max())


by_chain = pytest.mark.parametrize("k", CHAINS, ids=lambda k: f"{k[0]:g},{k[1]:g},{k[2]:g}")


@by_chain
@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_tangent_is_the_derivative_of_the_residual(element, kinds, k):
    check_tangent(rigid(kinds, element), rigid(kinds), k)


@by_chain
@pytest.mark.parametrize("element", ON_TREES, ids=str)
def test_tangent_of_forces_on_coordinates(element, k):
    check_tangent(tree(element), tree(), k)


def check_linear(model, bare):
    """Check that stiffness, damping and mass of one evaluation are those of three."""
    q, v, a, lam = random_point(model, bare, 5)
    found = model.linearise(0.0, q, v, a, lam)
    for level, matrix in enumerate(found):
        k = tuple(float(i == level) for i in range(3))
        assert np.array_equal(matrix, model.evaluate(0.0, q, v, a, lam, want=("S",), k=k)["S"])
    sparse, (row, column, row_B, column_B) = model.sparse(0.0, q, v, a, lam), model.sparsity()
    for name, matrix in zip("KDM", found, strict=True):
        assert np.allclose(scattered(sparse[name], row, column, matrix.shape), matrix, rtol=1e-13, atol=1e-13)
    B = model.evaluate(0.0, q, v, want=("B",))["B"]
    assert np.array_equal(scattered(sparse["B"], row_B, column_B, B.shape), B)


def scattered(values, row, column, shape):
    """The dense matrix of entries, of which those in the same place are added."""
    dense = np.zeros(shape)
    np.add.at(dense, (row, column), values)
    return dense


@pytest.mark.parametrize("element", ON_BODIES, ids=str)
def test_several_tangents_in_one_evaluation(element, kinds):
    check_linear(rigid(kinds, element), rigid(kinds))


@pytest.mark.parametrize("element", ON_TREES, ids=str)
def test_several_tangents_of_forces_on_coordinates(element):
    check_linear(tree(element), tree())


# ---- bodies ----

BODIES = list(bodies())
by_body = pytest.mark.parametrize(("body", "block"), BODIES, ids=lambda value: str(value))


@by_chain
@by_body
def test_tangent_of_bodies(body, block, k):
    check_tangent(body_on(block, body), body_on(block, body), k)


@by_body
def test_several_tangents_of_bodies(body, block):
    check_linear(body_on(block, body), body_on(block, body))


@by_body
def test_inertia_is_one_matrix(body, block):
    """M is symmetric, the kinetic energy is v . M v / 2, and M a is its product; states of controls have no energy."""
    model = body_on(block, body)
    q, v, a, lam = random_point(model, model, 7)
    M = model.evaluate(0.0, q, v, want=("S",))["S"]
    assert np.allclose(M, M.T, rtol=1e-14, atol=1e-14)
    energy = 0.0 if ROWS[body.kind]["control"] else 0.5 * v @ M @ v
    assert np.isclose(energy, model.energy(0.0, q, v)[0], rtol=1e-13, atol=0)
    assert np.allclose(M @ a, model.evaluate(0.0, q, v, a, want=("Ma",))["Ma"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("body", "block"), [each for each in BODIES if not ROWS[each[0].kind]["control"]], ids=str)
def test_inertia_forces_take_the_power_of_the_kinetic_energy(body, block):
    """dT/dt = v . (M a + gyro) along q' = v, v' = a."""
    model = body_on(block, body)
    q, v, a, lam = random_point(model, model, 9)
    power = difference(lambda s: model.energy(0.0, along(model, q, v, s), v + s * a)[0])
    got = model.evaluate(0.0, q, v, a, want=("Ma", "gyro"))
    assert np.isclose(v @ (got["Ma"] + got["gyro"]), power, rtol=1e-8, atol=1e-8)


@by_body
def test_jacobians_give_velocities_and_accelerations(body, block):
    """J v is the twist, and J a + bias its rate along q' = v, v' = a."""
    model = body_on(block, body)
    q, v, a, lam = random_point(model, model, 13)

    def twist(s):
        return np.concatenate(model.kinematics(0, along(model, q, v, s), v + s * a)[2:])

    J, bias = model.jacobian(0, q, v)
    assert np.allclose(J @ v, twist(0.0), rtol=1e-13, atol=1e-13)
    assert np.allclose(J @ a + bias, difference(twist), rtol=1e-8, atol=1e-8)


# ---- accelerations without constraints ----


def check_accelerations(model, bare):
    """Check that accelerations leave no residual, whether each body computes its own or a linear system is solved."""
    q, v, _, _ = random_point(model, bare, 11)
    a, _ = model.initial(0.0, q, v)
    got = model.evaluate(0.0, q, v, a, want=("Ma", "gyro", "force"))
    size = max(np.abs(value).max() for value in got.values())
    assert np.allclose(got["Ma"] + got["gyro"], got["force"], rtol=0, atol=1e-13 * (1 + size))


@by_body
def test_accelerations_of_bodies(body, block):
    model = body_on(block, body)
    if model.nrows == 0:
        check_accelerations(model, model)


@pytest.mark.parametrize("element", [element for element in ON_BODIES if ROWS[element.kind]["nrows"] == 0], ids=str)
def test_accelerations_under_forces(element, kinds):
    model = rigid(kinds, element)
    if model.nrows == 0:
        check_accelerations(model, rigid(kinds))


def test_a_body_without_inertia_about_an_axis_is_singular():
    model = body_on(("R3xSO3", 0), Element("rigid_body", (2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    with pytest.raises(_core.SingularError, match="velocity 5"):
        model.initial(0.0, start_of(model), np.ones(6))


# ---- forces and joints ----

# The load factor multiplies weights, dead and following loads, given tensions, and the constant torque of a drive.
LOADS = {"gravity", "force", "torque", "tension", "joint_load", "slide_load", "coordinate_load"}
PARTLY = {"joint_drive", "slide_drive", "coordinate_drive"}
FORCES = [element for element in (*ON_BODIES, *ON_TREES) if ROWS[element.kind]["family"] == "force"]


@pytest.mark.parametrize("element", FORCES, ids=str)
def test_the_load_factor_multiplies_loads_alone(element):
    """The force is affine in the factor: a multiple of it for loads, constant for springs, dampers and laws."""
    model = tree(element) if element in ON_TREES else rigid(("R3xSO3", "R3xSO3"), element)
    q, v, a, lam = random_point(model, tree() if element in ON_TREES else rigid(("R3xSO3", "R3xSO3")), 11)
    none, half, one, two = (
        model.evaluate(0.0, q, v, want=("force",), load=load)["force"] for load in (0.0, 0.5, 1.0, 2.0)
    )
    assert np.array_equal(one, model.evaluate(0.0, q, v, want=("force",))["force"])
    assert np.allclose(two - none, 2 * (one - none), rtol=1e-14, atol=1e-14 * np.abs(two).max())
    assert np.allclose(half - none, (one - none) / 2, rtol=1e-14, atol=1e-14 * np.abs(two).max())
    assert (none == 0).all() == (element.kind in LOADS)
    assert (none != one).any() == (element.kind in LOADS | PARTLY)


def test_the_tangent_of_a_load_has_its_factor(kinds):
    """The tangent of a load is proportional to the load factor; the tangents of other forces do not depend on it."""
    for element in ON_BODIES:
        model = rigid(kinds, element)
        q, v, a, lam = random_point(model, rigid(kinds), 12)
        none, one, two = (
            model.evaluate(0.0, q, 0 * v, want=("S",), k=(1.0, 0.0, 0.0), load=load)["S"] for load in (0.0, 1.0, 2.0)
        )
        assert np.allclose(two - none, 2 * (one - none), rtol=1e-13, atol=1e-13 * np.abs(two).max()), element


def test_forces_are_minus_the_gradient_of_their_potential(kinds):
    """This holds for every force with a potential, at rest, where dampers exert no force."""
    found = set()
    for element in ON_BODIES:
        model = rigid(kinds, element)
        q, v, a, lam = random_point(model, rigid(kinds), 5)
        if model.energy(0.0, q, v)[1] == 0:
            continue
        found.add(element.kind)
        force = model.evaluate(0.0, q, 0 * v, want=("force",))["force"]
        w = np.random.default_rng(6).normal(size=model.nv)
        power = difference(lambda s, model=model, w=w, q=q: model.energy(0.0, along(model, q, w, s), 0 * w)[1])
        assert np.isclose(-power, force @ w, rtol=1e-8, atol=1e-8), element
    assert found >= {"gravity", "spring", "cartesian_spring", "edge", "kirchhoff_edge", "inextensible_edge"}


@pytest.mark.parametrize("element", JOINTS, ids=str)
def test_reactions_do_no_work_and_balance(element):
    """The wrenches on the two bodies have the power of force - B^T lam, and their forces are opposite."""
    kinds = ("SE3", "R3xS3")
    model = rigid(kinds, element)
    q, v, a, lam = random_point(model, rigid(kinds), 8)
    acting = model.evaluate(0.0, q, v, a, lam, want=("force", "Btlam"))
    wrenches = [model.reaction(2, slot, 0.0, q, v, lam) for slot in (0, 1)]
    power = 0.0
    for frame, wrench in zip((1, 3), wrenches, strict=True):
        _, _, xdot, omega = model.kinematics(frame, q, v)
        power += wrench[:3] @ xdot + wrench[3:] @ omega
    assert np.isclose(power, (acting["force"] - acting["Btlam"]) @ v, rtol=1e-12, atol=1e-12)
    assert np.allclose(wrenches[0][:3], -wrenches[1][:3], rtol=0, atol=1e-13)


@pytest.mark.parametrize("row", ROWS)
def test_some_values_of_every_row_are_accepted(row):
    """If no candidate that the descriptors suggest is valid, the row has to give an example."""
    found = [*ON_BODIES, *ON_TREES, *SUPPORTS, *(body for body, _ in BODIES)]
    assert row in {element.kind for element in found}


@pytest.mark.parametrize("kind", NODES)
def test_some_body_is_on_every_node_kind(kind):
    assert kind in {block[0] for _, block in BODIES}
