"""The stored connection to a language model, and the place of its API key."""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from rag_core.engine import Engine
from rag_core.errors import GeneratorAuthError, GeneratorUnavailable, SettingsError, StoreError
from rag_core.store.model_keys import ModelKeyStore
from rag_core.types.status import ModelChoice
from tests.support.engines import ASK_BUDGET, BUDGET, indexed, settings_in
from tests.support.servers import MODEL_FILE, Exchange, ScriptedEndpoint, complete, guarded, listing, serving

KEY = "sk-do-not-show-81aa-5ecret"


class MemoryKeyring(KeyringBackend):
    """A keyring in this process."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.passwords: dict[tuple[str, str], str] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        self.passwords[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        if self.passwords.pop((service, username), None) is None:
            raise PasswordDeleteError("no such password")


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before, backend = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    """Start an endpoint that requires the key."""
    play = serving("large", "small", answer=complete("one, ", "two", tokens=(20, 6)))
    with ScriptedEndpoint(guarded(KEY, play)) as started:
        yield started


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    opened = Engine(settings_in(tmp_path / "data"))
    yield opened
    opened.close()


def files_with_key(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes())


def test_key_is_only_in_its_own_file(
    engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    choice = ModelChoice("compatible", endpoint.url.removesuffix("/v1"), "small")
    engine.models.connect(choice, KEY)
    assert engine.models.key_place == "file"
    assert engine.models.active().complete([{"role": "user", "content": "Count"}]).text == "one, two"
    assert all(check.passed for check in list(engine.models.check(choice, KEY))[:-2])
    assert [check.passed for check in engine.models.check(choice, "sk-other")] == [False]
    assert KEY not in caplog.text
    assert KEY not in repr((engine.models.settings, engine.models.choice, engine.status()))
    assert stat.S_IMODE((tmp_path / "data/model-key").stat().st_mode) == 0o600
    assert files_with_key(tmp_path) == ["model-key"]
    conversation = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation, "user", f"Is {KEY} valid?")
    exported = engine.conversations.export_markdown(conversation)
    assert "valid?" in exported
    assert KEY not in exported


def test_key_is_stored_in_the_keyring_if_there_is_one(
    engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path, memory_keyring: MemoryKeyring
) -> None:
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    assert engine.models.key_place == "keyring"
    assert list(memory_keyring.passwords.values()) == [KEY]
    assert files_with_key(tmp_path) == []
    engine.models.disconnect()
    assert memory_keyring.passwords == {}


def test_stored_connection_survives_a_restart(engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small", context_tokens=4096), KEY)
    engine.close()
    again = Engine(settings_in(tmp_path / "data"))
    assert again.models.choice == ModelChoice("compatible", endpoint.url, "small", context_tokens=4096)
    assert again.models.settings.openai_context_tokens == 4096
    assert again.models.list() == ["large", "small"]
    again.close()


def test_saving_replaces_the_model_at_once_and_running_answers_end(engine: Engine, endpoint: ScriptedEndpoint) -> None:
    assert engine.models.generator == "extractive"
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    running = engine.models.active().stream_reply([{"role": "user", "content": "Count"}])
    assert next(running) == "one, "
    engine.models.connect(ModelChoice("compatible", endpoint.url, "large"))
    assert engine.models.generator == "openai:large"
    assert list(running) == ["two"]
    engine.models.active().complete([{"role": "user", "content": "Count"}])
    assert endpoint.requests[-1]["model"] == "large"
    engine.models.disconnect()
    assert engine.models.active() is None
    assert engine.models.choice is None


def test_refused_key_is_not_stored(engine: Engine, endpoint: ScriptedEndpoint) -> None:
    engine.models.connect(ModelChoice("openai", endpoint.url, "small"), KEY)
    with pytest.raises(GeneratorAuthError):
        engine.models.connect(ModelChoice("openai", endpoint.url, "large"), "sk-wrong")
    assert engine.models.current == "small"
    assert list(engine.models.list()) != []


def test_stored_key_is_not_sent_to_another_address(engine: Engine, endpoint: ScriptedEndpoint) -> None:
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    with ScriptedEndpoint(listing("a")) as other:
        engine.models.find_models(ModelChoice("compatible", other.url))
        engine.models.connect(ModelChoice("compatible", other.url, "a"))
    assert KEY not in "".join(str(exchange.headers) for exchange in other.exchanges)
    assert engine.models.key_place == ""


def test_models_are_listed_without_saving(engine: Engine, endpoint: ScriptedEndpoint) -> None:
    typed = ModelChoice("compatible", endpoint.url.removeprefix("http://") + "/chat/completions")
    assert engine.models.find_models(typed, KEY) == (ModelChoice("compatible", endpoint.url), ["large", "small"])
    assert engine.models.choice is None
    with pytest.raises(SettingsError, match="No model is chosen"):
        engine.models.connect(typed, KEY)


def test_environment_has_priority(engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    engine.close()
    again = Engine(settings_in(tmp_path / "data", openai_model="other"))
    assert again.models.is_from_environment
    assert (again.models.current, again.models.choice) == ("other", None)
    with pytest.raises(SettingsError, match="Unset RAG_OPENAI"):
        again.models.connect(ModelChoice("compatible", endpoint.url, "small"))
    again.close()


def test_gguf_file_is_checked_and_connected(engine: Engine, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_text("not a model")
    with pytest.raises(GeneratorUnavailable, match="is not a GGUF file"):
        engine.models.connect(ModelChoice("gguf", gguf=str(wrong)))
    engine.models.connect(ModelChoice("gguf", gguf=str(MODEL_FILE)))
    assert engine.models.generator == f"gguf:{MODEL_FILE.stem}"
    assert engine.models.endpoint == str(MODEL_FILE)


def test_missing_and_unreadable_keys_are_explained(tmp_path: Path) -> None:
    keys = ModelKeyStore(tmp_path)
    with pytest.raises(StoreError, match=r"is missing\. Enter it again on the Settings page"):
        keys.get("file")
    with pytest.raises(StoreError, match="keyring of this machine cannot be read"):
        keys.get("keyring")
    with pytest.raises(StoreError, match="Make the data folder writable"):
        ModelKeyStore(tmp_path / "absent").set(KEY)


def test_unreadable_key_is_the_error_of_an_answer_until_it_is_read(
    engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    indexed(engine, "bridge.pdf", BUDGET)
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
    (tmp_path / "data/model-key").rename(tmp_path / "key")
    engine.models.read_key_again()
    assert "is missing. Enter it again on the Settings page" in engine.models.key_problem
    sent = len(endpoint.requests)
    answer = engine.answer(ASK_BUDGET)
    assert answer.generator == "extractive"
    assert answer.notices[-1].startswith(engine.models.key_problem)
    with pytest.raises(GeneratorAuthError, match="Enter it again"):
        engine.models.list()
    with pytest.raises(StoreError, match="Enter it again"):
        engine.models.connect(ModelChoice("compatible", endpoint.url, "large"))
    assert len(endpoint.requests) == sent
    (tmp_path / "key").rename(tmp_path / "data/model-key")
    engine.models.read_key_again()
    assert engine.models.key_problem == ""
    assert engine.models.list() == ["large", "small"]


def test_messages_name_the_form_if_the_connection_is_stored(
    engine: Engine, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    engine.models.connect(ModelChoice("compatible", endpoint.url, "small", context_tokens=900), KEY)
    endpoint.script[:] = [lambda exchange: exchange.error(401)]
    with pytest.raises(GeneratorAuthError) as refused:
        engine.models.list()
    assert str(refused.value) == (
        f"The endpoint at {endpoint.url} refused the API key on the Settings page (HTTP 401). "
        "Set a valid key that may use model small."
    )
    indexed(engine, "bridge.pdf", BUDGET)
    short = engine.answer(ASK_BUDGET).notices[-1]
    assert short.startswith("The context length of 900 tokens on the Settings page leaves no room for passages")
    with pytest.raises(
        GeneratorUnavailable, match=r"^The file /absent\.gguf cannot be read .* choose another model on"
    ):
        engine.models.connect(ModelChoice("gguf", gguf="/absent.gguf"))
    assert "RAG_OPENAI_BASE_URL" not in str(refused.value)


def test_reported_context_length_is_adopted_unless_one_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAG_OPENAI_CONTEXT_TOKENS")

    def answer(exchange: Exchange) -> None:
        model = {"id": "small", "max_model_len": 2048}
        exchange.error(
            200, {"data": [model, {"id": "huge", "context_length": 1_000_000}]}, content_type="application/json"
        )

    with ScriptedEndpoint(answer) as started, Engine(settings_in(tmp_path / "data")) as engine:
        engine.models.connect(ModelChoice("vllm", started.url, "small"))
        assert engine.models.choice == ModelChoice("vllm", started.url, "small", "chat", "", 2048, True)
        assert engine.models.settings.openai_context_tokens is None
        assert engine.models.active().context_tokens == 2048
        engine.models.connect(ModelChoice("vllm", started.url, "huge"))
        assert engine.models.active().context_tokens == 131_072
        assert engine.models.active().profile.filled_tokens == 16_384
        engine.models.connect(ModelChoice("vllm", started.url, "huge", context_tokens=50_000))
        assert engine.models.choice.context_reported is False
        assert engine.models.active().context_tokens == 50_000
        assert engine.models.active().profile.filled_tokens == 50_000


def test_key_alone_in_the_environment_leaves_the_form_usable(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    with Engine(settings_in(tmp_path / "data", openai_api_key="sk-of-another-program")) as engine:
        models = engine.models
        assert (models.is_from_environment, models.active(), models.endpoint) == (False, None, "")
        own = ("https://api.openai.com", "api.openai.com/v1/", "https://api.openai.com/v1/chat/completions")
        others = (
            *(endpoint.url, "http://api.openai.com/v1", "https://api.openai.com.example.org/v1", "two words", ""),
            *("https://api.openai.com:8443/v1", "https://x@api.openai.com/v1", "https://openai.com/v1"),
        )
        for address in (*own, *others):
            assert models.offers_environment_key(address) == (address in own)
        models.connect(ModelChoice("compatible", endpoint.url, "small"), KEY)
        assert models.generator == "openai:small"
        with ScriptedEndpoint(listing("a")) as other:
            models.find_models(ModelChoice("compatible", other.url))
            models.connect(ModelChoice("compatible", other.url, "a"))
            assert models.settings.openai_api_key is None
            models.list()
        sent = "".join(str(exchange.headers) for exchange in [*endpoint.exchanges, *other.exchanges])
        assert "sk-of-another-program" not in sent
