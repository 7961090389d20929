"""The candidates for an answer without a language model, and the protocol of the sources that propose them."""

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
    """A span of a page, with the spans inside it that answer as ``marks``. All are offsets in the text of the page."""

    start: int
    end: int
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text on a page that may answer a question: some sentences, or rows of a table.

    Attributes
    ----------
    passage : Passage
        The best passage that contains the text, or else the best passage of its page.
    quotes : tuple of Quote
        The places of the text on the page. Of sentences: the sentences, and then the header of their mail, if any. Of
        rows: the line that states their unit, if it is on the page, and then each row.
    probability : float
        Probability that the text answers the question, by the reading model.
    score : float
        The candidate with the highest score answers best.
    table : Table or None
        The table of the rows.
    rows : tuple of TableRow
        The rows; empty for sentences.
    unit : str
        The line that states the unit of the figures in the rows; empty if their header states it.
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
        """Offset in the page text at which the sentences or the rows begin; a line that states a unit is skipped."""
        return self.quotes[-len(self.rows)].start

    @property
    def page(self) -> PageKey:
        """The page that contains the text."""
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
