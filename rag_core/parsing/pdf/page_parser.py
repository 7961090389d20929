"""Parse one page: read its text layer, recognize text if the text layer is not enough, and analyze the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

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
from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.struck_text import join_marks, mark_struck
from rag_core.parsing.pdf.text_layer import build_runs
from rag_core.parsing.pdf.text_page import Characters
from rag_core.parsing.pdf.watermarks import separate_watermarks
from rag_core.parsing.tables.finder import find_tables
from rag_core.parsing.tables.struck_cells import remove_struck_cells
from rag_core.text.struck import escape_marks, remove_struck
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import WATERMARK, Page, PageState, ParsedPage

_GARBAGE = 0.3
_MIN_RECOGNIZED = 3
_IMAGE_SHARE = 0.3
_FULL_PAGE_CHARACTERS = 300


@dataclass(slots=True)
class _PageRuns:
    runs: list[Run]
    state: PageState
    confidence: float | None = None
    reason: str = ""
    written: bool = True


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
    lines, quoted = remove_quote_marks(lines)
    separators = begin_paragraphs(choose_separators(lines), quoted)
    text, boxes, spans = join_lines(lines, separators)

    def find_rules() -> FloatArray:
        return turn_boxes(reader.rules(), lines[0].runs[0], reader.width, reader.height)

    tables = remove_struck_cells(find_tables(lines, text, boxes, find_rules))
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
    runs = build_runs(characters, lambda index: reader.is_bold(int(numbers[index])))
    join_marks(runs)
    text = characters.codes.astype("<u4").tobytes().decode("utf-32-le").replace("\x02", "")
    garbage = measure_unreadable_share(text) > _GARBAGE
    layer = _PageRuns(runs, PageState.TEXT)
    if garbage:
        layer.reason = "the fonts of this page do not define which letters they draw; its text may be wrong"
    elif not has_plausible_letters(text):
        return _replace_implausible(reader, layer, ocr)
    if ocr == "off" or not (ocr == "on" or garbage or _lacks_text(reader, runs)):
        return layer
    return _recognize_page(reader, layer, keep=bool(runs) and not garbage and ocr == "auto")


def _replace_implausible(reader: PdfPage, layer: _PageRuns, ocr: str) -> _PageRuns:
    """Return the recognized text of a page whose text layer is probably wrong, if that text is more plausible."""
    if ocr != "off":
        recognized = _recognize_page(reader, layer, keep=False)
        words = " ".join(word for run in recognized.runs for word in run.words)
        if recognized.state is PageState.OCR and has_plausible_letters(words):
            return replace(recognized, reason="its text layer contains no words, so the text was read from its image")
        if recognized.state is PageState.OCR:  # the page contains codes or formulas, which the text layer has exactly
            return replace(layer, reason="")
    layer.reason = layer.reason or "its letters form no words, so its text is probably not what the page shows"
    return layer


def _lacks_text(reader: PdfPage, runs: list[Run]) -> bool:
    """Return whether a page has less text than its images could contain, or no text although it draws something."""
    count = sum(len(word) for run in runs for word in run.words)
    if count == 0:
        return reader.has_visible_content()
    if count >= _FULL_PAGE_CHARACTERS:
        return False
    share = reader.image_share()
    return share >= _IMAGE_SHARE and count < _FULL_PAGE_CHARACTERS * share


def _recognize_page(reader: PdfPage, layer: _PageRuns, *, keep: bool) -> _PageRuns:
    from rag_core.parsing.ocr import OcrMissingError, recognize_text, scale_for

    try:
        image = reader.picture(scale_for(reader.width, reader.height))
        runs, confidences, lost = recognize_text(image, reader.width, reader.height)
    except OcrMissingError:
        layer.reason = "text recognition is not installed; install the package rapidocr"
        return layer
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - three libraries can fail here, and the text layer is still useful
        layer.reason = f"text recognition failed ({_shorten_error(error)})"
        if not layer.runs:
            layer.state = PageState.FAILED
        return layer
    for run in runs:
        run.words[:] = map(escape_marks, run.words)
    if keep:
        runs = [run for run in runs if not _is_covered(run.rects, layer.runs)]
    reason = f"text recognition could not read {lost} of its lines" if lost else ""
    if sum(char.isalnum() for run in runs for word in run.words for char in word) < _MIN_RECOGNIZED:
        layer.reason = layer.reason or reason
        return layer  # the recognized characters are only specks or ornaments
    confidence = round(float(np.mean(confidences)), 4)
    if keep:
        return _PageRuns([*layer.runs, *runs], PageState.MIXED, confidence, layer.reason or reason, written=False)
    return _PageRuns(runs, PageState.OCR, confidence, reason, written=False)


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
