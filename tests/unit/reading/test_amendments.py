"""Statements that change another statement of the same document."""

from __future__ import annotations

import pytest

from rag_core.reading.amendments import find_amendment
from rag_core.reading.statement_reading import ReadStatement
from tests.unit.reading.test_statement_reading import read_page

RULE = "Claims must be submitted within 30 days."


def read(*texts: str) -> list[ReadStatement]:
    """Return statements of a page, the first of which answers; its answer is its first word."""
    return read_page("When must claims be submitted?", "\n\n".join(texts), {texts[0]: 0.9})


@pytest.mark.parametrize(
    "change",
    [
        "In section 4, “Claims must be submitted within 30 days” is replaced by “within 45 days”.",
        "Section 4 is replaced as follows: Claims must be submitted within 45 days.",
        "Section 4 shall now read: All claims must be submitted within 45 days.",
    ],
)
def test_replaced_rule_has_an_amendment(change: str) -> None:
    best, *others = read(RULE, change)
    found = find_amendment(best, others)
    assert found is not None
    assert found.text == change


@pytest.mark.parametrize(
    "other",
    [
        "The filter is replaced every 45 days.",
        "Claims must be submitted within 45 days.",
        "In section 9, “in Bern” is replaced by “in Basel”.",
    ],
)
def test_other_statements_are_no_amendments(other: str) -> None:
    best, *others = read(RULE, other)
    assert find_amendment(best, others) is None


def test_amendment_itself_and_statements_without_numbers_have_none() -> None:
    change = "Section 4 is replaced as follows: Claims must be submitted within 45 days."
    amended, *others = read(change, RULE)
    assert find_amendment(amended, others) is None
    best, *others = read("Claims must be submitted soon.", "Claims must be submitted soon is replaced by 45 days.")
    assert find_amendment(best, others) is None
