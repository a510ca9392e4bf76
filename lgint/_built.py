"""Imported before the rest of the package: raises a readable error if the sources have no compiled extension."""

import os
from importlib.util import find_spec

if find_spec("lgint._core") is None:
    raise ImportError(
        f"{os.path.dirname(__file__)} has the sources of lgint, but not its compiled part: build it there with "
        "`pip install --editable .`, or start Python in another folder, where it finds the installed package"
    )
