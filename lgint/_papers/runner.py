"""Makes artifacts in parallel processes, then those that measure time one by one; prints verdicts as they come."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lgint._papers import output
from lgint._papers.catalogue import select
from lgint._papers.claims import VERDICTS, Claim, of_full_run, verdict
from lgint._papers.registry import Artifact
from lgint._run.processes import Processes


@dataclass(frozen=True)
class Outcome:
    """The outcome of an artifact: its claims, or the error that ended it.

    Attributes
    ----------
    key : str
        Key of the artifact.
    claims : list of Claim
    seconds : float
        Processor time.
    error : str
        Traceback; empty if the artifact was made.
    """

    key: str
    claims: list[Claim]
    seconds: float
    error: str = ""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, or "failed"."""
        return "failed" if self.error else verdict(self.claims)


def run(
    rows: Sequence[Artifact], *, quick: bool, strict: bool, out: Path, jobs: int, formats: Sequence[str] = ("png",)
) -> int:
    """Makes the artifacts and returns the exit status: 1 if one of them failed or, with `strict`, differs."""
    from lgint._run import plot  # noqa: F401, so that a missing matplotlib is reported before the work

    out.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, Outcome] = {}
    try:
        with _bar(len(rows)) as show, closing(_outcomes(rows, quick, out, jobs, formats)) as coming:
            for outcome in coming:
                outcomes[outcome.key] = outcome
                show(outcome)
                if not outcome.error:
                    made = {outcome.key: outcome.claims}
                    output.update_verdicts(out / "verdicts.csv", "quick" if quick else "full", made)
    except KeyboardInterrupt:
        left = [row.key for row in rows if row.key not in outcomes]
        print(f"{len(outcomes)} artifacts are in {out}; not made: {' '.join(left)}", file=sys.stderr)
        raise
    print(_table(rows, outcomes))
    bad = {"failed", "differs"} if strict else {"failed"}
    return int(any(outcome.verdict in bad for outcome in outcomes.values()))


# ---- making ----


def _outcomes(
    rows: Sequence[Artifact], quick: bool, out: Path, jobs: int, formats: Sequence[str]
) -> Generator[Outcome]:
    """Outcomes in order of completion: first from many processes, then one by one those that measure time."""
    together, alone = ([row.key for row in rows if row.timed == timed] for timed in (False, True))
    if jobs == 1:
        yield from (_make(key, quick, out, formats) for key in [*together, *alone])
        return
    with _pool(min(jobs, max(len(together), 1))) as submit:
        yield from _completed(together, lambda key: submit(_make, key, quick, out, formats))
    with _pool(1) as submit:
        for key in alone:
            yield from _completed([key], lambda key: submit(_make, key, quick, out, formats))


def _make(key: str, quick: bool, out: Path, formats: Sequence[str]) -> Outcome:
    """Makes one artifact and writes its files."""
    (row,) = select(key)
    begin = time.process_time()
    try:
        result = row.make(quick)
        output.write(row, result, out, formats)
    except Exception:
        return Outcome(key, [], time.process_time() - begin, traceback.format_exc())
    claims = result.claims if quick else of_full_run(result.claims)
    return Outcome(key, claims, time.process_time() - begin)


def _completed(keys: Sequence[str], start: Callable[[str], Future[Outcome]]) -> Iterator[Outcome]:
    """Outcomes in order of completion; if a process of the pool dies, its unfinished artifacts have failed."""
    running: dict[Future[Outcome], str] = {}
    for key in keys:
        try:
            running[start(key)] = key
        except BrokenProcessPool as error:
            yield _dead(key, error)
    for future in as_completed(running):
        try:
            yield future.result()
        except BrokenProcessPool as error:
            yield _dead(running[future], error)


def _dead(key: str, error: BrokenProcessPool) -> Outcome:
    return Outcome(key, [], 0.0, f"its process, or another one of the pool, died: {error}\n")


@contextmanager
def _pool(jobs: int) -> Iterator[Callable[..., Future[Outcome]]]:
    """A function that submits work to new processes, which end with the block."""
    with Processes(jobs, "spawn") as pool:
        yield pool.submit


def cores() -> int:
    """How many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- showing ----


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Outcome], None]]:
    """Prints verdicts on standard output and moves a progress bar on standard error."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield _Counter(total)
        return
    with tqdm(total=total, bar_format="{l_bar}{bar}| {n} of {total} [{elapsed}]", file=sys.stderr) as bar:

        def show(outcome: Outcome) -> None:
            with tqdm.external_write_mode():
                _report(outcome)
            bar.update()

        yield show


class _Counter:
    """Shows progress if there is no tqdm."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0

    def __call__(self, outcome: Outcome) -> None:
        _report(outcome)
        self.done += 1
        print(f"{self.done} of {self.total} artifacts", file=sys.stderr)


def _report(outcome: Outcome) -> None:
    """Prints a line for each claim; the traceback of an artifact that failed goes to standard error."""
    for claim in outcome.claims:
        print(f"{outcome.key}: {claim}", flush=True)
    if outcome.error:
        print(f"{outcome.key}: failed", flush=True)
        print(outcome.error, end="", file=sys.stderr)


def _table(rows: Sequence[Artifact], outcomes: dict[str, Outcome]) -> str:
    """A line for each artifact, and the number of artifacts with each verdict."""
    width = max(len(row.key) for row in rows)
    lines = [f"\n{'artifact':<{width}}  {'verdict':<12}  {'claims':>7}  {'time/s':>7}  shows"]
    for row in rows:
        one = outcomes[row.key]
        held = f"{sum(claim.holds for claim in one.claims)} of {len(one.claims)}"
        lines.append(f"{row.key:<{width}}  {one.verdict:<12}  {held:>7}  {one.seconds:7.1f}  {row.shows}")
    verdicts = [one.verdict for one in outcomes.values()]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in (*VERDICTS, "failed"))
    return "\n".join([*lines, counts])
