"""Freed memory is reused without requests to the system."""

from __future__ import annotations

import resource
import sys

import numpy as np
import pytest

from rag_core.system import configure_malloc


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is glibc on Linux alone")
def test_freed_memory_is_reused() -> None:
    configure_malloc()

    def pages_faulted_in(times: int) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(times):
            np.ones(1 << 21, np.float32)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    pages_faulted_in(1)
    assert pages_faulted_in(20) < 2048  # the number of pages of one array
