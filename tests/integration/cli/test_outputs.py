"""Commands whose output is closed or no longer read."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.progress import Progress

from rag_core.api import json_rows
from rag_core.cli import app as cli
from rag_core.cli.console import JobBars, print_answer
from rag_core.types.answers import Answer, AnswerState, Citation
from rag_core.types.cited_tables import CitedTable
from rag_core.types.jobs import Job, JobState
from rag_core.types.retrieval import Gate
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.cli import ROOT, Run


def shell(data: Path, words: str, redirected: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell with redirected streams."""
    command = f"{shlex.quote(sys.executable)} -m rag_core --data-dir {shlex.quote(str(data))} {words} {redirected}"
    return subprocess.run(["sh", "-c", command], cwd=ROOT, env=dict(os.environ), capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "redirected", "code"),
    [("list --json", "2>&-", 0), ("delete gone.pdf", "<&- >&- 2>&-", cli.WRONG_USE)],
)
def test_closed_output_behaves_like_the_null_device(
    library: Path, tmp_path: Path, words: str, redirected: str, code: int
) -> None:
    ended = shell(tmp_path / "data", words, redirected)
    assert (ended.returncode, ended.stderr) == (code, "")
    assert ("harbour.pdf" in ended.stdout) == (redirected == "2>&-")


def test_add_with_closed_output_stores_everything(library: Path, tmp_path: Path, run: Run) -> None:
    (library / "note.pdf").write_bytes((library / "harbour.pdf").read_bytes() + b"\n")
    assert shell(tmp_path / "data", f"add {shlex.quote(str(library / 'note.pdf'))}", "<&- >&- 2>&-").returncode == 0
    _, rows, _ = run("list")
    assert {row["document"] for row in rows} == {"harbour.pdf", "orchard.pdf", "note.pdf"}
    assert run("status")[0] == 0


@pytest.mark.parametrize(("words", "closed"), [("list", "stdout"), ("delete gone.pdf", "stderr")])
def test_closed_reader_ends_a_command_silently(library: Path, tmp_path: Path, words: str, closed: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "rag_core", "--data-dir", str(tmp_path / "data"), *words.split()]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writing}
    with os.fdopen(writing):
        ended = subprocess.run(command, cwd=ROOT, env=dict(os.environ), text=True, **streams)  # type: ignore[call-overload]
    assert ended.returncode == cli.SIGPIPE_STATUS
    assert not ended.stdout
    assert not ended.stderr


def test_output_to_head_has_complete_lines(library: Path, tmp_path: Path) -> None:
    ended = shell(tmp_path / "data", "list --json", "| head -n 1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("\n") == 1


def test_cited_rows_are_printed_with_their_header(capsys: pytest.CaptureFixture[str]) -> None:
    header = TableRow((TableCell("2023", (), 1, is_header=True), TableCell("2022", (), 2, is_header=True)))
    cells = (
        TableCell("Net [sales]", ((0, 11),), 0),
        TableCell("3,642", ((12, 17),), 1),
        TableCell("7", ((18, 19),), 2),
    )
    table = Table((header, TableRow(cells)), 1, ((0.0, 1.0),) * 3, unit="(in millions)")
    row = Citation(1, 1, "d", "v", "a.pdf", "5", 0, "iv", "Net [sales] 3,642 7", 0, 19)
    answer = Answer(
        question="Q?",
        state=AnswerState.ANSWERED,
        text="**3,642** · net [b]sales[/b] [1]\n\n| A | B |\n|---|---|\n| x | y [1] |",
        citations=(row, row),
        passages=(),
        gate=Gate("rerank", 1.0, 0.5, True),
        generator="extractive",
        timings_ms={},
        short="3,642",
        tables=(CitedTable(1, "v", 0, table, (12,)),),
    )
    print_answer(json_rows.build_answer_row(answer, None), answer)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    value, *rest = [line for line in lines if line]
    assert value == "3,642 · net [b]sales[/b] [1]"
    assert rest == ["A B", "x y [1]", "(in millions)", "2023 2022", "Net [sales] 3,642 7", "[1] a.pdf p. iv"]


def test_progress_says_what_a_job_waits_for() -> None:
    reason = "Waiting for Chroma at localhost:8000."
    job = Job("1", "index", "a.pdf", None, JobState.RUNNING, "embedding", 3, 8, None, reason, 1.0, None, {})
    progress = Progress()
    JobBars(progress).show(job)
    assert progress.tasks[0].fields["stage"] == reason
