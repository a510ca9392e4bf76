"""An exclusive lock on a folder, which ends with the process that holds it."""

from __future__ import annotations

import os
import socket
import sys
import warnings
from errno import EACCES, EAGAIN
from pathlib import Path
from typing import IO, Final

LOCK: Final = "lock"
_HELD: Final[dict[tuple[int, str], object]] = {}  # by process and folder: a process shares its locks among its threads


class FolderLock:
    """The lock on a folder, held until it is released.

    Of POSIX systems it is a record lock: it belongs to a process and not, as that of `flock` does, to its open files,
    which children share and keep open when their parent is killed.

    Parameters
    ----------
    folder : Path
        It exists.

    Raises
    ------
    ValueError
        If another run holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._place = (os.getpid(), os.path.realpath(folder))
        if _HELD.setdefault(self._place, self) is not self:
            raise ValueError(_held_by(folder, "this process"))
        try:
            self._file = _locked(folder)
        except BaseException:
            del _HELD[self._place]
            raise

    def release(self) -> None:
        """Lets others take the lock; without effect the second time."""
        if _HELD.get(self._place) is self:
            self._file.close()
            del _HELD[self._place]


def _locked(folder: Path) -> IO[str]:
    file = open(folder / LOCK, "a+", opener=unlinked)
    try:
        _take(file, folder)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read(200)
        file.close()
        raise ValueError(_held_by(folder, holder or "another process")) from error
    return file


def unlinked(path: str, flags: int) -> int:
    """Opens a file, but none through a symbolic link in its place."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if os.path.islink(path):
            raise ValueError(f"path: {path} is a symbolic link, through which nothing is written") from error
        raise


def _take(file: IO[str], folder: Path) -> None:
    """BlockingIOError if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (EACCES, EAGAIN):
            raise BlockingIOError from error
        warnings.warn(
            f"path: the file system of {folder} has no locks ({error}); see to it that no other run writes there",
            RuntimeWarning,
            stacklevel=2,
        )


def _held_by(folder: Path, holder: str) -> str:
    return f"path: {folder} belongs to a run that is going on ({holder}); wait for it, or choose another folder"
