"""Models of the core from rows of plain values."""

from lgint import _core
from lgint._model.compile import Description, Element, Frame


def described(blocks, frames, elements):
    """The description of a model.

    Blocks are (kind, n), frames (block, (base, offset)) or (block, (base, offset), part), and elements (kind, name,
    frames, parameters), perhaps with a function and the numbers of dropped rows.
    """
    return Description.of(blocks, [Frame(*row) for row in frames], [Element(*row) for row in elements])


def core_model(blocks, frames, elements):
    """The model of such rows."""
    return _core.Model(*described(blocks, frames, elements))
