"""Settings from the environment, .env and arguments; their errors; their secrets."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from rag_core.errors import SettingsError
from rag_core.settings import load_settings
from rag_core.types.usage import Price

KEY = "sk-very-secret-1234567890"


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dotenv(text: str) -> None:
    Path(".env").write_text(text, "utf-8")


def rejection() -> str:
    """Return the message with which the settings are rejected."""
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert raised.value.__cause__ is None
    return str(raised.value)


BLANK = ("OPENAI_BASE_URL", "RAG_OPENAI_MODEL", "CHROMA_HOST", "RAG_FILES_URL", "RAG_RERANKER")
SHARED, PREFIXED = "OPENAI_API_KEY", "RAG_OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("file", "environment", "expected"),
    [
        # The environment precedes the file.
        ("RAG_TOP_K=7\nRAG_THRESHOLD=0.3", {"RAG_THRESHOLD": "0.4"}, {"top_k": 7, "threshold": 0.4}),
        # Keys and unreadable lines of other programs are ignored.
        ("FOO=1\nHF_HOME=/a\nSTREAMLIT_SERVER_PORT=80\nexport BAR='x y'\nRAG_TOP_K=3", {"HF_HOME": "/b"}, {"top_k": 3}),
        ("FOO: 1\nBAR\nBAZ='x\nMY_RAG_TOP_K: 8\nRAG_TOP_K=7", {}, {"top_k": 7}),
        # Only names shared with other programs are read without the prefix.
        ("TOP_K=3\nMAX_FILE_MB=9", {"RERANKER": "model"}, {"top_k": 5, "max_file_mb": 200, "reranker": None}),
        ("OPENAI_BASE_URL=http://localhost:1/v1", {}, {"openai_base_url": "http://localhost:1/v1"}),
        ("DATABASE_URL=sqlite:///x.db", {}, {"database_url": SecretStr("sqlite:///x.db")}),
        ("", {"CHROMA_HOST": "chroma.example"}, {"chroma_host": "chroma.example"}),
        # The name with the prefix precedes the shared name, unless its value is blank.
        ("", {SHARED: "shared"}, {"openai_api_key": SecretStr("shared")}),
        (f"{PREFIXED}=", {SHARED: "shared"}, {"openai_api_key": SecretStr("shared")}),
        (f"{PREFIXED}=ours", {SHARED: "shared"}, {"openai_api_key": SecretStr("ours")}),
        (f"{SHARED}=shared\n{PREFIXED}=ours", {}, {"openai_api_key": SecretStr("ours")}),
        (f"{PREFIXED}=in the file", {SHARED: "shared", PREFIXED: "ours"}, {"openai_api_key": SecretStr("ours")}),
        # A blank value leaves an optional setting unset.
        ("", dict.fromkeys(BLANK, " "), dict.fromkeys(("openai_base_url", "openai_model", "chroma_host", "files_url"))),
        ("", {"RAG_RERANKER": " "}, {"reranker": None, "rank_by": "named"}),
        ("", {SHARED: "", PREFIXED: ""}, {"openai_api_key": None}),
        ("", {"DATABASE_URL": ""}, {"database_url": None}),
        # The prices of a model and their currency are one value.
        ("RAG_PRICE=0.15/0.60 USD", {}, {"price": Price(0.15, 0.6, "USD")}),
        ("", {"RAG_PRICE": " 2 / 8€ "}, {"price": Price(2.0, 8.0, "€")}),
        ("", {"RAG_PRICE": ""}, {"price": None}),
    ],
)
def test_settings_of_file_and_environment(
    monkeypatch: pytest.MonkeyPatch, file: str, environment: dict[str, str], expected: dict[str, object]
) -> None:
    dotenv(file)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert {name: getattr(settings, name) for name in expected} == expected


def test_argument_precedes_environment_unless_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "9")
    monkeypatch.setenv("RAG_MAX_FILE_MB", "80")
    settings = load_settings(top_k=None, max_file_mb=90)
    assert (settings.top_k, settings.max_file_mb) == (9, 90)


@pytest.mark.parametrize("name", ["RAG_TRESHOLD", "RAG_", "rag_chunktokens"])
@pytest.mark.parametrize("is_in_file", [False, True])
def test_unknown_setting_is_rejected(monkeypatch: pytest.MonkeyPatch, name: str, is_in_file: bool) -> None:
    if is_in_file:
        dotenv(f"{name}=1\n")
    else:
        monkeypatch.setenv(name, "1")
    with pytest.raises(SettingsError, match=rf"Unknown setting {name.upper()}\."):
        load_settings()


def test_retired_setting_is_ignored_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RAG_RRF_K", "40")
    dotenv("RAG_FINANCE=true\n")
    load_settings()
    assert [record.getMessage() for record in caplog.records] == [
        "Setting RAG_FINANCE, RAG_RRF_K no longer has an effect. Remove it from the environment or .env."
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAG_THRESHOLD", "1.5"),
        ("RAG_CHUNK_TOKENS", "0"),
        ("RAG_FRESHNESS", "-0.1"),
        ("RAG_TOP_K", "many"),
        ("RAG_OCR", "sometimes"),
        ("RAG_EMBEDDER", ""),
        ("RAG_MAX_FILE_MB", "1e99"),
        ("RAG_DATA_DIR", "~nobody-of-that-name/data"),
        *(("RAG_PRICE", value) for value in ("0.15", "0.15/0.60", "0.15 USD", "-1/2 USD", "1/2/3 USD")),
    ],
)
def test_invalid_value_is_rejected_on_one_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    message = rejection()
    assert f"{name}: " in message
    assert "\n" not in message


def test_each_invalid_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "0")
    dotenv("RAG_FRESHNESS=-1\n")
    message = rejection()
    assert "RAG_TOP_K: " in message
    assert "RAG_FRESHNESS: " in message


@pytest.mark.parametrize("value", ["", " "])
def test_blank_data_folder_is_the_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.delenv("RAG_DATA_DIR")
    unset = load_settings().data_dir
    monkeypatch.setenv("RAG_DATA_DIR", value)
    assert load_settings().data_dir == unset == Path.cwd() / "data"


def test_folder_named_dotenv_is_ignored() -> None:
    Path(".env").mkdir()
    assert load_settings().top_k == 5


def test_dotenv_that_is_not_text_is_rejected() -> None:
    Path(".env").write_bytes(b"RAG_TOP_K=\xff\xfe\n")
    with pytest.raises(SettingsError, match=r"\.env"):
        load_settings()


@pytest.mark.parametrize(
    "line", ["RAG_TOP_K: 7", "set RAG_TOP_K=7", "RAG_TOP_K", 'RAG_OPENAI_MODEL="m', "OPENAI_API_KEY='sk-abc"]
)
def test_unreadable_line_of_a_setting_is_rejected_by_number(line: str) -> None:
    dotenv(f"# ours\nRAG_THRESHOLD=0.5\n{line}\nRAG_TOP_K=7\n")
    with pytest.raises(SettingsError, match=r"Line 3 of \.env cannot be read") as raised:
        load_settings()
    assert "sk-abc" not in str(raised.value)


def test_secrets_are_masked(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("DATABASE_URL", f"postgresql://user:{KEY}@host/db")
    settings = load_settings()
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").info("%s %r", settings, settings)
    shown = [repr(settings), str(settings), settings.model_dump_json(), caplog.text]
    assert not any(KEY in text for text in shown)
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == KEY


def test_error_does_not_repeat_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAG_TOP_K", KEY)
    assert KEY not in rejection()


def test_unknown_argument_is_rejected() -> None:
    with pytest.raises(SettingsError, match="TRESHOLD"):
        load_settings(treshold=0.5)


def test_local_model_and_endpoint_model_exclude_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_GGUF", str(tmp_path / "small.gguf"))
    assert load_settings().generator_name == "gguf:small"
    monkeypatch.setenv("RAG_OPENAI_MODEL", "large")
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL: RAG_GGUF names a model already"):
        load_settings()
    monkeypatch.setenv("RAG_GGUF", " ")
    assert load_settings().generator_name == "openai:large"


def test_blank_catalogue_of_models_is_the_bundled_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_MODEL_CATALOGUE", "mirror.toml")
    assert load_settings().model_catalogue == tmp_path / "mirror.toml"
    monkeypatch.setenv("RAG_MODEL_CATALOGUE", " ")
    assert load_settings().model_catalogue is None
