"""Clauses of sentences, sentences that refer back, and rows of tables."""

from __future__ import annotations

import pytest

from rag_core.reading.clauses import MIN_CLAUSE_WORDS, find_clause_spans, has_back_reference
from rag_core.text.tables import is_row

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
def test_a_sentence_is_parted_where_a_clause_ends(text: str, parts: list[str]) -> None:
    found = [text[start:end] for start, end in find_clause_spans(text)]
    assert sorted(found) == sorted(parts)
    assert all(len(one.split()) >= MIN_CLAUSE_WORDS for one in found)


def test_runs_of_clauses_come_shortest_first_without_the_whole() -> None:
    text = f"{OLD}; {NEW}; {OLD}."
    lengths = [end - start for start, end in find_clause_spans(text)]
    assert lengths == sorted(lengths)
    assert len(lengths) == 5
    assert max(lengths) < len(text)


@pytest.mark.parametrize(
    ("text", "refers"),
    [("She left.", True), ("The latter fell.", True), ("Sheila left.", False), ("The mill fell.", False)],
)
def test_a_sentence_refers_back_by_its_first_word(text: str, refers: bool) -> None:
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
def test_a_row_is_a_short_line_with_figures(text: str, row: bool) -> None:
    assert is_row(text) is row
