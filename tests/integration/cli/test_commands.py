"""Commands: their output and exit codes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4

from rag_core.cli import app as cli
from rag_core.cli import console
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.indexing.removal import Removal
from rag_core.settings import Settings
from rag_core.types.documents import DeleteReceipt
from tests.support.cli import HARBOUR, ORCHARD, QUESTION, ROOT, Run
from tests.support.drawn_pdfs import PROSE, SALES, lines, make, rows
from tests.support.engines import USUAL_RETRIEVERS, read_by_older_parser
from tests.support.pdfs import make_pdf
from tests.support.servers import ScriptedEndpoint, complete

ADDED = {"file", "document_id", "status", "pages", "chunks", "pages_text", "pages_ocr", "pages_empty", "pages_failed",
         "reason", "seconds"}  # fmt: skip


def test_add_reports_each_file(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "deeper").mkdir(parents=True)
    for name, data in {
        "a.pdf": HARBOUR,
        "b.pdf": b"only words",
        "c.pdf": HARBOUR,
        "d.pdf": b"",
        "deeper/e.pdf": ORCHARD,
        "f.zip": b"PK\x03\x04 and nothing more",
    }.items():
        (folder / name).write_bytes(data)
    code, rows, _ = run("add", str(folder))
    assert code == cli.SOME_FAILED
    assert all(set(row) == ADDED for row in rows)
    by_name = {Path(row["file"]).name: row for row in rows}
    assert {name: row["status"] for name, row in by_name.items()} == {
        **{"a.pdf": "indexed", "b.pdf": "rejected", "c.pdf": "duplicate", "d.pdf": "rejected"},
        **{"e.pdf": "indexed", "f.zip": "rejected"},
    }
    assert by_name["a.pdf"]["pages"] == 2
    assert by_name["a.pdf"]["chunks"] == 2
    assert by_name["b.pdf"]["reason"].startswith("b.pdf is not a PDF")
    assert by_name["d.pdf"]["reason"].startswith("d.pdf is empty")
    assert "not a zip archive" in by_name["f.zip"]["reason"]


def test_process_writes_only_json_and_private_files(tmp_path: Path) -> None:
    (tmp_path / "harbour.pdf").write_bytes(HARBOUR)
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    command = [sys.executable, "-m", "rag_core", "--data-dir", str(data), "add", str(tmp_path), "--json"]
    ended = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=True)
    (line,) = ended.stdout.splitlines()
    assert json.loads(line)["status"] == "indexed"
    assert ended.stderr == ""
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [data, *data.rglob("*")]}
    assert len(modes) > 5
    # Windows has other file permissions.
    assert sys.platform == "win32" or {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


def test_outline_lists_the_sections_of_a_document(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    pages = [["ANNUAL REPORT", "The harbour grew."], ["RISK FACTORS", "Storms may come."], "Fog may come too."]
    path.write_bytes(make_pdf(*pages))
    run("add", str(path))
    code, rows, _ = run("outline", "report.pdf")
    assert code == 0
    assert [(row["level"], row["title"], row["page_index"], row["page_index_end"]) for row in rows] == [
        (0, "ANNUAL REPORT", 0, 0),
        (0, "RISK FACTORS", 1, 2),
    ]
    _, (shown,), _ = run("outline", "report.pdf", as_json=False)
    assert shown["shown"].splitlines() == ["ANNUAL REPORT  1", "RISK FACTORS  2"]


def test_list_delete_and_status(run: Run, library: Path) -> None:
    _, rows, _ = run("list")
    assert sorted(row["document"] for row in rows) == ["harbour.pdf", "orchard.pdf"]
    assert all(row["embedder"] == "all-MiniLM-L6-v2" and row["added_at"] for row in rows)
    code, rows, _ = run("delete", "harbour.pdf")
    assert code == 0
    assert rows[0]["document"] == "harbour.pdf"
    assert (rows[0]["chunks_removed"], rows[0]["chunks_remaining"]) == (2, 0)
    code, rows, _ = run("status")
    assert code == 0
    assert rows[0]["healthy"]
    stores = ["database", *(one.store for one in USUAL_RETRIEVERS), "token vectors", "files"]
    assert rows[0]["stores"] == dict.fromkeys(stores, 1)
    _, (row,), _ = run("status", as_json=False)
    assert re.search("^healthy +yes *$", row["shown"], re.MULTILINE)
    shown = ", ".join(f"{one} 1" for one in stores)
    assert re.search(f"^stores +{shown} *$", row["shown"], re.MULTILINE)
    assert "{" not in row["shown"]


def test_status_names_the_command_that_reindexes_documents(run: Run, library: Path, tmp_path: Path) -> None:
    with Engine(Settings(data_dir=tmp_path / "data", _env_file=None)) as engine:
        read_by_older_parser(engine, *engine.documents.find_ids(["harbour.pdf"]))
    code, _, shown = run("status", as_json=False)
    assert code == 0
    assert "1 document was parsed by an older version of Footnote." in shown
    assert "To re-index: python -m rag_core reindex" in shown
    code, rows, _ = run("reindex")
    assert code == 0
    code, rows, _ = run("status")
    assert rows[0]["notices"] == []


def test_deletions_before_a_store_failure_are_reported(
    run: Run, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = Removal.remove_document

    def failing(self: Removal, document_id: str) -> DeleteReceipt:
        if self._stores.documents.name(document_id) == "orchard.pdf":
            raise StoreUnavailable("The vectors do not answer.")
        return remove(self, document_id)

    monkeypatch.setattr(Removal, "remove_document", failing)
    code, rows, errors = run("delete", "harbour.pdf", "orchard.pdf")
    assert (code, errors) == (cli.FAILED, "The vectors do not answer.\n")
    assert [row["document"] for row in rows] == ["harbour.pdf"]


def test_search_returns_scores_and_gate(run: Run, library: Path) -> None:
    code, (row,), _ = run("search", QUESTION, "--top-k", "2")
    assert code == 0
    best = row["passages"][0]
    assert (best["rank"], best["document"], best["page_index"], best["page_label"]) == (1, "harbour.pdf", 0, "1")
    assert {"dense", "bm25", "rerank"} <= set(best["scores"])
    assert row["gate"]["score_name"] == "answerable"
    assert row["gate"]["answerable"]
    assert {"embed", "dense", "lexical", "rerank", "total"} <= set(row["timings_ms"])
    _, (row,), _ = run("search", QUESTION, "--document", "orchard.pdf")
    assert {passage["document"] for passage in row["passages"]} == {"orchard.pdf"}


def test_ask_answers_with_citations_or_abstains(run: Run, library: Path) -> None:
    _, (row,), _ = run("ask", QUESTION)
    assert row["state"] == "answered"
    assert row["generator"] == "extractive"
    assert "1931" in row["citations"][0]["quote"]
    assert all(f"{citation['quote']} [{citation['marker']}]" in row["text"] for citation in row["citations"])
    _, (row,), _ = run("ask", "Which moons circle the planet Jupiter?")
    assert row["state"] == "abstained"
    assert row["citations"] == []
    assert row["passages"]


def test_questions_of_a_file_are_answered_in_order(run: Run, library: Path) -> None:
    file = library.parent / "questions.jsonl"
    questions = [
        {"id": "first", "question": QUESTION},
        {"id": "second", "question": "What is sold in October?", "documents": ["orchard.pdf"]},
        {"id": "third", "question": QUESTION, "documents": ["missing.pdf"]},
        {"id": "fourth", "question": ""},
        {"id": "fifth", "question": "Of what colour is the lighthouse?"},
    ]
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    code, rows, _ = run("ask", "--questions", str(file))
    assert code == cli.SOME_FAILED
    assert [row["id"] for row in rows] == ["first", "second", "third", "fourth", "fifth"]
    assert "quinces" in rows[1]["text"]
    assert "missing.pdf" in rows[2]["error"]
    assert "empty" in rows[3]["error"]
    assert "red" in rows[4]["text"]


def test_reindex_reports_documents_and_reused_embeddings(run: Run, library: Path) -> None:
    code, rows, _ = run("reindex")
    assert code == 0
    assert sorted(row["document"] for row in rows[:-1]) == ["harbour.pdf", "orchard.pdf"]
    assert rows[-1]["embeddings_computed"] == 0
    assert rows[-1]["embeddings_reused"] == rows[-1]["chunks"] == 3
    code, rows, errors = run("reindex", "--chunk-tokens", "250")
    assert (code, rows[-1]["documents"]) == (cli.FAILED, 0)
    assert "RAG_CHUNK_TOKENS" in errors
    code, rows, _ = run("reindex", "--chunk-tokens", "32")
    assert code == 0
    code, (status,), _ = run("status")
    assert code == 0
    assert status["healthy"]
    assert "chunk_tokens" in status["notices"][0]


def test_piped_output_has_one_complete_line_per_row(run: Run, tmp_path: Path) -> None:
    name = f"{'a name longer than a terminal is wide ' * 4}.pdf"
    (tmp_path / name).write_bytes(HARBOUR)
    (tmp_path / "words.pdf").write_bytes(b"only words, which is a reason that is longer than the rest of the line")
    run("add", str(tmp_path / name), str(tmp_path / "words.pdf"), as_json=False)
    _, (shown,), _ = run("list", as_json=False)
    head, *rows = shown["shown"].splitlines()
    assert head.split() == ["document", "pages", "chunks", "status", "added", "at", "reason"]
    assert len(rows) == 2
    assert any(row.startswith(name) for row in rows)
    assert any("Export it as a PDF and add the exported file." in row for row in rows)
    assert all(re.search(r" \d{4}-\d\d-\d\d \d\d:\d\d ", row) for row in rows)
    _, (answer,), _ = run("ask", QUESTION, as_json=False)
    shown_lines = answer["shown"].splitlines()
    assert "The harbour of Brennick was dredged in 1931 by forty men. [1]" in shown_lines
    assert f"[1] {name} p. 1" in shown_lines
    assert "rerank" in run("search", QUESTION, as_json=False)[1][0]["shown"]


def test_long_name_is_wrapped_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{'abcdefghij' * 12}.pdf"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        patch.setenv("COLUMNS", "60")
        console.print_table([{"document": name, "pages": 1}], ("document", "pages"), numeric=("pages",))
    lines = capsys.readouterr().out.splitlines()
    assert all(len(re.sub("\x1b\\[[0-9;]*m", "", line)) <= 60 for line in lines)
    assert "".join(line.split()[0] for line in lines[1:]) == name


def test_empty_library_is_reported(run: Run) -> None:
    assert run("list", as_json=False) == (
        0,
        [{"shown": ""}],
        "The library is empty. Use the command add to add documents.\n",
    )
    assert run("list") == (0, [], "")
    assert run("watch") == (0, [], "")
    assert "No folder is watched" in run("watch", as_json=False)[2]


def test_help_lists_the_commands_and_omits_values_of_flags(run: Run) -> None:
    _, (row,), _ = run("add", "--help", as_json=False)
    assert "--json " in row["shown"]
    assert "<bool>" not in row["shown"]
    code, (row,), error = run("--help", as_json=False)
    assert (code, error) == (0, "")
    for command in ("add", "list", "delete", "search", "ask", "reindex", "status"):
        assert command in row["shown"]
    assert not re.search(r"^  .*\.\.\.$", row["shown"], re.MULTILINE)


def test_interrupt_during_imports_is_reported_in_one_line(tmp_path: Path) -> None:
    """The imports take seconds; a module that raises the interrupt simulates a key pressed in that time."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    search = os.pathsep.join([str(tmp_path), str(ROOT)])
    command = [sys.executable, "-m", "rag_core", "list"]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (cli.FAILED, "")
    assert len(ended.stderr.splitlines()) == 1


