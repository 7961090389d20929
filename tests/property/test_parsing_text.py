"""Properties of parsing: boxes match words, joining keeps words, messages round-trip."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rag_core.parsing.characters import clean_word
from rag_core.parsing.layout.headers_footers import find_edges, find_headers_footers
from rag_core.parsing.layout.hyphenation import Vocabulary, join_hyphenated
from rag_core.parsing.layout.page_text import choose_separators, join_lines
from rag_core.parsing.layout.reading_order import order_lines
from rag_core.parsing.layout.runs import Run, rotate_boxes
from rag_core.parsing.workers import messages
from rag_core.types.documents import HeadingLine, Page, PageState, ParsedPage, WordBoxes

WORDS = st.text("abcXYZäß19.,-$()公司אב", min_size=1, max_size=8)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    x, y = draw(st.floats(0, 0.6)), draw(st.floats(0, 0.95))
    size = draw(st.sampled_from([0.008, 0.012, 0.02]))
    widths = np.cumsum([0.0, *(0.01 * len(word) for word in words)])
    rects = np.array([[x + widths[n], y, x + widths[n + 1] - 0.004, y + size] for n in range(len(words))], np.float32)
    if draw(st.booleans()):
        rects[draw(st.integers(0, len(words) - 1))] = np.nan
    spots = rotate_boxes(rects, "right", 600, 800)
    box = (x * 600, y * 800, (x + widths[-1]) * 600, (y + size) * 800)
    spaced = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    return Run(words, spaced, rects, spots, box, size * 800, draw(st.booleans()), 1, draw(st.booleans()))


@given(st.lists(runs(), max_size=25), st.booleans())
def test_every_word_appears_once_and_boxes_match_words(given_runs: list[Run], written: bool) -> None:
    lines = order_lines(given_runs, written=written)
    text, boxes, spans = join_lines(lines, choose_separators(lines))
    words = [word for run in given_runs for word in run.words]
    placed = [word for line in lines for run in line.runs for word in run.words]
    # Raised figures become superscripts.
    assert sorted(unicodedata.normalize("NFKC", word) for word in placed) == sorted(
        unicodedata.normalize("NFKC", word) for word in words
    )
    known = [
        word
        for line in lines
        for run in line.runs
        for word, rect in zip(run.words, run.rects, strict=True)
        if not np.isnan(rect).any()
    ]
    assert [text[start:end] for start, end in zip(boxes.starts, boxes.ends, strict=True)] == known
    assert np.all(boxes.starts[1:] >= boxes.ends[:-1])
    assert np.all((boxes.rects >= 0) & (boxes.rects <= 1))
    assert [text[start:end] for start, end in spans] == [line.text for line in lines]


@given(st.lists(st.tuples(st.sampled_from(["in-side", "along", "the coast", "so"]), st.booleans()), max_size=12))
def test_removed_hyphens_shift_boxes_and_headings(parts: list[tuple[str, bool]]) -> None:
    text, divided, spans = "", [], []
    for part, divides in parts:
        pieces = [part]
        if divides:  # "well-known" and "information" are known from within lines
            pieces += ["well", "known"] if len(part) % 2 else ["infor", "mation"]
            divided.append((len(text) + len(part) + len(pieces[1]) + 1, pieces[1], pieces[2]))
        for piece, after in zip(pieces, (" ", "-", " "), strict=False):
            spans.append((len(text), len(text) + len(piece), piece))
            text += piece + after
    starts, ends = (np.array([span[side] for span in spans], np.int32) for side in (0, 1))
    boxes = WordBoxes(starts, ends, np.zeros((len(spans), 4), np.float32))
    page = Page(0, "1", text, PageState.TEXT, boxes=boxes)
    headings = tuple(HeadingLine(start, end) for start, end, _ in spans)
    read = ParsedPage(page, headings, tuple(divided), ("well-known", "information"))
    joined = join_hyphenated(read, Vocabulary(read.words))
    joined_text = joined.page.text
    assert joined_text == text.replace("infor-mation", "information")
    pieces = [piece for *_, piece in spans]
    assert [joined_text[one.start : one.end] for one in joined.headings] == pieces
    joined_boxes = joined.page.boxes
    assert [joined_text[start:end] for start, end in zip(joined_boxes.starts, joined_boxes.ends, strict=True)] == pieces
    assert (joined_boxes.starts.dtype, joined_boxes.ends.dtype) == (np.int32, np.int32)


@given(st.text(max_size=40))
def test_cleaning_a_word_is_idempotent(word: str) -> None:
    once = clean_word(word)
    assert clean_word(once) == once
    assert "\x00" not in once


@given(st.text(max_size=200), st.sampled_from(PageState), st.integers(0, 50), st.data())
def test_pages_round_trip_through_the_protocol(text: str, state: PageState, count: int, data: st.DataObject) -> None:
    offsets = arrays.arrays(np.int32, count, elements=st.integers(0, 2**31 - 1))
    boxes = WordBoxes(
        data.draw(offsets),
        data.draw(offsets),
        data.draw(arrays.arrays(np.float32, (count, 4), elements=st.floats(0, 1, width=32))),
    )
    page = Page(3, "iii", text, state, 595.3, 841.9, "Heading", "reason", 0.5, boxes, ((0, 4), (7, 9)))
    read = ParsedPage(page, (HeadingLine(1, 2, 11.5, bold=True),), ((5, "informa", "tion"),), ("\ud800 lone", "words"))
    line = messages.encode_message(messages.pack_page(read))
    assert line.count(b"\n") == 1
    restored = messages.unpack_page(messages.decode_message(line))
    assert (restored.headings, restored.divided, restored.words) == (read.headings, read.divided, read.words)
    for name in ("page_index", "page_label", "text", "state", "width", "height", "heading", "reason", "skip"):
        assert getattr(restored.page, name) == getattr(page, name)
    for name in ("starts", "ends", "rects"):
        restored_array = getattr(restored.page.boxes, name)
        assert restored_array.dtype == getattr(boxes, name).dtype
        assert np.array_equal(restored_array, getattr(boxes, name))


@given(st.lists(st.text("ab1\n ", max_size=30), min_size=1, max_size=8))
def test_headers_and_footers_are_whole_lines(texts: list[str]) -> None:
    edges = [find_edges(index, text) for index, text in enumerate(texts)]
    for index, text in enumerate(texts):
        others = [edge for edge in edges if edge.page_index != index]
        for start, end in find_headers_footers(edges[index], others).spans:
            assert text[start:end].strip()
            assert "\n" not in text[start:end]
            assert start == 0 or text[start - 1] == "\n"
            assert end == len(text) or text[end] == "\n"


@given(
    st.sampled_from(["right", "left", "down", "up"]),
    arrays.arrays(np.float32, (3, 2), elements=st.floats(0, 1, width=32)),
)
def test_rotation_keeps_sizes(direction: str, corners: np.ndarray) -> None:
    rects = np.concatenate([np.minimum(corners, 0.5), np.maximum(corners, 0.5)], axis=1)
    rotated = rotate_boxes(rects, direction, 600, 800)
    sizes = (rects[:, 2:] - rects[:, :2]) * (600, 800)
    expected = sizes if direction in ("right", "left") else sizes[:, ::-1]
    assert np.allclose(rotated[:, 2:] - rotated[:, :2], expected, atol=1e-2)
