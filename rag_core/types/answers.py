"""Answers, their citations, and the events of `Engine.ask`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from rag_core.types.cited_tables import CitedTable
from rag_core.types.page_links import build_page_link
from rag_core.types.retrieval import Gate, Passage, SearchResult
from rag_core.types.tables import Span
from rag_core.types.usage import Usage

# The answers if the documents do not answer a question.
REFUSAL = "I don't know: the documents don't say."
CLOSEST_PASSAGES = "Not stated. Closest passages: {pages}."
NOT_IN_PLACES = "Not stated in {places}. Nothing else was searched, because the question names this place."
# The answers if there is nothing to search.
NO_DOCUMENTS = "There are no documents to search. Add documents, then ask again."
EMPTY_SNAPSHOT = "The snapshot contains no document that can be searched."
# The line above excerpts of pages that may answer.
INTRODUCTION = "These passages may answer your question."
INCOMPLETE = "These passages may answer your question; there may be more."
SOME_OF = "These are {shown} of {number} passages that may answer; there may be more."
_INTRODUCTIONS = re.compile("|".join([INTRODUCTION, INCOMPLETE, SOME_OF.format(shown=r"\d+", number=r"\d+")]))
# A citation marker such as [1]. The second pattern also matches the blanks before a marker, and markers in the brackets
# U+3010 and U+3011, which some language models write.
MARKER = re.compile(r"\[(\d{1,6})\]")
_MARKER_WITH_BLANKS = re.compile(r"[ \t]*[\[\u3010]\d+[\]\u3011]")
_FINAL_MARKERS = re.compile(r"(?:[ \t]*\[\d+\])+\Z")
# What the check of a statement against the passages found wrong; empty if it found nothing wrong.
Mark = Literal["", "contradicted", "not_found", "judged"]


def strip_markers(text: str) -> str:
    """Return a text without its citation markers, and without the blanks before them."""
    return _MARKER_WITH_BLANKS.sub("", text)


class AnswerState(str, Enum):
    """Whether the question was answered or refused. A refusal is a normal result, so it raises no error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of a page that supports a statement of an answer.

    ``quote`` is the text of the page from ``start`` to ``end``. ``marker`` is the number of the citation in the text of
    the answer, such as 1 for ``[1]``. ``added`` is true if the language model that wrote the statement did not cite
    this passage, so that Footnote added the citation. ``marks`` are the spans of an excerpt that the reading model
    marks, as offsets into the text of the page. ``cells`` is the address of the cited cells of a sheet, such as
    "Sales!C14"; it is empty for other pages.
    """

    marker: int
    passage_rank: int
    document_id: str
    version_id: str
    document: str
    chunk_id: str
    page_index: int
    page_label: str
    quote: str
    start: int
    end: int
    added: bool = False
    marks: tuple[Span, ...] = ()
    cells: str = ""

    @property
    def place(self) -> str:
        """The cited cells of a sheet, or else the page, as in "page 6"."""
        return self.cells or f"page {self.page_label}"

    @classmethod
    def of(cls, passage: Passage, start: int, end: int) -> Citation:
        """Return a citation of ``passage.text[start:end]``, which must be on the first page of the passage."""
        return cls(
            marker=passage.rank,
            passage_rank=passage.rank,
            document_id=passage.document_id,
            version_id=passage.version_id,
            document=passage.document,
            chunk_id=passage.chunk_id,
            page_index=passage.page_index,
            page_label=passage.page_label,
            quote=passage.text[start:end],
            start=passage.start + start,
            end=passage.start + end,
        )


def build_citation_link(application: str, citation: Citation) -> str:
    """Return the link to the page of a citation, with its quote highlighted; see `build_page_link`."""
    return build_page_link(application, citation.document_id, citation.page_index, citation.start, citation.quote)


_CALCULATED = "calculated: "


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer and the result of checking it.

    A statement is a sentence, or a part of a sentence that ends with a group of markers. ``answer.text[start:end]``
    is the statement without these markers. ``supported`` is true if a citation supports the statement. ``reason`` may
    say why not, or contain the calculation by which a value of the statement follows from the sources. ``mark`` is
    ``contradicted`` if the source contains a different value, which is ``source_value``. It is ``not_found`` if the
    passages do not cover the statement, and ``judged`` if a model finds that they do not support it, with its reason as
    ``source_value``. If ``supported`` is false and ``mark`` is empty, the check is inconclusive. If ``mark`` is not
    empty, ``compared_rank`` is the rank of the passage that was compared with the statement; otherwise it is 0.
    """

    start: int
    end: int
    supported: bool
    reason: str = ""
    mark: Mark = ""
    source_value: str = ""
    compared_rank: int = 0

    @property
    def calculation(self) -> str:
        """The calculation by which a value follows from the sources, as ``calculated: 3 + 4 = 7``; empty if none is."""
        return self.reason if self.reason.startswith(_CALCULATED) and not self.mark else ""

    @property
    def mark_text(self) -> str:
        """``mark`` in words for the user; empty if ``mark`` is empty."""
        if self.mark == "contradicted":
            return f"differs from the source: {self.source_value}"
        found = f": {self.source_value}" if self.source_value else ""
        if self.mark == "judged":
            return f"not supported by the source, in a model's judgement{found}"
        return f"not found in the sources{found}" if self.mark else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is shown and stored.

    It contains copies of all passages and quotes, so it stays complete after the cited documents are deleted.

    Attributes
    ----------
    generator : str
        ``extractive``, ``openai:MODEL`` or ``gguf:FILE``.
    notices : tuple of str
        Messages about problems, such as a failed endpoint or a document that is still being indexed.
    stopped : bool
        Whether the user stopped the answer before its end.
    statements : tuple of Claim
        The checked statements in text order. There are none for a refusal, for a stopped answer, and for answers that
        earlier versions of Footnote stored.
    rewritten : str
        The query that replaced the question because the question depends on earlier turns of the conversation; empty
        if the question was not replaced.
    usage : Usage
        The sum over all calls to a language model.
    steps : tuple of str
        The steps of the search strategy, in words.
    short : str
        What the question asks for, as it is written in a supported statement of a language model. Empty if no such
        text is probable enough. Answers that earlier releases stored may have one without a language model.
    quotes_start : int or None
        Offset in ``text`` of the excerpts that follow the text of a language model; ``None`` if none follow.
    interrupted : str
        Why the language model did not complete its answer, or wrote none; empty if it completed it. The text that it
        wrote is kept.
    tables : tuple of CitedTable
        The tables of which the answer cites rows, in the order of the citations.
    as_of : str
        Description of the snapshots that were searched; empty if the present documents were searched.
    more : tuple of Citation
        Citations of further excerpts that may answer, which are shown on demand. ``text`` leaves them out.
    """

    question: str
    state: AnswerState
    text: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    gate: Gate
    generator: str
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...] = ()
    stopped: bool = False
    statements: tuple[Claim, ...] = ()
    rewritten: str = ""
    usage: Usage = field(default_factory=Usage)
    strategy: str = "plain"
    steps: tuple[str, ...] = ()
    short: str = ""
    quotes_start: int | None = None
    interrupted: str = ""
    tables: tuple[CitedTable, ...] = ()
    as_of: str = ""
    more: tuple[Citation, ...] = ()

    @property
    def consists_of_excerpts(self) -> bool:
        """Whether the text consists of excerpts of pages that may answer."""
        introduction = self.text.partition("\n\n")[0]
        return self.generator == "extractive" and (
            any(one.marks for one in self.citations) or _INTRODUCTIONS.fullmatch(introduction) is not None
        )

    @property
    def written_text(self) -> str:
        """The text without the quotes that follow it."""
        return self.text[: self.quotes_start].rstrip()

    @property
    def unfinished_text(self) -> str:
        """The text that a language model continues: `written_text` without markers after an incomplete sentence."""
        text = _FINAL_MARKERS.sub("", self.written_text)
        return self.written_text if text.endswith((".", "!", "?")) else text

    @property
    def short_marker(self) -> int | None:
        """Marker of the first citation whose quote contains ``short``; ``None`` if no quote contains it."""
        quotes = ((citation.marker, " ".join(citation.quote.split())) for citation in self.citations)
        return next((marker for marker, quote in quotes if self.short and self.short in quote), None)

    @property
    def opens_with_short(self) -> bool:
        """Whether the text begins with the short answer, so that it need not be shown before the text."""
        return bool(self.short) and self.text.startswith((self.short, f"**{self.short}"))

    @property
    def marked_text(self) -> str:
        """The text for plain-text output, with `Claim.mark_text` in round brackets after each marked statement."""
        text = self.text
        for claim in reversed(self.statements):
            if claim.mark:
                text = f"{text[: claim.end]} ({claim.mark_text}){text[claim.end :]}"
        return text

    def find_cited_tables(self, citation: Citation) -> list[CitedTable]:
        """Return the tables of the answer with rows that a citation quotes."""
        place = citation.version_id, citation.page_index
        on_page = (one for one in self.tables if (one.version_id, one.page_index) == place)
        return [one for one in on_page if one.find_spans(citation.start, citation.end)]

    def find_cells(self, marker: int) -> str:
        """Return the address of the cells that ``[marker]`` refers to: of the marked one, or else of the first row.

        It is empty for a page that is not one of a sheet.
        """
        cited = [one for one in (*self.citations, *self.more) if one.marker == marker]
        return next((one.cells for one in sorted(cited, key=lambda one: not one.marks)), "")

    def find_cited_spans(self, citation: Citation) -> list[Span]:
        """Return the spans of a page that a citation is about.

        They are the cited cells of table rows, or what the reading model marks in an excerpt; otherwise the quote.
        A row of an excerpt around the row with the marked cells has none.
        """
        tables = self.find_cited_tables(citation)
        if self.consists_of_excerpts and not citation.marks and any(one.cells for one in tables):
            return []
        found = [span for one in tables for span in one.find_spans(citation.start, citation.end)]
        return found or list(citation.marks) or [(citation.start, citation.end)]


@dataclass(frozen=True, slots=True)
class Stage:
    """An event of `Engine.ask`: the stage ``name`` has ended if ``done`` is true, and has started otherwise.

    ``label`` is what a user sees for the stage.
    """

    name: str
    label: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """An event of `Engine.ask`: the next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """An event of `Engine.ask`: the text of all earlier `Delta` events is to be discarded, because of ``reason``.

    Further `Delta` events contain the new text.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Marked:
    """An event of `Engine.ask`: the mark of a complete statement in the text of the `Delta` events.

    The offsets of ``claim`` are in the text since the last `Restart`. The marks of the `Answer` replace all of these.
    """

    claim: Claim


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event of `Engine.ask`: the query ``text`` replaces the question, which depends on earlier turns."""

    text: str


AskEvent = Stage | Rewritten | SearchResult | Delta | Marked | Restart | Answer
