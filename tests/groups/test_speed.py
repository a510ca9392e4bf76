"""A million exponentials in one call are no slower than SciPy's."""

import time

import pytest
from scipy.spatial.transform import Rotation

from lgint import groups


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@pytest.mark.measures
def test_million_exponentials(rng):
    """Both are timed in turn and the best of seven counts, so that a disturbance of the machine affects both."""
    v = groups.so3.log(groups.so3.random(rng, 1_000_000))
    ours, theirs = zip(
        *[(seconds(lambda: groups.so3.exp(v)), seconds(lambda: Rotation.from_rotvec(v).as_matrix())) for _ in range(7)],
        strict=True,
    )
    assert min(ours) <= min(theirs)
