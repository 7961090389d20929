"""Parse one page: read its text layer, recognize text if the text layer is insufficient, and analyze the layout."""

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
from rag_core.parsing.layout.runs import Run, rotate_boxes_like_run
from rag_core.parsing.pdf.accents import compose_accents
from rag_core.parsing.pdf.field_labels import append_missing_pairs, find_field_pairs
from rag_core.parsing.pdf.fonts import Fonts
from rag_core.parsing.pdf.form_fields import insert_form_fields
from rag_core.parsing.pdf.glyph_names import decode_glyphs
from rag_core.parsing.pdf.hidden_text import remove_hidden_text
from rag_core.parsing.pdf.ligatures import spell_out_ligatures
from rag_core.parsing.pdf.page import PdfPage
from rag_core.parsing.pdf.scan_layers import is_alike, is_better, is_doubtful, is_scan, select_longest
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

# A text layer with a larger share of unreadable characters is not used if text recognition is possible.
_MAX_UNREADABLE = 0.3
# Fewer recognized letters are specks or ornaments.
_MIN_RECOGNIZED_LETTERS = 3
_REPLACED = "its text layer is not what the page shows, so the text was read from its image"
# Minimum number of letters, and minimum confidence, with which the text of a picture is added to a text layer.
_MIN_PICTURE_LETTERS = 24
_MIN_PICTURE_CONFIDENCE = 0.9
# A page has too little text if an image covers at least this share of it, and the text layer has fewer characters than
# an image of this size could contain.
_MIN_IMAGE_SHARE = 0.3
_FULL_PAGE_CHARACTERS = 300


@dataclass(slots=True)
class _PageText:
    """The text of a page before the analysis of the layout.

    Attributes
    ----------
    runs : list of Run
    state : PageState
    confidence : float or None
        See `Page`.
    reason : str
        See `Page`.
    written : bool
        Whether the runs are in the order of the content stream.
    pictures : list of list of Run
        The recognized runs of each picture of text.
    """

    runs: list[Run]
    state: PageState
    confidence: float | None = None
    reason: str = ""
    written: bool = True
    pictures: list[list[Run]] = field(default_factory=list)


def parse_page(reader: PdfPage, page_index: int, fonts: Fonts, ocr: str = "off") -> ParsedPage:
    """Return a page without label and heading, in which divided words stay divided; see `OpenFile.read_page`.

    Parameters
    ----------
    reader : PdfPage
    page_index : int
    fonts : Fonts
        Fonts of the same file.
    ocr : {"auto", "on", "off"}
    """

    def decode(unmapped: Sequence[tuple[str, int]]) -> list[int]:
        return decode_glyphs(unmapped, partial(fonts.read_glyph_names, page_index))

    characters, hidden = remove_hidden_text(reader, compose_accents(reader.read_characters(decode)))
    characters, watermarks = separate_watermarks(reader, characters)
    page_text = _read_text(reader, characters, ocr)
    lines = order_lines(remove_line_numbers(page_text.runs), written=page_text.written)
    lines = insert_pictures(lines, page_text.pictures)
    lines, quoted = remove_quote_marks(lines)
    separators = begin_paragraphs(choose_separators(lines), quoted)
    text, boxes, spans = join_lines(lines, separators)

    def find_rules() -> FloatArray:
        return rotate_boxes_like_run(reader.find_rules(), lines[0].runs[0], reader.width, reader.height)

    tables = find_tables(lines, text, boxes, find_rules)
    if (joined := join_row_lines(lines, spans, separators, tables, text)) != separators:
        separators = joined
        text, boxes, spans = join_lines(lines, separators)
        tables = find_tables(lines, text, boxes, find_rules)
    tables = remove_struck_cells(tables)
    text, boxes = append_missing_pairs(text, boxes, find_field_pairs(reader, characters))
    # Notes and watermarks follow the text of the page, because they have no place within the text.
    after = [*reader.notes, *(f"{WATERMARK}{watermark}" for watermark in watermarks)]
    text = "\n\n".join([*([text] if text.strip() else []), *map(escape_marks, after)])
    state = page_text.state if text.strip() or page_text.state is PageState.FAILED else PageState.EMPTY
    page = Page(
        page_index=page_index,
        page_label="",
        text=text,
        state=state,
        width=reader.width,
        height=reader.height,
        reason=page_text.reason,
        confidence=page_text.confidence,
        boxes=boxes,
        hidden=hidden,
        tables=tables,
    )
    headings = find_headings(lines, spans)
    return ParsedPage(
        page,
        tuple(heading for heading in headings if remove_struck(text[heading.start : heading.end]).strip()),
        find_hyphenated_words(lines, separators, spans),
        tuple(sorted(split_words(_join_whole_words(lines)))),
        reader.paper_clips,
    )


