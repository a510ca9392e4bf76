"""What the file of a sweep records about it: the keys of its runs, and what all of them share."""

from __future__ import annotations

from typing import Any, Final

from lgint._model.keys import MARK, Keys, UnnamedError, digest_of, is_of_package, name_of, text_of
from lgint._model.system import System
from lgint._sweep.job import Job
from lgint._sweep.runs import Runs

_ADVICE: Final = 'give such a value a name: {{"{name}": {{"some name": value, ...}}}} instead of a list'


def run_keys(runs: Runs) -> list[str]:
    """The keys of all runs, made from their values; from the names of values that cannot be told apart otherwise.

    ValueError if such a value has no name.
    """
    keys = Keys()

    def plain(name: str, value: Any, labels: dict[str, str]) -> Any:
        if name not in labels:
            return keys.argument(name, value, _ADVICE.format(name=name))
        try:
            return keys.plain(value)
        except UnnamedError:
            return {MARK: "named", "name": labels[name]}

    pairs = zip(runs.parameters, runs.labels, strict=True)
    return [text_of({name: plain(name, value, labels) for name, value in run.items()}) for run, labels in pairs]


def about(job: Job, runs: Runs) -> dict[str, str]:
    """What all runs in one file share, as texts for messages; ValueError for what no later call can recognise."""
    keys = Keys()
    fixed = {name: keys.argument(name, value, _ADVICE.format(name=name)) for name, value in job.fixed.items()}
    return {
        "model": _model(keys, job.source),
        "arguments": text_of(fixed),
        "parameters": ", ".join(sorted(runs.names)),
        "observables": ", ".join(sorted(job.observables)),
        **{f"the observable {name!r} as": _observable(keys, function) for name, function in job.observables.items()},
    }


def title_of(source: Any) -> str:
    """What to call a model, or a function that makes models."""
    if isinstance(source, System):
        return repr(source)
    return name_of(source if hasattr(source, "__qualname__") else getattr(source, "func", type(source)))


def _model(keys: Keys, source: Any) -> str:
    plain = keys.argument("model", source)
    if isinstance(source, System):
        return f"{title_of(source)} {digest_of(plain)[:16]}"
    if hasattr(source, "__qualname__") and is_of_package(source):
        return f'"{title_of(source)}"'
    return f"{getattr(source, '__qualname__', 'an object')} {digest_of(plain)[:16]}"


def _observable(keys: Keys, function: Any) -> str:
    """A text that identifies a function; if it has no key, the name of the observable identifies it."""
    try:
        return f"function {digest_of(keys.plain(function))[:16]}"
    except UnnamedError:
        return "a function known by its name"
