"""The catalogue of models: the file that comes with the application, and errors in others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import SettingsError, UnknownModel
from rag_core.llm.model_catalogue import find_model, load_catalogue

ENTRY = f"""
[[models]]
name = "tiny"
file = "tiny.gguf"
size_bytes = 1_000
memory_bytes = 2_000
licence = "MIT"
url = "https://files.example/tiny.gguf"
sha256 = "{"0" * 64}"
"""


def test_shipped_models_are_complete() -> None:
    models = load_catalogue()
    assert len(models) >= 2
    for model in models:
        assert model.url.startswith("https://")
        assert model.url.endswith(f"/{model.file}")
        assert model.memory_bytes > model.size_bytes
        assert find_model(model.name) == model


def test_unknown_name_lists_the_names(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text(ENTRY)
    with pytest.raises(UnknownModel, match=r"no model huge\. It has: tiny\."):
        find_model("huge", file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('sha256 = "0', 'sha256 = "', "entry 1: sha256"),
        ('"https://', '"http://', "entry 1: url"),
        ('"tiny.gguf"', '"../tiny.gguf"', "entry 1: file"),
        ("1_000", "0", "entry 1: size_bytes"),
        ('licence = "MIT"', "", "entry 1: licence"),
        ('licence = "MIT"', 'licence = "MIT"\nlicense = "MIT"', "entry 1: license"),
        ("[[models]]", "[[model]]", "not valid"),
        ("[[models]]", "[[models]", "cannot be read"),
    ],
)
def test_error_names_the_entry_and_the_field(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "models.toml"
    assert old in ENTRY
    file.write_text(ENTRY.replace(old, new))
    with pytest.raises(SettingsError, match=message):
        load_catalogue(file)


@pytest.mark.parametrize("repeated", ["name", "file"])
def test_names_and_files_are_unique(tmp_path: Path, repeated: str) -> None:
    other = ENTRY.replace('"tiny"', '"other"') if repeated == "file" else ENTRY.replace('"tiny.gguf"', '"other.gguf"')
    file = tmp_path / "models.toml"
    file.write_text(ENTRY + other)
    with pytest.raises(SettingsError, match=f"2 entries with the {repeated} tiny"):
        load_catalogue(file)
