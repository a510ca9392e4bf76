"""The runs of a sweep on an executor, in portions whose size follows from the time that runs take."""

from __future__ import annotations

import functools
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from types import ModuleType
from typing import Any, Final

from lgint._sweep.job import Job, Outcome

PORTION: Final = 0.2  # s, of runs in one task
WAITING: Final = 2  # tasks for each worker, so that none of them waits for another task
UNKNOWN: Final = 64  # workers of an executor that does not say how many it has

Run = Mapping[str, Any]
Take = Callable[[Sequence[int], list[Outcome]], None]
Task = Callable[[Sequence[Run]], "Future[tuple[float, list[Outcome]]]"]


class StoppedError(Exception):
    """The sweep was ended while a run was going on."""


def cpu_count() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def own_executor(threads: bool, workers: int | None) -> Executor:
    """Threads or processes, as many as there are processors."""
    return (ThreadPoolExecutor if threads else ProcessPoolExecutor)(workers or cpu_count())


def execute(job: Job, runs: Sequence[Run], executor: Executor, workers: int | None, take: Take) -> None:
    """Gives `take` the numbers and outcomes of finished runs, as they come."""
    stop = threading.Event()
    submit = _task(job, executor, stop)
    pending: dict[Future[tuple[float, list[Outcome]]], list[int]] = {}
    left = deque(range(len(runs)))
    room = WAITING * (workers or _workers(executor))
    seconds = None  # that a run takes
    try:
        while left or pending:
            while left and len(pending) < room:
                numbers = [left.popleft() for _ in range(_portion(seconds, len(left), room))]
                pending[submit([runs[i] for i in numbers])] = numbers
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                numbers = pending.pop(future)
                time, outcomes = future.result()
                seconds = time / len(numbers)
                take(numbers, outcomes)
    finally:
        stop.set()
        for future in pending:
            future.cancel()


def _portion(seconds: float | None, left: int, room: int) -> int:
    """Runs in the next task: as many as take a certain time, and fewer towards the end, so that no worker is late."""
    if seconds is None:
        return 1
    return max(1, min(int(PORTION / max(seconds, 1e-9)), left // room, left))


def _workers(executor: Executor) -> int:
    """How many tasks an executor works on at the same time, as far as it says so."""
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int):
            return count
    return UNKNOWN


def _task(job: Job, executor: Executor, stop: threading.Event) -> Task:
    """A function that submits runs. Threads share the job; other workers get it as bytes, and load it once."""
    if isinstance(executor, ThreadPoolExecutor):

        def asked(done: float) -> None:
            if stop.is_set():
                raise StoppedError

        return lambda runs: executor.submit(job, runs, asked)
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
        raise ValueError(f"executor: it cannot be given {what}: {error}{advice}") from error


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
