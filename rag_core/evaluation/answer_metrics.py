"""Metrics that compare an answer with the expected answers."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Return the text in lower case, without punctuation, articles and extra white space.

    The normalisation is that of the evaluation script of Rajpurkar et al., "SQuAD: 100,000+ questions for machine
    comprehension of text", EMNLP 2016.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(text: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised text equals one of the normalised answers, else 0."""
    return float(normalise(text) in {normalise(one) for one in answers})


def token_f1(text: str, answers: Sequence[str]) -> float:
    """Return the highest token F1 of the text and one of the answers (Rajpurkar et al. 2016).

    If the text or an answer has no tokens after normalisation, their F1 is 1 if neither has tokens, else 0.
    """
    return max((_f1(normalise(text).split(), normalise(one).split()) for one in answers), default=0.0)


def contains_answer(text: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised text contains one of the normalised answers as whole words, else 0."""
    # Spaces around the text and the answer restrict matches to whole words: "part" does not contain "art".
    padded = f" {normalise(text)} "
    return float(any(f" {expected} " in padded for one in answers if (expected := normalise(one))))


def _f1(answer_tokens: Sequence[str], expected_tokens: Sequence[str]) -> float:
    if not answer_tokens or not expected_tokens:
        return float(answer_tokens == expected_tokens)
    common = sum((Counter(answer_tokens) & Counter(expected_tokens)).values())
    return 2 * common / (len(answer_tokens) + len(expected_tokens))
