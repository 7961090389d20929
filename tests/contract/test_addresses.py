"""Addresses of endpoints as people type them, and model servers on this machine."""

from __future__ import annotations

import traceback
from dataclasses import replace

import pytest

from rag_core.errors import GeneratorUnavailable, SettingsError
from rag_core.llm import addresses
from rag_core.llm.addresses import (
    LocalServer,
    build_base_urls,
    choose_certificates,
    find_base_url,
    find_host,
    find_local_servers,
    find_presets,
)
from rag_core.llm.connection_test import CAPABILITY, PICTURES
from rag_core.llm.generator import LanguageModel
from rag_core.llm.presets import PRESETS
from rag_core.settings import Settings
from rag_core.types.status import ModelHost
from tests.support.servers import Play, ScriptedEndpoint, at, complete, listing, sent_json, status

KEY = "sk-do-not-show-81aa"
AZURE = at(openai__v1__models=listing("gpt"), openai__v1__chat__completions=complete("one ", "two"))
LOCAL = ("http://localhost:11434/v1", "http://localhost:11434", "http://localhost:11434/openai/v1")
LLM = ("https://host.example/llm/v1", "https://host.example/llm", "https://host.example/llm/openai/v1")


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        ("localhost:11434", LOCAL),
        (" http://localhost:11434/ ", LOCAL),
        ("http://localhost:11434/api/chat", LOCAL),
        ("192.168.1.5:8000/v1/", ("http://192.168.1.5:8000/v1",)),
        ("[::1]:8080/v1", ("http://[::1]:8080/v1",)),
        ("api.openai.com/v1/chat/completions", ("https://api.openai.com/v1",)),
        ("https://api.openai.com/v1/responses?x=1#y", ("https://api.openai.com/v1",)),
        ("https://host.example/llm//v1/models", ("https://host.example/llm/v1",)),
        ("https://host.example/llm", LLM),
        ("me.openai.azure.com", ("https://me.openai.azure.com/openai/v1",)),
        ("https://me.openai.azure.com/openai/v1/", ("https://me.openai.azure.com/openai/v1",)),
        (
            "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            ("https://me.openai.azure.com/openai/v1",),
        ),
    ],
)
def test_typed_addresses_become_base_urls(typed: str, urls: tuple[str, ...]) -> None:
    assert build_base_urls(typed) == urls


@pytest.mark.parametrize("typed", ["", "  ", "ftp://host/v1", "http://", "two words", "http://me:pw@host/v1"])
def test_unusable_addresses_are_explained(typed: str) -> None:
    with pytest.raises(SettingsError, match=r"The address .* (Enter|Remove)") as raised:
        build_base_urls(typed)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    ("play", "base"),
    [
        (at(v1__models=listing("a")), "/v1"),
        (at(models=listing("a")), ""),
        (at(v1__models=status(401)), "/v1"),
        (at(v1__chat__completions=status(400)), "/v1"),
        (at(chat__completions=status(422)), ""),
        (at(v1__models=listing()), "/v1"),
        (lambda exchange: AZURE(exchange) if exchange.headers["api-key"] == KEY else exchange.error(404), "/openai/v1"),
    ],
)
def test_answering_base_url_is_found(play: Play, base: str) -> None:
    with ScriptedEndpoint(play) as endpoint:
        root = endpoint.url.removesuffix("/v1")
        assert find_base_url(root.removeprefix("http://"), KEY) == root + base


def test_server_without_endpoint_missing_server_and_unusable_key_are_explained() -> None:
    with ScriptedEndpoint(status(404)) as endpoint:
        with pytest.raises(GeneratorUnavailable, match=r"no OpenAI-compatible endpoint at .* Correct the address"):
            find_base_url(endpoint.url, KEY)
        with pytest.raises(SettingsError, match="API key contains") as raised:
            find_base_url(endpoint.url, "sk-bad\nkey")
        assert "sk-bad" not in str(raised.value)
    with pytest.raises(GeneratorUnavailable, match=r"No connection .* Start the server") as missing:
        find_base_url(endpoint.url, KEY)
    assert missing.value.__context__ is None
    assert KEY not in "".join(traceback.format_exception(missing.value))


def test_azure_gets_its_key_header_and_others_do_not() -> None:
    guarded: Play = lambda exchange: (AZURE if exchange.headers["api-key"] == KEY else status(401))(exchange)  # noqa: E731
    with ScriptedEndpoint(guarded) as endpoint:
        url = find_base_url(endpoint.url.removesuffix("/v1") + "/openai", KEY)
        model = LanguageModel(Settings(_env_file=None, openai_base_url=url, openai_api_key=KEY, openai_model="gpt"))
        checks = [check for check in model.test_connection() if check.name not in (CAPABILITY, PICTURES)]
        assert all(check.passed for check in checks)
        model.close()
    assert set(endpoint.paths) == {"/openai/v1/models", "/openai/v1/chat/completions"}
    with ScriptedEndpoint(listing("a")) as endpoint:
        find_base_url(endpoint.url, KEY)
    assert endpoint.exchanges[0].headers["api-key"] is None
    assert endpoint.exchanges[0].headers["Authorization"] == f"Bearer {KEY}"


