"""What is known of a document at a glance: the card that is shown after an upload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure of a financial statement, as it is written.

    Attributes
    ----------
    label, value : str
    column : str
        Headers of its column.
    unit : str
        What the table says about the unit of its figures; may be empty.
    page_label : str
    """

    label: str
    value: str
    column: str
    unit: str
    page_label: str


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """What a document is, what it contains, and questions that its text answers.

    Attributes
    ----------
    kind, title, organization, period, language : str
        Empty if the document does not say it.
    pages : int
    figures : tuple of KeyFigure
    contents : tuple of (str, str)
        Titles of the first outermost sections, with the labels of their pages; only without key figures.
    questions : tuple of str
        Each was asked, and its answer cites the passage that it was made from.
    is_complete : bool
        Whether questions have been looked for.
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
