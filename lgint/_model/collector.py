"""Python's garbage collector, while many objects are made that stay."""

from __future__ import annotations

import gc


class uncollected:  # noqa: N801 - a context manager, used like a function
    """Suspends the garbage collector, which would look at the parts of long models again and again, and free none.

    What suspends it starts it again, and what finds it suspended leaves it alone: threads may overlap as they like.
    """

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        if self._enabled:
            gc.disable()

    def __exit__(self, *exception: object) -> None:
        if self._enabled:
            gc.enable()
