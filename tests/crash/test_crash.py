"""Recovery from killed processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# `make test-slow` sets 50.
KILLS = int(os.environ.get("KILLS", "8"))


# With 50 kills it takes five minutes on an idle machine; the limit only stops a hang.
@pytest.mark.timeout(1800)
def test_killed_processes_leave_the_content_of_a_clean_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.crash.rounds", str(tmp_path), str(KILLS), "20261"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "RAG_OCR": "off"}
    environment.pop("RAG_DATA_DIR", None)
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # Processes that end before their kill are started in addition.
    assert ended.stdout.startswith(f"{KILLS} of ")
