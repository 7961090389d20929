"""The context length that each kind of server reports."""

from __future__ import annotations

import pytest

from rag_core.llm.context_length import OLLAMA_TOKENS, ask_context_length
from tests.support.servers import Exchange, Play, ScriptedEndpoint

MODELS, PROPS, STUDIO, RUNNING, SHOW = "/v1/models", "/props", "/api/v0/models/small", "/api/ps", "/api/show"


def replying(replies: dict[str, object]) -> Play:
    """Reply with a JSON object by path, and with HTTP 404 to other requests."""

    def play(exchange: Exchange) -> None:
        body = replies.get(exchange.path)
        exchange.error(404) if body is None else exchange.error(200, body, content_type="application/json")

    return play


def listed(**fields: object) -> dict[str, object]:
    return {MODELS: {"object": "list", "data": [{"id": "other", "max_model_len": 7}, {"id": "small"} | fields]}}


OLLAMA = {RUNNING: {"models": []}, **listed(owned_by="library")}
LARGE = {"llama.context_length": 131072}
SERVERS = {
    "vLLM": (listed(max_model_len=4096), 4096),
    "OpenRouter": (listed(context_length=262144), 262144),
    "llama.cpp": (
        listed(meta={"n_ctx_train": 32768}) | {PROPS: {"default_generation_settings": {"n_ctx": 6144}}},
        6144,
    ),
    "llama.cpp without props": (listed(meta={"n_ctx_train": 32768}), None),
    "llama.cpp of a small model": (listed(meta={"n_ctx_train": 2048}), 2048),
    "LM Studio": (listed() | {STUDIO: {"loaded_context_length": 4096, "max_context_length": 131072}}, 4096),
    "LM Studio, not loaded": (listed() | {STUDIO: {"state": "not-loaded", "max_context_length": 131072}}, None),
    "Ollama, running": (OLLAMA | {RUNNING: {"models": [{"name": "small:latest", "context_length": 32768}]}}, 32768),
    "Ollama, set by the model": (OLLAMA | {SHOW: {"parameters": "stop x\nnum_ctx   6000", "model_info": LARGE}}, 6000),
    "Ollama, default": (OLLAMA | {SHOW: {"model_info": LARGE}}, OLLAMA_TOKENS),
    "Ollama of a small model": (OLLAMA | {SHOW: {"model_info": {"bert.context_length": 512}}}, 512),
    "OpenAI": (listed(created=1, owned_by="openai"), None),
    "odd types": (listed(max_model_len=True, context_length="8192", meta=[]) | {PROPS: {"n_ctx": 9}}, None),
    "no list": ({}, None),
}


@pytest.mark.parametrize(("replies", "expected"), SERVERS.values(), ids=SERVERS)
def test_context_length_is_found(replies: dict[str, object], expected: int | None) -> None:
    with ScriptedEndpoint(replying(replies)) as endpoint:
        assert ask_context_length(endpoint.url, "small", "sk-1").limit(8192) == expected
    assert {exchange.headers["Authorization"] for exchange in endpoint.exchanges} == {"Bearer sk-1"}


def test_reply_that_is_not_json_is_not_read() -> None:
    def never_end(exchange: Exchange) -> None:
        exchange.start()
        exchange.until_client_leaves()

    with ScriptedEndpoint(never_end) as endpoint:
        assert ask_context_length(endpoint.url, "small", "").limit(8192) is None


def test_other_paths_than_those_of_local_servers_are_asked_for_models_only() -> None:
    with ScriptedEndpoint(replying({})) as endpoint:
        assert ask_context_length(endpoint.url.removesuffix("/v1") + "/openai/v1", "small", "").limit(8192) is None
    assert endpoint.paths == ["/openai/v1/models"]
