"""Properties of chunks: their text matches the page, covers all of it, and fits the embedder."""

from __future__ import annotations

import functools
import itertools
import re
import string
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.chunking.chunker import ChunkConfig, Chunker
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.types.chunks import PAGE_BREAK, ChunkSpan
from rag_core.types.documents import Page, PageState, WordBoxes

WORDS = st.one_of(
    st.sampled_from(
        ["the", "a", "of", "capital", "expenditure", "was", "1,749", "3.5", "Inc.", "e.g.", "U.S.", "naïve"]
    ),
    st.text(string.ascii_lowercase, min_size=1, max_size=14),
    st.text(string.hexdigits, min_size=30, max_size=150),
    st.text("漢字語文。、ظ🙂\u200b\x00\ufffdé\u0301§—½", min_size=1, max_size=12),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\f"), min_size=1, max_size=8),
)
ENDS = st.sampled_from([". ", "! ", " ", " ", "\n", "\n\n", "; ", ".\n", "\u00a0", ": "])
PAIRS = st.tuples(WORDS, ENDS)
# Long lists are requested explicitly, since a short page is one chunk.
PROSE = st.one_of(st.lists(PAIRS, max_size=8), st.lists(PAIRS, min_size=30, max_size=90)).map(
    lambda pairs: "".join(word + end for word, end in pairs)
)
FIGURES = st.lists(st.sampled_from(["1,749", "(12)", "3.5%", "—", "$", "2022", "Level 3"]), min_size=2, max_size=4)
HEADS = st.lists(st.sampled_from(["2022", "2021", "Level 3", "Fair value", "Total"]), min_size=3, max_size=6)
LINES = st.tuples(WORDS, FIGURES).map(lambda line: "     ".join((line[0], *line[1])))
TABLES = st.tuples(
    PROSE,
    HEADS.map(("     ").join),
    st.lists(st.one_of(LINES, LINES, LINES, WORDS, st.just("")), min_size=12, max_size=40),
).map(lambda parts: "\n".join((*parts[:2], *parts[2])))
TEXTS = st.one_of(PROSE, TABLES)


@st.composite
def pages(draw: st.DrawFn) -> list[Page]:
    drawn = []
    for index, text in enumerate(draw(st.lists(TEXTS, max_size=3))):
        # Running headers and footers are whole lines.
        lines = [0, *(position + 1 for position, character in enumerate(text) if character == "\n"), len(text)]
        ends = sorted(draw(st.lists(st.sampled_from(lines), max_size=4)))
        skip = tuple(zip(ends[::2], ends[1::2], strict=False))
        heading = draw(st.sampled_from(["", "Liquidity", "x" * 300, "Note 7 " * 30]))
        boxes = typewritten(text)
        drawn.append(Page(index, str(index + 1), text, PageState.TEXT, 600, 800, heading, boxes=boxes, skip=skip))
    return drawn


