"""Divide documents into chunks of about equal length, at sentence ends where possible.

Lengths are numbers of tokens of the embedder's tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from rag_core.chunking.document_titles import extract_title, format_document_label
from rag_core.chunking.table_heads import find_carried_labels, find_headed_tables, find_header_lines, fit_head
from rag_core.errors import SettingsError
from rag_core.text.mails import Mail, find_mail_at, find_mails
from rag_core.text.outline import find_heading
from rag_core.text.sections import remove_spans
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.struck import remove_struck
from rag_core.types.arrays import IntArray
from rag_core.types.chunks import HEADING_SEPARATOR, PAGE_BREAK, ChunkSpan
from rag_core.types.documents import Page
from rag_core.types.tables import Span

# A function that returns the character spans of the tokens of each text; see `Chunker`.
Offsets = Callable[[Sequence[str]], "list[IntArray]"]
# Share of a chunk that the next chunk repeats, so that few answers are divided.
OVERLAP = 0.18
# Maximum number of tokens of the first line of a prefix.
PREFIX_TOKENS = 40
# Maximum number of tokens of the document's name and title in this line if it also contains a heading.
DOCUMENT_TOKENS = 26
# Number of tokens that stay free in a piece that begins inside a word: alone, the rest of a word can have more tokens
# than within the word.
CUT_MARGIN = 8
# Version of the rule by which prefixes are built; see `Fingerprint`.
PREFIX_RULE = "name-title-heading-tablehead-3"
_DIGITS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?。！？:;][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """Length and overlap of chunks, and the limits of the embedder.

    Attributes
    ----------
    tokens : int
        Maximum number of tokens of a chunk, without its prefix.
    overlap : float
        Share of these tokens that the next chunk repeats.
    window : int
        Maximum number of tokens of an input of the embedder, including the special tokens.
    special : int
        Number of special tokens in each input.

    Raises
    ------
    SettingsError
        A chunk and its prefix do not fit into ``window``.
    """

    tokens: int
    overlap: float
    window: int
    special: int

    def __post_init__(self) -> None:
        longest = self.window - self.special - PREFIX_TOKENS
        if self.tokens > longest:
            raise SettingsError(
                f"RAG_CHUNK_TOKENS is {self.tokens}, but this embedder reads {self.window} tokens, of which "
                f"{self.special + PREFIX_TOKENS} are reserved for the document's name and heading. "
                f"Set it to {longest} or less."
            )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence or a table row, or a part of a long one; ``tokens`` is its length."""

    start: int
    end: int
    tokens: int


