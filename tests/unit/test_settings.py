"""Settings from the environment, .env and arguments; their errors; their secrets."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from rag_core.errors import SettingsError
from rag_core.settings import Settings, load_settings

KEY = "sk-very-secret-1234567890"


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dotenv(text: str) -> None:
    Path(".env").write_text(text, "utf-8")


def test_argument_precedes_environment_and_environment_precedes_file(monkeypatch: pytest.MonkeyPatch) -> None:
    dotenv("RAG_TOP_K=7\nRAG_THRESHOLD=0.3\nRAG_CANDIDATES=70\n")
    monkeypatch.setenv("RAG_THRESHOLD", "0.4")
    monkeypatch.setenv("RAG_CANDIDATES", "80")
    settings = load_settings(candidates=90)
    assert (settings.top_k, settings.threshold, settings.candidates) == (7, 0.4, 90)


def test_argument_none_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "9")
    assert load_settings(top_k=None).top_k == 9


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
    monkeypatch.setenv("RAG_RERANK_TOP", "40")
    dotenv("RAG_EXPANSION=true\n")
    load_settings()
    assert [record.getMessage() for record in caplog.records] == [
        "Setting RAG_EXPANSION, RAG_RERANK_TOP no longer has an effect. Remove it from the environment or .env."
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RAG_THRESHOLD", "1.5"),
        ("RAG_CHUNK_TOKENS", "0"),
        ("RAG_CHUNK_OVERLAP", "-0.1"),
        ("RAG_TOP_K", "many"),
        ("RAG_OCR", "sometimes"),
        ("RAG_EMBEDDER", ""),
        ("RAG_MAX_FILE_MB", "1e99"),
        ("RAG_DATA_DIR", "~nobody-of-that-name/data"),
    ],
)
def test_invalid_value_is_rejected_on_one_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert f"{name}: " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_each_invalid_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "0")
    dotenv("RAG_RRF_K=-1\n")
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert "RAG_TOP_K: " in str(raised.value)
    assert "RAG_RRF_K: " in str(raised.value)


def test_keys_of_other_programs_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    dotenv("FOO=1\nHF_HOME=/somewhere\nSTREAMLIT_SERVER_PORT=80\nexport BAR='x y'\nRAG_TOP_K=3\n")
    monkeypatch.setenv("HF_HOME", "/elsewhere")
    assert load_settings().top_k == 3


def test_setting_is_not_read_without_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    dotenv("TOP_K=3\nDATA_DIR=/elsewhere\nEMBEDDER=other\n")
    monkeypatch.setenv("THRESHOLD", "0.1")
    settings = load_settings()
    assert (settings.top_k, settings.embedder, settings.threshold) == (
        5,
        Settings().embedder,
        Settings.model_fields["threshold"].default,
    )


def test_shared_names_without_prefix_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    dotenv("OPENAI_BASE_URL=http://localhost:1/v1\nDATABASE_URL=sqlite:///x.db\n")
    monkeypatch.setenv("CHROMA_HOST", "chroma.example")
    settings = load_settings()
    assert settings.openai_base_url == "http://localhost:1/v1"
    assert settings.database_url is not None
    assert settings.chroma_host == "chroma.example"


def test_name_with_prefix_precedes_shared_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        secret = load_settings().openai_api_key
        return secret.get_secret_value() if secret else ""

    monkeypatch.setenv("OPENAI_API_KEY", "shared")
    assert key() == "shared"
    dotenv("RAG_OPENAI_API_KEY=\n")
    assert key() == "shared"
    dotenv("RAG_OPENAI_API_KEY=ours in the file\nRAG_TOP_K=7\n")
    assert key() == "ours in the file"
    monkeypatch.setenv("RAG_OPENAI_API_KEY", "ours")
    monkeypatch.setenv("RAG_TOP_K", "9")
    assert (key(), load_settings().top_k) == ("ours", 9)
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("RAG_OPENAI_API_KEY")
    dotenv("OPENAI_API_KEY=shared\nRAG_OPENAI_API_KEY=ours in the file\n")
    assert key() == "ours in the file"


def test_blank_value_leaves_optional_setting_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "RAG_OPENAI_MODEL", "CHROMA_HOST", "RAG_FILES_URL", "RAG_RERANKER"):
        monkeypatch.setenv(name, " ")
    settings = load_settings()
    values = (settings.openai_base_url, settings.openai_model, settings.chroma_host, settings.files_url)
    assert values == (None, None, None, None)
    assert (settings.reranker, settings.rank_by) == (None, "named")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "DATABASE_URL", "RAG_OPENAI_API_KEY"])
def test_blank_secret_is_unset(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    settings = load_settings()
    assert (settings.openai_api_key, settings.database_url) == (None, None)


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
    dotenv(f"# ours\nRAG_RRF_K=50\n{line}\nRAG_CANDIDATES=70\n")
    with pytest.raises(SettingsError, match=r"Line 3 of \.env cannot be read") as raised:
        load_settings()
    assert "sk-abc" not in str(raised.value)


def test_unreadable_line_of_another_program_is_ignored() -> None:
    dotenv("FOO: 1\nBAR\nBAZ='x\nMY_RAG_TOP_K: 8\nRAG_TOP_K=7\n")
    assert load_settings().top_k == 7


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
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert KEY not in str(raised.value)
    assert raised.value.__cause__ is None


def test_unknown_argument_is_rejected() -> None:
    with pytest.raises(SettingsError, match="TRESHOLD"):
        load_settings(treshold=0.5)


def test_every_setting_has_a_description() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_local_model_and_endpoint_model_exclude_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAG_GGUF", str(tmp_path / "small.gguf"))
    assert load_settings().generator_name == "gguf:small"
    monkeypatch.setenv("RAG_OPENAI_MODEL", "large")
    with pytest.raises(SettingsError, match="RAG_OPENAI_MODEL: RAG_GGUF names a model already"):
        load_settings()
    monkeypatch.setenv("RAG_GGUF", " ")
    assert load_settings().generator_name == "openai:large"
