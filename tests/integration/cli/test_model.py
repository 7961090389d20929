"""``model``: the catalogue, downloads, and the test of the model in use."""

from __future__ import annotations

import importlib.util
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.cli import app as cli
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types.status import ModelChoice
from tests.support.cli import ROOT, Run
from tests.support.file_server import FileServer, write_catalogue
from tests.support.servers import MODEL_FILE, ScriptedEndpoint, complete, serving

LISTED = {"name", "file", "in_use", "downloaded", "downloaded_bytes", "bytes", "memory_bytes", "licence", "url",
          "sha256", "capability", "fits", "reason"}  # fmt: skip


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Serve a file, and let the catalogue contain only this file."""
    with FileServer(MODEL_FILE.read_bytes()[:300_000]) as server:
        file = write_catalogue(tmp_path / "catalogue.toml", server.model())
        monkeypatch.setenv("RAG_MODEL_CATALOGUE", str(file))
        yield server


def test_catalogue_is_listed_without_a_data_folder(run: Run, tmp_path: Path) -> None:
    code, rows, _ = run("model", "list")
    assert code == 0
    assert not (tmp_path / "data").exists()
    assert all(set(row) == LISTED for row in rows)
    assert {row["downloaded"] for row in rows} == {False}
    _, (table,), _ = run("model", "list", as_json=False)
    assert all(row["name"] in table["shown"] and row["licence"] in table["shown"] for row in rows)


def test_interrupted_download_is_listed_and_continued(run: Run, server: FileServer, tmp_path: Path) -> None:
    server.sends_at_most = 150_000
    code, rows, problem = run("model", "add", "tiny")
    assert (code, rows) == (cli.FAILED, [])
    assert "It continues after the first" in problem
    _, (row,), _ = run("model", "list")
    assert not row["downloaded"]
    assert 0 < row["downloaded_bytes"] <= 150_000
    assert f"{row['downloaded_bytes'] / 300_000:.0%}" in run("model", "list", as_json=False)[1][0]["shown"]

    server.sends_at_most = None
    code, (row,), _ = run("model", "add", "tiny")
    assert (code, row["name"], row["bytes"], row["package_installed"]) == (0, "tiny", 300_000, True)
    assert Path(row["file"]) == tmp_path / "data" / "models" / "tiny.gguf"
    assert Path(row["file"]).read_bytes() == server.content
    assert stat.S_IMODE(Path(row["file"]).stat().st_mode) & 0o077 == 0
    assert run("model", "list")[1][0]["downloaded"]


def test_add_says_how_to_use_the_model(
    run: Run, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, (output,), note = run("model", "add", "tiny", as_json=False)
    path = tmp_path / "data" / "models" / "tiny.gguf"
    assert code == 0
    assert str(path) in output["shown"]
    assert f"RAG_GGUF={path}" in note
    assert "pip install" not in note
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else find_spec(name))
    assert f"-m pip install -r {ROOT / 'requirements-gguf.txt'}" in run("model", "add", "tiny", as_json=False)[2]


def test_interrupt_from_the_keyboard_says_how_to_continue(
    run: Run, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rag_core.llm.model_download._check_offset", interrupt)
    code, _, problem = run("model", "add", "tiny")
    assert code == cli.FAILED
    assert "Run model add tiny again" in problem


def test_model_in_use_is_tested(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("model", "test")[0] == cli.WRONG_USE
    with ScriptedEndpoint(serving("small", answer=complete("one ", "two"))) as endpoint:
        monkeypatch.setenv("RAG_OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
        code, rows, _ = run("model", "test")
        assert code == 0
        assert [set(row) for row in rows] == [{"check", "passed", "reason", "capability"}] * len(rows)
        assert {"Reachable", "Model", "Streaming"} <= {row["check"] for row in rows if row["passed"]}
        assert "Reachable: passed. " in run("model", "test", as_json=False)[1][0]["shown"]
        endpoint.restart(lambda exchange: exchange.error(401))
        code, rows, _ = run("model", "test")
        assert code == cli.FAILED
        assert [(row["check"], row["passed"]) for row in rows] == [("Key", False)]


def test_downloaded_model_is_used_and_listed(run: Run, server: FileServer, tmp_path: Path) -> None:
    file = tmp_path / "data" / "models" / "tiny.gguf"
    code, _, problem = run("model", "use", "tiny")
    assert code == cli.WRONG_USE
    assert "tiny is not downloaded. Download it first: model add tiny" in problem
    code, _, problem = run("model", "add", "huge")
    assert (code, "It has: tiny." in problem) == (cli.WRONG_USE, True)
    run("model", "add", "tiny")
    assert [row["in_use"] for row in run("model", "list")[1]] == [False]
    assert "answers are quoted" in run("model", "list", as_json=False)[2]

    assert run("model", "use", "tiny")[:2] == (0, [{"model": "tiny", "file": str(file), "capability": "small"}])

    assert [row["in_use"] for row in run("model", "list")[1]] == [True]
    assert run("model", "list", as_json=False)[2] == ""
    assert run("status")[1][0]["generator"] == "gguf:tiny"


def test_gguf_file_is_used_by_its_path(
    run: Run, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    assert run("model", "use", "own.gguf", as_json=False)[1][0]["shown"] == (
        f"All answers now use {tmp_path / 'own.gguf'} (capability: small)\n"
    )
    assert f"In use: {tmp_path / 'own.gguf'}" in run("model", "list", as_json=False)[2]
    code, _, problem = run("model", "use", str(tmp_path / "gone.gguf"))
    assert code == cli.FAILED
    assert "gone.gguf cannot be read" in problem
    assert "own.gguf" in run("model", "list", as_json=False)[2]


def test_model_of_the_environment_cannot_be_replaced(
    run: Run, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, _, problem = run("model", "use", "tiny")
    assert code == cli.WRONG_USE
    assert "The environment sets the language model. Unset RAG_OPENAI_…" in problem
    assert "In use: http://127.0.0.1:9/v1" in run("model", "list", as_json=False)[2]


def test_models_are_listed_while_another_process_has_the_data_folder_open(
    run: Run, server: FileServer, tmp_path: Path
) -> None:
    run("model", "add", "tiny")
    with Engine(load_settings(data_dir=tmp_path / "data")) as engine:
        engine.models.connect(ModelChoice("gguf", gguf=str(engine.model_downloads.find_file("tiny"))))
        assert [row["in_use"] for row in run("model", "list")[1]] == [True]
        assert run("model", "use", "tiny")[0] == cli.FAILED
