"""Recognize the words of a page picture and their positions. Only this module imports RapidOCR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag_core.parsing.characters import clean_word
from rag_core.parsing.layout.runs import CELL_GAP, Run, rotate_boxes
from rag_core.system import count_available_cores
from rag_core.types.arrays import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

# Scale in pixels per point. A larger scale takes longer and hardly reads better, except for pages with small print,
# which are small.
_USUAL_SCALE = 2.0
_MAX_SCALE = 4.0
# Limits on the longer side of the picture in pixels.
_MIN_SIDE = 1684.0
_MAX_SIDE = 2600.0
# Scores of recognized lines. In a line below ``_SURE``, few words are right; below ``_MIN_SCORE``, no word is right.
_SURE = 0.85
_MIN_SCORE = 0.7
# A text box shows the direction of its text if the ratio of length to height is larger. The box of one or two digits is
# too short.
_MIN_RATIO = 2.5
# Runs of about the usual size get the usual size; the limits are multiples of it.
_USUAL_SIZES = (0.72, 1.35)


class OcrMissingError(Exception):
    """RapidOCR is not installed."""


def choose_scale(width: float, height: float) -> float:
    """Return the scale, in pixels per point, at which to draw a page of a size in points for recognition."""
    longest = max(width, height, 1.0)
    return min(max(_USUAL_SCALE, _MIN_SIDE / longest), _MAX_SCALE, _MAX_SIDE / longest)


@lru_cache(maxsize=1)
def _load_engine() -> Any:
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise OcrMissingError(str(error)) from None
    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.return_word_box": True,
            "Global.max_side_len": int(_MAX_SIDE),
            # Do not use the classifier of text direction, because it turns lines of a slightly skewed page upside down.
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": count_available_cores(),
            # The results of a single line fit into the cache of a core; a batch of six takes 2.5 times as long.
            "Rec.rec_batch_num": 1,
            # The last number is the minimum width to which lines are padded.
            "Rec.rec_img_shape": [3, 48, 48],
        }
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A recognized line; ``words`` contains the text, the confidence and the corners of each word."""

    text: str
    score: float
    words: list[tuple[str, float, Any]]


def recognize_text(
    image: Image, width: float, height: float, box: FloatArray | None = None
) -> tuple[list[Run], list[float], int]:
    """Recognize the text of a page, or of a part of it, in any of its four orientations.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture of the page in RGB.
    width, height : float
        Size of the page in points.
    box : FloatArray, shape (4,), optional
        The part, as fractions of the page.

    Returns
    -------
    runs : list of Run
    confidences : list of float
        Confidence of each word, 0..1.
    lost : int
        Number of lines with text that are left out because their score is too low.

    Raises
    ------
    OcrMissingError
    """
    # Copy the pixels, because OpenCV does not accept the strides of a view with reversed channels.
    size = np.array([image.width, image.height] * 2, np.float32)
    left, top, right, bottom = (np.array([0, 0, 1, 1] if box is None else box) * size).astype(int).tolist()
    lines, direction = _recognize_lines(np.ascontiguousarray(np.asarray(image)[top:bottom, left:right, ::-1]))
    runs: list[Run] = []
    confidences: list[float] = []
    for line in lines:
        kept = [(clean_word(word), confidence, box) for word, confidence, box in line.words]
        kept = [entry for entry in kept if entry[0].strip()]
        if not kept or line.score < _MIN_SCORE:
            continue
        corners = np.array([box for _, _, box in kept], np.float32).reshape(len(kept), -1, 2)
        rects = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        rects = ((rects + (left, top) * 2) / size).astype(np.float32)
        words = [word.strip() for word, _, _ in kept]
        line_boxes = rotate_boxes(rects, direction, width, height)
        runs.append(_build_run(words, _find_spaces(line.text, words), rects, line_boxes))
        confidences += [float(confidence) for _, confidence, _ in kept]
    if runs:
        _level_sizes(runs)
    return runs, confidences, sum(line.score < _MIN_SCORE and bool(line.text.strip()) for line in lines)


def read_lines(image: Image, boxes: list[tuple[float, ...]]) -> list[str]:
    """Return the text of the line in each of the given boxes.

    Parameters
    ----------
    image : PIL.Image.Image
        Picture of the page in RGB.
    boxes : list of tuple of float
        ``x0, y0, x1, y1`` of each line, as fractions of the page.

    Raises
    ------
    OcrMissingError
    """
    pixels = np.ascontiguousarray(np.asarray(image)[:, :, ::-1])
    corners = [
        [(x0, y0 - (y1 - y0) / 4), (x1, y0 - (y1 - y0) / 4), (x1, y1 + (y1 - y0) / 4), (x0, y1 + (y1 - y0) / 4)]
        for x0, y0, x1, y1 in boxes
    ]
    places = np.array(corners, np.float32).clip(0, 1) * np.array([image.width, image.height], np.float32)
    return [line.text for line in _recognize_boxes(_load_engine(), pixels, places)]


