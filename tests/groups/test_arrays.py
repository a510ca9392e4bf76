"""Batches, broadcasting, `out`, dtypes, random elements, and the errors for bad arguments."""

import numpy as np
import pytest
from scipy import stats

from lgint import _core, groups

GROUPS = [getattr(groups, row["name"]) for row in _core.GROUPS]
every_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)


def operations(group, rng, batch):
    """Each operation with its arguments, all of which have the given leading axes, and the shape of one result."""
    v, m = rng.standard_normal((*batch, group.dim)), (group.dim, group.dim)
    a, b, x = group.random(rng, batch), group.random(rng, batch), rng.standard_normal((*batch, 3))
    return {
        "exp": ((v,), group.shape),
        "log": ((a,), (group.dim,)),
        "compose": ((a, b), group.shape),
        "inverse": ((a,), group.shape),
        "act": ((a, x), (3,)),
        "rotation": ((a,), (3, 3)),
        "hat": ((v,), group.hat_shape),
        "vee": ((group.hat(v),), (group.dim,)),
        "ad": ((v,), m),
        "Ad": ((a,), m),
        "tangent": ((v,), m),
        "tangent_inv": ((v,), m),
    }


@every_group
@pytest.mark.parametrize("batch", [(), (1,), (5,), (0,), (3, 2), (2, 0, 3)])
def test_batches(group, batch, rng):
    """A batch gives the same bits as its elements one by one."""
    for name, (arguments, core) in operations(group, rng, batch).items():
        operation = getattr(group, name)
        result = operation(*arguments)
        assert result.shape == batch + core and result.dtype == np.float64
        for index in np.ndindex(batch):
            np.testing.assert_array_equal(result[index], operation(*(argument[index] for argument in arguments)))


@every_group
def test_broadcasting(group, rng):
    a, b = group.random(rng, (4, 1)), group.random(rng, 3)
    product = group.compose(a, b)
    assert product.shape == (4, 3, *group.shape)
    np.testing.assert_array_equal(product[2, 1], group.compose(a[2, 0], b[1]))
    points = group.act(a, rng.standard_normal((2, 4, 3, 3)))
    assert points.shape == (2, 4, 3, 3)


@every_group
def test_out(group, rng):
    for name, (arguments, core) in operations(group, rng, (4,)).items():
        out = np.full((4, *core), np.nan)
        operation = getattr(group, name)
        assert operation(*arguments, out=out) is out
        np.testing.assert_array_equal(out, operation(*arguments))


@every_group
def test_out_over_an_argument(group, rng):
    a, b = group.random(rng, 50), group.random(rng, 50)
    expected = group.compose(a, b)
    group.compose(a, b, out=a)
    np.testing.assert_array_equal(a, expected)
    expected = group.inverse(b)
    group.inverse(b, out=b)
    np.testing.assert_array_equal(b, expected)


@every_group
def test_strided_arrays(group, rng):
    """Strided views give the same bits as contiguous arrays, also as `out`."""
    for name, (arguments, core) in operations(group, rng, (6,)).items():
        operation = getattr(group, name)
        expected = operation(*arguments)
        views = [np.asfortranarray(np.repeat(argument, 2, axis=-1))[..., ::2] for argument in arguments]
        np.testing.assert_array_equal(operation(*views), expected)
        room = np.zeros((*core, 6))
        out = np.moveaxis(room, -1, 0)
        operation(*arguments, out=out)
        np.testing.assert_array_equal(out, expected)


@every_group
def test_other_real_numbers(group):
    whole = np.arange(group.dim)
    expected = group.exp(whole.astype(np.float64))
    for v in (whole, whole.tolist(), whole.astype(np.float32), whole.astype(">f8")):
        np.testing.assert_array_equal(group.exp(v), expected)


@every_group
def test_nan_passes_through(group):
    v = np.zeros((3, group.dim))
    v[1] = np.nan
    for operation in (group.exp, group.hat, group.ad, group.tangent, group.tangent_inv):
        result = operation(v)
        assert np.isnan(result[1]).any() and np.isfinite(result[[0, 2]]).all()
    assert np.isnan(group.log(np.full(group.shape, np.nan))).all()


