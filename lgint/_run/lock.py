"""An exclusive lock on a folder, which ends with the process that holds it."""

from __future__ import annotations

import os
import socket
import struct
import sys
import warnings
from errno import EACCES, EAGAIN, EINVAL
from pathlib import Path
from typing import Final

LOCK: Final = "lock"
_HELD: Final[dict[str, FolderLock]] = {}  # by folder: a process shares its locks among its threads


class FolderLock:
    """The lock on a folder, held until it is released.

    Of Linux it is a lock of the open file: that of a process would end as soon as the process closes the file a second
    time, as a copy of the folder does. Children share open files, and keep them when their parent is killed: therefore
    they close them, forked ones at once and others when their program begins. Elsewhere it is a lock of the process.

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
        self._place = os.path.realpath(folder)
        self._file: int | None = None
        if _HELD.setdefault(self._place, self) is not self:
            raise ValueError(_held_by(folder, "this process"))
        try:
            self._file = unlinked(str(folder / LOCK), os.O_RDWR | os.O_CREAT)
            self._lock(self._file, folder)
        except BaseException:
            self.release()
            raise

    @staticmethod
    def _lock(file: int, folder: Path) -> None:
        try:
            _take(file, folder)
        except BlockingIOError as error:
            holder = os.read(file, 200).decode(errors="replace")
            raise ValueError(_held_by(folder, holder or "another process")) from error
        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def release(self) -> None:
        """Lets others take the lock; without effect the second time, and in children."""
        if _HELD.get(self._place) is self:
            self._close()
            del _HELD[self._place]

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _close_all() -> None:
    """What a forked child does, to which no lock of its parent belongs."""
    for lock in _HELD.values():
        lock._close()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)


def unlinked(path: str, flags: int) -> int:
    """Opens a file, but none through a symbolic link in its place."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if os.path.islink(path):
            raise ValueError(f"path: {path} is a symbolic link, through which nothing is written") from error
        raise


def _take(file: int, folder: Path) -> None:
    """BlockingIOError if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        elif not _take_of_linux(file):
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


def _take_of_linux(file: int) -> bool:
    """Takes the lock of the open file; False: the system has none."""
    if sys.platform != "linux":
        return False
    import fcntl

    whole = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)  # a struct flock64
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, whole)
    except OSError as error:
        if error.errno == EINVAL:
            return False
        raise
    return True


def _held_by(folder: Path, holder: str) -> str:
    return f"path: {folder} belongs to a run that is going on ({holder}); wait for it, or choose another folder"
