"""Every group: axioms, exponential and logarithm, adjoint and tangent operators, partly against SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from lgint import _core, groups

GROUPS = [getattr(groups, row["name"]) for row in _core.GROUPS]
DIRECT = [groups.r3xso3, groups.r3xs3]
few = settings(max_examples=40)  # for each property and group
every_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)


def vectors(dim=6, longest=3.1):
    """Algebra vectors of any order of magnitude, with rotation vectors no longer than `longest`."""
    components = arrays(np.float64, dim, elements=st.floats(-1, 1, allow_subnormal=False))
    scales = st.sampled_from([1e-12, 1e-8, 1e-4, 1e-2, 0.3, 1.0, 1.0, 1.0])
    return st.builds(
        lambda v, scale: np.where(abs(v) < 1e-200, 0, v * scale * longest / np.sqrt(3)), components, scales
    )


def of(group, v):
    """A vector of the group's algebra: the last components of a vector of six."""
    return v[..., 6 - group.dim :]


def matrix(group, g):
    """g as a matrix: 3 x 3, homogeneous 4 x 4, or, for direct products, 7 x 7 as in holzinger2024 (20)."""
    R, x = group.rotation(g), group.act(g, np.zeros(3))
    if group.dim == 3:
        return R
    if group in DIRECT:
        m = np.eye(7)
        m[:3, :3], m[3:6, 6] = R, x
        return m
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = R, x
    return m


def matrix_hat(group, v):
    """`hat` of the group of 3 x 3, 4 x 4 or 7 x 7 matrices with the same algebra."""
    if group.dim == 3:
        return groups.so3.hat(v)
    return (groups.r3xso3 if group in DIRECT else groups.se3).hat(v)


def bracket(group, v, w):
    a, b = matrix_hat(group, v), matrix_hat(group, w)
    matrix_group = groups.so3 if group.dim == 3 else groups.r3xso3 if group in DIRECT else groups.se3
    return matrix_group.vee(a @ b - b @ a)


def exp_function(m):
    """(exp(m) - 1) / m, from the exponential of a block matrix."""
    n = len(m)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:] = m, np.eye(n)
    return expm(block)[:n, n:]


@every_group
@few
@given(u=vectors(), v=vectors(), w=vectors())
def test_axioms(group, u, v, w):
    a, b, c = (group.exp(of(group, x)) for x in (u, v, w))
    e = group.identity()
    np.testing.assert_allclose(group.compose(group.compose(a, b), c), group.compose(a, group.compose(b, c)), atol=5e-14)
    np.testing.assert_allclose(group.compose(a, e), a, atol=1e-15)
    np.testing.assert_allclose(group.compose(e, a), a, atol=1e-15)
    np.testing.assert_allclose(group.compose(a, group.inverse(a)), e, atol=1e-14)
    np.testing.assert_allclose(group.compose(group.inverse(a), a), e, atol=1e-14)
    np.testing.assert_allclose(matrix(group, group.compose(a, b)), matrix(group, a) @ matrix(group, b), atol=2e-14)


@every_group
@few
@given(v=vectors())
def test_exp_against_expm(group, v):
    v = of(group, v)
    np.testing.assert_allclose(matrix(group, group.exp(v)), expm(matrix_hat(group, v)), atol=2e-14)


@every_group
@few
@given(v=vectors(longest=40.0))
def test_exp_of_many_turns(group, v):
    v = of(group, v)
    half = group.exp(v / 2)
    np.testing.assert_allclose(group.exp(v), group.compose(half, half), atol=2e-13)


