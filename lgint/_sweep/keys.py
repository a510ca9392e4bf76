"""What the file of a sweep knows of it: the keys of its runs, and what all of them share."""

from __future__ import annotations

from typing import Any, Final

from lgint._model.keys import MARK, Keys, UnnamedError, digest_of, is_of_package, name_of, text_of
from lgint._model.model import System
from lgint._sweep.job import Job
from lgint._sweep.runs import Runs

_ADVICE: Final = 'give a name to such a value: {{"{name}": {{"some name": value, ...}}}} in place of a list'


def run_keys(runs: Runs) -> list[str]:
    """The keys of all runs: from what their values are, and from the names of those that nothing else tells apart.

    ValueError for such a value without a name.
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
    """What all runs in one file share, in the words of a message; ValueError for what no later call can recognise."""
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
    """A function that nothing else tells apart is known by the name of the observable."""
    try:
        return f"function {digest_of(keys.plain(function))[:16]}"
    except UnnamedError:
        return "a function known by its name"
