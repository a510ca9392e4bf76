"""Imported before the rest of the package: raises a readable error if the sources have no compiled extension."""

from importlib.util import find_spec
from pathlib import Path

if find_spec("lgint._core") is None:
    raise ImportError(
        f"{Path(__file__).parent} has the sources of lgint, but not its compiled part: build it there with "
        "`pip install --editable .`, or start Python in another folder, where it finds the installed package"
    )