def _join_whole_words(lines: list[Line]) -> str:
    """Return the words of a page that no line end divides, in one text with a blank between words.

    Only undivided words show how the halves of a divided word are joined.
    """
    parts = []
    for number, line in enumerate(lines):
        words = line.text.split()[int(number > 0 and lines[number - 1].hyphen) :]
        parts += words[: len(words) - int(line.hyphen)]
    return " ".join(parts)


def _read_text(reader: PdfPage, characters: Characters, ocr: str) -> _PageText:
    """Return the text layer, completed or replaced by recognized text if necessary."""
    characters, numbers = mark_struck(reader, *insert_form_fields(reader, characters))
    characters, numbers = join_spaced_letters(reader, *spell_out_ligatures(characters, numbers))
    characters, numbers = part_overlapping_cells(reader, characters, numbers)
    runs = build_runs(characters, lambda index: reader.is_bold(int(numbers[index])))
    join_marks(runs)
    text = characters.text.replace("\x02", "")
    is_unreadable = measure_unreadable_share(text) > _MAX_UNREADABLE
    layer = _PageText(runs, PageState.TEXT)
    if is_unreadable:
        layer.reason = "the fonts of this page do not define which letters they draw; its text may be wrong"
    elif not has_plausible_letters(text):
        return _replace_implausible(reader, layer, ocr)
    if ocr == "off":
        return layer
    pictures = reader.find_pictures()
    if ocr == "auto" and not is_unreadable and is_scan(pictures, runs):
        layer = _replace_contradicted(reader, layer)
        if layer.state is PageState.OCR:
            return layer
    if ocr == "on" or is_unreadable or _lacks_text(reader, runs, pictures):
        return _recognize_page(reader, layer, keep=bool(runs) and not is_unreadable and ocr == "auto")
    return _add_pictures(reader, layer, characters, pictures)


def _replace_implausible(reader: PdfPage, layer: _PageText, ocr: str) -> _PageText:
    """Return the recognized text of a page with an implausible text layer if the recognized text is plausible.

    Otherwise return the text layer, with a reason if nothing was recognized.
    """
    if ocr != "off":
        recognized = _recognize_page(reader, layer, keep=False)
        words = " ".join(word for run in recognized.runs for word in run.words)
        if recognized.state is PageState.OCR and has_plausible_letters(words):
            return replace(recognized, reason=_REPLACED)
        if recognized.state is PageState.OCR:  # the page contains codes or formulas, which are exact in the text layer
            return replace(layer, reason="")
    layer.reason = layer.reason or "its letters form no words, so its text is probably not what the page shows"
    return layer


def _replace_contradicted(reader: PdfPage, layer: _PageText) -> _PageText:
    """Return the recognized text of a scan if its text layer is doubtful and contradicts the picture.

    The recognized text must also be sure and better than the text layer; see `is_better`. Otherwise return the
    text layer.
    """
    image = _draw_page(reader)
    if not is_doubtful(layer.runs, image):
        return layer
    sample = select_longest(layer.runs)
    read = _try_recognition(layer, lambda ocr: ocr.read_lines(image, [find_bounds([run]) for run in sample]))
    if read is None or is_alike(sample, read):
        return layer
    recognized = _recognize_page(reader, layer, keep=False)
    is_sure = recognized.confidence is not None and recognized.confidence >= _MIN_PICTURE_CONFIDENCE
    if is_sure and is_better(recognized.runs, layer.runs):
        return replace(recognized, reason=_REPLACED)
    return layer


