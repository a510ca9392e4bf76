"""Keys of values: files of sweeps and folders of runs recognise a value in every process, and no other for it."""

import enum
import functools
import itertools
import logging
import math
import os
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import lgint
from lgint._model.keys import Keys, UnnamedError, key_of, text_of

LOG = logging.getLogger("keys")
LOCK = threading.Lock()
GAIN = {"k": 2.0}


def level(c, *, sign=1.0):
    def event(t, q, v, s=sign):
        return s * (q[0] - c)

    return event


class Level:
    def __init__(self, c):
        self.c = c

    def __call__(self, t, q, v):
        return q[0] - self.c


class Doubled(Level):
    @property
    def twice(self):
        return 2 * self.c


class Turned(Level):
    @property
    def twice(self):
        return -2 * self.c


@dataclass
class Spring:
    k: float


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


def rising(event):
    event.direction = 1
    return event


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return -function(*arguments)

    return wrapper


def logged(t, q, v):
    """Its globals are a dict, a class, a module, and objects that are only known by their types."""
    LOG.info("asked")
    with LOCK:
        return GAIN["k"] * Level(0.5)(t, q, v) * math.cos(t)


@functools.cache
def cached(x):
    return x + 1


def functions():
    """Newly made functions and objects that are all different from each other."""
    return {
        "closure": level(0.5),
        "other closure": level(0.9),
        "default": level(0.5, sign=-1.0),
        "attribute": rising(level(0.5)),
        "wrapper": decorated(level(0.5)),
        "lambda": lambda t, q, v: q[0] - 0.5,
        "other constant": lambda t, q, v: q[0] - 0.9,
        "nested": lambda t, q, v: [x - 0.5 for x in q][0],
        "set of words": lambda t, q, v: {"a", "b", "c"} & {"d", "e"},
        "object": Level(0.5),
        "other state": Level(0.9),
        "other class": Doubled(0.5),
        "other member of a class": Turned(0.5),
        "method": Level(0.5).__call__,
        "partial": functools.partial(level, 0.5),
        "other argument": functools.partial(level, 0.9),
        "globals": logged,
        "cache": cached,
        "class": Level,
        "other class itself": Doubled,
        "dataclass": Spring(1.0),
        "dataclass with another number": Spring(2.0),
        "enum": Side.LEFT,
        "other item of the enum": Side.RIGHT,
    }


def values():
    """Functions of packages, models and data."""
    return {
        "function of a package": np.linalg.norm,
        "ufunc": np.sin,
        "function in C": math.sin,
        "function of lgint": lgint.models.heavy_top,
        "its name": "lgint.models._heavy_top.heavy_top",
        "module": np,
        "path": Path("/a"),
        "complex": 1j,
        "bytes": b"one two",
        "set": {"a", "b"},
        "list": ["a", "b"],
        "text": "1",
        "whole": 1,
        "truth": True,
        "float": 1.5,
        "zero": 0.0,
        "none": None,
        "dict": {"1": 2},
        "dict by numbers": {1: 2},
        "dict like a function": {"lgint": "lgint.models._heavy_top.heavy_top"},
        "model": lgint.models.heavy_top(),
        "other model": lgint.models.heavy_top(mass=2.0),
        "model of functions": lgint.models.spring_pendulum(),
        "other model of functions": lgint.models.spring_pendulum(mass=2.0),
        "own model": lgint.CallableModel("Rn", [0.0], [0.0], lambda t, q: np.eye(1), level(0.5)),
        "other own model": lgint.CallableModel("Rn", [0.0], [0.0], lambda t, q: np.eye(1), level(0.9)),
    }


def test_equal_values_have_the_same_key_and_others_do_not():
    keys, again = ({name: key_of(value) for name, value in (functions() | values()).items()} for _ in range(2))
    assert keys == again
    same = [pair for pair in itertools.combinations(keys, 2) if keys[pair[0]] == keys[pair[1]]]
    assert same == []


def test_numbers_of_all_types_are_compared_by_value():
    assert key_of(1) == key_of(1.0) == key_of(np.float32(1)) == key_of(np.array(1))
    assert key_of(1.5) != key_of(1) != key_of(1 + 2**-52)
    assert key_of(-0.0) == key_of(0)
    assert key_of([1, 2.5]) == key_of((1.0, 2.5)) == key_of(np.array([1, 2.5]))


def test_globals_count_as_they_are(monkeypatch):
    before = key_of(logged)
    monkeypatch.setitem(GAIN, "k", 3.0)
    assert key_of(logged) != before
    monkeypatch.setitem(GAIN, "k", 2.0)
    assert key_of(logged) == before
    monkeypatch.setattr(Level, "__call__", lambda self, t, q, v: q[1] - self.c)
    assert key_of(logged) != before


def test_functions_that_name_each_other():
    def pair(c):
        def even(n):
            return n == c or odd(n - 1)

        def odd(n):
            return n != c and even(n - 1)

        return even

    assert key_of(pair(0)) == key_of(pair(0)) != key_of(pair(1))


