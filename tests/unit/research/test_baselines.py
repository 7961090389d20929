"""TF-IDF and BM25 on examples of textbooks."""

from __future__ import annotations

import math

import pytest

from rag_core.research.baselines import Bm25, TfIdf, tokenize_words

# Jurafsky and Martin, "Speech and Language Processing", 3rd edition draft, chapter 14.
NURSE = ["Sweet sweet nurse! Love?", "Sweet sorrow", "How sweet is love?", "Nurse!"]
QUERY = "sweet love"


def test_words_are_lower_case_without_punctuation() -> None:
    assert tokenize_words("Sweet sweet nurse! Love?") == ["sweet", "sweet", "nurse", "love"]


def test_cosines_match_the_textbook() -> None:
    scores = {hit.chunk_id: hit.score for hit in TfIdf(NURSE).rank(QUERY)}
    assert scores[0] == pytest.approx(0.747, abs=5e-4)
    assert scores[1] == pytest.approx(0.0779, abs=5e-5)
    assert 3 not in scores


def test_bm25_matches_manual_calculation() -> None:
    texts = ["cat cat dog", "dog", "bird bird"]  # mean length 2
    k, b = 1.2, 0.75
    cat = math.log10(3 / 1) * 2 / (k * (1 - b + b * 3 / 2) + 2)
    dog = math.log10(3 / 2)
    expected = {
        0: cat + dog * 1 / (k * (1 - b + b * 3 / 2) + 1),
        1: dog * 1 / (k * (1 - b + b * 1 / 2) + 1),
    }
    hits = Bm25(texts).rank("cat dog")
    assert [hit.chunk_id for hit in hits] == [0, 1]
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(expected)


def test_effects_of_k_and_b() -> None:
    texts = ["word word word filler filler filler", "word", "other"]
    unbounded = {hit.chunk_id: hit.score for hit in Bm25(texts, k=1000.0, b=0.0).rank("word")}
    assert unbounded[0] / unbounded[1] == pytest.approx(3, abs=0.01)
    binary = {hit.chunk_id: hit.score for hit in Bm25(texts, k=0.0).rank("word")}
    assert binary[0] == pytest.approx(binary[1])
    assert [hit.chunk_id for hit in Bm25(texts, b=1.0).rank("word")] == [1, 0]


@pytest.mark.parametrize("ranker", [TfIdf, Bm25])
def test_uninformative_words_have_no_hits(ranker: type[TfIdf] | type[Bm25]) -> None:
    assert ranker([]).rank("word") == []
    assert ranker(["same", "same"]).rank("same") == []
    assert ranker(["one", "two"]).rank("three") == []
    assert ranker(["one", "two"]).rank("") == []