class Chunker:
    """Divides documents into overlapping chunks.

    Parameters
    ----------
    config : ChunkConfig
    offsets : callable
        Function that takes texts and returns the character spans of the tokens of each text, shape (n, 2), without
        special tokens.
    """

    def __init__(self, config: ChunkConfig, offsets: Offsets) -> None:
        self._config = config
        self._offsets = offsets

    def chunk(self, name: str, pages: Iterable[Page]) -> list[ChunkSpan]:
        """Return the chunks of a document in reading order.

        A chunk is on one page, except that the last chunk of a page can include the end of its last sentence from the
        next page. Each character is in at least one chunk, except white space and headers and footers (``Page.skip``).
        """
        document = DocumentChunker(self, name)
        spans = [span for page in pages for span in document.add(page)]
        return spans + document.finish()

    def chunk_page(self, name: str, title: str, page: Page, following: Page | None, first: int) -> list[ChunkSpan]:
        """Return the chunks of a page.

        Parameters
        ----------
        name, title : str
            Name and title of the document.
        page : Page
        following : Page or None
            The next page, on which the last chunk may continue.
        first : int
            Ordinal of the first chunk.
        """
        tables, mails = find_headed_tables(page), find_mails(page.text, is_first=page.page_index == 0)
        spans = []
        for ordinal, (start, end, pieces) in enumerate(self._iter_chunks(page, mails), first):
            mail = find_mail_at(mails, start)
            heading = (mail and mail.heading) or find_heading(page, start)
            common, common_tokens = self._build_first_line(format_document_label(name, title, heading), heading)
            tokens = sum(piece.tokens for piece in pieces)
            room = self._config.window - self._config.special - common_tokens - tokens
            lines = [*find_header_lines(page, tables, start, common), *find_carried_labels(page, start, end)]
            counts = [len(offsets) for offsets in self._offsets(lines)] if lines else []
            head, head_tokens = fit_head(lines, counts, room)
            prefix, prefix_tokens = "\n".join((common, *head)), common_tokens + head_tokens
            piece_starts = accumulate((piece.tokens for piece in pieces[:-1]), initial=prefix_tokens)
            span = ChunkSpan(
                ordinal=ordinal,
                page_index=page.page_index,
                start=start,
                page_index_end=page.page_index,
                end=end,
                text=page.text[start:end],
                prefix=prefix,
                heading=heading,
                tokens=tokens + prefix_tokens + self._config.special,
                sentences=tuple(piece_starts),
            )
            spans.append(span)
        if spans and following is not None:
            spans[-1] = self._extend_to_next_page(spans[-1], following)
        return spans

    def _build_first_line(self, document_label: str, heading: str) -> tuple[str, int]:
        """Return the first line of a prefix and its number of tokens."""
        if not heading:
            return self._truncate(document_label, PREFIX_TOKENS)
        # The heading needs room after a long name.
        document_label, _ = self._truncate(document_label, DOCUMENT_TOKENS)
        return self._truncate(f"{document_label}{HEADING_SEPARATOR}{heading}", PREFIX_TOKENS)

    def _truncate(self, line: str, limit: int) -> tuple[str, int]:
        """Return the text of at most the first ``limit`` tokens of a line, and the number of these tokens."""
        offsets = self._offsets([line])[0]
        return (line[: int(offsets[limit - 1][1])] if len(offsets) > limit else line), min(len(offsets), limit)

    def _iter_chunks(self, page: Page, mails: Sequence[Mail]) -> Iterator[tuple[int, int, Sequence[_Piece]]]:
        """Yield the start, the end and the pieces of each chunk of a page. Each mail begins a new chunk."""
        offsets = self._offsets([page.text])[0]
        for body_start, body_end in _split_at_mails(_find_bodies(page), mails):
            pieces = list(self._iter_pieces(page.text, body_start, body_end, offsets))
            yield from _pack_pieces(pieces, self._config.tokens, round(self._config.tokens * self._config.overlap))

    def _iter_pieces(self, text: str, start: int, end: int, offsets: IntArray) -> Iterator[_Piece]:
        """Yield the sentences between two offsets; sentences that are longer than a chunk are divided."""
        # The array is converted once, because `searchsorted` would copy it at each call if the dtypes differed.
        starts = offsets[:, 0].astype(np.int64)
        for first, last in find_sentence_spans(text[start:end]):
            begin, stop = start + first, start + last
            low, high = np.searchsorted(starts, [begin, stop])
            is_in_word = False
            while high - low > (limit := self._config.tokens - is_in_word * CUT_MARGIN):
                cut = _find_cut(text, offsets, int(low), int(low) + limit)
                following = int(offsets[cut][0])
                # Include the characters after the last token that the tokenizer dropped.
                piece_end = begin + len(text[begin:following].rstrip())
                yield self._build_piece(text, begin, piece_end, cut - int(low), is_in_word)
                low, begin = np.intp(cut), following
                is_in_word = not text[begin - 1].isspace()
            yield self._build_piece(text, begin, stop, int(high - low), is_in_word)

    def _build_piece(self, text: str, start: int, end: int, tokens: int, is_in_word: bool) -> _Piece:
        """Return a piece with its number of tokens; a piece that begins inside a word is tokenized again."""
        if is_in_word:
            tokens = max(tokens, len(self._offsets([text[start:end]])[0]))
        return _Piece(start, end, tokens)

    def _extend_to_next_page(self, span: ChunkSpan, following: Page) -> ChunkSpan:
        """Return the last chunk of a page, extended by the end of its last sentence on the next page.

        The chunk is returned unchanged if its last sentence does not continue there, or if the end does not fit.
        """
        bodies = _find_bodies(following)
        if not bodies or _SENTENCE_END.search(span.text) or _ends_in_footer(span.text, following):
            return span
        body_start, body_end = bodies[0]
        body = following.text[body_start:body_end]
        sentences = find_sentence_spans(body)
        if not sentences or not body[sentences[0][0]].islower():
            return span
        first, last = sentences[0]
        rest = body[first:last]
        tokens = span.tokens + len(self._offsets([rest])[0])
        if tokens > min(self._config.tokens + PREFIX_TOKENS + self._config.special, self._config.window):
            return span
        return replace(
            span,
            page_index_end=following.page_index,
            end=body_start + last,
            text=f"{span.text}{PAGE_BREAK}{rest}",
            tokens=tokens,
        )


