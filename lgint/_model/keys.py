"""Texts that stand for values: equal values have the same text, in every process.

Numbers, strings, arrays, lists, mappings and models are written out. A function is identified by what it does: its
code, constants, defaults and attributes, the values that it captures, the globals that its code names, and what it
reads from the user's modules (`module.c`), but not by its file, line or module. A compiled function is identified by
the Python function that Numba has compiled, or by its name; it has no text if it has neither, or data of its own. An
object is identified by its class and by what pickle stores of it. Functions and classes of installed packages, and
modules, are identified by name.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import json
import pickle
import re
import sys
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from lgint._args import shown
from lgint._model.compiled import CompiledFunction, compiled_of, is_compiled
from lgint._model.system import System

MARK: Final = "lgint"  # an entry of every mapping that stands for a value which JSON cannot hold
LEFT_OUT: Final = "leave that out in the __getstate__ of the object, or keep it in a global variable"
BY_NAME: Final = "give a function that has a name and no data, or a numba.cfunc"
PROTOCOL: Final = 4  # of pickle
_GLOBAL: Final = {"LOAD_GLOBAL", "LOAD_NAME"}
_VARIABLE: Final = {*_GLOBAL, "LOAD_DEREF"}
_ATTRIBUTE: Final = {"LOAD_ATTR", "LOAD_METHOD"}
_METHODS: Final = (property, functools.cached_property, staticmethod, classmethod)
_OF_CLASSES: Final = {"__dict__", "__doc__", "__firstlineno__", "__module__", "__static_attributes__", "__weakref__"}


class UnnamedError(ValueError):
    """No text can stand for a value, because it cannot be pickled or is pickled differently each time."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice  # what would work, if that is known


def key_of(value: Any) -> str:
    """The text of a value; UnnamedError if it has none."""
    return text_of(Keys().plain(value))


def text_of(plain: Any) -> str:
    """The text of a form that `Keys` has made of a value."""
    return json.dumps(plain, sort_keys=True)


def digest_of(plain: Any) -> str:
    """A short text that stands for a long one."""
    import hashlib

    return hashlib.sha256(text_of(plain).encode()).hexdigest()


def function_keys(**values: Any) -> dict[str, str]:
    """Keys of all functions in mappings and lists, by paths such as "events.0"; ValueError if one has none."""
    keys = Keys()
    return {path: digest_of(keys.argument(path, function)) for path, function in _functions(values, "")}