def _recognize_lines(pixels: npt.NDArray[np.uint8]) -> tuple[list[_Line], str]:
    """Return the text lines of a picture, and the direction of its text: "right", "left", "up" or "down".

    Lines with a low score are also recognized upside down, because the whole page or the line may be upside down.
    """
    engine = _load_engine()
    detection = engine(pixels, use_rec=False)
    if detection.boxes is None or not len(detection.boxes):
        return [], "right"
    # The corners of a box are in clockwise order. The recognizer reads text from the first to the second corner.
    boxes = np.asarray(detection.boxes, np.float32)
    across, down = _measure_sides(boxes)
    long = np.maximum(across, down) > _MIN_RATIO * np.minimum(across, down)
    upright = across[long & (across > down)].sum() >= down[long & (across < down)].sum()
    if not upright:
        boxes = np.roll(boxes, -1, axis=1)
        across, down = down, across
    lines = _recognize_boxes(engine, pixels, boxes)
    doubtful = [number for number, line in enumerate(lines) if line.score < _SURE]
    turned = dict(zip(doubtful, _recognize_boxes(engine, pixels, _turn_boxes(boxes[doubtful])), strict=True))
    along = (across >= down).tolist()
    better = [number for number in turned if turned[number].score > lines[number].score]
    lengths = [len(line.text) for line in lines]
    upside_down = 2 * sum(lengths[number] for number in better if along[number]) > sum(compress(lengths, along))
    if upside_down:
        # Recognize the lines with a good score again as well: an upside-down "68" looks like "89".
        others = [number for number in range(len(lines)) if along[number] and number not in turned]
        turned |= zip(others, _recognize_boxes(engine, pixels, _turn_boxes(boxes[others])), strict=True)
    for number, line in turned.items():
        if upside_down if along[number] else number in better:
            lines[number] = line
    return lines, {(True, False): "right", (True, True): "left", (False, False): "down", (False, True): "up"}[
        upright, upside_down
    ]


def _measure_sides(boxes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lengths of the first and the second side of each box."""
    first, second = (np.linalg.norm(boxes[:, end] - boxes[:, end - 1], axis=1) for end in (1, 2))
    return first, second


def _turn_boxes(boxes: FloatArray) -> FloatArray:
    """Reorder the corners of each box so that its text is read upside down."""
    return np.roll(boxes, 2, axis=1)


def _recognize_boxes(engine: Any, pixels: npt.NDArray[np.uint8], boxes: FloatArray) -> list[_Line]:
    if not len(boxes):
        return []
    crops = engine.crop_text_regions(pixels, boxes)
    recognition = engine.recognize_txt(crops)
    words = engine.cal_rec_boxes(crops, boxes, recognition).word_results
    return [
        _Line(text, float(score), [word for word in line if word[2] is not None])
        for text, score, line in zip(recognition.txts, recognition.scores, words, strict=True)
    ]


def _find_spaces(text: str, words: list[str]) -> list[bool]:
    """Return for each word whether the text of the line has a space before the word.

    RapidOCR returns no spaces with the words.
    """
    spaced, cursor = [], 0
    for word in words:
        place = text.find(word, cursor)
        spaced.append(place != cursor)
        cursor = place + len(word) if place >= 0 else cursor
    return spaced


def _build_run(words: list[str], spaced: list[bool], rects: FloatArray, line_boxes: FloatArray) -> Run:
    low, high = line_boxes[:, :2].min(axis=0).tolist(), line_boxes[:, 2:].max(axis=0).tolist()
    size = float(np.median(line_boxes[:, 3] - line_boxes[:, 1]))
    gaps = line_boxes[1:, 0] - line_boxes[:-1, 2]
    cells = 1 + int(np.count_nonzero(gaps > CELL_GAP * max(size, 1.0)))
    hyphen = len(words[-1]) > 1 and words[-1].endswith("-") and words[-1][-2].isalpha()
    if hyphen:
        words = [*words[:-1], words[-1][:-1]]
    box = (low[0], low[1], high[0], high[1])
    return Run(words, spaced, rects, line_boxes, box, size, cells=cells, hyphen=hyphen)


def _level_sizes(runs: list[Run]) -> None:
    """Give all runs of about the usual text size exactly the usual size.

    Otherwise a line that was detected a few pixels too high would look like a heading.
    """
    usual = float(np.median([run.size for run in runs for _ in run.words]))
    least, most = _USUAL_SIZES
    for run in runs:
        if least * usual < run.size < most * usual:
            run.size = usual
