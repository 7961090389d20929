"""Divide pages into short excerpts (some sentences, or a table row with its headers), and select the best ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rag_core.reading.similarity import Compare
from rag_core.text.calendar_dates import blank_dates, contains_only_exchanged_date, find_dates, select_days, states_date
from rag_core.text.dates import OPEN_PERIOD, YEAR
from rag_core.text.identifiers import contains_identifier, contains_only_similar_identifier, find_asked_identifiers
from rag_core.text.mails import find_header, find_mails
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import count_words, find_content_stems
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.dates import NO_DATES, NO_DATES_FOR_DOCUMENT, AskedDates, DatesForDocument
from rag_core.types.documents import WATERMARK, PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Table, TableCell, TableRow

# Maximum number of words of an excerpt of several sentences, and maximum number of excerpts.
WINDOW_WORDS, MAX_EXCERPTS = 58, 32
# Maximum number of characters of all excerpts together, which limits the time to read them.
MAX_CHARS = 6000
# Number of passages whose whole pages are divided; of other passages, only their text is divided.
WHOLE_PAGES = 8
# Weights for the score of an excerpt before it is read, fitted on labelled questions:
# the similarity of question and excerpt with the headers of its table, and without them;
SIMILARITY_WEIGHT, OWN_SIMILARITY_WEIGHT = 3.0, 2.7
# the share of the question's words in the excerpt, and the reranker's score of the passage that contains it;
WORDS_WEIGHT, RERANK_WEIGHT = 1.1, 2.35
# the ranks of this passage and of the first passage of the page, and whether it is the first passage of all.
PASSAGE_RANK_WEIGHT, PAGE_RANK_WEIGHT, FIRST_WEIGHT = 0.1, 0.1, 0.3
# The rank of an excerpt that no passage contains.
OUTSIDE_RANK = 10
# Additional weights for table rows, because their few words are more specific than words of sentences.
ROW_WEIGHT, ROW_SIMILARITY_WEIGHT, ROW_WORDS_WEIGHT = 0.2, 3.4, 1.2
# Added to the score of an excerpt that states a date of the question.
DATE_WEIGHT = 1.5
# Maximum number of lines of a caption.
MAX_CAPTION_LINES = 2
_SEPARATOR = " | "
_YEAR = re.compile(YEAR)


@dataclass(frozen=True, slots=True)
class PageSpan:
    """A span in the text of a page, with the table cell at this span, if there is one."""

    start: int
    end: int
    cell: TableCell | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A short text from a page: some sentences, or a table row with its headers.

    Attributes
    ----------
    passage : Passage
        The best passage that overlaps the excerpt, or else the best passage of the page.
    rank : int
        Rank of the best passage of the page, from 0.
    text : str
    parts : tuple of (int, int, PageSpan)
        Start and end of each part in ``text``, and its span on the page. Captions, units and headers of a table row,
        and the header of a mail, are in ``text``, but are no parts.
    table : Table or None
        The table of ``row``.
    row : TableRow or None
        ``None`` for an excerpt of sentences.
    prior : float
        Score of the excerpt before it is read; higher fits the question better.
    """

    passage: Passage
    rank: int
    text: str
    parts: tuple[tuple[int, int, PageSpan], ...]
    table: Table | None = None
    row: TableRow | None = None
    prior: float = 0.0

    @property
    def start(self) -> int:
        """Offset in the text of the page at which the first part begins."""
        return min(span.start for *_, span in self.parts)

    @property
    def end(self) -> int:
        """Offset in the text of the page at which the last part ends."""
        return max(span.end for *_, span in self.parts)

    def locate(self, start: int, end: int) -> PageSpan | None:
        """Return the span on the page for a span in ``text``; ``None`` if the span overlaps none of the parts.

        The span is located in the part that it overlaps most. For a table row, the span of the whole cell is returned.
        """
        overlaps = [(min(end, last) - max(start, first), first, span) for first, last, span in self.parts]
        length, first, span = max(overlaps, key=lambda one: one[0], default=(0, 0, None))
        if span is None or length <= 0:
            return None
        return span if span.cell else PageSpan(span.start + start - first, span.start + end - first)


