"""Answers against the expected ones."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without punctuation, articles and extra white space.

    Rajpurkar et al., "SQuAD: 100,000+ questions for machine comprehension of text", EMNLP 2016, as
    its evaluation script does it.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(text: str, answers: Sequence[str]) -> float:
    """1 where the text is one of the answers, both normalised; else 0."""
    return float(normalised(text) in {normalised(one) for one in answers})


def token_f1(text: str, answers: Sequence[str]) -> float:
    """Harmonic mean of the precision and recall of tokens, against the answer that fits best.

    Rajpurkar et al. 2016. Where either has no token left, 1 if both have none, else 0.
    """
    return max((_f1(normalised(text).split(), normalised(one).split()) for one in answers), default=0.0)


def contains_answer(text: str, answers: Sequence[str]) -> float:
    """1 where one of the answers stands in the text as whole words, both normalised; else 0."""
    # Spaces around both, so that "art" is not found in "part".
    padded = f" {normalised(text)} "
    return float(any(f" {wanted} " in padded for one in answers if (wanted := normalised(one))))


def _f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    if not given or not wanted:
        return float(given == wanted)
    common = sum((Counter(given) & Counter(wanted)).values())
    return 2 * common / (len(given) + len(wanted))
