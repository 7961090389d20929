"""Parse one page: read its text layer, recognize text if the text layer is not enough, and analyze the layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rag_core.parsing.characters import has_plausible_letters, measure_unreadable_share
from rag_core.parsing.layout.headings import find_headings
from rag_core.parsing.layout.hyphenation import split_words
from rag_core.parsing.layout.line_numbers import remove_line_numbers
from rag_core.parsing.layout.lines import Line
from rag_core.parsing.layout.page_text import choose_separators, find_hyphenated_words, join_lines
from rag_core.parsing.layout.quote_marks import begin_paragraphs, remove_quote_marks
from rag_core.parsing.layout.reading_order import order_lines
from rag_core.parsing.layout.runs import Run, turn_boxes
from rag_core.parsing.pdf.accents import compose_accents
from rag_core.parsing.pdf.field_labels import append_missing_pairs, find_field_pairs
from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.form_fields import insert_form_fields
from rag_core.parsing.pdf.glyph_names import decode_glyphs
from rag_core.parsing.pdf.hidden_text import remove_hidden_text
from rag_core.parsing.pdf.ligatures import spell_out_ligatures
from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.scan_layers import covers_layer, find_sample, is_alike, is_better, is_doubtful
from rag_core.parsing.pdf.struck_text import join_marks, mark_struck
from rag_core.parsing.pdf.text_layer import build_runs
from rag_core.parsing.pdf.text_page import Characters
from rag_core.parsing.pdf.text_pictures import find_bounds, find_candidates, insert_pictures, is_text
from rag_core.parsing.pdf.watermarks import separate_watermarks
from rag_core.parsing.pdf.word_gaps import join_spaced_letters, part_overlapping_cells
from rag_core.parsing.tables.finder import find_tables
from rag_core.parsing.tables.row_text import join_row_lines
from rag_core.parsing.tables.struck_cells import remove_struck_cells
from rag_core.text.struck import escape_marks, remove_struck
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import WATERMARK, Page, PageState, ParsedPage

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")

_GARBAGE = 0.3
_MIN_RECOGNIZED = 3
_REPLACED = "its text layer is not what the page shows, so the text was read from its image"
# Least number of letters and digits, and least confidence, with which the text of a picture is added to a text layer.
_MIN_PICTURE_LETTERS, _SURE_PICTURE = 24, 0.9
_IMAGE_SHARE = 0.3
_FULL_PAGE_CHARACTERS = 300


@dataclass(slots=True)
class _PageRuns:
    runs: list[Run]
    state: PageState
    confidence: float | None = None
    reason: str = ""
    written: bool = True
    pictures: list[list[Run]] = field(default_factory=list)


def parse_page(reader: PdfPage, page_index: int, fonts: Fonts, ocr: str = "off") -> ParsedPage:
    """Read a page, except for its ``page_label`` and ``heading``, which are left empty.

    These two fields need the other pages of the document. For the same reason, words that line ends divide are not
    joined.

    Parameters
    ----------
    reader : PdfPage
    page_index : int
    fonts : Fonts
        Fonts of the same file.
    ocr : {"auto", "on", "off"}
    """

    def decode(unmapped: Sequence[tuple[str, int]]) -> list[int]:
        return decode_glyphs(unmapped, partial(fonts.glyph_names, page_index))

    characters, hidden = remove_hidden_text(reader, compose_accents(reader.characters(decode)))
    characters, watermarks = separate_watermarks(reader, characters)
    page_runs = _extract_runs(reader, characters, ocr)
    lines = order_lines(remove_line_numbers(page_runs.runs), written=page_runs.written)
    lines = insert_pictures(lines, page_runs.pictures)
    lines, quoted = remove_quote_marks(lines)
    separators = begin_paragraphs(choose_separators(lines), quoted)
    text, boxes, spans = join_lines(lines, separators)

    def find_rules() -> FloatArray:
        return turn_boxes(reader.rules(), lines[0].runs[0], reader.width, reader.height)

    tables = find_tables(lines, text, boxes, find_rules)
    if (joined := join_row_lines(lines, spans, separators, tables, text)) != separators:
        separators = joined
        text, boxes, spans = join_lines(lines, separators)
        tables = find_tables(lines, text, boxes, find_rules)
    tables = remove_struck_cells(tables)
    text, boxes = append_missing_pairs(text, boxes, find_field_pairs(reader, characters))
    # Notes and watermarks have no place in the text of the page, so they follow it.
    after = [*reader.notes, *(f"{WATERMARK}{one}" for one in watermarks)]
    text = "\n\n".join([*([text] if text.strip() else []), *map(escape_marks, after)])
    state = page_runs.state if text.strip() or page_runs.state is PageState.FAILED else PageState.EMPTY
    page = Page(
        page_index=page_index,
        page_label="",
        text=text,
        state=state,
        width=reader.width,
        height=reader.height,
        reason=page_runs.reason,
        confidence=page_runs.confidence,
        boxes=boxes,
        hidden=hidden,
        tables=tables,
    )
    words = split_words(_whole_words(lines))
    return ParsedPage(
        page,
        tuple(one for one in find_headings(lines, spans) if remove_struck(text[one.start : one.end]).strip()),
        find_hyphenated_words(lines, separators, spans),
        tuple(sorted(words)),
        reader.paper_clips,
    )


def _whole_words(lines: list[Line]) -> str:
    """Return the words of a page, without the halves of words that line ends divide.

    Only undivided words are evidence of how to join such halves.
    """
    parts = []
    for number, line in enumerate(lines):
        words = line.text.split()[int(number > 0 and lines[number - 1].hyphen) :]
        parts += words[: len(words) - int(line.hyphen)]
    return " ".join(parts)


def _extract_runs(reader: PdfPage, characters: Characters, ocr: str) -> _PageRuns:
    characters, numbers = mark_struck(reader, *insert_form_fields(reader, characters))
    characters, numbers = join_spaced_letters(reader, *spell_out_ligatures(characters, numbers))
    characters, numbers = part_overlapping_cells(reader, characters, numbers)
    runs = build_runs(characters, lambda index: reader.is_bold(int(numbers[index])))
    join_marks(runs)
    text = characters.codes.astype("<u4").tobytes().decode("utf-32-le").replace("\x02", "")
    garbage = measure_unreadable_share(text) > _GARBAGE
    layer = _PageRuns(runs, PageState.TEXT)
    if garbage:
        layer.reason = "the fonts of this page do not define which letters they draw; its text may be wrong"
    elif not has_plausible_letters(text):
        return _replace_implausible(reader, layer, ocr)
    if ocr == "off":
        return layer
    pictures = reader.pictures()
    if ocr == "auto" and not garbage and covers_layer(pictures, runs):
        layer = _replace_contradicted(reader, layer)
        if layer.state is PageState.OCR:
            return layer
    if ocr == "on" or garbage or _lacks_text(reader, runs, pictures):
        return _recognize_page(reader, layer, keep=bool(runs) and not garbage and ocr == "auto")
    return _add_pictures(reader, layer, characters, pictures)


def _replace_implausible(reader: PdfPage, layer: _PageRuns, ocr: str) -> _PageRuns:
    """Return the recognized text of a page whose text layer is probably wrong, if that text is more plausible."""
    if ocr != "off":
        recognized = _recognize_page(reader, layer, keep=False)
        words = " ".join(word for run in recognized.runs for word in run.words)
        if recognized.state is PageState.OCR and has_plausible_letters(words):
            return replace(recognized, reason=_REPLACED)
        if recognized.state is PageState.OCR:  # the page contains codes or formulas, which the text layer has exactly
            return replace(layer, reason="")
    layer.reason = layer.reason or "its letters form no words, so its text is probably not what the page shows"
    return layer


def _replace_contradicted(reader: PdfPage, layer: _PageRuns) -> _PageRuns:
    """Return the recognized text of a scan if its text layer is doubtful and does not say what the picture shows."""
    image = _draw_page(reader)
    if not is_doubtful(layer.runs, image):
        return layer
    sample = find_sample(layer.runs)
    read = _attempt(layer, lambda ocr: ocr.read_lines(image, [find_bounds([run]) for run in sample]))
    if read is None or is_alike(sample, read):
        return layer
    recognized = _recognize_page(reader, layer, keep=False)
    sure = recognized.confidence is not None and recognized.confidence >= _SURE_PICTURE
    if sure and is_better(recognized.runs, layer.runs):
        return replace(recognized, reason=_REPLACED)
    return layer


def _lacks_text(reader: PdfPage, runs: list[Run], pictures: FloatArray) -> bool:
    """Return whether a page has less text than its images could contain, or no text although it draws something."""
    count = sum(len(word) for run in runs for word in run.words)
    if count == 0:
        return reader.has_visible_content()
    if count >= _FULL_PAGE_CHARACTERS:
        return False
    share = float(np.prod(pictures[:, 2:] - pictures[:, :2], axis=1).max(initial=0.0))
    return share >= _IMAGE_SHARE and count < _FULL_PAGE_CHARACTERS * share


def _add_pictures(reader: PdfPage, layer: _PageRuns, characters: Characters, pictures: FloatArray) -> _PageRuns:
    """Return the text layer with the recognized text of the pictures of text on the page."""
    boxes = find_candidates(pictures, characters)
    if not len(boxes):
        return layer
    image = _draw_page(reader)
    confidences: list[float] = []
    for box in boxes:
        if not is_text(image, box, characters):
            continue
        runs, sure, lost = _recognize(reader, layer, image, box)
        if layer.reason:
            layer.reason = f"a picture of text was not read: {layer.reason}"
            break
        runs = [run for run in runs if not _is_covered(run.rects, layer.runs)]
        if len(runs) > lost and _count_letters(runs) >= _MIN_PICTURE_LETTERS and np.mean(sure) >= _SURE_PICTURE:
            layer.pictures.append(runs)
            layer.state = PageState.MIXED
            confidences += sure
    layer.confidence = round(float(np.mean(confidences)), 4) if confidences else None
    return layer


def _recognize_page(reader: PdfPage, layer: _PageRuns, *, keep: bool) -> _PageRuns:
    runs, confidences, lost = _recognize(reader, layer)
    if layer.state is PageState.FAILED:
        return layer
    if keep:
        runs = [run for run in runs if not _is_covered(run.rects, layer.runs)]
    reason = f"text recognition could not read {lost} of its lines" if lost else ""
    if _count_letters(runs) < _MIN_RECOGNIZED:
        layer.reason = layer.reason or reason
        return layer  # the recognized characters are only specks or ornaments
    confidence = round(float(np.mean(confidences)), 4)
    if keep:
        return _PageRuns([*layer.runs, *runs], PageState.MIXED, confidence, layer.reason or reason, written=False)
    return _PageRuns(runs, PageState.OCR, confidence, reason, written=False)


def _draw_page(reader: PdfPage) -> Image:
    from rag_core.parsing.ocr import scale_for

    return reader.picture(scale_for(reader.width, reader.height))


def _recognize(
    reader: PdfPage, layer: _PageRuns, image: Image | None = None, box: FloatArray | None = None
) -> tuple[list[Run], list[float], int]:
    """Return what `recognize_text` returns, or nothing if it fails."""
    found = _attempt(
        layer, lambda ocr: ocr.recognize_text(image or _draw_page(reader), reader.width, reader.height, box)
    )
    for run in found[0] if found else ():
        run.words[:] = map(escape_marks, run.words)
    return found or ([], [], 0)


def _attempt(layer: _PageRuns, recognize: Callable[[ModuleType], T]) -> T | None:
    """Return what a function of the module for recognition returns; if it fails, write the reason to the layer."""
    from rag_core.parsing import ocr

    try:
        return recognize(ocr)
    except ocr.OcrMissingError:
        layer.reason = "text recognition is not installed; install the package rapidocr"
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - three libraries can fail here, and the text layer is still useful
        layer.reason = f"text recognition failed ({_shorten_error(error)})"
        if not layer.runs:
            layer.state = PageState.FAILED
    return None


def _count_letters(runs: list[Run]) -> int:
    return sum(char.isalnum() for run in runs for word in run.words for char in word)


def _shorten_error(error: Exception) -> str:
    """Return the last line of an error message, because some libraries put a whole traceback into the message."""
    message = str(error)
    if "alloc" in message:
        return "it needs more memory than a reader process may use"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:200]


def _is_covered(rects: FloatArray, runs: list[Run]) -> bool:
    """Return whether the text layer already contains a recognized run.

    It does if the centres of most words of the run are inside words of the text layer.
    """
    known = np.concatenate([run.rects for run in runs])
    across = (rects[:, 0] + rects[:, 2])[:, None] / 2
    down = (rects[:, 1] + rects[:, 3])[:, None] / 2
    inside = (known[:, 0] <= across) & (across <= known[:, 2]) & (known[:, 1] <= down) & (down <= known[:, 3])
    return bool(inside.any(axis=1).mean() > 0.5)