def select_excerpts(
    question: str,
    passages: Sequence[Passage],
    page_texts: Mapping[PageKey, str],
    tables: Mapping[PageKey, Sequence[Table]],
    compare: Compare,
    dates: AskedDates = NO_DATES,
) -> list[Excerpt]:
    """Return up to `MAX_EXCERPTS` excerpts of passages and their pages, those that fit the question best first.

    The excerpts have at most `MAX_CHARS` characters together; only a single excerpt can have more.

    - Excerpts with a code that only resembles a code of the question are left out, as are excerpts with a date of the
      question whose day and month are exchanged.
    - Excerpts with a date of the question begin with the first sentence that states it, and end before the next entry
      with another date. This does not apply if the question asks for a period, as in "after 1 May".
    - Dates of whole documents, such as that of a meeting, are ignored.

    Parameters
    ----------
    question : str
    passages : sequence of Passage
        Best first.
    page_texts, tables : mapping
        Texts and tables of the pages of the first passages, by `Passage.page_key`.
    compare : callable
        See `Compare`.
    dates : AskedDates
        The dates in the question.
    """
    identifiers = find_asked_identifiers(question)
    asks_for_period = OPEN_PERIOD.search(blank_dates(question, dates.dates)) is not None
    asked = find_content_stems(question)
    scored: list[Excerpt] = []
    seen: set[tuple[PageKey, int, str]] = set()
    for rank, passage in enumerate(passages):
        if passage.page_key in page_texts and any(one.page_key == passage.page_key for one in passages[:rank]):
            continue
        for excerpt in _split_page(passage, rank, page_texts, tables):
            key = (passage.page_key, excerpt.start, excerpt.text)
            labels = excerpt.table.list_labels(excerpt.row) if excerpt.table and excerpt.row else ()
            about = " ".join(labels) if excerpt.row else excerpt.text
            if key in seen or contains_only_similar_identifier(about, identifiers):
                continue
            seen.add(key)
            in_document = select_days(dates, passage.version_id, passage.full_title)
            of_entry = NO_DATES_FOR_DOCUMENT if asks_for_period else in_document
            if contains_only_exchanged_date(in_document, excerpt.text):
                continue
            if not excerpt.row:
                excerpt = _keep_entry(_keep_identified_sentences(excerpt, identifiers), of_entry)
                excerpt = _add_mail_header(excerpt, page_texts)
            excerpt = _score_excerpt(excerpt, asked, passages, compare)
            if states_date(in_document, excerpt.text, passage.full_title):
                excerpt = replace(excerpt, prior=excerpt.prior + DATE_WEIGHT)
            scored.append(excerpt)
    scored = scored if asks_for_period else _remove_other_days(scored, dates)
    best = sorted(scored, key=lambda one: -one.prior)[:MAX_EXCERPTS]
    lengths = accumulate(len(one.text) for one in best)
    return [excerpt for excerpt, length in zip(best, lengths, strict=True) if length <= MAX_CHARS] or best[:1]


def _keep_identified_sentences(excerpt: Excerpt, identifiers: Collection[str]) -> Excerpt:
    """Return an excerpt from its first to its last sentence with a code of the question.

    The whole excerpt is returned if no sentence has a code that only resembles one of the question.
    """
    spans = find_sentence_spans(excerpt.text)
    if not any(contains_only_similar_identifier(excerpt.text[slice(*span)], identifiers) for span in spans):
        return excerpt
    named = [span for span in spans if contains_identifier(excerpt.text[slice(*span)], identifiers)]
    if not named:
        return excerpt
    return _cut(excerpt, named[0][0], named[-1][1])


def _remove_other_days(excerpts: Sequence[Excerpt], dates: AskedDates) -> list[Excerpt]:
    """Return the excerpts without rows about other days from tables of which a row states a date of the question."""
    stated = [
        bool(dates.dates) and one.row is not None and states_date(dates.days_of(one.passage.version_id), one.text)
        for one in excerpts
    ]
    tables = {id(one.table) for one, is_stated in zip(excerpts, stated, strict=True) if is_stated}
    return [
        one
        for one, is_stated in zip(excerpts, stated, strict=True)
        if is_stated or id(one.table) not in tables or not _states_day(one.text)
    ]


