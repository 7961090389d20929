"""The path of modules, which runs of pages must not change while other threads import."""

from __future__ import annotations

import subprocess
import sys

from tests.support.cli import ROOT

PROGRAM = """
import sys
import app
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
before = list(sys.path)
with modified_sys_path("pages/main.py"):
    print(sys.path == before)
"""


def test_run_of_a_page_leaves_the_path_of_modules_alone() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.stdout.splitlines()[-1:] == ["True"], ended.stderr
