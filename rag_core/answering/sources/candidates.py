"""What sources of answers propose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.reading.answer_finding import FoundAnswer
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Passage
from rag_core.types.tables import Span, Table, TableRow


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a page; ``marks`` are the spans in it that answer, also as offsets into the text of the page."""

    start: int
    end: int
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may answer a question.

    Attributes
    ----------
    passage : Passage
        The best passage that contains it, or else the best one of its page.
    quotes : tuple of Quote
        Where the page contains it: one for each row of a table, in the order of the page, after that of its unit; or
        the sentences, and the header of their mail.
    probability : float
        Probability, by the reading model, that it answers the question.
    score : float
        How well it answers in comparison to other candidates.
    table : Table or None
        The table, if the candidate consists of rows.
    rows : tuple of TableRow
    unit : str
        The line that states the unit of the figures of the rows, if their header does not.
    """

    passage: Passage
    quotes: tuple[Quote, ...]
    probability: float
    score: float
    table: Table | None = None
    rows: tuple[TableRow, ...] = ()
    unit: str = ""

    @property
    def start(self) -> int:
        """Where its sentences or rows begin on the page."""
        return self.quotes[-len(self.rows)].start

    @property
    def page(self) -> PageKey:
        return self.passage.page_key

    def overlaps(self, other: Candidate) -> bool:
        """Return whether two candidates have a part of a page in common."""
        return self.page == other.page and any(
            one.start < two.end and two.start < one.end for one in self.places for two in other.places
        )

    @property
    def places(self) -> tuple[Quote, ...]:
        """The quotes without the header of a mail, which several candidates may share."""
        return self.quotes if self.table else self.quotes[:1]


class AnswerSource(Protocol):
    """Proposes the candidates of one kind of answer."""

    def propose(self, answers: Sequence[FoundAnswer], page_texts: Mapping[PageKey, str]) -> Iterable[Candidate]:
        """Yield the candidates of this kind.

        Parameters
        ----------
        answers : sequence of FoundAnswer
            The answers that the reading model found in excerpts of the pages, best first.
        page_texts : mapping of PageKey to str
        """
        ...