def _functions(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    items: Any = ()
    if callable(value):
        yield path, value
    elif isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    for name, item in items:
        yield from _functions(item, f"{path}.{name}" if path else f"{name}")


class Keys:
    """Converts values to forms that JSON can hold, and visits each object once.

    Objects may refer to each other in a circle. The form of an object that leads back to one still being visited has a
    meaning only inside that one, so it waits there and is forgotten afterwards (Tarjan's algorithm for circles).
    """

    def __init__(self) -> None:
        # by ids; the objects are kept so that no others get the same ids
        self._known: dict[int, tuple[Any, Any, dict[int, Any]]] = {}  # object, form, and all others of its circles
        self._waiting: dict[int, tuple[Any, Any, int]] = {}  # object, form, number
        self._open: dict[int, int] = {}  # numbers of the objects being visited, each inside the one before it
        self._back = 0  # the least number to which the innermost open object leads
        self._again: list[list[int]] = []  # where waiting objects were found again in circles, by numbers

    def plain(self, value: Any) -> Any:
        """The form of a value, with every bit of a number; 1 and 1.0 are the same. UnnamedError if it has none."""
        if isinstance(value, (np.ndarray, np.generic)) and type(value.tolist()) is not type(value):
            return self.plain(value.tolist())
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if isinstance(value, bytes):
            return {MARK: "bytes", "hex": value.hex()}
        if type(value) in (list, tuple) or (isinstance(value, (list, tuple)) and not is_compiled(value)):
            return [self.plain(item) for item in value]
        if isinstance(value, (set, frozenset)):
            return {MARK: "set", "items": sorted(text_of(self.plain(item)) for item in value)}
        if isinstance(value, Mapping):
            return self._mapping(value)
        return self._object(value)

    def argument(self, name: str, value: Any, advice: str = LEFT_OUT) -> Any:
        """The form of an argument that later calls with a `path` have to recognise; ValueError if it has none."""
        try:
            return self.plain(value)
        except UnnamedError as error:
            raise ValueError(
                f"{name}: with path, later calls must be able to recognise it, but it depends on {error}; "
                f"{error.advice or advice}"
            ) from error

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        if all(isinstance(name, str) for name in value) and MARK not in value:
            return {name: self.plain(item) for name, item in value.items()}
        pairs = sorted((text_of(self.plain(name)), self.plain(item)) for name, item in value.items())
        return {MARK: "mapping", "items": pairs}

    # ---- objects ----

    def _object(self, value: Any) -> Any:
        at = id(value)
        if at in self._open:
            self._back = min(self._back, self._open[at])
            return {MARK: "enclosing", "level": len(self._open) - [*self._open].index(at)}
        if at in self._waiting:
            _, form, number = self._waiting[at]
            self._back = min(self._back, number)
            self._again.append([self._number(), number])
            return form
        if at in self._known and self._known[at][2].keys().isdisjoint(self._open):
            return self._known[at][1]
        return self._opened(value)

    def _number(self) -> int:
        """The number of the next object: how many objects are open or waiting."""
        return len(self._open) + len(self._waiting)

    def _opened(self, value: Any) -> Any:
        number, waiting, again = self._number(), len(self._waiting), len(self._again)
        outer, self._back = self._back, number
        self._open[id(value)] = number
        try:
            form = self._visited(value)
        except (UnnamedError, RecursionError) as error:
            self._back = outer
            self._closed(waiting, again)
            if isinstance(error, UnnamedError):
                raise
            raise UnnamedError(f"{shown(value)}, which is nested too deeply") from error
        finally:
            del self._open[id(value)]
        if self._back < number:
            self._back = min(outer, self._back)
            self._waiting[id(value)] = value, form, number
            return form
        self._back = outer
        others, found_again = self._closed(waiting, again)
        if len({text_of(other) for _, other, _ in others.values()}) < len(others):  # forms do not tell which was found
            form = {MARK: digest_of([form, [[at - number, found - number] for at, found in found_again]])}
        self._known[id(value)] = value, form, others
        return form

    def _closed(self, waiting: int, again: int) -> tuple[dict[int, Any], list[list[int]]]:
        """Forgets the objects waiting since an object was opened, and where they were found again; returns both."""
        others = dict(self._waiting.popitem() for _ in range(len(self._waiting) - waiting))
        found_again, self._again[again:] = self._again[again:], []
        return others, found_again

    def _visited(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return {MARK: f"module {value.__name__}"}
        if isinstance(value, (FunctionType, type)) and is_of_package(value):
            return {MARK: name_of(value)}
        if isinstance(value, System):
            return {"model": type(value).__name__, "record": self._record(value)}
        return {MARK: digest_of(self._parts(value))}

    def _record(self, model: System) -> Any:
        """The form of the record, without functions that a factory has made, as they follow from its arguments."""
        items = model.record().items()
        return self.plain({name: item for name, item in items if not (model.origin and callable(item))})

    def _parts(self, value: Any) -> list[Any]:
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, type):
            return self._of_class(value)
        if (function := compiled_of(value)) is not None:
            return self._of_compiled(function)
        if callable(getattr(value, "py_func", None)):  # compiled by Numba, which pickles an id of the process
            return [self.plain(type(value)), self.plain(value.py_func)]
        found, again = self._pickled(value), len(self._again)
        if self._pickled(value) != found:
            raise UnnamedError(f"{shown(value)}, which is pickled differently each time")
        del self._again[again:]
        return found

    def _pickled(self, value: Any) -> list[Any]:
        """What pickle would write: a name, or how to make the object again and its state."""
        wrapped = getattr(value, "__wrapped__", None)
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            found = reduce(value) if reduce else value.__reduce_ex__(PROTOCOL)
        except Exception as error:
            if wrapped is not None and _is_of_package(type(value).__module__):
                return [self.plain(type(value)), self.plain(wrapped)]
            raise UnnamedError(f"{shown(value)}, which cannot be pickled: {error}") from error
        if isinstance(found, str):
            module = pickle.whichmodule(value, found)  # type: ignore[attr-defined]
            if _global(module, found) is not value:
                raise UnnamedError(f"{shown(value)}, which is not {found!r} of the module {module}")
            return [module, found, self.plain(wrapped)]
        return [self.plain([*part] if isinstance(part, Iterator) else part) for part in found]

    # ---- functions and classes ----

    def _of_compiled(self, function: CompiledFunction) -> list[Any]:
        """The Python function that Numba has compiled, or a name, and what the core adds."""
        if function.py_func is None and (function.data or not function.name):
            why = "whose data no later call can compare" if function.data else "which later calls could not tell apart"
            raise UnnamedError(f"the compiled function {function.shown}, {why}", BY_NAME)
        own = function.signature, function.has_tangent, function.scale, function.rest, function.turns
        return [self.plain(function.py_func or function.name), *map(self.plain, own)]

    def _of_function(self, function: FunctionType) -> list[Any]:
        code, known = function.__code__, function.__globals__
        named: dict[str, Any] = {}
        if not _is_of_package(function.__module__):
            named = {name: known[name] for name in _names(code) if name in known} | _read_of_modules(function)
        return [
            function.__name__,
            _of_code(code),
            self.plain([function.__defaults__, function.__kwdefaults__, vars(function)]),
            [self.plain(item) for item in _captured(function).values()],
            {name: self._or_type(named[name]) for name in sorted(named)},
        ]

    def _of_class(self, of: type) -> list[Any]:
        own = {name: _functions_of(item) for name, item in vars(of).items() if name not in _OF_CLASSES}
        return [of.__qualname__, self.plain(of.__bases__), {name: self._or_type(item) for name, item in own.items()}]

    def _or_type(self, value: Any) -> Any:
        """The form of a global or of a member of a class, or that of its type if it has none itself.

        UnnamedError for compiled functions, which are there to be called.
        """
        try:
            return self.plain(value)
        except UnnamedError as error:
            if error.advice:
                raise
            return {MARK: name_of(type(value))}


def _captured(function: FunctionType) -> dict[str, Any]:
    """The values in the closure of a function, except for variables that have no value yet."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _read_of_modules(function: FunctionType) -> dict[str, Any]:
    """What a function reads from modules that are in no package, by names such as "module.c"."""
    variables, found = ChainMap(_captured(function), function.__globals__), {}
    for first, *rest in _paths(function.__code__):
        name, value = first, variables.get(first)
        while rest and _is_own_module(value) and hasattr(value, rest[0]):
            name, value = f"{name}.{rest[0]}", getattr(value, rest.pop(0))
        if name != first:
            found[name] = value
    return found


def _is_own_module(value: Any) -> bool:
    return isinstance(value, ModuleType) and not _is_of_package(value.__name__)


def _functions_of(member: Any) -> Any:
    """The functions of a property or of a method without `self`; any other member unchanged."""
    found = [getattr(member, name, None) for name in ("fget", "fset", "fdel", "func", "__func__")]
    return found if isinstance(member, _METHODS) else member


def _of_code(code: CodeType) -> list[Any]:
    """What code does: everything in it except file, lines and names of functions."""
    return [
        [code.co_code.hex(), getattr(code, "co_exceptiontable", b"").hex(), code.co_flags],
        [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount],
        [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars],
        [_constant(item) for item in code.co_consts],
    ]


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _of_code(value)
    if isinstance(value, (tuple, frozenset)):
        items = [_constant(item) for item in value]
        return [type(value).__name__, sorted(items, key=text_of) if isinstance(value, frozenset) else items]
    return f"{type(value).__name__} {value!r}"


def _names(code: CodeType) -> set[str]:
    """The globals that code names, including the code of functions in it."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname in _GLOBAL}
    return own.union(*(_names(item) for item in code.co_consts if isinstance(item, CodeType)))


def _paths(code: CodeType) -> set[tuple[str, ...]]:
    """Variables that are read in code and in the code of functions in it, each with the attributes that follow it."""
    found: set[tuple[str, ...]] = set()
    path: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if step.opname in _VARIABLE:
            path = (step.argval,)
        else:
            path = (*path, step.argval) if path and step.opname in _ATTRIBUTE else ()
        found.add(path)
    return found.union(*(_paths(item) for item in code.co_consts if isinstance(item, CodeType))) - {()}


def name_of(value: Any) -> str:
    """The name of a function or class, with its module."""
    return f"{value.__module__}.{value.__qualname__}"


def is_of_package(value: Any) -> bool:
    """Whether a function or class belongs to an installed package, or to lgint, and can be found there by its name."""
    return _is_of_package(value.__module__) and _global(value.__module__, value.__qualname__) is value


@functools.cache
def _is_of_package(module: str | None) -> bool:
    top = (module or "").partition(".")[0]
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    installed = file is not None and not {"site-packages", "dist-packages"}.isdisjoint(re.split(r"[/\\]", file))
    return installed or top == "lgint" or top in sys.stdlib_module_names


def _global(module: str, name: str) -> Any:
    return functools.reduce(lambda owner, part: getattr(owner, part, None), name.split("."), sys.modules.get(module))
