"""The runs of a sweep on an executor, in portions whose size follows from the time that runs take."""

from __future__ import annotations

import functools
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from lgint._run.processes import Processes
from lgint._sweep.job import Job, Outcome

PORTION: Final = 0.2  # s of runs in one task
WAITING: Final = 2  # tasks submitted for each worker, so that it never waits for the next one
NOTICE: Final = 0.5  # s that runs in threads have to notice that they should stop
UNKNOWN: Final = 64  # assumed workers of an executor that does not say how many it has

Run = Mapping[str, Any]
Take = Callable[[Sequence[int], list[Outcome]], None]
Task = Future[tuple[float, list[Outcome]]]
Submit = Callable[[Sequence[Run]], Task]


class StoppedError(Exception):
    """The sweep was ended during a run."""


def cpu_count() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(
    job: Job, runs: Sequence[Run], executor: Executor | None, threads: bool, workers: int | None, take: Take
) -> None:
    """Gives `take` the numbers and outcomes of finished runs, as they come.

    Without an executor the runs are done by threads or processes of this call, one for each processor. A run whose
    process dies has failed; the others continue in new processes of this call, even if the executor was the caller's.
    """
    work = _Work(job, runs, take)
    count = workers or (cpu_count() if executor is None else _workers(executor))
    if executor is not None:
        with suppress(BrokenProcessPool):
            work.on(executor, count)
    elif threads:
        with _Threads(count) as pool:
            work.on(pool, count)
    while work.left or work.suspects:
        with Processes(1) as single:
            work.alone(single)
        with Processes(count) as pool, suppress(BrokenProcessPool):
            work.on(pool, count)


class _Threads(ThreadPoolExecutor):
    """Threads; an exception does not wait until their runs are done."""

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.shutdown(wait=kind is None, cancel_futures=True)


class _Work:
    """The runs of a sweep that are not finished."""

    def __init__(self, job: Job, runs: Sequence[Run], take: Take) -> None:
        self.left = deque(range(len(runs)))
        self.suspects: list[int] = []  # runs that were being worked on when a process died
        self._seconds: float | None = None  # duration of a run
        self._job, self._runs, self._take = job, runs, take

    def on(self, executor: Executor, workers: int) -> None:
        """Does all runs, in portions; BrokenProcessPool if a process dies."""
        stop = threading.Event()
        submit = _task(self._job, executor, stop)
        pending: dict[Task, list[int]] = {}
        try:
            while self.left or pending:
                while self.left and len(pending) < WAITING * workers:
                    self._submit(submit, pending, WAITING * workers)
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finish(future, pending[future])
                    del pending[future]
        except BrokenProcessPool:
            self._sort(pending, workers)
            raise
        finally:
            stop.set()
            for future in pending:
                future.cancel()
            if isinstance(executor, ThreadPoolExecutor):
                _wait_shortly(pending)

    def _submit(self, submit: Submit, pending: dict[Task, list[int]], room: int) -> None:
        numbers = [self.left.popleft() for _ in range(_portion(self._seconds, len(self.left), room))]
        try:
            pending[submit([self._runs[i] for i in numbers])] = numbers
        except BrokenProcessPool:
            self.left.extendleft(reversed(numbers))
            raise

    def _finish(self, future: Task, numbers: Sequence[int]) -> None:
        seconds, outcomes = future.result()
        self._seconds = seconds / len(numbers)
        self._take(numbers, outcomes)

    def _sort(self, pending: Mapping[Task, list[int]], workers: int) -> None:
        """Sorts the runs after the death of a process: the tasks submitted first were those being worked on."""
        unfinished = [numbers for future, numbers in pending.items() if not future.done() or future.exception()]
        for future, numbers in pending.items():
            if numbers not in unfinished:
                self._finish(future, numbers)
        self.suspects = [i for numbers in unfinished[:workers] for i in numbers]
        self.left.extendleft(reversed([i for numbers in unfinished[workers:] for i in numbers]))

    def alone(self, process: Processes) -> None:
        """Does the suspects one by one, up to the one whose process dies; this one has failed."""
        submit = _task(self._job, process, threading.Event())
        while self.suspects:
            i = self.suspects.pop(0)
            try:
                self._finish(submit([self._runs[i]]), [i])
            except BrokenProcessPool:
                self._take([i], [Outcome(None, f"BrokenProcessPool: its process died: {process.death()}")])
                break
        self.left.extendleft(reversed(self.suspects))


def _wait_shortly(pending: Collection[Task]) -> None:
    """Waits a short time for runs in threads to notice that they should stop."""
    end = time.monotonic() + NOTICE
    while time.monotonic() < end and not all(future.done() for future in pending):
        time.sleep(0.01)


def _portion(seconds: float | None, left: int, room: int) -> int:
    """The number of runs in the next task: as many as fill a given time, and fewer towards the end.

    With smaller tasks at the end all workers finish at about the same time.
    """
    if seconds is None:
        return 1
    return max(1, min(int(PORTION / max(seconds, 1e-9)), left // room, left))


def _workers(executor: Executor) -> int:
    """How many tasks an executor works on at the same time, or UNKNOWN if it does not say."""
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int):
            return count
    return UNKNOWN


def _task(job: Job, executor: Executor, stop: threading.Event) -> Submit:
    """A function that submits runs. Threads share the job; other workers receive it as bytes and load it once."""
    if isinstance(executor, ThreadPoolExecutor):

        def check_stop(done: float) -> None:
            if stop.is_set():
                raise StoppedError

        return lambda runs: executor.submit(job, runs, check_stop)
    payload = _packed(job, "the model, an argument or an observable")
    return lambda runs: executor.submit(
        run_packed, payload, [_packed(run, f"the values of {', '.join(run)}") for run in runs]
    )


def _packed(value: Job | Run, what: str) -> bytes:
    library = _pickler()
    try:
        data: bytes = library.dumps(value)
        return data
    except Exception as error:
        advice = "" if library is not pickle else "; the package cloudpickle can send functions of a script as well"
        raise ValueError(f"executor: {what} cannot be sent to its workers: {error}{advice}") from error


def _pickler() -> ModuleType:
    try:
        import cloudpickle
    except ImportError:
        return pickle
    module: ModuleType = cloudpickle
    return module


def run_packed(payload: bytes, runs: list[bytes]) -> tuple[float, list[Outcome]]:
    """Works on runs in another process."""
    return _loaded(payload)([pickle.loads(run) for run in runs])


@functools.lru_cache(maxsize=4)
def _loaded(payload: bytes) -> Job:
    job: Job = pickle.loads(payload)
    return job
