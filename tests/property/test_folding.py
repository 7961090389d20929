"""What is compared by words first is folded exactly where its shingles resemble each other."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import event, example, given
from hypothesis import strategies as st

from rag_core.retrieval.near_duplicates import fold_near_duplicates

SHINGLE_WORDS, RESEMBLANCE = 8, 0.9
# Letters alone: figures and negations keep texts apart whatever else they share.
WORDS = st.sampled_from([f"{first}{second}" for first in "abcdefgh" for second in "klmpqrst"])
LONG = tuple(f"{first}{second}" for first in "abcdefghij" for second in "klmopqrstuvwx")


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Runs of words, the whole where it is no longer than one."""
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    return {tuple(words[first : first + SHINGLE_WORDS]) for first in range(last)}


@given(
    st.lists(WORDS, max_size=300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12), st.lists(WORDS, max_size=12)), max_size=3),
)
@example(list(LONG), [(0, 6, []), (300, 0, ["zz"] * 3)])
@example(list(LONG), [(120, 10, [f"z{letter}" for letter in "abcdefgh"])])
def test_texts_are_folded_where_their_shingles_resemble_each_other(
    words: list[str], edits: list[tuple[int, int, list[str]]]
) -> None:
    changed = list(words)
    for place, gone, put in edits:
        changed[place : place + gone] = put
    one, other = shingles(words), shingles(changed)
    alike = len(one & other) >= RESEMBLANCE * len(one | other)
    event("alike" if alike else "apart")
    chunks = [
        SimpleNamespace(id=number, version_id=str(number), text=" ".join(text), page_index=0, start=0)
        for number, text in enumerate((words, changed))
    ]
    assert fold_near_duplicates(chunks, 2) == ({0: (1,)} if alike else {0: (), 1: ()})
