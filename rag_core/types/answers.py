"""Answers, their citations, and the events of `Engine.ask`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal

from rag_core.types.retrieval import Gate, Passage, SearchResult, Strategy
from rag_core.types.usage import Usage

REFUSAL = "I don't know: the documents don't say."
# A citation marker such as [1]; the second pattern also matches variants that models write.
MARKER = re.compile(r"\[(\d{1,6})\]")
_MARKER_WITH_BLANKS = re.compile(r"[ \t]*[\[\u3010]\d+[\]\u3011]")
# The result of checking a statement against its sources; empty if there is nothing to show.
Mark = Literal["", "contradicted", "not_found"]


def strip_markers(text: str) -> str:
    """Return a text without citation markers and the blanks before them."""
    return _MARKER_WITH_BLANKS.sub("", text)


class AnswerState(str, Enum):
    """Whether the documents answer the question. No answer is a state, not an error."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of a page that supports a statement of an answer.

    ``quote`` is the page's text from ``start`` to ``end``. ``marker`` is the number in ``[1]`` in the answer's text.
    ``added`` is true if Footnote added the citation, not the language model that wrote the statement.
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
        """Return a citation of ``passage.text[start:end]``, which must be on the passage's first page."""
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
    """A statement of an answer and the result of checking it.

    A statement is a sentence, or the part of a sentence that a group of markers follows. ``answer.text[start:end]``
    is the statement without these markers. ``supported`` is true if a citation supports it; otherwise ``reason``
    may say why not. ``mark`` is ``contradicted`` if the source has another value, ``source_value``, and
    ``not_found`` if the passages do not cover the statement. If a statement is neither supported nor marked, the
    check is inconclusive. ``compared_rank`` is the rank of the passage that a marked statement was compared with,
    else 0.
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
        """The mark in words; empty if there is none."""
        if self.mark == "contradicted":
            return f"differs from the source: {self.source_value}"
        return "not found in the sources" if self.mark else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as shown and stored. It stays complete after the documents it cites are deleted.

    Attributes
    ----------
    generator : str
        ``extractive`` or ``openai:MODEL``.
    notices : tuple of str
        Problems for the user, such as a failed endpoint or a document that is still being indexed.
    stopped : bool
        Whether the user stopped the answer before its end.
    statements : tuple of Claim
        The checked statements in text order; empty for a refusal, a stopped answer and answers of old versions.
    rewritten : str
        The query that replaced a question which depends on earlier turns; else empty.
    follow_ups : tuple of str
        Further questions that the documents answer.
    usage : Usage
        The sum over all calls to a language model.
    steps : tuple of str
        The steps of the search strategy, in words.
    short : str
        The date, share or count asked for, as quoted; empty if unclear or if a language model wrote the answer.
    quotes_start : int or None
        Offset in ``text`` of the quotes that follow a language model's text.
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
        """Number of the first source whose quote contains ``short``; ``None`` if there is none."""
        quotes = ((citation.marker, " ".join(citation.quote.split())) for citation in self.citations)
        return next((marker for marker, quote in quotes if self.short and self.short in quote), None)

    @property
    def marked_text(self) -> str:
        """The text with each statement's mark in round brackets after it, for plain-text output."""
        text = self.text
        for claim in reversed(self.statements):
            if claim.mark:
                text = f"{text[: claim.end]} ({claim.mark_text}){text[claim.end :]}"
        return text

    def with_suggestions(self, suggestions: Suggestions) -> Answer:
        """Return the answer with follow-up questions, or with a notice that says why there are none."""
        notices = (*self.notices, suggestions.problem) if suggestions.problem else self.notices
        return replace(self, follow_ups=suggestions.questions, notices=notices)


@dataclass(frozen=True, slots=True)
class Stage:
    """An event of `Engine.ask`: a stage starts, or ends if ``done``; ``label`` is for the user."""

    name: str
    label: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """An event of `Engine.ask`: the next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Restart:
    """An event of `Engine.ask`: discard the deltas so far, for the given reason; new ones follow."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An event of `Engine.ask`: the query that replaces a question which depends on earlier turns."""

    text: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """An event of `Engine.ask` after the answer: further questions that the documents answer.

    ``problem`` says why there are none, if the search for them failed.
    """

    questions: tuple[str, ...] = ()
    problem: str = ""


AskEvent = Stage | Rewritten | SearchResult | Delta | Restart | Answer | Suggestions
