"""The cores and the memory of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core import system


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not confine processes to cores")
def test_only_cores_of_the_process_are_counted() -> None:
    confined = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    code = confined + "from rag_core.system import count_available_cores; print(count_available_cores())"

    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert run.stdout.split() == ["1"]


@pytest.mark.skipif(sys.platform != "linux", reason="the file exists on Linux only")
@pytest.mark.parametrize(("limit", "is_limited"), [("1000000\n", True), ("max\n", False), (f"{1 << 62}\n", False)])
def test_memory_is_that_of_the_machine_or_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, is_limited: bool
) -> None:
    (tmp_path / "limit").write_text(limit)
    monkeypatch.setattr(system, "_MEMORY_LIMITS", (tmp_path / "missing", tmp_path / "limit"))
    (total,) = [line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line]
    assert system.read_total_memory() == (1_000_000 if is_limited else int(total) * 1024)


def test_unknown_memory_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf_names", {})
    assert system.read_total_memory() is None
