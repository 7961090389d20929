"""A process that is killed loses nothing and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# `make test-slow` sets 50.
KILLS = int(os.environ.get("KILLS", "12"))


# Six minutes alone and more than twice that beside others: against a hang, not a measure.
@pytest.mark.timeout(1800)
def test_after_a_kill_at_any_moment_the_stores_come_to_what_a_clean_run_leaves(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.crash.rounds", str(tmp_path), str(KILLS), "20261"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "RAG_OCR": "off"}
    environment.pop("RAG_DATA_DIR", None)
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # More processes are started than killed, where one ends before its moment comes.
    assert ended.stdout.startswith(f"{KILLS} of ")