@every_group
def test_wrong_shapes(group, rng):
    def message(name, shape, given):
        expected = ", ".join(map(str, shape))
        return rf"^{name}: shape \(\.\.\., {expected}\) expected, got {given}$"

    g, bad = group.identity(), np.zeros(5)
    for call, name, shape in [
        (lambda: group.exp(bad), "v", (group.dim,)),
        (lambda: group.tangent(bad), "v", (group.dim,)),
        (lambda: group.tangent_inv(bad), "v", (group.dim,)),
        (lambda: group.ad(bad), "v", (group.dim,)),
        (lambda: group.hat(bad), "v", (group.dim,)),
        (lambda: group.log(bad), "g", group.shape),
        (lambda: group.Ad(bad), "g", group.shape),
        (lambda: group.inverse(bad), "g", group.shape),
        (lambda: group.rotation(bad), "g", group.shape),
        (lambda: group.compose(bad, g), "a", group.shape),
        (lambda: group.compose(g, bad), "b", group.shape),
        (lambda: group.act(bad, bad), "g", group.shape),
        (lambda: group.act(g, bad), "x", (3,)),
        (lambda: group.vee(bad), "m", group.hat_shape),
    ]:
        with pytest.raises(ValueError, match=message(name, shape, r"\(5,\)")):
            call()
    with pytest.raises(ValueError, match=message("v", (group.dim,), r"\(\)")):
        group.exp(1.0)
    with pytest.raises(ValueError, match=message("v", (group.dim,), "a ragged sequence")):
        group.exp([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"^leading axes do not broadcast: a \(2, .*\) and b \(3, "):
        group.compose(group.random(rng, 2), group.random(rng, 3))


@every_group
@pytest.mark.parametrize("scalar", [1j, "1", None, np.datetime64("2020-01-01")], ids=["complex", "str", "None", "date"])
def test_wrong_numbers(group, scalar):
    with pytest.raises(TypeError, match="^v: real numbers expected, got "):
        group.exp([scalar] * group.dim)


@every_group
def test_wrong_out(group):
    v = np.zeros((2, group.dim))
    with pytest.raises(ValueError, match=r"^out: shape \(2, .*\) expected, got \(3, "):
        group.exp(v, out=np.zeros((3, *group.shape)))
    with pytest.raises(ValueError, match=r"^out: shape \(2, .*\) expected, got \(1, 2, "):
        group.exp(v, out=np.zeros((1, 2, *group.shape)))
    for out in (np.zeros((2, *group.shape), dtype=np.float32), np.zeros((2, *group.shape)).tolist()):
        with pytest.raises(TypeError, match="^out: an array of float64 expected, got "):
            group.exp(v, out=out)
    fixed = np.zeros((2, *group.shape))
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="^out: the array is read-only"):
        group.exp(v, out=fixed)


def test_rotation_vector_arguments(rng):
    psi = rng.standard_normal((4, 1, 3))
    result = groups.rotvec.compose(psi, psi[:, 0])
    assert result.shape == (4, 4, 3)
    out = np.empty((4, 4, 3))
    assert groups.rotvec.compose(psi, psi[:, 0], out=out) is out
    np.testing.assert_array_equal(out, result)
    with pytest.raises(ValueError, match=r"^dpsi: shape \(\.\.\., 3\) expected, got \(4,\)"):
        groups.rotvec.compose(psi, np.zeros(4))
    with pytest.raises(ValueError, match=r"^psi0: shape \(\.\.\., 3\) expected, got \(\)"):
        groups.rotvec.compose(0.0, np.zeros(3))


@every_group
def test_random(group):
    """Rotations are uniform (angles of density (1 - cos)/pi, axes uniform on the sphere), positions standard normal."""
    g = group.random(np.random.default_rng(5), 20_000)
    R = group.rotation(g)
    np.testing.assert_allclose(np.swapaxes(R, -1, -2) @ R, np.broadcast_to(np.eye(3), R.shape), atol=3e-15)
    turn = group.log(g)[:, -3:]
    angle = np.linalg.norm(turn, axis=-1)
    assert stats.kstest(angle, lambda x: (x - np.sin(x)) / np.pi).pvalue > 1e-3
    for axis in (turn / angle[:, None]).T:
        assert stats.kstest(axis, lambda x: (x + 1) / 2).pvalue > 1e-3
    if group.dim == 6:
        for x in group.act(g, np.zeros(3)).T:
            assert stats.kstest(x, "norm").pvalue > 1e-3


@every_group
def test_random_sizes(group):
    for size, batch in [(None, ()), (3, (3,)), ((2, 4), (2, 4)), ((), ()), (0, (0,))]:
        assert group.random(np.random.default_rng(1), size).shape == batch + group.shape
    first, second = (group.random(np.random.default_rng(7), 5) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@every_group
def test_identity_and_names(group):
    np.testing.assert_array_equal(group.log(group.identity()), np.zeros(group.dim))
    np.testing.assert_array_equal(group.rotation(group.identity()), np.eye(3))
    assert repr(group) == f"lgint.groups.{group.name}"
    assert getattr(groups, group.name) is group
    with pytest.raises(AttributeError):
        group.dim = 1
