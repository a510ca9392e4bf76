"""Settings of the whole suite: the same examples in every run, no display."""

import os

import numpy as np
import pytest
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"  # notebooks and plots draw into files

settings.register_profile("lgint", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lgint")


@pytest.fixture
def rng():
    """A generator of random numbers with a fixed seed."""
    return np.random.default_rng(20240607)
