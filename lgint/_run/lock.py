"""An exclusive lock on a folder, which ends with the process that holds it."""

from __future__ import annotations

import os
import struct
import sys
import warnings
from errno import EACCES, EAGAIN, EINVAL
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

LOCK: Final = "lock"
_HELD: Final[dict[str, FolderLock]] = {}  # by folder, since the threads of a process share its locks


class FolderLock:
    """The lock on a folder, held until it is released.

    On Linux the lock belongs to the open file: a lock of the process would end as soon as the process closes the file
    anywhere else, as it does when it copies the folder. Child processes share open files and keep them when their
    parent is killed; therefore they close them, forked ones at once and others when their program begins. On other
    systems the lock belongs to the process.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Raises
    ------
    ValueError
        If another run holds the lock.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._file: int | None = None
        if _HELD.setdefault(self._folder, self) is not self:
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
        import socket

        os.ftruncate(file, 0)
        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def release(self) -> None:
        """Releases the lock; a second call, or one in a child process, has no effect."""
        if _HELD.get(self._folder) is self:
            self._close()
            del _HELD[self._folder]

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _close_all() -> None:
    """Runs in a forked child, which owns none of its parent's locks."""
    for lock in _HELD.values():
        lock._close()
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)


def unlinked(path: str, flags: int) -> int:
    """Opens a file, but refuses a symbolic link in its place."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if os.path.islink(path):
            raise ValueError(f"path: {path} is a symbolic link; nothing is written through links") from error
        raise


def _take(file: int, folder: Path) -> None:
    """Takes the lock; BlockingIOError if another process holds it."""
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
            f"path: the file system of {folder} has no locks ({error}); make sure that no other run writes there",
            RuntimeWarning,
            stacklevel=2,
        )


def _take_of_linux(file: int) -> bool:
    """Takes the lock of the open file; False if the system has no such locks."""
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
    return f"path: {folder} is in use by a run ({holder}); wait until it ends, or choose another folder"
