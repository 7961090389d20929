"""A language model from a GGUF file, run in this process."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from rag_core.errors import GeneratorError, GeneratorUnavailable
from rag_core.llm.generator import LanguageModel
from rag_core.llm.gguf import GgufServer
from rag_core.llm.tool_calls import Tool, parse_arguments
from rag_core.settings import Settings
from rag_core.types.answers import AnswerState
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, opened
from tests.support.servers import MODEL_FILE

SMALL = {"openai_context_tokens": 1024, "openai_answer_tokens": 24, "openai_timeout_s": 200.0}
MESSAGES = [{"role": "user", "content": "Count from one to five."}]


def settings(path: Path) -> Settings:
    return Settings(_env_file=None, gguf=path, **SMALL)


def test_model_is_loaded_when_needed_and_freed_when_closed() -> None:
    server = GgufServer(settings(MODEL_FILE))
    assert server._server is None
    address = server.start()
    assert server.start() == address
    server.stop()
    assert server._server is None


def test_server_requires_its_key() -> None:
    server = GgufServer(settings(MODEL_FILE))
    url, _ = server.start()
    body = b'{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}'
    with pytest.raises(OSError, match="401"):
        urlopen(Request(f"{url}/chat/completions", body, {"Authorization": "Bearer guessed"}))
    server.stop()


def test_prompt_beyond_the_context_names_the_setting() -> None:
    model = LanguageModel(settings(MODEL_FILE))
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_CONTEXT_TOKENS"):
        model.complete([{"role": "user", "content": "word " * 3000}])
    model.close()


def test_images_and_offered_tools_are_left_out() -> None:
    model = LanguageModel(settings(MODEL_FILE))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    content = [{"type": "text", "text": "Count from one to five."}, image]
    stream = model.stream_reply([{"role": "user", "content": content}], tools=[Tool("finish", "End.", {})])
    assert "".join(stream).strip()
    assert stream.calls == ()
    model.close()


def test_calls_of_tools_follow_their_schema() -> None:
    model = LanguageModel(settings(MODEL_FILE).model_copy(update={"openai_answer_tokens": 200}))
    tools = [Tool("finish", "End.", {}), Tool("search", "Search.", {"query": "Words."}, ("query",))]
    messages = [{"role": "system", "content": "Use tools."}, {"role": "user", "content": "How tall is the tower?"}]
    reply = model.call_tools(messages, tools)
    (call,) = reply.calls
    assert set(parse_arguments(call, next(one for one in tools if one.name == call.name))) <= {"query"}
    assert model.tools_problem == ""
    model.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"", "is not a GGUF file"),
        (b"%PDF-1.7", "is not a GGUF file"),
        (MODEL_FILE.read_bytes()[:100_000], "could not be loaded"),
    ],
)
def test_unusable_file_raises_error(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    model = LanguageModel(settings(path))
    for _ in range(2):
        with pytest.raises(GeneratorUnavailable, match=message) as caught:
            model.complete(MESSAGES)
        assert f"RAG_GGUF={path}" in str(caught.value)


def test_missing_package_names_its_requirements_file(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else find_spec(name))
    with pytest.raises(GeneratorError, match=r"pip install -r /\S+/requirements-gguf\.txt") as caught:
        LanguageModel(settings(MODEL_FILE)).complete(MESSAGES)
    assert Path(str(caught.value).split()[-1]).is_file()


def test_engine_answers_with_model_without_leaking_its_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: "the-key-of-this-process")
    with opened(tmp_path / "data", gguf=MODEL_FILE, **SMALL) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        name = f"gguf:{MODEL_FILE.stem}"
        status = engine.status()
        assert (status.generator, engine.models.current) == (name, MODEL_FILE.stem)
        assert engine.models.list() == [MODEL_FILE.stem]
        (total,) = status.usage
        assert (total.generator, total.usage.calls, total.usage.estimated) == (name, 1, False)
        assert answer.usage == total.usage
    assert "the-key-of-this-process" not in caplog.text + repr(answer) + repr(status)


def test_missing_file_falls_back_to_quotes_and_is_reported(tmp_path: Path) -> None:
    with opened(tmp_path / "data", gguf=tmp_path / "gone.gguf") as engine:
        indexed(engine, "bridge.pdf", BUDGET)
        answer = engine.answer(ASK_BUDGET)
        assert (answer.state, answer.generator) == (AnswerState.ANSWERED, "extractive")
        assert any("gone.gguf" in notice and "Quoted from the documents" in notice for notice in answer.notices)
        assert any("gone.gguf" in problem for problem in engine.status().problems)
