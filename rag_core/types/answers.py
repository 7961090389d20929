"""Answers, their citations and checked statements, and the events of `Engine.ask`."""

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

# Texts of answers to questions that the documents do not answer.
REFUSAL = "I don't know: the documents don't say."
CLOSEST_PASSAGES = "Not stated. Closest passages: {pages}."
NOT_IN_PLACES = "Not stated in {places}. Nothing else was searched, because the question names this place."
# Texts of answers if there is nothing to search.
NO_DOCUMENTS = "There are no documents to search. Add documents, then ask again."
EMPTY_SNAPSHOT = "The snapshot contains no document that can be searched."
# The first line of an answer that consists of excerpts.
INTRODUCTION = "These passages may answer your question."
INCOMPLETE = "These passages may answer your question; there may be more."
SOME_OF = "These are {shown} of {number} passages that may answer; there may be more."
_INTRODUCTIONS = re.compile("|".join([INTRODUCTION, INCOMPLETE, SOME_OF.format(shown=r"\d+", number=r"\d+")]))
# A citation marker such as [1].
MARKER = re.compile(r"\[(\d{1,6})\]")
# Some language models write markers in the brackets U+3010 and U+3011.
_MARKER_WITH_BLANKS = re.compile(r"[ \t]*[\[\u3010]\d+[\]\u3011]")
_FINAL_MARKERS = re.compile(r"(?:[ \t]*\[\d+\])+\Z")
# The problem that the check of a statement found; see `Claim`.
Mark = Literal["", "contradicted", "not_found", "judged"]


def strip_markers(text: str) -> str:
    """Return a text without citation markers and the blanks before them."""
    return _MARKER_WITH_BLANKS.sub("", text)


