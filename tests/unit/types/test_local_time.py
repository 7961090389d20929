"""Tests of days and times of the machine's time zone, each in a process with that zone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import sys
from datetime import UTC, date, datetime, timedelta
from rag_core.types.local_time import compute_end_of_day, compute_start_of_day, get_today, to_local_time
from rag_core.types.snapshots import Snapshot
day = date.fromisoformat(sys.argv[1])
print(compute_start_of_day(day).isoformat(), compute_end_of_day(day).isoformat(timespec="seconds"))
print(Snapshot("", "x", "", compute_end_of_day(day), datetime.now(UTC), 0, 0, 0).label)
assert get_today() == to_local_time(datetime.now(UTC)).date()
"""


@pytest.mark.parametrize(
    ("zone", "day", "start", "end"),
    [
        ("Asia/Tokyo", "2025-04-01", "2025-03-31T15:00:00", "2025-04-01T14:59:59"),
        ("America/Los_Angeles", "2025-03-09", "2025-03-09T08:00:00", "2025-03-10T06:59:59"),
        ("America/Los_Angeles", "2025-11-02", "2025-11-02T07:00:00", "2025-11-03T07:59:59"),
        ("Europe/Berlin", "2025-03-30", "2025-03-29T23:00:00", "2025-03-30T21:59:59"),
    ],
)
def test_day_begins_and_ends_by_the_clock_of_the_machine(zone: str, day: str, start: str, end: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, day], cwd=ROOT, env={**os.environ, "TZ": zone}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    times, label = run.stdout.splitlines()
    assert times == f"{start}+00:00 {end}+00:00"
    assert int(label.split("(")[1].split()[0]) == int(day[-2:])
