"""The context and the capability of a model: what is entered, tested, reported, known and assumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_core.llm.generator import LanguageModel
from rag_core.llm.model_catalogue import load_catalogue
from rag_core.llm.model_profile import ModelProfile
from rag_core.settings import Settings
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete


@pytest.fixture(autouse=True)
def _no_entered_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAG_OPENAI_CONTEXT_TOKENS")


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **({"openai_model": "small"} | values))


def listing(tokens: int, **fields: object) -> Play:
    """List one model with its context, and complete other requests."""

    def play(exchange: Exchange) -> None:
        body = {"data": [{"id": "small", "max_model_len": tokens, **fields}]}
        if exchange.path.endswith("/models"):
            exchange.error(200, body, content_type="application/json")
        else:
            complete("42.")(exchange)

    return play


def ollama(loaded: int = 0, **shown: object) -> Play:
    """Run Ollama; ``loaded`` is the context of the loaded model."""
    model = {"name": "small:latest", "context_length": loaded}
    replies = {
        "/v1/models": {"data": [{"id": "small"}]},
        "/api/ps": {"models": [model] if loaded else []},
        "/api/show": {"model_info": {"llama.context_length": 131_072}} | shown,
    }

    def play(exchange: Exchange) -> None:
        body = replies.get(exchange.path)
        exchange.error(200, body, content_type="application/json") if body else exchange.error(404)

    return play


@pytest.mark.parametrize(
    ("reported", "used", "filled", "capability"),
    [(4096, 4096, 4096, "small"), (32_768, 32_768, 16_384, "capable"), (1_000_000, 131_072, 16_384, "capable")],
)
def test_reported_context_is_used(reported: int, used: int, filled: int, capability: str) -> None:
    with ScriptedEndpoint(listing(reported)) as endpoint:
        model = LanguageModel(settings(openai_base_url=endpoint.url))
        assert model.context_tokens == used
        assert model.profile.filled_tokens == filled
        assert model.capability == capability
        assert endpoint.paths == ["/v1/models"]


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        (None, 128_000),
        ("https://api.openai.com/v1", 128_000),
        ("https://name.openai.azure.com/openai/v1", 128_000),
        ("https://api.anthropic.com/v1", 200_000),
        ("https://generativelanguage.googleapis.com/v1beta/openai", 1_000_000),
    ],
)
def test_context_of_known_host_needs_no_request(url: str | None, tokens: int) -> None:
    profile = ModelProfile(settings(openai_base_url=url))
    assert (profile.context_tokens, profile.filled_tokens, profile.capability) == (tokens, 16_384, "capable")


def test_entered_values_win() -> None:
    profile = ModelProfile(settings(openai_context_tokens=50_000, model_capability="small"), tested="capable")
    assert (profile.context_tokens, profile.filled_tokens, profile.capability) == (50_000, 50_000, "small")
    assert not profile.is_tested


def test_result_of_the_test_has_priority_over_the_context() -> None:
    profile = ModelProfile(settings(openai_context_tokens=50_000), tested="small")
    assert profile.capability == "small"
    assert profile.is_tested


def test_endpoint_that_does_not_answer_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedEndpoint(Exchange.drop, listing(32_768)) as endpoint:
        profile = ModelProfile(settings(openai_base_url=endpoint.url), reported=16_384)
        assert profile.context_tokens == 16_384
        assert profile.context_tokens == 16_384
        assert len(endpoint.exchanges) == 1
        monkeypatch.setattr("rag_core.llm.model_profile._ASK_AGAIN_S", -1.0)
        assert profile.context_tokens == 32_768
        assert profile.context_tokens == 32_768
        assert len(endpoint.exchanges) == 2


@pytest.mark.parametrize(
    ("url", "key"), [("http://127.0.0.1:9/v1", "k"), ("not a url", "k"), ("http://[::1", "k"), ("http://a/v1", "ü ü")]
)
def test_no_problem_of_the_endpoint_fails(url: str, key: str) -> None:
    profile = ModelProfile(settings(openai_base_url=url, openai_api_key=key))
    assert (profile.context_tokens, profile.capability) == (8192, "small")


def test_unusable_certificates_do_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/certificates.pem")
    assert ModelProfile(settings(openai_base_url="https://192.0.2.1/v1")).context_tokens == 8192


@pytest.mark.parametrize(
    ("play", "tokens", "advises"),
    [
        (ollama(4096), 4096, True),
        (ollama(), 4096, True),
        (ollama(parameters="num_ctx 8000"), 8000, True),
        (ollama(32_768), 32_768, False),
        (ollama(4096, model_info={"llama.context_length": 4096}), 4096, False),
        (listing(4096), 4096, False),
    ],
    ids=["loaded", "not loaded", "set by the model", "large", "small model", "vLLM"],
)
def test_small_context_of_ollama_gives_advice(play: Play, tokens: int, advises: bool) -> None:
    with ScriptedEndpoint(play) as endpoint:
        profile = ModelProfile(settings(openai_base_url=endpoint.url))
        assert profile.context_tokens == tokens
        assert ("OLLAMA_CONTEXT_LENGTH=16384" in profile.advice and "num_ctx 16384" in profile.advice) == advises


def test_model_that_ollama_loads_later_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_core.llm.model_profile._ASK_AGAIN_S", -1.0)
    with ScriptedEndpoint(ollama()) as endpoint:
        profile = ModelProfile(settings(openai_base_url=endpoint.url))
        assert profile.context_tokens == 4096
        endpoint.restart(ollama(65_536))
        assert profile.context_tokens == 65_536


def test_file_is_small_unless_catalogue_or_user_say_otherwise(tmp_path: Path) -> None:
    by_name = {model.name: model for model in load_catalogue()}
    assert [name for name, model in by_name.items() if model.capability == "capable"] == ["qwen3-4b-instruct-2507"]
    large = tmp_path / by_name["qwen3-4b-instruct-2507"].file
    for file, values, expected in (
        (tmp_path / "own.gguf", {}, "small"),
        (tmp_path / "own.gguf", {"openai_context_tokens": 32_000}, "small"),
        (tmp_path / "own.gguf", {"model_capability": "capable"}, "capable"),
        (large, {}, "capable"),
        (large, {"model_capability": "small"}, "small"),
        (large, {"model_catalogue": tmp_path / "absent.toml"}, "small"),
    ):
        assert ModelProfile(Settings(_env_file=None, gguf=file, **values)).capability == expected


@pytest.mark.parametrize(
    ("values", "tokens"),
    [
        ({}, 1600),
        ({"openai_answer_tokens": 800}, 800),
        ({"openai_answer_tokens": 3000}, 3000),
        ({"model_capability": "small"}, 800),
    ],
)
def test_capable_model_has_longer_answers_unless_the_limit_is_set(values: dict[str, Any], tokens: int) -> None:
    with ScriptedEndpoint(complete("42.")) as endpoint:
        model = LanguageModel(settings(openai_base_url=endpoint.url, openai_context_tokens=32_000, **values))
        model.complete([{"role": "user", "content": "?"}])
        model.close()
        assert model.answer_tokens == endpoint.requests[0]["max_tokens"] == tokens


def test_budget_is_at_most_half_of_the_context() -> None:
    assert LanguageModel(settings(openai_context_tokens=32_000)).context_budget == 12_000
    assert LanguageModel(settings(openai_context_tokens=16_384)).context_budget == 8192
    chosen = LanguageModel(settings(openai_context_tokens=200_000), find_budget=lambda: 50_000)
    assert chosen.context_budget == 50_000
    priced = settings(openai_context_tokens=32_000, price="2.5/10 USD")
    assert ModelProfile(priced).estimate_question_usage(10_000).label == "10,000 tokens in, 1,600 out, 0.041 USD"
