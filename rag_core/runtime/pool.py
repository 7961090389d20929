"""The threads that search beside the one that a question came in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from rag_core.system import available_cores


def create_search_pool() -> ThreadPoolExecutor:
    """Return a pool of fewer threads than cores: on two cores, more of them take Python's lock from each other."""
    return ThreadPoolExecutor(max(1, min(4, available_cores() - 1)), thread_name_prefix="search")