@few
@given(v=vectors(3, longest=3.1))
def test_rotations_against_scipy(v):
    theirs = Rotation.from_rotvec(v)
    np.testing.assert_allclose(groups.so3.exp(v), theirs.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(groups.s3.exp(v), theirs.as_quat(scalar_first=True), atol=1e-15)
    np.testing.assert_allclose(groups.so3.log(theirs.as_matrix()), theirs.as_rotvec(), atol=1e-14)
    np.testing.assert_allclose(groups.s3.log(theirs.as_quat(scalar_first=True)), theirs.as_rotvec(), atol=2e-15)


@every_group
@few
@given(v=vectors(longest=3.14159))
def test_log_of_exp(group, v):
    v = of(group, v)
    np.testing.assert_allclose(group.log(group.exp(v)), v, rtol=1e-14, atol=2e-15 + 2e-14 * np.abs(v).max())


@every_group
@few
@given(v=vectors(), seed=st.integers(0, 2**32 - 1))
def test_exp_of_log(group, v, seed):
    g = group.random(np.random.default_rng(seed))
    np.testing.assert_allclose(matrix(group, group.exp(group.log(g))), matrix(group, g), atol=2e-14)
    assert np.linalg.norm(group.log(g)[-3:]) <= np.pi + 1e-15


@every_group
@few
@given(axis=arrays(np.float64, 3, elements=st.floats(-1, 1)).filter(lambda a: np.linalg.norm(a) > 1e-3))
def test_near_half_turns(group, axis):
    """Up to an exact half turn, from both sides, the logarithm is the rotation vector that was exponentiated."""
    axis = axis / np.linalg.norm(axis)
    for distance in [1e-1, 1e-4, 1e-7, 1e-10, 1e-13, 0]:
        v = np.zeros(group.dim)
        v[-3:] = (np.pi - distance) * axis
        log = group.log(group.exp(v))
        if distance > 1e-14:
            np.testing.assert_allclose(log, v, atol=5e-15)
        np.testing.assert_allclose(np.abs(log @ v), (np.pi - distance) ** 2, rtol=4e-15)
        v[-3:] = (np.pi + distance) * axis
        if distance > 1e-14:
            np.testing.assert_allclose(group.log(group.exp(v))[-3:], (distance - np.pi) * axis, atol=1e-14)


@pytest.mark.parametrize("group", [groups.s3, groups.r3xs3, groups.s3r3], ids=lambda group: group.name)
@few
@given(v=vectors())
def test_both_quaternions(group, v):
    """q and -q are the same rotation and have the same logarithm, adjoint matrix and action."""
    g = group.exp(of(group, v))
    other = g.copy()
    other[-4:] *= -1
    np.testing.assert_array_equal(group.log(other), group.log(g))
    np.testing.assert_array_equal(group.Ad(other), group.Ad(g))
    np.testing.assert_array_equal(group.act(other, v[:3]), group.act(g, v[:3]))


@every_group
@few
@given(v=vectors(), w=vectors())
def test_algebra(group, v, w):
    v, w = of(group, v), of(group, w)
    np.testing.assert_array_equal(group.vee(group.hat(v)), v)
    np.testing.assert_allclose(group.ad(v) @ w, bracket(group, v, w), atol=4e-15)
    np.testing.assert_allclose(group.ad(v) @ w, -group.ad(w) @ v, atol=4e-15)


@every_group
def test_hat_is_the_derivative_of_exp(group, rng):
    v = rng.standard_normal(group.dim)
    step = 1e-5
    if group is groups.r3xso3:  # it is stored in 12 numbers, but `hat` is 7 x 7
        difference = matrix(group, group.exp(step * v)) - matrix(group, group.exp(-step * v))
    else:
        difference = group.exp(step * v) - group.exp(-step * v)
    np.testing.assert_allclose(difference / (2 * step), group.hat(v), atol=1e-9)


@every_group
@few
@given(v=vectors(), w=vectors())
def test_adjoint(group, v, w):
    v, w = of(group, v), of(group, w)
    g, h = group.exp(v), group.exp(w)
    np.testing.assert_allclose(group.Ad(g), expm(group.ad(v)), atol=3e-14)
    np.testing.assert_allclose(group.Ad(group.compose(g, h)), group.Ad(g) @ group.Ad(h), atol=5e-14)
    conjugate = group.compose(group.compose(g, h), group.inverse(g))
    moved = group.exp(group.Ad(g) @ w)
    np.testing.assert_allclose(matrix(group, conjugate), matrix(group, moved), atol=5e-14)


@every_group
@few
@given(v=vectors(longest=6.0))
def test_tangent_is_its_series(group, v):
    """T = (1 - exp(-ad v)) / ad v, from SciPy's exponential."""
    v = of(group, v)
    T, Ti, eye = group.tangent(v), group.tangent_inv(v), np.eye(group.dim)
    np.testing.assert_allclose(T, exp_function(-group.ad(v)), atol=2e-14)
    np.testing.assert_allclose(group.Ad(group.exp(v)) @ T, group.tangent(-v), atol=5e-14)
    np.testing.assert_allclose(T @ Ti, eye, atol=1e-14 * np.abs(Ti).max() * (1 + np.abs(v).max()))
    np.testing.assert_allclose(Ti @ T, eye, atol=1e-14 * np.abs(Ti).max() * (1 + np.abs(v).max()))


@every_group
@few
@given(v=vectors(), w=vectors(longest=1.0))
def test_tangent_by_differences(group, v, w):
    """d/dt exp(v + t w) = exp(v) hat(T(v) w), by a difference of fourth order."""
    v, w = of(group, v), of(group, w)
    back, step = group.inverse(group.exp(v)), 1e-3
    f = [group.log(group.compose(back, group.exp(v + k * step * w))) for k in (-2, -1, 1, 2)]
    np.testing.assert_allclose((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step), group.tangent(v) @ w, atol=1e-10)


@every_group
@few
@given(v=vectors(), w=vectors(), x=arrays(np.float64, 3, elements=st.floats(-2, 2)))
def test_action(group, v, w, x):
    g, h = group.exp(of(group, v)), group.exp(of(group, w))
    position = of(group, v)[:3] if group in DIRECT else matrix(group, g)[:3, 3] if group.dim == 6 else np.zeros(3)
    np.testing.assert_allclose(group.act(g, x), position + group.rotation(g) @ x, atol=1e-14)
    if group not in DIRECT:
        np.testing.assert_allclose(group.act(group.compose(g, h), x), group.act(g, group.act(h, x)), atol=3e-14)


@few
@given(v=vectors())
def test_storages_are_one_group(v):
    """Quaternions and matrices give the same rotation matrices, and all operators have the same bits."""
    pairs = [(groups.so3, groups.s3), (groups.se3, groups.s3r3), (groups.r3xso3, groups.r3xs3)]
    for first, second in pairs:
        u = of(first, v)
        np.testing.assert_allclose(matrix(first, first.exp(u)), matrix(second, second.exp(u)), atol=5e-15)
        np.testing.assert_allclose(first.Ad(first.exp(u)), second.Ad(second.exp(u)), atol=1e-14)
        for operation in ("ad", "tangent", "tangent_inv"):
            np.testing.assert_array_equal(getattr(first, operation)(u), getattr(second, operation)(u))


@few
@given(psi=vectors(3, longest=20.0), dpsi=vectors(3, longest=20.0))
def test_rotation_vector_composition(psi, dpsi):
    composed = groups.rotvec.compose(psi, dpsi)
    expected = groups.so3.exp(psi) @ groups.so3.exp(dpsi)
    np.testing.assert_allclose(groups.so3.exp(composed), expected, atol=1e-14)
    assert np.linalg.norm(composed) <= np.pi + 1e-15


def test_rotation_vectors_through_full_turns():
    """Sixty turns about a slowly tilting axis, step by step against quaternions."""
    psi, q = np.zeros(3), groups.s3.identity()
    for step in range(4000):
        dpsi = 0.1 * np.array([np.sin(step / 900), 0.3, np.cos(step / 900)])
        psi = groups.rotvec.compose(psi, dpsi)
        q = groups.s3.compose(q, groups.s3.exp(dpsi))
        assert np.linalg.norm(psi) <= np.pi + 1e-15
        assert np.abs(groups.so3.exp(psi) - groups.s3.rotation(q)).max() < 2e-13
