"""The processor cores, the memory allocator and the garbage collector of this process."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Of glibc's malloc.h. New memory is filled with the complement of a byte, and left as it is for 0.
_M_PERTURB, _M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -6, -3, -1
_ZEROS, _AS_IT_IS = 0xFF, 0
# Bytes: blocks up to the first are taken from memory that is kept, of which the second may lie idle.
_LARGEST_KEPT, _KEPT = 32 << 20, 64 << 20
# Looked up once: every search changes it twice.
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
_changing = threading.Lock()
_within = 0


def available_cores() -> int:
    """Cores that this process may use: fewer than the machine's in a container or a job that is confined to some."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def configure_malloc() -> None:
    """Have the process keep some of the memory that it frees, instead of asking for it again at once.

    Arrays of a few megabytes come and go with each block of chunks that is compared with a question. As
    glibc starts out, each is returned to the system and faulted in again, page by page: that was half the
    time of reranking for a long question (98 and 42 ms of 180 chunks, 86 tokens).
    """
    if _mallopt is not None:
        _mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
        _mallopt(_M_TRIM_THRESHOLD, _KEPT)


def freeze_garbage_collector() -> None:
    """Have the garbage collector pass over all that is there by now, for as long as the process runs."""
    gc.collect()
    gc.freeze()


@contextmanager
def zero_new_allocations() -> Iterator[None]:
    """Have all memory that malloc hands out meanwhile filled with zeros, where the C library can (glibc).

    It is for a library that writes blocks to the disk which it has not filled: they hold what the process had
    there before, which may be the key of an endpoint. It is not done all the time because a search would take
    a tenth more of the processor. Blocks up to a kilobyte are handed out as they are all the same.
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