def _states_day(text: str) -> bool:
    return any(one.names_day for one in find_dates(text))


def _keep_entry(excerpt: Excerpt, dates: DatesForDocument) -> Excerpt:
    """Return an excerpt from its first sentence with a date of the question to the next entry with another date.

    The whole excerpt is returned if no sentence states a date of the question, or all sentences with a date do.
    """
    spans = find_sentence_spans(excerpt.text) if dates.dates else []
    days = [_states_day(excerpt.text[slice(*span)]) for span in spans]
    stated = [states_date(dates, excerpt.text[slice(*span)]) for span in spans]
    if True not in stated or days == stated:
        return excerpt
    first = stated.index(True)
    # An entry begins at the beginning of a line.
    begins = [excerpt.text[:start].rstrip(" ").endswith("\n") for start, _ in spans]
    ends = (one for one in range(first + 1, len(spans)) if begins[one] and days[one] and not stated[one])
    return _cut(excerpt, spans[first][0], spans[next(ends, len(spans)) - 1][1])


def _cut(excerpt: Excerpt, start: int, end: int) -> Excerpt:
    """Return the part of an excerpt of sentences between two offsets in its text."""
    span = PageSpan(excerpt.start + start, excerpt.start + end)
    return replace(excerpt, text=excerpt.text[start:end], parts=((0, end - start, span),))


def _add_mail_header(excerpt: Excerpt, page_texts: Mapping[PageKey, str]) -> Excerpt:
    """Return an excerpt, preceded by the header of its mail if the excerpt is from a mail."""
    page_text = page_texts.get(excerpt.passage.page_key, "")
    header = find_header(page_text, excerpt.start, is_first=excerpt.passage.page_index == 0)
    if header is None:
        return excerpt
    above = page_text[slice(*header)] + "\n"
    parts = tuple((start + len(above), end + len(above), span) for start, end, span in excerpt.parts)
    return replace(excerpt, text=above + excerpt.text, parts=parts)


def _score_excerpt(excerpt: Excerpt, asked: Collection[str], passages: Sequence[Passage], compare: Compare) -> Excerpt:
    """Return an excerpt with its ``prior``, and with the best passage that overlaps it, if there is one.

    ``asked`` contains the stems of the question's content words.
    """
    page = excerpt.passage.page_key
    inside = [
        rank
        for rank, one in enumerate(passages)
        if one.page_key == page and excerpt.start < one.start + len(one.first_page_text) and one.start < excerpt.end
    ]
    passage = passages[inside[0]] if inside else excerpt.passage
    rerank = passage.scores.get("rerank") or 0.0
    own = [(span.start, span.end) for *_, span in excerpt.parts]
    headers = excerpt.table.headers if excerpt.table else ()
    above = [span for row in headers for cell in row.cells for span in cell.spans]
    own_similarity = compare(page, own)
    with_headers = compare(page, [*own, *above]) if above else own_similarity
    known = [one for one in (own_similarity, with_headers) if one is not None]
    similarity = max(known, default=rerank)
    shared = len(find_content_stems(excerpt.text).intersection(asked)) / max(1, len(asked))
    best_rank = inside[0] if inside else OUTSIDE_RANK
    prior = (
        SIMILARITY_WEIGHT * similarity
        + OWN_SIMILARITY_WEIGHT * (own_similarity or 0.0)
        + WORDS_WEIGHT * shared
        + RERANK_WEIGHT * rerank
        - PASSAGE_RANK_WEIGHT * best_rank
        - PAGE_RANK_WEIGHT * excerpt.rank
        + FIRST_WEIGHT * (best_rank == 0)
    )
    if excerpt.row is not None:
        prior += ROW_WEIGHT + ROW_SIMILARITY_WEIGHT * similarity + ROW_WORDS_WEIGHT * shared
    return replace(excerpt, passage=passage, prior=prior)


