"""The normal form of short answers."""

from __future__ import annotations

import re
import string

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Return the text in lower case, without punctuation, articles and extra white space.

    The normalization is that of the evaluation script of Rajpurkar et al., "SQuAD: 100,000+ questions for machine
    comprehension of text", EMNLP 2016.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
