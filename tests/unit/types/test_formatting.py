"""Values in messages and in exported files."""

from __future__ import annotations

import pytest

from rag_core.types.formatting import escape_formula, format_count


@pytest.mark.parametrize(
    ("value", "cell"),
    [("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("-2", "'-2"), ("\t=1", "'\t=1"), ("a=1", "a=1"), (-2.5, -2.5)],
)
def test_texts_that_could_be_formulas_are_escaped(value: object, cell: object) -> None:
    assert escape_formula(value) == cell


def test_counts_have_a_plural() -> None:
    assert format_count(1, "page") == "1 page"
    assert format_count(18400, "chunk") == "18,400 chunks"
    assert format_count(2, "copy", "copies") == "2 copies"