def _split_page(
    passage: Passage, rank: int, page_texts: Mapping[PageKey, str], tables: Mapping[PageKey, Sequence[Table]]
) -> Iterator[Excerpt]:
    """Yield the excerpts of the page of a passage: first table rows, then sentences.

    Only the passage is divided if its rank is `WHOLE_PAGES` or more, or if the text of its page is not given.
    """
    key = passage.page_key
    text, shift = passage.first_page_text, passage.start
    if rank < WHOLE_PAGES and key in page_texts:
        text, shift = page_texts[key], 0
    text = text.partition(WATERMARK)[0]
    last = shift + len(text)
    on_page = [one for one in tables.get(key, ()) if one.start < last and one.end > shift]
    for table in on_page:
        for row in table.body:
            excerpt = build_row_excerpt(passage, rank, table, row)
            if excerpt is not None and shift <= excerpt.start and excerpt.end <= last:
                yield excerpt
    inside = [(max(0, one.start - shift), one.end - shift) for one in on_page]
    # An excerpt must not contain parts of two mails, which have different authors.
    ends = [(mail.start, mail.start) for mail in find_mails(text, is_first=key[1] == 0 and not shift)]
    for start, end in split_windows(text, [*inside, *ends]):
        yield Excerpt(passage, rank, text[start:end], ((0, end - start, PageSpan(start + shift, end + shift)),))


def build_row_excerpt(passage: Passage, rank: int, table: Table, row: TableRow) -> Excerpt | None:
    """Return the excerpt of a row: the caption of its table, the label of the row, and each value after its header.

    The result is ``None`` for a row of a section and for a row without values.
    """
    values = [cell for cell in row.cells if cell.column or not row.label]
    if row.is_section or not any(cell.spans for cell in values):
        return None
    captions = [line for line in table.caption if line != table.unit][-MAX_CAPTION_LINES:]
    unit = "" if any(table.unit in line for line in captions) else table.unit_above
    text = "".join(f"{line}\n" for line in (*captions, unit) if line)
    parts: list[tuple[int, int, PageSpan]] = []
    label = table.row_label(row)
    if label:
        text += label
        first = row.cells[0]
        if row.label and first.spans:
            parts.append((len(text) - len(row.label), len(text), PageSpan(first.start, first.end, first)))
    for cell in values:
        header = _write_header(table.column_header(cell.column))
        text += (_SEPARATOR if parts or label else "") + (f"{header}: " if header else "")
        if cell.spans:
            parts.append((len(text), len(text) + len(cell.text), PageSpan(cell.start, cell.end, cell)))
        text += cell.text
    return Excerpt(passage, rank, text, tuple(parts), table, row)


def _write_header(header: str) -> str:
    """Return a column header in which a year at the top level is moved to the end, as in "Spring 2024"."""
    first, separator, levels = header.partition(HEADING_SEPARATOR)
    return f"{levels} {first}" if separator and _YEAR.fullmatch(first) else header


def split_windows(text: str, without: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Return spans of whole sentences with at most `WINDOW_WORDS` words; only a single sentence can have more words.

    Each span repeats about half of the previous span. The spans do not overlap the spans ``without``.
    """
    windows: list[tuple[int, int]] = []
    first = 0
    for start, end in [*sorted(without), (len(text), len(text))]:
        sentences = [(first + one, first + other) for one, other in find_sentence_spans(text[first:start])]
        windows += _group_sentences(text, [span for span in sentences if re.search(r"\w", text[slice(*span)])])
        first = max(first, end)
    return windows


def _group_sentences(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of groups of consecutive sentences; see `split_windows`."""
    words = [count_words(text[start:end]) for start, end in spans]
    first = 0
    while first < len(spans):
        last = first + 1
        while last < len(spans) and sum(words[first : last + 1]) <= WINDOW_WORDS:
            last += 1
        yield spans[first][0], spans[last - 1][1]
        if last == len(spans):
            break
        middle = first
        while middle < last and 2 * sum(words[first:middle]) < sum(words[first:last]):
            middle += 1
        first = max(first + 1, middle)
