"""Words that an answer is likely to have, in the first chunks of a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from rag_core.retrieval import Expansion, word_weights
from rag_core.retrieval.expansion import EXPANSION_WEIGHT, READ
from rag_core.types import Hit

TEXTS = {1: "Nothing of it.", 2: "A Colony, explored in the café.", 3: "colony colony"}


def expansion(**weights: float) -> Expansion:
    return Expansion(lambda: weights, lambda chunk_ids: {one: TEXTS[one] for one in chunk_ids if one in TEXTS})


def test_a_chunk_gains_by_the_share_of_the_words_that_it_has() -> None:
    made = expansion(colony=0.5, explored=0.3, cafe=0.1, river=0.1).expand([Hit(1, 0.62), Hit(2, 0.60), Hit(3, 0.55)])
    assert [hit.chunk_id for hit in made] == [2, 1, 3]
    expected = [0.60 + EXPANSION_WEIGHT * 0.9, 0.62, 0.55 + EXPANSION_WEIGHT * 0.5]
    assert [hit.score for hit in made] == pytest.approx(expected)


def test_without_words_or_texts_the_order_stays() -> None:
    hits = [Hit(1, 0.6), Hit(3, 0.6), Hit(9, 0.5)]
    assert expansion().expand(hits) == hits
    assert expansion(river=1.0).expand(hits) == hits
    assert expansion(river=1.0).expand([]) == []


def test_only_the_first_are_read_and_the_rest_stay_behind_them() -> None:
    read: list[int] = []

    def texts(chunk_ids: Sequence[int]) -> Mapping[int, str]:
        read.extend(chunk_ids)
        return dict.fromkeys(chunk_ids, "colony")

    hits = [Hit(one, 1 - one / 100) for one in range(READ + 5)]
    made = Expansion(lambda: {"colony": 1.0}, texts).expand(hits)
    assert read == list(range(READ))
    assert [hit.chunk_id for hit in made] == list(range(READ + 5))
    assert made[READ:] == hits[READ:]
    assert made[0].score == pytest.approx(hits[0].score + EXPANSION_WEIGHT)


def test_a_word_counts_by_its_weight_and_how_rare_it_is() -> None:
    rarity = {"colony": 4.0, "was": 0.0, "river": 1.0}
    weights = word_weights({"colony": 0.5, "was": 3.0, "river": 2.0}, lambda words: {one: rarity[one] for one in words})
    assert weights == pytest.approx({"colony": 0.5, "river": 0.5})
    assert word_weights({"was": 1.0}, lambda words: dict.fromkeys(words, 0.0)) == {}
