"""Tests run the notebooks with few steps."""

import os

os.environ.setdefault("LGINT_STEPS", "200")
