"""A pool of processes that Ctrl-C does not reach, and that ends at once when an exception leaves its block."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from threading import current_thread, main_thread
from types import FrameType, TracebackType
from typing import Final, ParamSpec, TypeVar

PATIENCE: Final = 1.0  # s that processes have to end by themselves before they are killed

P = ParamSpec("P")
T = TypeVar("T")


class Processes(ProcessPoolExecutor):
    """A pool of processes.

    Parameters
    ----------
    count : int
        How many.
    start : str, optional
        How they start: "fork", "spawn" or "forkserver"; by default as is usual on the system.
    """

    def __init__(self, count: int, start: str | None = None) -> None:
        context = multiprocessing.get_context(start)
        super().__init__(count, context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
        self._started: list[BaseProcess] = []

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As in the base class, but the processes that it starts are never interrupted."""
        with _interruptions_later():
            future = super().submit(function, *args, **kwargs)
        self._started = [*self._processes.values()] or self._started
        return future

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None:
            self.end()
        return super().__exit__(kind, error, trace)

    def end(self) -> None:
        """Ends all processes, whatever they are doing."""
        self.shutdown(wait=False, cancel_futures=True)
        for process in self._started:
            process.terminate()
        end = time.monotonic() + PATIENCE
        for process in self._started:
            process.join(max(0.0, end - time.monotonic()))
            process.kill()

    def death(self) -> str:
        """How the processes died; to be called after BrokenProcessPool."""
        self.shutdown()
        codes = {process.exitcode or 0 for process in self._started}
        return ", ".join(
            f"exit code {code}" if code >= 0 else f"{signal.Signals(-code).name}, as when memory runs out"
            for code in sorted(codes)
        )


@contextmanager
def _interruptions_later() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; processes that start in it are never interrupted.

    They inherit the blocked signal. Another thread of this process may still receive it, which is why the handler is
    replaced as well.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not (hasattr(signal, "pthread_sigmask") and callable(handler)) or current_thread() is not main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *signalled: caught.append(signalled))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[0])
