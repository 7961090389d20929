"""A search that hangs must not keep the process from ending."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import time
from rag_core.errors import StoreUnavailable
from rag_core.retrieval.guarded_search import GuardedSearch
search = GuardedSearch("vectors", 0.1)
try:
    search.wait(search.start(lambda: time.sleep(600)))
except StoreUnavailable as error:
    print(error)
"""


def test_process_ends_while_a_search_hangs() -> None:
    command = [sys.executable, "-c", SCRIPT]
    ended = subprocess.run(
        command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "The vectors do not answer within 0.1 s.\n"
