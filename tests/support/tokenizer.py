"""A tokenizer of words and punctuation marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np


def words(texts: Sequence[str]) -> list[np.ndarray]:
    """Return the offsets of words and punctuation marks in each text."""
    return [
        np.array([match.span() for match in re.finditer(r"\w+|[^\w\s]", text)], np.int32).reshape(-1, 2)
        for text in texts
    ]