class Part:
    """Its parts refer back to it."""

    def __init__(self, c, *parts):
        self.c, self.parts, self.chosen = c, parts, None
        for part in parts:
            part.whole = self

    def choose(self, part):
        self.chosen = part
        return self


def circles():
    """Newly made values in circles, and parts of them, which are all different from each other."""

    def closures(c):
        def first(t, q, v):
            return second(t, q, v) if v[0] else q[0] - c

        def second(t, q, v):
            return first(t, q, v)

        return first, second

    def two(k):
        machine = Part(0, Part(1, Part(3)), Part(2, Part(3)))
        return machine.choose(machine.parts[k].parts[0])

    def chain(back):
        """The last part, found twice, leads to a part or to the whole; both are two levels above where it is found."""
        end, also = Part(4), Part(4)
        machine = Part(0, Part(1, Part(2, end)))
        end.choose(machine.parts[0])
        also.choose(machine)
        machine.parts[0].choose(also if back else end)
        return machine

    functions, parts = [closures(0.1), closures(0.2)], [Part(1, Part(3)), Part(2, Part(3))]
    first, second = ([pair[i] for pair in functions] for i in (0, 1))
    lists = [[*first, second[0]], [*first, second[1]]]
    return [*first, *second, *parts, *(part.parts[0] for part in parts), *lists, two(0), two(1), chain(0), chain(1)]


def test_values_in_circles_differ_where_others_in_the_circle_do():
    keys = Keys()
    found = [text_of(keys.plain(value)) for value in circles()]
    assert len(set(found)) == len(found)


def test_keys_in_circles_do_not_depend_on_what_was_looked_at_before():
    values = circles()
    forwards, backwards = Keys(), Keys()
    behind = [text_of(backwards.plain(value)) for value in reversed(values)]
    assert [text_of(forwards.plain(value)) for value in values] == behind[::-1] == [key_of(value) for value in values]
    assert [key_of(value) for value in circles()] == behind[::-1]


def test_large_circles_take_no_time():
    """A net of objects that know their neighbours has more paths than can be followed."""
    net = [[Part(0) for _ in range(7)] for _ in range(7)]
    for i, row in enumerate(net):
        for j, part in enumerate(row):
            part.parts = [row[j - 1], row[j - 6], net[i - 1][j], net[i - 6][j]]
    whole = key_of(net[0][0])
    net[3][3].c = 1
    assert key_of(net[0][0]) != whole


def test_what_is_read_of_own_modules_counts(monkeypatch):
    inner, own = ModuleType("own.inner"), ModuleType("own")
    own.c, own.inner, inner.f, own.other = 0.5, inner, level(0.5), 0

    def captured(t, q, v):
        return own.inner.f(t, q, v) + own.c.real + q.flat[own.missing]

    monkeypatch.setitem(globals(), "own_module", own)
    for function in (captured, lambda t, q, v: [own_module.inner.f(t, q, v) - own_module.c for _ in t]):  # noqa: F821
        before = key_of(function)
        with monkeypatch.context() as context:
            context.setattr(own, "other", 1)
            assert key_of(function) == before
            context.setattr(own, "c", 0.9)
            assert key_of(function) != before
        with monkeypatch.context() as context:
            context.setattr(inner, "f", level(0.9))
            assert key_of(function) != before
        assert key_of(function) == before


class Drifting:
    def __call__(self, t, q, v):
        return q[0]

    def __reduce__(self):
        return Drifting, (), {"asked": time.perf_counter_ns()}


def holding(item):
    return lambda t, q, v: q[0] if item else v[0]


UNNAMED = [holding(threading.Lock()), holding(x for x in range(3)), Drifting(), holding(Drifting())]


@pytest.mark.parametrize("value", UNNAMED)
def test_what_cannot_be_recognised_has_no_key(value):
    with pytest.raises(UnnamedError, match="which (cannot be pickled|is pickled differently)"):
        key_of(value)


SCRIPT = """
import functools
import numpy as np
from lgint._model.keys import key_of

NAMES = {"a", "b", "c", "d"}

class Level:
    words = frozenset(["x", "y", "z"])

    def __init__(self, c):
        self.c, self.tags = c, {"one", "two", "three"}

    def __call__(self, t, q, v):
        return q[0] - self.c if {"p", "q", "r"} & NAMES else 0.0

def made(c):
    return lambda t, q, v: Level(c)(t, q, v)

print(key_of([Level(0.5), made(0.5), functools.partial(made, 0.5), Level(0.5).__call__]))
"""


def test_another_process_file_and_line_give_the_same_key(tmp_path):
    """The keys that a script prints; sets of words have a different order in every process."""
    found = set()
    for seed, (name, text) in enumerate([("a.py", SCRIPT), ("a.py", SCRIPT), ("b.py", "# moved\n\n\n" + SCRIPT)]):
        (tmp_path / name).write_text(textwrap.dedent(text))
        environment = os.environ | {"PYTHONPATH": str(Path(lgint.__file__).parents[1]), "PYTHONHASHSEED": f"{seed}"}
        command = [sys.executable, str(tmp_path / name)]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1 and found.pop().count("lgint") == 4
