"""The one module that imports RapidOCR: the words of a picture of a page, and where they stand."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_core.extraction.cleaning import clean_word
from rag_core.extraction.runs import Run, turn
from rag_core.types import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# Two pixels a point reads nearly as well as three and takes half the time; small pages hold small print.
_SCALE, _LARGEST_SCALE, _SIDE, _LONGEST_SIDE = 2.0, 4.0, 1684.0, 2600.0
_CELL_GAP = 1.3


class OcrMissingError(Exception):
    """RapidOCR is not installed."""


def scale_for(width: float, height: float) -> float:
    """Pixels a point at which a page of that size, in points, is read."""
    longest = max(width, height, 1.0)
    return min(max(_SCALE, _SIDE / longest), _LARGEST_SCALE, _LONGEST_SIDE / longest)


@lru_cache(maxsize=1)
def _engine() -> Any:
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise OcrMissingError(str(error)) from None
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.return_word_box": True,
            "Global.max_side_len": int(_LONGEST_SIDE),
        }
    )


def read_picture(image: Image, width: float, height: float) -> tuple[list[Run], list[float]]:
    """Recognise the text of a page.

    Parameters
    ----------
    image : PIL.Image.Image
        RGB.
    width, height : float
        Of the page in points.

    Returns
    -------
    runs : list of Run
    confidences : list of float
        Of every word, 0..1.

    Raises
    ------
    OcrMissingError
    """
    # Copied, since a view with its channels reversed has strides that OpenCV refuses.
    pixels = np.ascontiguousarray(np.asarray(image)[:, :, ::-1])
    found = _engine()(pixels)
    runs: list[Run] = []
    confidences: list[float] = []
    for text, words in zip(found.txts or (), found.word_results or (), strict=False):
        kept = [(clean_word(word), confidence, box) for word, confidence, box in words]
        kept = [entry for entry in kept if entry[0].strip()]
        if not kept:
            continue
        corners = np.array([box for _, _, box in kept], np.float32).reshape(len(kept), -1, 2)
        rects = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        rects /= np.array([image.width, image.height] * 2, np.float32)
        names = [word.strip() for word, _, _ in kept]
        runs.append(_run(names, _spaces(text, names), rects, width, height))
        confidences += [float(confidence) for _, confidence, _ in kept]
    if runs:
        _settle_sizes(runs)
    return runs, confidences


def _spaces(text: str, words: list[str]) -> list[bool]:
    """Whether a space stands before each word: recognised lines have them, recognised words do not."""
    spaced, cursor = [], 0
    for word in words:
        place = text.find(word, cursor)
        spaced.append(place != cursor)
        cursor = place + len(word) if place >= 0 else cursor
    return spaced


def _run(words: list[str], spaced: list[bool], rects: FloatArray, width: float, height: float) -> Run:
    spots = turn(rects, "right", width, height)
    low, high = spots[:, :2].min(axis=0).tolist(), spots[:, 2:].max(axis=0).tolist()
    size = float(np.median(spots[:, 3] - spots[:, 1]))
    gaps = spots[1:, 0] - spots[:-1, 2]
    cells = 1 + int(np.count_nonzero(gaps > _CELL_GAP * max(size, 1.0)))
    hyphen = len(words[-1]) > 1 and words[-1].endswith("-") and words[-1][-2].isalpha()
    if hyphen:
        words = [*words[:-1], words[-1][:-1]]
    box = (low[0], low[1], high[0], high[1])
    return Run(words, spaced, rects, spots, box, size, cells=cells, hyphen=hyphen)


def _settle_sizes(runs: list[Run]) -> None:
    """Recognised boxes differ by a few pixels from line to line, which must not look like headings."""
    usual = float(np.median([run.size for run in runs for _ in run.words]))
    for run in runs:
        if 0.72 * usual < run.size < 1.35 * usual:
            run.size = usual
