"""A model out of a GGUF file, in this process."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from rag_core.errors import GeneratorError, GeneratorUnavailable
from rag_core.llm.generator import LanguageModel
from rag_core.llm.gguf import GgufServer
from rag_core.settings import Settings
from rag_core.types import AnswerState
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened
from tests.support.servers import MODEL_FILE

SMALL = {"gguf_threads": 1, "openai_context_tokens": 1024, "openai_answer_tokens": 24, "openai_timeout_s": 200.0}
ASKED = [{"role": "user", "content": "Count from one to five."}]


def settings(path: Path) -> Settings:
    return Settings(_env_file=None, gguf=path, **SMALL)


def test_it_is_loaded_when_first_needed_and_freed_when_closed() -> None:
    server = GgufServer(settings(MODEL_FILE))
    assert server._server is None
    address = server.start()
    assert server.start() == address
    server.stop()
    assert server._server is None


def test_other_programs_are_kept_out() -> None:
    server = GgufServer(settings(MODEL_FILE))
    url, _ = server.start()
    body = b'{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}'
    with pytest.raises(OSError, match="401"):
        urlopen(Request(f"{url}/chat/completions", body, {"Authorization": "Bearer guessed"}))
    server.stop()


def test_a_prompt_beyond_its_context_names_the_setting() -> None:
    made = LanguageModel(settings(MODEL_FILE))
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_CONTEXT_TOKENS"):
        made.complete([{"role": "user", "content": "word " * 3000}])
    made.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"", "is not a GGUF file"),
        (b"%PDF-1.7", "is not a GGUF file"),
        (MODEL_FILE.read_bytes()[:100_000], "could not be loaded"),
    ],
)
def test_a_file_that_is_no_model(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    made = LanguageModel(settings(path))
    for _ in range(2):
        with pytest.raises(GeneratorUnavailable, match=said) as caught:
            made.complete(ASKED)
        assert f"RAG_GGUF={path}" in str(caught.value)


def test_without_the_package_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else real(name))
    with pytest.raises(GeneratorError, match=r"pip install -r requirements-gguf\.txt"):
        LanguageModel(settings(MODEL_FILE)).complete(ASKED)


def test_it_answers_in_the_engine_and_its_key_is_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: "the-key-of-this-process")
    with opened(tmp_path / "data", gguf=MODEL_FILE, **SMALL) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        name = f"gguf:{MODEL_FILE.stem}"
        status = engine.status()
        assert (status.generator, engine.models.current, engine.models.list()) == (
            name,
            MODEL_FILE.stem,
            [MODEL_FILE.stem],
        )
        assert [(one.generator, one.usage.calls, one.usage.estimated) for one in status.usage] == [(name, 1, False)]
        assert answer.usage == status.usage[0].usage
    assert "the-key-of-this-process" not in caplog.text + repr(answer) + repr(status)


def test_a_file_that_is_gone_leaves_a_quoted_answer_a_notice_and_a_problem(tmp_path: Path) -> None:
    with opened(tmp_path / "data", gguf=tmp_path / "gone.gguf") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        assert (answer.state, answer.generator) == (AnswerState.ANSWERED, "extractive")
        assert any("gone.gguf" in notice and "Quoted from the documents" in notice for notice in answer.notices)
        assert any("gone.gguf" in problem for problem in engine.status().problems)