def test_running_servers_of_this_machine_are_found_with_their_models(monkeypatch: pytest.MonkeyPatch) -> None:
    (ollama,) = (one for one in PRESETS if one.id == "ollama")
    (studio,) = (one for one in PRESETS if one.id == "lmstudio")
    assert (ollama.list_path, studio.list_path) == ("/api/tags", "/v1/models")
    tags = sent_json({"models": [{"name": "qwen3:4b"}, {"name": "llama3.2"}]})
    with (
        ScriptedEndpoint(at(api__tags=tags)) as first,
        ScriptedEndpoint(at(v1__models=listing("gemma"))) as second,
        ScriptedEndpoint(sent_json(["other"])) as other,
        ScriptedEndpoint() as stopped,
    ):
        urls = (first.url, "http://192.0.2.1:11434/v1", stopped.url)
        stopped.__exit__()
        monkeypatch.delenv("OLLAMA_HOST", raising=False)
        monkeypatch.setattr(addresses, "_LOCAL_TIMEOUT_S", 5.0)
        # Other programs may use the usual ports of this machine, so the test listens on free ports.
        monkeypatch.setattr(
            addresses,
            "PRESETS",
            [
                *(replace(ollama, base_url=url) for url in urls),
                *(replace(studio, base_url=url) for url in (second.url, other.url)),
                *(one for one in PRESETS if not one.list_path),
            ],
        )
        assert find_local_servers() == (
            LocalServer("ollama", first.url, ("llama3.2", "qwen3:4b")),
            LocalServer("lmstudio", second.url, ("gemma",)),
        )


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("", "http://localhost:11434/v1"),
        ("127.0.0.1:11500", "http://127.0.0.1:11500/v1"),
        ("0.0.0.0", "http://localhost:11434/v1"),
        (":11500", "http://localhost:11500/v1"),
        ("[::]:11500", "http://localhost:11500/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        (" 'http://gpu.lan' ", "http://gpu.lan:80/v1"),
        ("https://gpu.lan/", "https://gpu.lan:443/v1"),
        ("localhost:port", "http://localhost:11434/v1"),
    ],
)
def test_variable_of_ollama_sets_the_address_of_its_kind(
    monkeypatch: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", variable)
    (ollama,) = (preset for preset in find_presets() if preset.id == "ollama")
    assert ollama.base_url == url
    assert [one for one in find_presets() if one.id != "ollama"] == [one for one in PRESETS if one.id != "ollama"]


def test_ollama_is_found_at_the_address_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedEndpoint(at(api__tags=sent_json({"models": [{"name": "llama3.2"}]}))) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url.removesuffix("/v1").removeprefix("http://"))
        found = {server.preset: server for server in find_local_servers()}
    assert found["ollama"] == LocalServer("ollama", ollama.url, ("llama3.2",))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.openai.com/v1", ModelHost("api.openai.com", False)),
        ("192.168.1.5:8000", ModelHost("192.168.1.5:8000", False)),
        ("localhost:11434", ModelHost("localhost:11434", True)),
        ("http://[::1]:8080/v1", ModelHost("[::1]:8080", True)),
        ("two words", None),
        ("", None),
    ],
)
def test_host_of_an_address_is_told_without_a_request(address: str, host: ModelHost | None) -> None:
    assert find_host(address) == host


@pytest.mark.parametrize(
    ("url", "needed"),
    [
        ("http://localhost:11434/v1", False),
        ("HTTP://127.0.0.1:8080", False),
        ("http://[::1]:8080/v1", False),
        ("https://localhost:8080/v1", True),
        ("http://192.168.1.5:8000/v1", True),
        ("https://api.openai.com/v1", True),
    ],
)
def test_certificates_are_read_unless_the_connection_stays_on_this_machine_unencrypted(url: str, needed: bool) -> None:
    assert (choose_certificates(url) is True) == needed


def test_presets_have_distinct_names_and_examples() -> None:
    assert len({preset.id for preset in PRESETS}) == len({preset.name for preset in PRESETS}) == len(PRESETS) == 11
    for preset in PRESETS:
        if preset.base_url:
            assert build_base_urls(preset.base_url) == (preset.base_url,)
        if not preset.is_file:
            assert build_base_urls(preset.example)
