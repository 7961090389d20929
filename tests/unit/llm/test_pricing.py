"""Token usage, its cost, and the table of prices."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import SettingsError
from rag_core.llm.pricing import apply_price, estimate_usage, load_prices
from rag_core.settings import Settings
from rag_core.types.usage import Price, Usage

TABLE = """
[[prices]]
model = "small"
host = "models.example.com"
input = 1.5
output = 6
currency = "EUR"
"""
SMALL = Price(1.5, 6.0, "EUR")
MESSAGES = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "How long is the bridge?"}]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "prices.toml"
    file.write_text(TABLE)
    return file


def test_bundled_table_is_valid() -> None:
    assert {price.host for price in load_prices()} == {"api.openai.com"}


@pytest.mark.parametrize(
    ("values", "price"),
    [
        ({}, SMALL),
        ({"openai_model": "small-2026-01-31"}, SMALL),
        ({"openai_model": "small-turbo"}, None),
        ({"openai_model": "smaller"}, None),
        ({"openai_base_url": "http://localhost:11434/v1"}, None),
        ({"openai_base_url": None}, None),
        ({"openai_model": None, "gguf": "small.gguf"}, None),
        ({"price": "0/3 USD"}, Price(0.0, 3.0, "USD")),
    ],
)
def test_model_of_a_host_has_the_price_of_the_settings_or_the_table(
    table: Path, values: dict[str, object], price: Price | None
) -> None:
    defaults = {"openai_base_url": "https://models.example.com/v1", "openai_model": "small"}
    assert apply_price(Settings(_env_file=None, **(defaults | values)), load_prices(table)).price == price


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TABLE.replace("1.5", "-1"), "entry 1: input .*Correct it"),
        (TABLE.replace("currency", "unit"), "entry 1: "),
        ("prices = 1", "is not valid"),
        ("[[prices", "cannot be read .*unset RAG_PRICES"),
        (None, "cannot be read"),
    ],
)
def test_invalid_table_is_refused(table: Path, content: str | None, words: str) -> None:
    table.unlink() if content is None else table.write_text(content)
    with pytest.raises(SettingsError, match=words):
        load_prices(table)


def test_reported_usage_is_priced() -> None:
    assert estimate_usage(None, MESSAGES, "90 metres.", (1_000, 500)) == Usage(1, 1_000, 500)
    priced = Usage(1, 1_000, 500, False, pytest.approx(0.0045), "EUR")
    assert estimate_usage(SMALL, MESSAGES, "90 metres.", (1_000, 500)) == priced


def test_missing_usage_is_estimated() -> None:
    usage = estimate_usage(None, MESSAGES, "It is ninety metres long.", None)
    assert usage.estimated
    assert 8 <= usage.input_tokens <= 40
    assert 5 <= usage.output_tokens <= 8


@pytest.mark.parametrize(
    ("usage", "label"),
    [
        (Usage(1, 1_204, 88), "1,204 tokens in, 88 out"),
        (Usage(1, 1_204, 88, True), "1,204 tokens in, 88 out (estimated)"),
        (
            Usage(3, 1_204, 88, True, 0.00312, "EUR"),
            "3 calls, 1,204 tokens in, 88 out, 0.0031 EUR (some of it estimated)",
        ),
        (Usage(1, 1, 1, False, 1_234.5, "USD"), "1 tokens in, 1 out, 1,234.50 USD"),
        (Usage(1, 1, 1, False, 0.0, "USD"), "1 tokens in, 1 out, 0.00 USD"),
        (Usage(1, 1, 1, False, 0.0000042, "USD"), "1 tokens in, 1 out, 0.0000042 USD"),
    ],
)
def test_usage_label(usage: Usage, label: str) -> None:
    assert usage.label == label


def test_usages_are_added() -> None:
    first, second = Usage(1, 100, 20, False, 0.5, "USD"), Usage(1, 10, 2, True, 0.25, "USD")
    assert first + second == Usage(2, 110, 22, True, 0.75, "USD")
    assert Usage() + first == first + Usage() == first
    assert (Usage(1, 5, 5) + Usage(1, 5, 5)).cost is None
