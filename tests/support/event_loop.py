"""Coroutines in tests, whatever the thread of the tests runs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine, which runs in a thread of its own.

    Playwright's synchronous interface leaves a running loop in the main thread, where no other can start.
    """
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, coroutine).result()
