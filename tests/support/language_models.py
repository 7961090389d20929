"""Language models at scripted endpoints."""

from __future__ import annotations

from typing import Any, Protocol

from rag_core.llm.generator import LanguageModel
from rag_core.settings import Settings
from rag_core.types.retrieval import Passage
from tests.support.servers import Exchange, Play, ScriptedEndpoint

KEY = "sk-do-not-show-4f1c"
QUESTION = "What was capital expenditure in 2022?"
ASK: list[dict[str, Any]] = [{"role": "user", "content": "What is the budget?"}]


class Start(Protocol):
    """Starts an endpoint with a script, and a model that asks it; ``pauses`` are its pauses between requests."""

    pauses: list[float]

    def __call__(self, *script: Play, **changes: object) -> tuple[LanguageModel, ScriptedEndpoint]: ...


def model_settings(url: str, **changes: object) -> Settings:
    """Return the settings of a model at an endpoint."""
    values: dict[str, object] = {
        "openai_base_url": url,
        "openai_model": "m",
        "openai_api_key": KEY,
        "openai_timeout_s": 10.0,
        "openai_retries": 0,
        "openai_answer_tokens": 100,
        "openai_context_tokens": 32_000,
    }
    return Settings(_env_file=None, **(values | changes))


def figure_passage(rank: int = 1, text: str = "Capital expenditure was $1,749 million in 2022.") -> Passage:
    """Return a passage that answers `QUESTION`."""
    return Passage(rank, f"c{rank}", "d1", "v1", "3M_2022_10K.pdf", 56, "57", 56, 0, len(text), text, "", {})


def answer(model: LanguageModel) -> str:
    """Return the answer of a model to `QUESTION`."""
    return "".join(model.stream_answer(QUESTION, [figure_passage()]))


def read(model: LanguageModel, messages: list[dict[str, Any]] = ASK) -> str:
    """Return the reply of a model to messages."""
    return "".join(model.stream_reply(messages))


def stream(*events: object, text: str = "", end: str = "end") -> Play:
    """Return a stream with a text, further events and an end: "end", "drop" or "hang"."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        if text:
            exchange.delta(text)
        for data in events:
            exchange.event(data)
        getattr(exchange, end)()

    return play


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an event of Chat Completions."""
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def failing(code: int, error: object = None, **headers: str) -> Play:
    """Reply with an HTTP status, and with an error object or its message."""
    return lambda exchange: exchange.error(code, {"error": error} if error else None, **headers)
