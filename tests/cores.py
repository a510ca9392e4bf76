"""Models of the core from rows of plain values."""

import numpy as np

from lgint import _core
from lgint._model.compile import Description, Element


def described(blocks, frames, elements):
    """The description of a model.

    Blocks are (kind, n), frames (block, (base, offset)) or (block, (base, offset), part), and elements (kind, name,
    frames, parameters), perhaps with a function and the numbers of dropped rows.
    """
    places = [(block, part[0] if part else 0, point) for block, point, *part in frames]
    parts = [Element(kind, name, at, np.array(values, float), *more) for kind, name, at, values, *more in elements]
    return Description.of(blocks, places, parts)


def core_model(blocks, frames, elements):
    """The model of such rows."""
    return _core.Model(*described(blocks, frames, elements))
