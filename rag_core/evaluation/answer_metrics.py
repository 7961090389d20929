"""Metrics that compare an answer with the expected answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rag_core.text.normalize import normalize_answer


def compute_exact_match(text: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalized text equals one of the normalized answers, else 0."""
    return float(normalize_answer(text) in {normalize_answer(one) for one in answers})


def compute_token_f1(text: str, answers: Sequence[str]) -> float:
    """Return the highest token F1 of the text with any of the answers (Rajpurkar et al. 2016); 0 without answers.

    If the text or an answer has no tokens after normalization, the F1 of the pair is 1 if neither has tokens, else 0.
    """
    return max(
        (_compute_f1(normalize_answer(text).split(), normalize_answer(one).split()) for one in answers), default=0.0
    )


def contains_answer(text: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalized text contains one of the normalized answers as whole words, else 0."""
    # Spaces around the text and the answer restrict matches to whole words: "part" does not contain "art".
    padded = f" {normalize_answer(text)} "
    return float(any(f" {expected} " in padded for one in answers if (expected := normalize_answer(one))))


def _compute_f1(answer_tokens: Sequence[str], expected_tokens: Sequence[str]) -> float:
    if not answer_tokens or not expected_tokens:
        return float(answer_tokens == expected_tokens)
    common = sum((Counter(answer_tokens) & Counter(expected_tokens)).values())
    return 2 * common / (len(answer_tokens) + len(expected_tokens))