class DocumentChunker:
    """Divides one document into chunks, page by page; see `Chunker.chunk`."""

    def __init__(self, chunker: Chunker, name: str) -> None:
        self._chunker = chunker
        self._name = name
        self._title = ""
        self._page: Page | None = None
        self._count = 0

    def add(self, page: Page) -> list[ChunkSpan]:
        """Take the next page, and return the chunks of the previous page, whose last sentence may end on this page."""
        page = replace(page, text=remove_struck(page.text))
        if self._page is None:
            self._title = extract_title(self._name, page)
        return self._advance(page)

    def finish(self) -> list[ChunkSpan]:
        """Return the chunks of the last page."""
        return self._advance(None)

    def _advance(self, following: Page | None) -> list[ChunkSpan]:
        """Return the chunks of the current page, and make ``following`` the current page."""
        page, self._page = self._page, following
        if page is None:
            return []
        spans = self._chunker.chunk_page(self._name, self._title, page, following, self._count)
        self._count += len(spans)
        return spans


def _find_bodies(page: Page) -> list[Span]:
    """Return the spans of the page's text outside headers and footers."""
    return [span for span in remove_spans((0, len(page.text)), page.skip) if page.text[slice(*span)].strip()]


def _split_at_mails(bodies: Sequence[Span], mails: Sequence[Mail]) -> Iterator[Span]:
    """Yield the spans of a page's text, divided where mails begin."""
    for start, end in bodies:
        yield from pairwise([start, *(mail.start for mail in mails if start < mail.start < end), end])


def _ends_in_footer(text: str, following: Page) -> bool:
    """Return whether the last line of a chunk is a footer, which the next page repeats.

    ``Page.skip`` contains only the repetitions of a footer, so its first occurrence is part of a chunk.
    """
    last = _DIGITS.sub("", text[text.rfind("\n") + 1 :])
    return any(_DIGITS.sub("", following.text[start:end]) == last for start, end in following.skip)


def _find_cut(text: str, offsets: IntArray, low: int, high: int) -> int:
    """Return the index of the token before which a long sentence is divided.

    In the last third of the tokens from ``low`` to ``high``, the best place is after the last line end, then after the
    last comma or semicolon, then after the last word. Without any of them, return ``high``, which can be inside a word.
    """
    window = range(high, max(low + 1, high - (high - low) // 3), -1)
    for ends in ("\n", ";,", " "):
        for token in window:
            gap = text[int(offsets[token - 1][1]) - 1 : int(offsets[token][0])]
            if any(character in ends for character in gap):
                return token
    return high


def _pack_pieces(pieces: Sequence[_Piece], budget: int, overlap: int) -> Iterator[tuple[int, int, Sequence[_Piece]]]:
    """Yield the start, the end and the pieces of chunks of at most ``budget`` tokens.

    Neighbouring chunks share about ``overlap`` tokens.
    """
    total = sum(piece.tokens for piece in pieces)
    # The chunks of a page are about equally long, because a last chunk of a few words would not match any question.
    count = max(1, -(-(total - overlap) // max(1, budget - overlap)))
    target = min(budget, -(-(total - overlap) // count) + overlap)
    first = last = 0
    while first < len(pieces):
        reached, last, tokens = last, first, 0
        while last < len(pieces) and (last == first or tokens + pieces[last].tokens <= budget):
            tokens += pieces[last].tokens
            last += 1
            if tokens >= target and last > reached:
                break
        yield pieces[first].start, pieces[last - 1].end, pieces[first:last]
        if last == len(pieces):
            return
        first = _find_next_start(pieces, first, last, overlap, budget)


def _find_next_start(pieces: Sequence[_Piece], first: int, last: int, overlap: int, budget: int) -> int:
    """Return the index of the first piece of the next chunk.

    The next chunk repeats as many of the last pieces of this chunk as ``overlap`` tokens allow.
    """
    begin, shared = last, 0
    # An overlap of 0 must be tested, because pieces without tokens, such as NUL characters, would fit into it.
    while overlap and begin - 1 > first and shared + pieces[begin - 1].tokens <= overlap:
        begin -= 1
        shared += pieces[begin].tokens
    # If nothing would be shared otherwise, the last piece is shared even if it is a little longer than the overlap.
    if begin == last and overlap and last - 1 > first and pieces[last - 1].tokens <= 1.6 * overlap:
        begin, shared = last - 1, pieces[last - 1].tokens
    # Nothing is shared if there would be no room for a new piece.
    return begin if shared + pieces[last].tokens <= budget else last
