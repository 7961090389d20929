"""Answers, what they rest on, and the events they come in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal

from rag_core.types.retrieval import Gate, Passage, SearchResult, Strategy
from rag_core.types.usage import Usage

REFUSAL = "I don't know: the documents don't say."
# A citation marker with its number, and what else models write in its place.
MARKER = re.compile(r"\[(\d{1,6})\]")
_MARKER_WITH_BLANKS = re.compile(r"[ \t]*[\[\u3010]\d+[\]\u3011]")
# What the check of a statement shows beside it; empty where it shows nothing.
Mark = Literal["", "contradicted", "not_found"]


def strip_markers(text: str) -> str:
    """Return a text without its citation markers and the blanks before them."""
    return _MARKER_WITH_BLANKS.sub("", text)


class AnswerState(str, Enum):
    """Whether the documents answered; not answering is a state, never an error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of a page that supports a statement of an answer.

    ``quote`` is ``page text[start:end]``; after white-space folding it stands character for
    character in that page's text. ``marker`` is the number in ``[1]`` in the answer's text. ``added`` is true if
    Footnote made the citation and not the language model that wrote the statement.
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

    @classmethod
    def of(cls, passage: Passage, start: int, end: int) -> Citation:
        """Cite ``passage.text[start:end]``, which must lie on the passage's first page."""
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


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, or the part of one that a group of markers stands behind, and its check.

    ``answer.text[start:end]`` is the statement without the markers after it. ``supported`` is true if a citation
    supports it; otherwise ``reason`` may say why not. ``mark`` is ``contradicted`` if the source has another value,
    which is then ``source_value``, and ``not_found`` if the passages have nothing to do with the statement; a
    statement that is neither supported nor marked could not be decided. ``compared_rank`` is the rank of the passage
    that a marked statement was compared with, else 0.
    """

    start: int
    end: int
    supported: bool
    reason: str = ""
    mark: Mark = ""
    source_value: str = ""
    compared_rank: int = 0

    @property
    def mark_text(self) -> str:
        """The mark in words; empty where there is none."""
        if self.mark == "contradicted":
            return f"differs from the source: {self.source_value}"
        return "not found in the sources" if self.mark else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as shown and stored, self-contained: it outlives the documents it cites.

    ``notices`` say in words what was degraded (an endpoint that failed, a document still being
    indexed). ``statements`` are what was checked against the sources, in the order of the text; there
    are none in a refusal, in a stopped answer, and in one stored before they were kept.
    ``generator`` is ``extractive`` or ``openai:MODEL``. ``stopped`` is true when the
    reader stopped it half-way. ``rewritten`` is what was searched for in place of a question that
    leans on earlier ones, empty where the question stands alone; ``follow_ups`` are questions that
    the documents answer as well. ``usage`` sums all calls to a language model that it took.
    ``strategy`` is how passages were looked for, and ``steps`` say in words what that came to.
    ``short`` is the date, share or count that was asked for, as it stands in a quote; empty where that
    is not clear, and where a language model wrote the answer. ``quotes_start`` is the offset in ``text`` from which
    quotes follow what a language model wrote; ``None`` if there are none.
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
    follow_ups: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    strategy: Strategy = "plain"
    steps: tuple[str, ...] = ()
    short: str = ""
    quotes_start: int | None = None

    @property
    def short_marker(self) -> int | None:
        """Number of the first source whose quote holds ``short``; ``None`` where there is none."""
        quotes = ((one.marker, " ".join(one.quote.split())) for one in self.citations)
        return next((marker for marker, quote in quotes if self.short and self.short in quote), None)

    @property
    def marked_text(self) -> str:
        """The text with each mark in brackets behind its statement, for where marks cannot be shown."""
        text = self.text
        for one in reversed(self.statements):
            if one.mark:
                text = f"{text[: one.end]} ({one.mark_text}){text[one.end :]}"
        return text

    def with_suggestions(self, suggestions: Suggestions) -> Answer:
        """Return the answer with questions to go on with, or the notice of why there are none."""
        notices = (*self.notices, suggestions.problem) if suggestions.problem else self.notices
        return replace(self, follow_ups=suggestions.questions, notices=notices)


@dataclass(frozen=True, slots=True)
class Stage:
    """An event of `Engine.ask`: a stage began (``done`` false) or ended, in words for the reader."""

    name: str
    label: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """An event of `Engine.ask`: the next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """An event of `Engine.ask`: forget the deltas so far, for the reason given; others follow."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event of `Engine.ask`: this is searched for in place of a question that leans on earlier ones."""

    text: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """An event of `Engine.ask` after the answer: questions that the documents answer as well.

    ``problem`` says why there are none, if the search for them failed.
    """

    questions: tuple[str, ...] = ()
    problem: str = ""


AskEvent = Stage | Rewritten | SearchResult | Delta | Restart | Answer | Suggestions
