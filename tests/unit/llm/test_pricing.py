"""Token usage and its cost."""

from __future__ import annotations

import pytest

from rag_core.llm.pricing import estimate_usage
from rag_core.settings import Settings
from rag_core.types import Usage

MESSAGES = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "How long is the bridge?"}]


def settings(**values: object) -> Settings:
    return Settings(_env_file=None, **values)


@pytest.mark.parametrize(
    ("prices", "cost", "currency"),
    [
        ({}, None, ""),
        ({"price_input": 2.0, "price_output": 8.0, "price_currency": "EUR"}, 0.006, "EUR"),
        ({"price_input": 2.0, "price_currency": "EUR"}, 0.002, "EUR"),
        ({"price_output": 8.0, "price_currency": "EUR"}, 0.004, "EUR"),
    ],
)
def test_reported_usage_is_priced(prices: dict[str, float | str], cost: float | None, currency: str) -> None:
    usage = estimate_usage(settings(**prices), MESSAGES, "90 metres.", (1_000, 500))
    assert usage == Usage(1, 1_000, 500, False, pytest.approx(cost), currency)


def test_missing_usage_is_estimated() -> None:
    usage = estimate_usage(settings(), MESSAGES, "It is ninety metres long.", None)
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