def _lacks_text(reader: PdfPage, runs: list[Run], pictures: FloatArray) -> bool:
    """Return whether a page has less text than its largest image could contain, or no text but visible content."""
    count = sum(len(word) for run in runs for word in run.words)
    if count == 0:
        return reader.has_visible_content()
    if count >= _FULL_PAGE_CHARACTERS:
        return False
    share = float(np.prod(pictures[:, 2:] - pictures[:, :2], axis=1).max(initial=0.0))
    return share >= _MIN_IMAGE_SHARE and count < _FULL_PAGE_CHARACTERS * share


def _add_pictures(reader: PdfPage, layer: _PageText, characters: Characters, pictures: FloatArray) -> _PageText:
    """Add the recognized text of the pictures of text on a page to the text layer, and return the text layer."""
    boxes = find_candidates(pictures, characters)
    if not len(boxes):
        return layer
    image = _draw_page(reader)
    confidences: list[float] = []
    for box in boxes:
        if not is_text(image, box, characters):
            continue
        runs, found, lost = _recognize(reader, layer, image, box)
        if layer.reason:
            layer.reason = f"a picture of text was not read: {layer.reason}"
            break
        runs = [run for run in runs if not _is_in_layer(run.rects, layer.runs)]
        has_letters = _count_letters(runs) >= _MIN_PICTURE_LETTERS
        if len(runs) > lost and has_letters and np.mean(found) >= _MIN_PICTURE_CONFIDENCE:
            layer.pictures.append(runs)
            layer.state = PageState.MIXED
            confidences += found
    layer.confidence = round(float(np.mean(confidences)), 4) if confidences else None
    return layer


def _recognize_page(reader: PdfPage, layer: _PageText, *, keep: bool) -> _PageText:
    """Return the recognized text of a page, together with the text layer if ``keep`` is true.

    If recognition fails or finds hardly any letters, return the text layer, with the reason if there is one.
    """
    runs, confidences, lost = _recognize(reader, layer)
    if layer.state is PageState.FAILED:
        return layer
    if keep:
        runs = [run for run in runs if not _is_in_layer(run.rects, layer.runs)]
    reason = f"text recognition could not read {lost} of its lines" if lost else ""
    if _count_letters(runs) < _MIN_RECOGNIZED_LETTERS:
        layer.reason = layer.reason or reason
        return layer
    confidence = round(float(np.mean(confidences)), 4)
    if keep:
        return _PageText([*layer.runs, *runs], PageState.MIXED, confidence, layer.reason or reason, written=False)
    return _PageText(runs, PageState.OCR, confidence, reason, written=False)


def _draw_page(reader: PdfPage) -> Image:
    from rag_core.parsing.ocr import choose_scale

    return reader.draw(choose_scale(reader.width, reader.height))


def _recognize(
    reader: PdfPage, layer: _PageText, image: Image | None = None, box: FloatArray | None = None
) -> tuple[list[Run], list[float], int]:
    """Return the runs, confidences and number of lost lines of `ocr.recognize_text`; empty and 0 if it fails.

    ``image`` is the picture of the page, which is drawn if it is missing. Tildes that would be read as marks are
    replaced in the words.
    """
    found = _try_recognition(
        layer, lambda ocr: ocr.recognize_text(image or _draw_page(reader), reader.width, reader.height, box)
    )
    for run in found[0] if found else ():
        run.words[:] = map(escape_marks, run.words)
    return found or ([], [], 0)


def _try_recognition(layer: _PageText, recognize: Callable[[ModuleType], T]) -> T | None:
    """Return the result of a function that takes the module `ocr`.

    If the function fails, write the reason to the text layer and return ``None``. `MemoryError` is not caught.
    """
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
    """Return the type and the last line of an error's message, or a plain sentence for a lack of memory.

    Some libraries write a whole traceback into the message.
    """
    message = str(error)
    if "alloc" in message:
        return "it needs more memory than a reader process may use"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:200]


def _is_in_layer(rects: FloatArray, runs: list[Run]) -> bool:
    """Return whether the middles of most recognized words are inside words of the text layer ``runs``."""
    known = np.concatenate([run.rects for run in runs])
    across = (rects[:, 0] + rects[:, 2])[:, None] / 2
    down = (rects[:, 1] + rects[:, 3])[:, None] / 2
    inside = (known[:, 0] <= across) & (across <= known[:, 2]) & (known[:, 1] <= down) & (down <= known[:, 3])
    return bool(inside.any(axis=1).mean() > 0.5)
