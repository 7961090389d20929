"""Lemmas of words."""

from __future__ import annotations

import pytest

from rag_core.text.words import find_lemma


@pytest.mark.parametrize(
    ("word", "other"),
    [("founded", "find"), ("founding", "find"), ("bounded", "bind"), ("bored", "bear")],
)
def test_verb_like_a_past_form_is_another_verb(word: str, other: str) -> None:
    assert find_lemma(word) != find_lemma(other)


@pytest.mark.parametrize(
    "words",
    [
        "find finds finding found",
        "bind binding bound",
        "begin begins beginning began begun start starts started commenced commencement",
        "end ending finished finishes expires expired",
        "die dies died dead death deaths",
        "use uses used using",
        "write writes writing wrote written",
        "think thinking thought thoughts",
    ],
)
def test_forms_of_a_verb_share_a_lemma(words: str) -> None:
    assert len(set(map(find_lemma, words.split()))) == 1
