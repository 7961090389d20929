"""Commands use the running application, which has the data folder open."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.support.api import ServedApp
from tests.support.cli import HARBOUR, QUESTION, Run, run_command
from tests.support.engines import add_document, opened
from tests.support.pdfs import make_pdf
from tests.support.servers import complete


@pytest.fixture
def run(app: ServedApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command on the folder of the running app."""
    return partial(run_command, app.folder, monkeypatch, capsys)


def test_questions_are_answered_by_the_running_app(app: ServedApp, run: Run, tmp_path: Path) -> None:
    app.play(complete("It was dredged in 1931 [1]. It closed in 1988."))
    code, (row,), _ = run("ask", QUESTION)
    assert (code, row["id"], row["generator"], row["text"][:27]) == (
        0,
        None,
        "openai:small",
        "It was dredged in 1931 [1].",
    )
    assert "link" not in row["citations"][0]
    code, ((text),), _ = run("ask", QUESTION, as_json=False)
    for words in ("It was dredged in 1931 [1].", "not found in the sources", "[1] harbour.pdf p. 1: “The harbour"):
        assert words in text["shown"], text
    code, (row,), _ = run("search", QUESTION, "--top-k", "1")
    assert (code, [one["document"] for one in row["passages"]]) == (0, ["harbour.pdf"])
    file = tmp_path / "questions.jsonl"
    lines = [{"id": "a", "question": QUESTION}, {"id": "b", "question": QUESTION, "documents": ["none.pdf"]}]
    file.write_text("\n".join(map(json.dumps, lines)))
    code, rows, _ = run("search", "--questions", str(file))
    assert (code, [row["id"] for row in rows], "none.pdf" in rows[1]["error"]) == (3, ["a", "b"], True)
    code, _, problem = run("search", QUESTION, "--document", "none.pdf")
    assert (code, "No document is named 'none.pdf'" in problem) == (2, True)


def test_files_are_added_listed_and_counted_by_the_running_app(app: ServedApp, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "ships"
    folder.mkdir()
    for name, data in (("a.pdf", make_pdf("The ship Anna sank.")), ("b.pdf", HARBOUR), ("c.pdf", b"no PDF")):
        (folder / name).write_bytes(data)
    code, rows, _ = run("add", str(folder), "--collection", "ships")
    assert code == 3
    assert [(Path(row["file"]).name, row["status"]) for row in rows] == [
        ("a.pdf", "indexed"),
        ("b.pdf", "duplicate"),
        ("c.pdf", "rejected"),
    ]
    code, listed, _ = run("list")
    assert code == 0
    assert [row["document"] for row in listed if row["collection"] == "ships"] == ["c.pdf", "a.pdf"]
    code, (status,), _ = run("status")
    assert (code, status["healthy"], status["counts"]["documents"]) == (
        0,
        True,
        len({one["document_id"] for one in listed}),
    )
    assert "added" in run("list", as_json=False)[1][0]["shown"]
    assert "healthy" in run("status", as_json=False)[1][0]["shown"]
    for row in rows:
        if row["status"] != "duplicate":
            app.http.delete(f"documents/{row['document_id']}")


def test_library_of_the_running_app_is_backed_up_exported_and_imported(
    app: ServedApp, run: Run, tmp_path: Path
) -> None:
    code, (row,), _ = run("backup", str(tmp_path / "backup"))
    assert (code, row["missing"], row["files"] >= 2) == (0, [], True)
    assert "not an empty folder" in run("backup", str(tmp_path / "backup"))[2]
    code, _, problem = run("restore", str(tmp_path / "backup"))
    assert (code, "is in use by another Footnote process" in problem) == (1, True)
    (tmp_path / "backup.zip").write_bytes(app.http.get("backup").content)
    code, _, problem = run("--data-dir", str(tmp_path / "data"), "restore", str(tmp_path / "backup.zip"))
    assert code == 0, problem
    with opened(tmp_path / "data") as engine:
        assert {"harbour.pdf", "orchard.pdf"} <= {one.name for one in engine.documents.list()}
        assert "1931" in engine.answer(QUESTION, model="").text
        add_document(engine, "quarry.pdf", make_pdf("The quarry of Lunde yields slate."))
        file = tmp_path / "other.zip"
        file.write_bytes(b"".join(engine.transfers.export_library()))
    assert (run("export", str(tmp_path / "mine.zip"))[0], (tmp_path / "mine.zip").stat().st_size > 1000) == (0, True)
    assert "exists already" in run("export", str(tmp_path / "mine.zip"))[2]
    code, rows, _ = run("import", str(file))
    assert (code, rows[-1]["conversations"]) == (0, 0)
    statuses = {row["file"]: row["status"] for row in rows[:-1]}
    known = {"harbour.pdf": "duplicate", "orchard.pdf": "duplicate", "quarry.pdf": "indexed"}
    assert statuses.items() >= known.items()
    (quarry,) = (one for one in app.http.get("documents").json()["documents"] if one["document"] == "quarry.pdf")
    app.http.delete(f"documents/{quarry['document_id']}")
    file.write_bytes(b"no zip")
    assert "cannot be imported" in run("import", str(file))[2]
    assert "python -m rag_core --data-dir NEW-FOLDER restore FILE" in run("import", str(tmp_path / "backup.zip"))[2]
    for data, words in ((b"no zip", "Nothing was imported"), ((tmp_path / "backup.zip").read_bytes(), "is a backup")):
        reply = app.http.post("import", files={"file": ("x.zip", data)})
        assert (reply.status_code, words in reply.json()["detail"]) == (422, True)


def test_other_commands_say_that_the_app_uses_the_folder(run: Run) -> None:
    code, _, problem = run("delete", "harbour.pdf")
    assert (code, "is in use by another Footnote process" in problem) == (1, True)
