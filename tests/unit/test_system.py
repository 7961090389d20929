"""The number of available cores."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not confine processes to cores")
def test_only_cores_of_the_process_are_counted() -> None:
    confined = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    code = confined + "from rag_core.system import available_cores; print(available_cores())"

    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert run.stdout.split() == ["1"]
