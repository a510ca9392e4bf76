"""Types of the functions that users compile, for laws at the speed of C.

`lgint.signatures.law` and so on are signatures as `numba.cfunc` takes them. Without Numba they are C types as text,
such as "int (double, double *, void *)", which are also the signatures of `scipy.LowLevelCallable` and the names of
capsules. `prototypes` has the same types with the names of their arguments.

All functions return 0, or another number if they fail: the run ends with an IntegrationError that names the function
and the time, as it does where an output is left unwritten. All outputs have to be finite. Arrays are row-major; of two
bodies they have an axis of length 2 in front. `data` is the pointer that `scipy.LowLevelCallable` takes as `user_data`,
otherwise NULL.

==========  ==========================================================================================================
law         wrenches (6,) of one body or (2, 6) of two, from x (3,), R (3, 3), xdot (3,) and omega (3,) of their
            frames. `tangent` is K and then D, each (6 n, 6 n), or NULL if it is not wanted.
joint_law   the effort in a joint, from its coordinate and rate. `tangent` (2,) is that by both, or NULL.
load        the values of a load at a time: three of a force or torque, one of a tension or a joint's torque.
motion      n values at a time and their first two derivatives: one of a coordinate, six of a support (position and
            rotation vector) or of a reference strain.
event       a number that changes its sign, from q and v of the model.
control     the values of a control, from q and v of the model and the control's states. `tangent` (2, n, nv) is that
            by displacements along v and by v, or NULL.
callable    a function of `CallableModel`, whose n numbers `out` are what the Python function of that name returns, one
            array behind the other. What that function does not take is NULL.
==========  ==========================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from lgint import _core

prototypes: Final[Mapping[str, str]] = MappingProxyType(dict(_core.SIGNATURES))

law: Any
joint_law: Any
load: Any
motion: Any
event: Any
control: Any
callable: Any


def c_type(name: str) -> str:
    """The type of a signature in C, without the names of its arguments and without `const`."""
    return re.sub(r"const |(?<=[ *])\w+(?=[,)])", "", prototypes[name]).replace(" ,", ",").replace(" )", ")")


def __getattr__(name: str) -> Any:
    if name not in prototypes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; choose from {', '.join(prototypes)}")
    text = c_type(name)
    try:
        from numba import types
    except ImportError:
        return text
    pointer: Any = types.CPointer
    known = {"int": types.int32, "double": types.float64, "double *": pointer(types.float64), "void *": types.voidptr}
    return types.int32(*(known[one] for one in text[text.index("(") + 1 : -1].split(", ")))


def __dir__() -> list[str]:
    return [*prototypes, "prototypes"]
