"""Blocks that are products of nodes and R^n: the same solutions as of the same system with one block for each."""

import numpy as np
import pytest

import lgint
from kinds import METHODS, NODES
from lgint import _core

KINDS = [
    (name, 2) if name == "first_order" else name
    for name, row in NODES.items()
    if name != "Rn" and not row["nown"] and not row["explicit_only"]
]
OPTIONS = [
    ("genalpha", {}),
    ("genalpha", {"sigma": 0.0}),
    ("genalpha", {"sigma": 0.4}),
    ("genalpha", {"index": 3, "sigma": 0.4, "newton": "modified"}),
    ("genalpha", {"index": 2, "start": "optimal"}),
    ("genalpha", {"index": 3, "start": "optimal"}),
    ("genalpha", {"form": "printed", "sigma": 0.4}),
    ("genalpha", {"form": "printed_half"}),
    ("genalpha", {"tangent_operator": False}),
    ("dopri5", {"rtol": 1e-8, "atol": 1e-9}),
    ("dop853", {"rtol": 1e-8, "atol": 1e-9}),
    *((method, {}) for method in METHODS),
]


def system(space, blocks):
    """A coupled, damped and constrained system whose functions know coordinates alone, on the blocks given."""
    rng = np.random.default_rng(1)
    factors = [item if isinstance(item, tuple) else (item, 0) for item in space]
    q0 = np.concatenate([np.zeros(n) if kind == "Rn" else NODES[kind]["identity"] for kind, n in factors])
    core = _core.CallableSystem(factors, 0, {"mass": lambda t, q: q, "force": lambda t, q, v: v}, ())
    nv = core.nv
    A, D = rng.normal(size=(2, nv, nv))
    E, c = rng.normal(size=(nv, len(q0))), rng.normal(size=len(q0))
    M = A @ A.T / nv + 2 * np.eye(nv)

    def force(t, q, v):
        return np.sin(E @ q + t) - 0.1 * D @ D.T @ v

    def jacobian(t, q):
        return [[c @ (core.retract(q, e) - core.retract(q, -e)) / 2e-4 for e in 1e-4 * np.eye(nv)]]

    def acceleration(t, q, v):
        s = 1e-3
        bend = (core.retract(q, s * v) - 2 * q + core.retract(q, -s * v)) / s**2
        return [-c @ bend + 0.02 * np.sin(t)]

    v0 = rng.normal(size=nv)
    if space[0] == "euler_parameters":
        v0[3] = c[3] = 0  # the rate of e0, by which the parameters would grow
    J = np.array(jacobian(0, q0))[0]
    v0 -= J * (J @ v0 + 0.02) / (J @ J)
    return lgint.CallableModel(
        blocks,
        q0,
        v0,
        lambda t, q: M,
        force,
        constraint=lambda t, q: [c @ (q - q0) + 0.02 * np.sin(t)],
        constraint_jacobian=jacobian,
        constraint_acceleration=acceleration,
    )


def check_equal(space, product, method, options):
    runs = [
        lgint.integrate(system(space, blocks), method, t_end=0.2, h=0.02, t_eval=[0.05, 0.2], **options)
        for blocks in (space, product)
    ]
    for name in ("q", "v", "vdot", "lam"):
        np.testing.assert_allclose(getattr(runs[1], name), getattr(runs[0], name), rtol=0, atol=1e-9, err_msg=name)
    return runs


SPACE = ["R3xSO3", ("Rn", 2), "S3", "SE3", ("Rn", 1)]
PRODUCTS = [[SPACE], [SPACE[:2], SPACE[2:]], [SPACE[0], SPACE[1:4], SPACE[4]]]


@pytest.mark.parametrize("product", PRODUCTS, ids=["one block", "two blocks", "three blocks"])
@pytest.mark.parametrize("method, options", OPTIONS, ids=str)
def test_methods_do_not_depend_on_blocks(method, options, product):
    check_equal(SPACE, product, method, options)


@pytest.mark.parametrize("method", ["genalpha", "rk44"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_kind_is_a_factor(kind, method):
    space = [("Rn", 1), kind, "SO3"]
    check_equal(space, [space], method, {})


@pytest.mark.parametrize(
    "method, options, others",
    [("genalpha", {}, ["SO3"]), ("rk44", {}, ["SO3"]), ("hht", {"modified": True, "transport": True}, [])],
    ids=str,
)
def test_linear_coordinates_can_follow_a_kind_with_rows_of_its_own(method, options, others):
    space = ["euler_parameters", ("Rn", 2), *others]
    check_equal(space, [space[:2], *others], method, options)


@pytest.mark.parametrize("product", [["SO3", "euler_parameters"], ["euler_parameters", "SO3"]], ids=str)
def test_other_products_with_rows_of_their_own_are_refused(product):
    with pytest.raises(ValueError, match="euler_parameters.*must be the first factor, and only R.n can follow"):
        system(product, [product])


def test_a_model_with_a_product_can_be_made_again():
    model = system(SPACE, [SPACE[:2], *SPACE[2:]])
    again = lgint.CallableModel(**model.record())
    assert again.core.factors == model.core.factors
    assert [block[3] for block in model.core.blocks] == [0, 8, 11, 17]
