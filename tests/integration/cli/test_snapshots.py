"""The commands for snapshots, and questions as of a snapshot."""

from __future__ import annotations

from pathlib import Path

from rag_core.cli import app as cli
from tests.support.cli import HARBOUR, QUESTION, Run
from tests.support.pdfs import make_pdf

LATER = make_pdf("The harbour of Brennick was dredged in 1957 by forty men.", "Its lighthouse is painted white.")


def test_snapshot_is_created_asked_and_deleted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "harbour.pdf"
    file.write_bytes(HARBOUR)
    run("add", str(file))
    code, [row], _ = run("snapshot", "create", "before dredging")
    assert code == 0
    assert (row["name"], row["documents"], row["searchable"], row["superseded"]) == ("before dredging", 1, 1, 0)
    file.write_bytes(LATER)
    run("add", str(file))
    _, [listed], _ = run("snapshot", "list")
    assert listed["superseded"] == 1
    for as_of, year in ((["--as-of", "before dredging"], "1931"), (["--as-of", row["as_of"]], "1931"), ([], "1957")):
        _, [answer], _ = run("ask", QUESTION, *as_of)
        assert year in answer["text"]
        assert bool(answer["as_of"]) == bool(as_of)
        _, [found], _ = run("search", QUESTION, *as_of)
        assert year in found["passages"][0]["text"]
        assert found["as_of"] == answer["as_of"]
    _, [shown], _ = run("ask", QUESTION, "--as-of", "before dredging", as_json=False)
    assert shown["shown"].startswith("As of before dredging (")
    questions = tmp_path / "questions.jsonl"
    questions.write_text(f'{{"id": "1", "question": "{QUESTION}", "documents": ["harbour.pdf"]}}\n', "utf-8")
    _, [answer], _ = run("ask", "--questions", str(questions), "--as-of", "before dredging")
    assert "1931" in answer["text"]
    _, [found], _ = run("search", "--questions", str(questions), "--as-of", "before dredging")
    assert found["as_of"] == answer["as_of"] == shown["shown"].splitlines()[0].strip().removeprefix("As of ")
    assert run("snapshot", "delete", "before dredging")[:2] == (0, [{"deleted": "before dredging"}])
    code, rows, error = run("ask", QUESTION, "--as-of", "before dredging")
    assert (code, rows) == (cli.WRONG_USE, [])
    assert error.startswith("No snapshot is named 'before dredging'")


def test_wrong_dates_and_empty_libraries_are_refused(run: Run) -> None:
    code, _, error = run("snapshot", "create", "spring", "--date", "31.3.2026")
    assert code == cli.WRONG_USE
    assert "Write it as YYYY-MM-DD" in error
    code, _, error = run("snapshot", "create", "spring")
    assert code == cli.WRONG_USE
    assert error.startswith("There is no searchable document")
    code, [shown], error = run("snapshot", "list", as_json=False)
    assert code == 0
    assert shown["shown"] == ""
    assert "snapshot create" in error
