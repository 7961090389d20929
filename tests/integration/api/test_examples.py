"""The examples of the documentation run against the app."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.api import ServedApp
from tests.support.cli import HARBOUR, ORCHARD, ROOT
from tests.support.environment import INDEPENDENT
from tests.support.servers import complete

PAGE = ROOT / "docs" / "api.md"
EXAMPLE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_examples_of_the_page_run_in_their_order(
    app: ServedApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app.play(complete("It was dredged in 1931 [1]."))
    (tmp_path / "papers").mkdir()
    for name, data in (("harbour.pdf", HARBOUR), ("orchard.pdf", ORCHARD)):
        (tmp_path / "papers" / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    variables = {"RAG_DATA_DIR": str(app.folder), "PYTHONPATH": str(ROOT)}
    known: dict[str, object] = {}
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    assert len(examples) > 2
    for language, code in examples:
        code = code.replace("http://localhost:8501", app.address)
        if language == "python":
            # The browser tests leave an event loop in the main thread.
            with ThreadPoolExecutor(1) as executor:
                executor.submit(exec, code, known).result()
        elif language == "bash":
            run = subprocess.run(
                ["bash", "-euc", f'python() {{ "{sys.executable}" "$@"; }}\n{code}'],
                env={**os.environ, **INDEPENDENT, **variables},
                capture_output=True,
                text=True,
            )
            assert run.returncode == 0, run.stderr
            print(run.stdout)
    for value in known.values():
        if isinstance(value, httpx.Client):
            value.close()
    shown = capsys.readouterr().out
    assert "answered It was dredged in 1931 [1]." in shown
    assert f"1 harbour.pdf 1 The harbour of Brennick was dredged in 1931 by forty men. {app.address}" in shown
    assert "footnote_" in shown
    assert "notes: revoked" in shown
    assert "404 That document is no longer in the library" in shown