class AnswerState(str, Enum):
    """Whether the question was answered or refused. A refusal is an ordinary result and raises no error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote from a page that supports a statement of an answer.

    Attributes
    ----------
    marker : int
        Number of the citation in the text of the answer, such as 1 for ``[1]``.
    passage_rank : int
        Rank of the passage that contains the quote.
    quote : str
        The text of the page from ``start`` to ``end``.
    start, end : int
        Offsets in the text of the page.
    added : bool
        Whether Footnote added the citation to a statement for which the language model did not cite this passage.
    marks : tuple of Span
        The most probable answers within an excerpt, as offsets in the text of the page.
    cells : str
        Address of the cited cells of a spreadsheet, such as "Sales!C14"; empty for other documents.
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
        """The address of the cited cells of a spreadsheet; for other documents the page, such as "page 6"."""
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
    """Return the link that opens the cited page and highlights the quote; see `build_page_link`."""
    return build_page_link(application, citation.document_id, citation.page_index, citation.start, citation.quote)


_CALCULATED = "calculated: "


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer and the result of checking it.

    A statement is a sentence, or a part of a sentence that ends with a group of markers.

    Attributes
    ----------
    start, end : int
        Span of the statement in the text of the answer, without its markers.
    supported : bool
        Whether a citation supports the statement. If not, and ``mark`` is empty, the check is inconclusive.
    reason : str
        Why the statement is not supported, or how its value is calculated from values of the sources; may be empty.
    mark : str
        ``contradicted`` if the source contains a different value, ``not_found`` if the passages do not contain the
        statement, ``judged`` if the verifier, a model, found no support; empty if no problem was found.
    source_value : str
        The value in the source, the value that was not found, or the reason of the verifier; may be empty.
    compared_rank : int
        If ``mark`` is not empty, the rank of the passage that was compared with the statement; otherwise 0.
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
        """How a value is calculated from the sources, such as ``calculated: 3 + 4 = 7``; may be empty."""
        return self.reason if self.reason.startswith(_CALCULATED) and not self.mark else ""

    @property
    def mark_text(self) -> str:
        """The problem in words for the user; empty if ``mark`` is empty."""
        if self.mark == "contradicted":
            return f"differs from the source: {self.source_value}"
        found = f": {self.source_value}" if self.source_value else ""
        if self.mark == "judged":
            return f"not supported by the source, in a model's judgement{found}"
        return f"not found in the sources{found}" if self.mark else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is shown and stored.

    An answer contains copies of its passages and quotes, so that it stays complete after documents are deleted.

    Attributes
    ----------
    generator : str
        ``extractive``, ``openai:MODEL`` or ``gguf:FILE``.
    notices : tuple of str
        Messages to the user about problems, such as a failed endpoint or a document that is still being indexed.
    stopped : bool
        Whether the user stopped the answer before its end.
    statements : tuple of Claim
        The checked statements in text order; empty for a refusal, for a stopped answer and for answers that early
        versions of Footnote stored.
    rewritten : str
        The query that replaced a question that depends on earlier turns of the conversation; empty if the question was
        not replaced.
    usage : Usage
        Total of all calls to language models.
    strategy : str
        Name of the search strategy.
    steps : tuple of str
        The steps of the search strategy, in words.
    short : str
        The words of a supported statement that answer the question by themselves, such as a name or a figure; empty if
        no words are probable enough. Only answers of a language model have it, and some that earlier versions stored.
    quotes_start : int or None
        Offset in ``text`` of the excerpts that follow the text of a language model; ``None`` if none follow.
    interrupted : str
        Why the language model wrote an incomplete answer or none; empty if the answer is complete.
    tables : tuple of CitedTable
        The cited rows of tables, in the order of the citations.
    as_of : str
        Description of the snapshots that were searched; empty if the present documents were searched.
    more : tuple of Citation
        Citations of further excerpts that may answer. They are shown on demand and are not part of ``text``.
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
        """Whether the answer consists of excerpts of pages that may answer the question."""
        introduction = self.text.partition("\n\n")[0]
        return self.generator == "extractive" and (
            any(one.marks for one in self.citations) or _INTRODUCTIONS.fullmatch(introduction) is not None
        )

    def find_closest_passages(self) -> list[Passage]:
        """Return the passages whose pages a refusal names as the closest ones; empty if it names none."""
        introduction, _, end = CLOSEST_PASSAGES.partition("{pages}")
        if not self.text.startswith(introduction):
            return []
        passages = {one.page_name: one for one in reversed(self.passages)}
        named = f"; {self.text.removeprefix(introduction).removesuffix(end)}; "
        # A name may contain the separator, so the names are searched for instead of the text being split.
        places = {name: place for name in passages if (place := named.find(f"; {name}; ")) >= 0}
        return [passages[name] for name in sorted(places, key=places.__getitem__)]

    @property
    def written_text(self) -> str:
        """The text without the excerpts that follow the text of a language model."""
        return self.text[: self.quotes_start].rstrip()

    @property
    def unfinished_text(self) -> str:
        """The text for a language model to continue: `written_text` without markers after an incomplete sentence."""
        text = _FINAL_MARKERS.sub("", self.written_text)
        return self.written_text if text.endswith((".", "!", "?")) else text

    @property
    def short_marker(self) -> int | None:
        """Number of the first citation whose quote contains ``short``; ``None`` if no quote contains it."""
        quotes = ((citation.marker, " ".join(citation.quote.split())) for citation in self.citations)
        return next((marker for marker, quote in quotes if self.short and self.short in quote), None)

    @property
    def opens_with_short(self) -> bool:
        """Whether the text begins with the short answer."""
        return bool(self.short) and self.text.startswith((self.short, f"**{self.short}"))

    @property
    def marked_text(self) -> str:
        """The text with `Claim.mark_text` in round brackets after each statement that has a mark."""
        text = self.text
        for claim in reversed(self.statements):
            if claim.mark:
                text = f"{text[: claim.end]} ({claim.mark_text}){text[claim.end :]}"
        return text

    def find_cited_tables(self, citation: Citation) -> list[CitedTable]:
        """Return the tables with a cited row that overlaps the quote of a citation."""
        page = citation.version_id, citation.page_index
        on_page = (one for one in self.tables if (one.version_id, one.page_index) == page)
        return [one for one in on_page if one.find_spans(citation.start, citation.end)]

    def find_cells(self, marker: int) -> str:
        """Return the address of the cells that the citation with a number refers to; empty without a spreadsheet.

        If several citations have this number, one with ``marks`` is preferred to the first one.
        """
        cited = [one for one in (*self.citations, *self.more) if one.marker == marker]
        return next((one.cells for one in sorted(cited, key=lambda one: not one.marks)), "")

    def find_cited_spans(self, citation: Citation) -> list[Span]:
        """Return the spans of a page to highlight for a citation: the cited cells, or ``marks``, or else the quote.

        In an excerpt of a spreadsheet, only the row with ``marks`` is highlighted; for the rows around it, return an
        empty list.
        """
        tables = self.find_cited_tables(citation)
        if self.consists_of_excerpts and not citation.marks and any(one.cells for one in tables):
            return []
        found = [span for one in tables for span in one.find_spans(citation.start, citation.end)]
        return found or list(citation.marks) or [(citation.start, citation.end)]


@dataclass(frozen=True, slots=True)
class Stage:
    """An event of `Engine.ask`: a stage started, or ended if ``done`` is true. ``label`` is its name for display."""

    name: str
    label: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """An event of `Engine.ask`: the next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """An event of `Engine.ask`: discard the text of all earlier `Delta` events. The next ones contain a new text."""

    reason: str


@dataclass(frozen=True, slots=True)
class Marked:
    """An event of `Engine.ask`: a complete statement of the text of the `Delta` events has a mark.

    The offsets of ``claim`` count from the last `Restart`. The statements of the final `Answer` replace these claims.
    """

    claim: Claim


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event of `Engine.ask`: the query ``text`` replaces a question that depends on earlier turns."""

    text: str


AskEvent = Stage | Rewritten | SearchResult | Delta | Marked | Restart | Answer
