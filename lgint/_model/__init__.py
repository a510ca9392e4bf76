"""Systems as integrators take them: compiled models and Python functions."""
