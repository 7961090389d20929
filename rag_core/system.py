"""Query the cores and the memory of this machine, and configure the memory allocator and the garbage collector."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Options of glibc's mallopt.
_M_PERTURB, _M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -6, -3, -1
# Values of M_PERTURB. The option fills new memory with the complement of the value, and 0 turns it off.
_FILL_WITH_ZEROS, _DO_NOT_FILL = 0xFF, 0
# Maximum size of a block on the heap, and maximum size of the free memory at the end of the heap.
_MMAP_THRESHOLD_BYTES, _TRIM_THRESHOLD_BYTES = 32 << 20, 64 << 20
# mallopt is looked up once, because each search calls it twice.
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
# Files with the memory limit of a container, for cgroups of version 2 and 1.
_MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_lock = threading.Lock()
_active_blocks = 0


def count_available_cores() -> int:
    """Return the number of CPU cores that this process may use, as limited by its CPU affinity."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_total_memory() -> int | None:
    """Return the memory of this machine or container in bytes; ``None`` if it is unknown."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return None
    texts = [file.read_text().strip() for file in _MEMORY_LIMITS if file.is_file()]
    # Without a limit, the file contains the word "max".
    limits = [int(text) for text in texts if text.isdigit()]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])


def make_new_files_private() -> None:
    """Deny other users access to the files and folders that this process creates from now on."""
    os.umask(0o077)


def configure_malloc() -> None:
    """Let the process keep some of the memory that it frees, instead of returning this memory to the system.

    Reranking allocates and frees arrays of a few megabytes. By default, glibc returns the memory of each freed array to
    the system, and the next array causes many page faults, which are slow.
    """
    if _mallopt is not None:
        _mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
        _mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD_BYTES)


def freeze_garbage_collector() -> None:
    """Exclude all existing objects from garbage collection until the process ends."""
    gc.collect()
    gc.freeze()


@contextmanager
def zero_new_allocations() -> Iterator[None]:
    """Fill all memory that malloc returns in the ``with`` block with zeros, if the C library is glibc.

    Use this for calls of libraries that write uninitialized memory to disk, because this memory can contain earlier
    data of the process, such as an API key. Outside of the block, memory is not filled, because this slows down
    searches. Memory of up to a kilobyte may not be filled, because glibc takes it from a separate cache.
    """
    global _active_blocks
    with _lock:
        _active_blocks += 1
        _set_fill_byte(_FILL_WITH_ZEROS)
    try:
        yield
    finally:
        with _lock:
            _active_blocks -= 1
            if not _active_blocks:
                _set_fill_byte(_DO_NOT_FILL)


def _set_fill_byte(byte: int) -> None:
    if _mallopt is not None:
        _mallopt(_M_PERTURB, byte)
