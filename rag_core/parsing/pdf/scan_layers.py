"""Find text layers of scans that differ from the picture.

The program that wrote the layer may have misread the picture, or the layer may belong to another page. A layer is
doubtful if few of its words are in the dictionary, or if the picture has ink between the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rag_core.parsing.layout.runs import Run
from rag_core.text.dictionaries import load_words
from rag_core.text.languages import detect_language
from rag_core.types.arrays import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# The picture of a scan covers at least this share of the page, and contains at least this share of the words.
_MIN_PICTURE_SHARE = 0.5
_MIN_INSIDE_SHARE = 0.8
# A layer with fewer words is not judged.
_MIN_WORDS = 12
# Words that should be in a dictionary: shorter words are often units or misread, and capitals begin names.
_ORDINARY_WORD = re.compile(r"(?<![\w'’-])[^\W\d_A-Z]{4,}(?![\w'’-])")
# A layer with a smaller share of words in the dictionary is doubtful. In a good layer, about one word in ten is a name
# or a compound.
_MIN_KNOWN_SHARE = 0.75
# A pixel is ink if it is darker than the median by this much.
_INK = 64
# If words are at their places, there is less ink between the words than this share of the ink in the words.
_MAX_GAP_INK = 0.6
_MIN_GAPS = 12
# Number of lines that are compared with the picture, and minimum similarity, 0..1.
_SAMPLED_LINES = 5
_MIN_SIMILARITY = 0.85
# A layer is not replaced if at least this share of its pairs of adjacent words are recognized in the picture.
_MAX_SAME_PAIRS = 0.5
# A text is as plausible as another text if its share of known words is lower by at most this difference.
_KNOWN_MARGIN = 0.1


def is_scan(pictures: FloatArray, runs: list[Run]) -> bool:
    """Return whether the largest picture of a page is a scan, and the runs are its text layer."""
    if not len(pictures) or not runs:
        return False
    x0, y0, x1, y1 = box = pictures[np.prod(pictures[:, 2:] - pictures[:, :2], axis=1).argmax()]
    if np.prod(box[2:] - box[:2]) < _MIN_PICTURE_SHARE:
        return False
    rects = np.concatenate([run.rects for run in runs])
    across, down = (rects[:, :2] + rects[:, 2:]).T / 2
    inside = (x0 <= across) & (across <= x1) & (y0 <= down) & (down <= y1)
    return len(rects) >= _MIN_WORDS and bool(inside.mean() >= _MIN_INSIDE_SHARE)


def is_doubtful(runs: list[Run], image: Image) -> bool:
    """Return whether few words of a layer are in the dictionary, or the picture has ink between the words."""
    known = measure_known_share(runs)
    return (known is not None and known < _MIN_KNOWN_SHARE) or _has_ink_between_words(runs, image)


def measure_known_share(runs: list[Run]) -> float | None:
    """Return the share of ordinary words that are in the dictionary of their language.

    Return ``None`` if there are too few words, or if the language has no dictionary.
    """
    text = " ".join(word for run in runs for word in run.words)
    words = _ORDINARY_WORD.findall(text)
    if len(words) < _MIN_WORDS:
        return None
    known = load_words(detect_language(text))
    return sum(word in known for word in words) / len(words) if known else None


def _has_ink_between_words(runs: list[Run], image: Image) -> bool:
    pixels = np.asarray(image.convert("L"), np.int16)
    ink = np.pad((pixels < np.median(pixels) - _INK).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    size = np.array((image.width, image.height) * 2)
    words = np.concatenate([run.rects for run in runs])
    gaps = np.concatenate([np.column_stack([run.rects[:-1, [2, 1]], run.rects[1:, [0, 3]]]) for run in runs])
    shares = []
    for rects in (words, gaps):
        x0, y0, x1, y1 = (rects * size).round().astype(int).clip(0, np.tile(size[:2], 2)).T
        wide = (x1 > x0) & (y1 > y0)
        x0, y0, x1, y1 = x0[wide], y0[wide], x1[wide], y1[wide]
        inked = ink[y1, x1] - ink[y0, x1] - ink[y1, x0] + ink[y0, x0]
        shares.append(inked.sum() / max(((x1 - x0) * (y1 - y0)).sum(), 1))
    return len(gaps) >= _MIN_GAPS and bool(shares[1] > _MAX_GAP_INK * shares[0])


def select_longest(runs: list[Run]) -> list[Run]:
    """Return the five longest lines of a layer, the longest first."""
    return sorted(runs, key=lambda run: -len(run.text))[:_SAMPLED_LINES]


def is_alike(sample: list[Run], read: list[str]) -> bool:
    """Return whether most lines of a layer are similar to the texts that were read at their places in the picture."""
    pairs = zip(sample, read, strict=True)
    ratios = [SequenceMatcher(None, _squeeze(run.text), _squeeze(text), autojunk=False).ratio() for run, text in pairs]
    return bool(np.median(ratios) >= _MIN_SIMILARITY)


def is_better(recognized: list[Run], layer: list[Run]) -> bool:
    """Return whether the text recognized in a picture should replace a doubtful layer.

    It should if it contains fewer than half of the layer's pairs of adjacent words, and about as large a share of known
    words, or a larger one.
    """
    pairs, expected = (Counter(_iter_pairs(runs)) for runs in (recognized, layer))
    if (pairs & expected).total() >= _MAX_SAME_PAIRS * expected.total():
        return False
    return (measure_known_share(recognized) or 0.0) >= (measure_known_share(layer) or 0.0) - _KNOWN_MARGIN


def _iter_pairs(runs: list[Run]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of adjacent words in lower case."""
    for run in runs:
        yield from pairwise(run.text.casefold().split())


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
