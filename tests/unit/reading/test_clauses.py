"""Clauses of sentences, references to earlier sentences, and table rows."""

from __future__ import annotations

import pytest

from rag_core.reading.clauses import MIN_CLAUSE_WORDS, find_clause_spans, has_back_reference
from rag_core.text.tables import is_table_row

OLD = "the old bridge was built of wood by local men"
NEW = "the new bridge was opened in the spring of 1931"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"{OLD}; {NEW}.", [f"{OLD};", f"{NEW}."]),
        (f"{OLD} – {NEW}.", [OLD, f"{NEW}."]),
        (f"{OLD}, but {NEW}.", [OLD, f"but {NEW}."]),
        (f"{OLD}, and {NEW}.", []),
        (f"{OLD}; it fell.", [f"{OLD};"]),
        (OLD, []),
        ("", []),
    ],
)
def test_sentence_is_divided_at_clauses(text: str, parts: list[str]) -> None:
    clauses = [text[start:end] for start, end in find_clause_spans(text)]
    assert sorted(clauses) == sorted(parts)
    assert all(len(clause.split()) >= MIN_CLAUSE_WORDS for clause in clauses)


def test_sequences_of_clauses_are_ordered_by_length() -> None:
    text = f"{OLD}; {NEW}; {OLD}."
    lengths = [end - start for start, end in find_clause_spans(text)]
    assert lengths == sorted(lengths)
    assert len(lengths) == 5
    assert max(lengths) < len(text)


@pytest.mark.parametrize(
    ("text", "refers"),
    [("She left.", True), ("The latter fell.", True), ("Sheila left.", False), ("The mill fell.", False)],
)
def test_first_word_refers_to_earlier_sentence(text: str, refers: bool) -> None:
    assert has_back_reference(text) is refers


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Northport 310 207", True),
        ("Northport 310", False),
        ("It had 310 men and 207 ships.", False),
        ("Northport 310 207\nEastport", False),
        (f"{'Northport ' * 10} 310 207", False),
    ],
)
def test_table_row_is_a_short_line_with_figures(text: str, row: bool) -> None:
    assert is_table_row(text) is row
