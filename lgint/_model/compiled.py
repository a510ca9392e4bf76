"""Compiled functions of the user: `scipy.LowLevelCallable`, functions of Numba and ctypes, and capsules."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from operator import attrgetter
from typing import Any, Final

import numpy as np

from lgint import _core, signatures
from lgint._args import Array, checked_function, shown, takes
from lgint._model.missing import MissingFunction

_MARK: Final = np.uint64(0x7FF8_0BAD_0BAD_0BAD)  # a NaN that no computation makes
_NUMBERS: Final = {name: number for number, (name, _) in enumerate(_core.SIGNATURES)}


@dataclass(frozen=True)
class CompiledFunction:
    """A compiled function of the user, and how the core changes its arguments and values."""

    given: Any = field(compare=False)  # keeps the machine code and the data alive
    signature: str
    name: str = field(compare=False)  # "": it has none, as those of capsules and of cffi
    address: int
    data: int  # the address of the user's data
    size: int  # number of values at a time
    has_tangent: bool = False
    scale: float = 1.0
    rest: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turns: Any = None  # (bodies, 3, 3)

    def capsule(self, what: str) -> object:
        """The function as the core takes it; `what` is its name in messages."""
        return _core.compiled(
            _NUMBERS[self.signature], what, self.address, self.data, self.has_tangent, self.scale, self.rest, self.turns
        )

    def scaled(self, scale: float) -> CompiledFunction:
        """The same load times a factor."""
        return replace(self, scale=scale * self.scale)

    def shifted(self, rest: Any) -> CompiledFunction:
        """The same motion relative to a position."""
        x, y, z = map(float, rest)
        return replace(self, rest=(x, y, z))

    def turned(self, turns: Array) -> CompiledFunction:
        """The same law or load on bodies whose nodes have other axes; `turns` (..., 3, 3) lead to these."""
        return replace(self, turns=turns.reshape(-1, 3, 3))

    @property
    def shown(self) -> str:
        """The name for messages."""
        return repr(self.name) if self.name else "without a name"

    @property
    def py_func(self) -> Callable[..., Any] | None:
        """The Python function that Numba has compiled."""
        found: Callable[..., Any] | None = getattr(self.given, "__wrapped__", None)
        return found

    def __call__(self, *arguments: Any) -> Any:
        """The values of a function of time, (n,) or with their derivatives (3, n), or that of an event."""
        sizes = [self.size] * (4 if self.signature == "motion" else 1)  # the number of values, and those of outputs
        values, count = self.values(*arguments, *sizes), 3 if self.signature == "motion" else 1
        if self.signature == "event":
            return float(values[0][0])
        values[0][:3] -= np.array(self.rest)[: self.size] * (count == 3 and self.size > 1)
        return self.scale * np.squeeze(np.array(values), 0) if count == 1 else np.array(values)

    def values(self, *arguments: Any) -> list[Array]:
        """Calls the function outside of a run: with numbers, arrays, None, and for outputs the number of values."""
        found, passed, kinds = [], list[Any](), [*_kinds(signatures.c_type(self.signature))]
        for kind, given in zip(kinds[1:-1], arguments, strict=True):
            if kind in ("double", "int") or given is None:
                passed.append(given)
                continue
            array = _unwritten(given) if isinstance(given, int) else np.array(given, dtype=np.float64)
            found += [array] * isinstance(given, int)
            passed.append(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        types: list[Any] = [_OF_C.get(kind, ctypes.c_void_p) for kind in kinds[1:]]
        function = ctypes.CFUNCTYPE(ctypes.c_int, *types)(self.address)
        if status := function(*passed, self.data):
            raise _core.IntegrationError(
                f"the compiled function {self.shown} returned the status {status} at t = {passed[0]:g}"
            )
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        own = self.signature, self.size, self.has_tangent, self.scale, self.rest, self.turns
        named = self.py_func or self.given
        module, name = getattr(named, "__module__", None), getattr(named, "__qualname__", None)
        if module and name and _global(module, name) is self.given:
            return _named, (module, name, *own)
        return MissingFunction, ("a function of the model", self.name)


def _unwritten(count: int) -> Array:
    """Outputs before a call: not numbers, but not those of a computation."""
    outputs: Array = np.full(count, _MARK).view(np.float64)
    return outputs


def _global(module: str, name: str) -> Any:
    """What a name stands for in a module, or None."""
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError):
        return None


def _named(module: str, name: str, signature: str, size: int, *rest: Any) -> CompiledFunction:
    """The compiled function of this name, with what belonged to it when it was pickled."""
    function = checked(f"{module}.{name}", _global(module, name), signature, size)
    has_tangent, scale, shift, turns = rest
    return replace(function, has_tangent=has_tangent, scale=scale, rest=shift, turns=turns)


# ---- reading what the user gives ----


def user_function(
    label: str, value: Any, signature: str, tangent: Any
) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
    """A function that a user gives and that of its derivatives; a compiled one gives both itself."""
    if not is_compiled(value):
        checked_function(f"function of {label}", value)
        if signature == "control":
            takes(f"function of {label}", value, "state")
        return value, None if tangent is None else checked_function(f"tangent of {label}", tangent)
    if not (tangent is None or isinstance(tangent, bool)):
        raise ValueError(f"tangent of {label}: True if the compiled function writes it, got {shown(tangent)}")
    function = replace(checked(f"function of {label}", value, signature), has_tangent=bool(tangent))
    if signature == "joint_law":
        check_tangent(label, function, 0.0, 0.0, 0.0, 1, 2)
    return function, None


def check_tangent(label: str, function: Any, *arguments: Any) -> None:
    """ValueError if a compiled function with a tangent, the last of its arguments, leaves numbers of it unwritten."""
    if not isinstance(function, CompiledFunction) or not function.has_tangent:
        return
    try:
        tangent = function.values(*arguments)[-1]
    except _core.IntegrationError:
        return  # its status is for runs, which say where it fails
    if left := int((tangent.view(np.uint64) == _MARK).sum()):
        raise ValueError(
            f"tangent of {label}: a function that writes its derivatives expected, but {function.shown} leaves {left} "
            f"of {tangent.size} numbers unwritten; leave the tangent out for central differences"
        )


def function_of_time(what: str, value: Any, signature: str, size: int) -> Any:
    """A load or motion of `size` values if it is compiled; anything else as it is."""
    if is_compiled(value):
        return checked(what, value, signature, size)
    if callable(value):
        takes(what, value, "t")
    return value


def is_compiled(value: Any) -> bool:
    """Whether something is a compiled function of any type."""
    return isinstance(value, CompiledFunction) or _read(value) is not None


def compiled_of(value: Any) -> CompiledFunction | None:
    """A compiled function of any type, which its C type stands for, or None."""
    if isinstance(value, CompiledFunction):
        return value
    found = _read(value)
    if found is None:
        return None
    text, address, data, name = found
    return CompiledFunction(value, text or "", name, address, data, 0)


def checked(what: str, value: Any, signature: str, size: int = 0) -> CompiledFunction:
    """A compiled function of this type; ValueError for others, which names both types."""
    if isinstance(value, CompiledFunction):
        if value.signature != signature:
            raise _refusal(what, signature, signatures.c_type(value.signature))
        return value
    found = _read(value)
    if found is None:
        raise ValueError(f"{what}: a compiled function expected, got {shown(value)}")
    text, address, data, name = found
    expected, given = _kinds(signatures.c_type(signature)), _kinds(text or "")
    if len(expected) != len(given) or not all(map(_fits, given, expected)):
        raise _refusal(what, signature, text or "a capsule without a name")
    return CompiledFunction(value, signature, name, address, data, size)


def _refusal(what: str, signature: str, given: str) -> ValueError:
    return ValueError(
        f"{what}: a compiled function of the type {signatures.prototypes[signature]} expected "
        f"(lgint.signatures.{signature}), got {given}"
    )


def _kinds(text: str) -> list[str]:
    """The types of a function in C, that of its result first."""
    plain = re.sub(r"\bconst\b|\s", "", text)
    return re.split(r"[(,]", plain.removesuffix(")"))


def _fits(given: str, expected: str) -> bool:
    """Whether a type is as expected; ctypes has void * for the pointers of other compilers."""
    return given == expected or (given == "void*" and expected.endswith("*"))


def _read(value: Any) -> tuple[str | None, int, int, str] | None:
    """The type in C, the addresses of a function and of its data, and its name; None: it is not compiled."""
    low_level: Any = getattr(sys.modules.get("scipy"), "LowLevelCallable", ())
    if isinstance(value, low_level):
        text, address, data = _core.capsule(tuple.__getitem__(value, 0)) or (None, 0, 0)
        return text, address, data, _name_of(value.function)
    if (capsule := _core.capsule(value)) is not None:
        return *capsule, _name_of(value)
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return _type_of(value), ctypes.cast(value, ctypes.c_void_p).value or 0, 0, _name_of(value)
    signature, at = getattr(value, "_sig", None), getattr(value, "address", None)
    if signature is not None and isinstance(at, int):  # a cfunc of Numba
        return _numba_type(signature), at, 0, _name_of(value)
    return None


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) and name != "<cdata>" else ""  # as cffi calls all of its objects


def _type_of(function: Any) -> str:
    """The type in C of a function of ctypes, "" if its `argtypes` are not set."""
    if function.argtypes is None:
        return "a function of ctypes without argtypes"
    return f"{_ctypes_name(function.restype)} ({', '.join(map(_ctypes_name, function.argtypes))})"


def _ctypes_name(kind: Any) -> str:
    if kind is None:
        return "void"
    if kind is ctypes.c_void_p:
        return "void *"
    if issubclass(kind, ctypes._Pointer):
        return f"{_ctypes_name(kind._type_)} *"
    return str(kind.__name__).removeprefix("c_")


def _numba_type(signature: Any) -> str:
    """The type in C of a signature of Numba."""

    def name(kind: Any) -> str:
        base, stars = re.match(r"(.*?)(\**)$", str(kind)).groups()  # type: ignore[union-attr]
        return f"{_OF_NUMBA.get(base, base)} {stars}".rstrip()

    return f"{name(signature.return_type)} ({', '.join(map(name, signature.args))})"


_OF_C: Final = {"double": ctypes.c_double, "int": ctypes.c_int}
_OF_NUMBA: Final = {"float64": "double", "float32": "float", "int32": "int"}
