"""New memory filled with zeros, for a library that writes what it has not filled to the disk."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Of glibc's malloc.h: new memory is filled with the complement of a byte, and left as it is for 0.
_M_PERTURB = -6
_ZEROS, _AS_IT_IS = 0xFF, 0

# Looked up once: every search changes it twice.
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
_changing = threading.Lock()
_within = 0


@contextmanager
def filled_memory() -> Iterator[None]:
    """Have all memory that malloc hands out meanwhile filled with zeros, where the C library can (glibc).

    Otherwise a block holds what the process had there before, which may be the key of an endpoint. It is
    not done all the time because a search would take a tenth more of the processor. Blocks up to a kilobyte
    are handed out as they are all the same.
    """
    global _within
    with _changing:
        _within += 1
        _set(_ZEROS)
    try:
        yield
    finally:
        with _changing:
            _within -= 1
            if not _within:
                _set(_AS_IT_IS)


def _set(byte: int) -> None:
    if _mallopt is not None:
        _mallopt(_M_PERTURB, byte)
