"""Prices of language models."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import SettingsError
from rag_core.llm.prices import apply_price, load_prices
from rag_core.settings import Settings

TABLE = """
[[prices]]
model = "small"
host = "models.example.com"
input = 1.5
output = 6
currency = "EUR"
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(TABLE)
    return file


def price(table: Path, **values: object) -> tuple[float | None, float | None, str]:
    defaults = {"openai_base_url": "https://models.example.com/v1", "openai_model": "small"}
    priced = apply_price(Settings(_env_file=None, **(defaults | values)), load_prices(table))
    return priced.price_input, priced.price_output, priced.price_currency


def test_bundled_table_is_valid() -> None:
    assert {price.host for price in load_prices()} == {"api.openai.com"}


@pytest.mark.parametrize("model", ["small", "small-2026-01-31"])
def test_model_has_the_price_of_the_table(table: Path, model: str) -> None:
    assert price(table, openai_model=model) == (1.5, 6.0, "EUR")


@pytest.mark.parametrize(
    "values",
    [
        {"openai_model": "small-turbo"},
        {"openai_model": "smaller"},
        {"openai_base_url": "http://localhost:11434/v1"},
        {"openai_base_url": None},
        {"openai_model": None, "gguf": "small.gguf"},
    ],
)
def test_other_model_host_or_file_has_no_price(table: Path, values: dict[str, object]) -> None:
    assert price(table, **values) == (None, None, "USD")


def test_settings_override_the_table(table: Path) -> None:
    assert price(table, price_output=3.0) == (None, 3.0, "USD")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TABLE.replace("1.5", "-1"), "entry 1: input .*Correct it"),
        (TABLE.replace("currency", "unit"), "entry 1: "),
        ("prices = 1", "is not valid"),
        ("[[prices", "cannot be read .*unset RAG_PRICES"),
    ],
)
def test_invalid_table_is_refused(table: Path, content: str, words: str) -> None:
    table.write_text(content)
    with pytest.raises(SettingsError, match=words):
        load_prices(table)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_prices(table.with_name("absent.toml"))
