"""The card of a document: what is shown about it after an upload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure of a financial statement.

    Attributes
    ----------
    label, value : str
        Name of the row, and the figure, as they are written.
    column : str
        Headers of the column.
    unit : str
        The words of the table that state the unit of its figures; may be empty.
    page_label : str
        Printed number of the page.
    """

    label: str
    value: str
    column: str
    unit: str
    page_label: str


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """A summary of what a document is and contains, with questions that it answers.

    Attributes
    ----------
    kind, title, organization, period, language : str
        Empty if the document does not state them.
    pages : int
        Number of pages.
    figures : tuple of KeyFigure
        Key figures of the financial statements; empty for other documents.
    contents : tuple of (str, str)
        Title and page label of the first top-level sections; empty if there are ``figures``.
    questions : tuple of str
        Suggested questions. The answer to each cites the passage from which the question was made.
    is_complete : bool
        Whether ``questions`` is final; it is false until suggestions have been made.
    """

    kind: str
    title: str
    organization: str
    period: str
    language: str
    pages: int
    figures: tuple[KeyFigure, ...] = ()
    contents: tuple[tuple[str, str], ...] = ()
    questions: tuple[str, ...] = ()
    is_complete: bool = False