def typewritten(text: str) -> WordBoxes:
    """Return boxes of words in a monospaced font, so that wide gaps in a line are wide on the page."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    lines = [(text.count("\n", 0, start), text.rfind("\n", 0, start) + 1) for start, _ in words]
    rects = [
        (0.01 * (start - first), 0.02 * line, 0.01 * (end - first), 0.02 * line + 0.012)
        for (start, end), (line, first) in zip(words, lines, strict=True)
    ]
    spans = np.array(words, np.int32).reshape(-1, 2)
    return WordBoxes(spans[:, 0], spans[:, 1], np.array(rects, np.float32).reshape(-1, 4))


RULES = st.tuples(st.sampled_from([32, 40, 64, 120, 214]), st.sampled_from([0.0, 0.1, 0.18, 0.35, 0.5]))
NAMES = st.sampled_from(["3M_2022_10K.pdf", "a.pdf", "Unternehmensbeteiligungsgesellschaft " * 12, "…", "x" * 180])


@functools.cache
def model() -> BundledEmbedder:
    return BundledEmbedder()


def cut(document: list[Page], rule: tuple[int, float], name: str = "a.pdf") -> list[ChunkSpan]:
    embedder = model()
    whole = ChunkConfig(rule[0], rule[1], embedder.window, embedder.special_tokens)
    return Chunker(whole, embedder.offsets).chunk(name, document)


@given(pages(), RULES)
@settings(max_examples=40)
def test_offsets_match_the_text_of_the_page(document: list[Page], rule: tuple[int, float]) -> None:
    for span in cut(document, rule):
        first, crosses, rest = span.text.partition(PAGE_BREAK)
        page = document[span.page_index].text
        if crosses:
            assert span.page_index_end == span.page_index + 1
            assert page[span.start : span.start + len(first)] == first
            assert not page[span.start + len(first) :].strip() or document[span.page_index].skip
            following = document[span.page_index_end].text
            assert following[span.end - len(rest) : span.end] == rest
            assert rest
        else:
            assert span.page_index_end == span.page_index
            assert page[span.start : span.end] == span.text
        assert first.strip() == first != ""


@given(pages(), RULES)
@settings(max_examples=40)
def test_all_text_outside_running_headers_is_in_a_chunk(document: list[Page], rule: tuple[int, float]) -> None:
    covered = [[False] * len(page.text) for page in document]
    for span in cut(document, rule):
        first, _, rest = span.text.partition(PAGE_BREAK)
        covered[span.page_index][span.start : span.start + len(first)] = [True] * len(first)
        covered[span.page_index_end][span.end - len(rest) : span.end] = [True] * len(rest)
    for page, marks in zip(document, covered, strict=True):
        skipped = {position for start, end in page.skip for position in range(start, end)}
        lost = [
            (position, character)
            for position, character in enumerate(page.text)
            if not marks[position] and not character.isspace() and position not in skipped
        ]
        assert lost == []


@given(pages(), RULES)
@settings(max_examples=40)
def test_no_chunk_contains_a_running_header(document: list[Page], rule: tuple[int, float]) -> None:
    for span in cut(document, rule):
        end = span.start + len(span.text.partition(PAGE_BREAK)[0])
        skip = document[span.page_index].skip
        assert not [(a, b) for a, b in skip if a < b and max(a, span.start) < min(b, end)]


@given(pages(), RULES, NAMES)
@settings(max_examples=60)
def test_chunks_fit_the_window_and_have_their_token_count(
    document: list[Page], rule: tuple[int, float], name: str
) -> None:
    embedder = model()
    for span in cut(document, rule, name):
        tokens = len(embedder.offsets([f"{span.prefix}\n{span.text}"])[0]) + embedder.special_tokens
        assert tokens <= embedder.window
        assert tokens <= rule[0] + 40 + 40 + embedder.special_tokens
        # A divided word may have a few tokens fewer than counted, never more.
        assert span.tokens - 8 <= tokens <= span.tokens


@given(pages(), RULES)
@settings(max_examples=60)
def test_repeated_table_header_is_above_the_chunk(document: list[Page], rule: tuple[int, float]) -> None:
    for span in cut(document, rule):
        page = document[span.page_index]
        above = [" ".join(line.split()) for line in page.text[: span.start].split("\n")]
        _, *header = span.prefix.split("\n")
        assert [line for line in header if line not in above] == []


@given(pages(), RULES)
@settings(max_examples=40)
def test_boxes_change_only_the_prefix(document: list[Page], rule: tuple[int, float]) -> None:
    boxed, plain = cut(document, rule), cut([replace(page, boxes=WordBoxes.empty()) for page in document], rule)
    # A longer prefix leaves less room to follow a sentence to the next page.
    places = [
        [(span.page_index, span.start, span.text.partition(PAGE_BREAK)[0]) for span in spans]
        for spans in (boxed, plain)
    ]
    assert places[0] == places[1]


@given(pages(), RULES)
@settings(max_examples=40)
def test_chunks_are_in_order_and_overlap_within_limits(document: list[Page], rule: tuple[int, float]) -> None:
    spans = cut(document, rule)
    assert [span.ordinal for span in spans] == list(range(len(spans)))
    for before, after in itertools.pairwise(spans):
        assert before.page_index <= after.page_index
        if before.page_index != after.page_index:
            continue
        assert before.start < after.start
        assert after.page_index_end > after.page_index or before.end < after.end
        shared = document[before.page_index].text[after.start : before.end]
        if rule[1] == 0:
            assert not shared
        # A sentence slightly longer than the overlap is shared as a whole.
        assert len(model().offsets([shared])[0]) <= 1.6 * rule[0] * rule[1] + 2


@pytest.mark.parametrize("text", ["", " \n\t ", "\u00a0"])
def test_page_without_text_has_no_chunks(text: str) -> None:
    assert cut([Page(0, "1", text, PageState.EMPTY)], (64, 0.2)) == []
