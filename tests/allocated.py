"""How much memory the C library has given out."""

import ctypes
import functools


class Counts(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("_0", "_1", "_2", "_3", "mapped", "_5", "_6", "used", "_8", "_9")]


@functools.cache
def counting():
    """mallinfo2 of glibc, looked up once, as that takes memory."""
    function = ctypes.CDLL(None).mallinfo2
    function.restype = Counts
    return function


def allocated():
    """Bytes that malloc has given out and that have not been freed."""
    now = counting()()
    return now.used + now.mapped