def test_usage_is_reported_with_answer_and_in_status(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = complete("It was dredged in 1931 [1].", tokens=(900, 12))
    with ScriptedEndpoint(answer) as endpoint:
        monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
        monkeypatch.setenv("RAG_PRICE", "0/100 USD")
        _, [row], _ = run("ask", QUESTION)
        usage = {"calls": 1, "input_tokens": 900, "output_tokens": 12, "estimated": False, "cost": 0.0012}
        assert row["usage"] == usage | {"currency": "USD"}
        _, [shown], _ = run("ask", QUESTION, as_json=False)
        assert "The model used 900 tokens in, 12 out, 0.0012 USD" in shown["shown"]
    _, [status], _ = run("status")
    assert status["usage"][0]["generator"] == "openai:small"
    assert status["usage"][0]["usage"]["calls"] == 2
    _, [table], _ = run("status", as_json=False)
    assert "2 calls, 1,800 tokens in, 24 out" in table["shown"]


def test_model_and_instructions_of_a_question(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, rows, errors = run("ask", QUESTION, "--model", "other")
    assert (code, rows) == (cli.WRONG_USE, [])
    assert "no endpoint is connected" in errors
    with ScriptedEndpoint(complete("It was dredged in 1931 [1].")) as endpoint:
        monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
        code, [row], _ = run("ask", QUESTION, "--model", "other", "--instructions", "Answer in German.")
        assert (code, row["generator"], endpoint.requests[0]["model"]) == (0, "openai:other", "other")
        assert "<wishes>\nAnswer in German.\n</wishes>" in endpoint.requests[0]["messages"][-1]["content"]
        code, [row], _ = run("ask", QUESTION, "--model", "quotes")
        assert (code, row["generator"], len(endpoint.requests)) == (0, "extractive", 1)
        code, rows, errors = run("ask", QUESTION, "--instructions", "x" * 1001)
        assert (code, rows, len(endpoint.requests)) == (cli.WRONG_USE, [], 1)
        assert "the limit is 1,000" in errors


def test_strategy_reports_steps_and_usage(run: Run, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, rows, errors = run("ask", QUESTION, "--strategy", "queries")
    assert (code, rows) == (cli.WRONG_USE, [])
    assert "RAG_OPENAI_MODEL" in errors
    script = complete("works in Brennick harbour"), complete("It was dredged in 1931 [1].")
    with ScriptedEndpoint(*script) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "scripted")
        code, [row], _ = run("ask", QUESTION, "--strategy", "queries")
        assert (code, row["strategy"], row["usage"]["calls"]) == (0, "queries", 2)
        assert row["steps"] == [f"Searched for “{QUESTION}”", "Searched for “works in Brennick harbour”"]
        assert row["citations"][0]["document"] == "harbour.pdf"
        endpoint.script = [complete("works in Brennick harbour")]
        code, [row], _ = run("search", QUESTION, "--strategy", "queries")
        assert (code, row["usage"]["calls"], len(row["steps"])) == (0, 1, 2)
        code, [shown], _ = run("search", QUESTION, "--strategy", "queries", as_json=False)
        assert "Searched for “works in Brennick harbour”" in shown["shown"]
        code, rows, errors = run("search", QUESTION, "--strategy", "summary")
        assert (code, rows) == (cli.WRONG_USE, [])
        assert "Ask for it instead" in errors
        assert run("search", QUESTION, "--strategy", "magic")[0] == cli.WRONG_USE


def test_collection_is_searched_alone(run: Run, library: Path) -> None:
    assert "collection" not in run("list", as_json=False)[1][0]["shown"]
    code, rows, _ = run("move", "orchard.pdf", "--collection", "Fruit")
    assert (code, [row["collection"] for row in rows]) == (0, ["Fruit"])
    assert "Fruit" in run("list", as_json=False)[1][0]["shown"]
    _, (evaluation,), _ = run("search", QUESTION, "--collection", "Fruit")
    assert {passage["document"] for passage in evaluation["passages"]} == {"orchard.pdf"}
    _, (evaluation,), _ = run("search", QUESTION, "--collection", "Fruit", "--document", "harbour.pdf")
    assert {passage["document"] for passage in evaluation["passages"]} == {"orchard.pdf", "harbour.pdf"}
    code, _, error = run("ask", QUESTION, "--collection", "Vegetables")
    assert (code, "collection named 'Vegetables'" in error) == (cli.WRONG_USE, True)


def test_pages_show_the_text_of_each_page(run: Run, library: Path) -> None:
    for words, expected in ((["harbour.pdf", "--page", "3"], "its last page is 2"), (["other.pdf"], "other.pdf")):
        code, rows, error = run("pages", *words)
        assert (code, rows, expected in error) == (cli.WRONG_USE, [], True)
    code, rows, _ = run("pages", "harbour.pdf")
    assert code == 0
    assert [(row["document"], row["page_index"], row["page_label"], row["state"]) for row in rows] == [
        ("harbour.pdf", 0, "1", "text"),
        ("harbour.pdf", 1, "2", "text"),
    ]
    assert "dredged in 1931" in rows[0]["text"]
    assert run("pages", "harbour.pdf", "--page", "2")[1] == rows[1:]
    assert "painted red" in run("pages", "harbour.pdf", "--page", "2", as_json=False)[1][0]["shown"]


def test_pages_on_the_command_line_contain_tables(run: Run, tmp_path: Path) -> None:
    make(
        tmp_path / "sales.pdf",
        lines(*PROSE),
        lambda canvas: (lines("Sales (in millions)", top=620)(canvas), rows(*SALES)(canvas)),
    )
    assert run("add", str(tmp_path / "sales.pdf"))[0] == 0
    _, (first, second), _ = run("pages", "sales.pdf")
    assert first["tables"] == []
    (table,) = second["tables"]
    assert table["rows"] == [list(row) for row in SALES]
    assert (table["header_rows"], table["unit"], table["title"]) == (1, "(in millions)", "Sales (in millions)")
    assert (table["sections"], table["first_page"]) == ([[], [], []], 1)
    assert table["boxes"][0][0] is None
    x0, y0, x1, y1 = table["boxes"][1][2]
    assert 0.6 < x0 < x1 < 0.7
    assert y0 < 1 - 586 / A4[1] < y1
    assert run("pages", "sales.pdf", "--page", "2")[1] == [second]


def test_check_compares_statements_with_the_documents(run: Run, library: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text("# Harbour\n\nThe harbour of Brennick was dredged in 1987. It has 4,711 berths.\n")
    code, rows, _ = run("check", "--text", str(draft), "--document", "harbour.pdf")
    assert code == 0
    assert [row["id"] for row in rows] == ["1", "2"]
    assert rows[1]["verdict"] == "not_supported"
    assert rows[1]["reason"] == "not found in the sources: 4,711 berths"
    assert all(row["citation"] is None or row["citation"]["document"] == "harbour.pdf" for row in rows)


def test_check_compares_pairs_without_a_document(run: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    source = "The fee of the ferry is 500 crowns for a car."
    said = ("The fee of the ferry is 500 crowns for a car.", "The fee of the ferry is 600 crowns for a car.")
    lines = [json.dumps({"id": str(place), "statement": one, "source": source}) for place, one in enumerate(said)]
    pairs.write_text("\n".join(lines))
    code, rows, _ = run("check", "--pairs", str(pairs))
    assert code == 0
    assert [(row["id"], row["verdict"], row["reason"]) for row in rows] == [
        ("0", "supported", ""),
        ("1", "contradicted", "differs from the source: 500 crowns"),
    ]
    assert {tuple(row["citation"]) for row in rows} == {("quote",)}


@pytest.mark.parametrize("line", ['{"id": "1"}', "no json"])
def test_check_names_the_line_that_is_wrong(run: Run, tmp_path: Path, line: str) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(line)
    code, _, error = run("check", "--pairs", str(pairs))
    assert code == cli.WRONG_USE
    assert f'Line 1 of {pairs} is not a JSON object with the texts "id", "statement" and "source"' in error
