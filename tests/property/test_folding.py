"""Texts are folded exactly if their shingles resemble each other."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import event, example, given
from hypothesis import strategies as st

from rag_core.retrieval.near_duplicates import fold_near_duplicates

SHINGLE_WORDS, RESEMBLANCE = 8, 0.9
# Only letters, since texts that differ in figures or negations are never folded.
WORDS = st.sampled_from([f"{first}{second}" for first in "abcdefgh" for second in "klmpqrst"])
LONG = tuple(f"{first}{second}" for first in "abcdefghij" for second in "klmopqrstuvwx")


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Return the sequences of words; a shorter text is one sequence."""
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    return {tuple(words[first : first + SHINGLE_WORDS]) for first in range(last)}


@given(
    st.lists(WORDS, max_size=300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12), st.lists(WORDS, max_size=12)), max_size=3),
)
@example(list(LONG), [(0, 6, []), (300, 0, ["zz"] * 3)])
@example(list(LONG), [(120, 10, [f"z{letter}" for letter in "abcdefgh"])])
def test_texts_with_similar_shingles_are_folded(words: list[str], edits: list[tuple[int, int, list[str]]]) -> None:
    changed = list(words)
    for position, removed, inserted in edits:
        changed[position : position + removed] = inserted
    first, second = shingles(words), shingles(changed)
    similar = len(first & second) >= RESEMBLANCE * len(first | second)
    event("similar" if similar else "different")
    chunks = [
        SimpleNamespace(id=number, version_id=str(number), text=" ".join(text), page_index=0, start=0)
        for number, text in enumerate((words, changed))
    ]
    assert fold_near_duplicates(chunks, 2) == ({0: (1,)} if similar else {0: (), 1: ()})
