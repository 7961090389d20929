"""Dates in questions and documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple


class CalendarDate(NamedTuple):
    """A day or a month. ``year`` is 0 if the text does not state the year, and ``day`` is 0 for a month."""

    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date as it is written in a text.

    Attributes
    ----------
    start, end : int
        Span of the date in the text.
    text : str
        The text from ``start`` to ``end``.
    readings : tuple of CalendarDate
        What the date can mean. An ambiguous date such as 3/4/2023 has two readings, the first with the day first. A
        range has a reading for each day. A day relative to an event, such as "the day after the meeting", has none.
    order : str
        `DAY_FIRST` or `MONTH_FIRST` if the numbers show the order of day and month, as in 31/12/2023; otherwise empty.
    is_numeric : bool
        Whether day and month are numbers whose order differs between countries.
    is_computed : bool
        Whether the date is relative to another day, such as "next week".
    """

    start: int
    end: int
    text: str
    readings: tuple[CalendarDate, ...]
    order: str = ""
    is_numeric: bool = False
    is_computed: bool = False

    @property
    def names_day(self) -> bool:
        """Whether the date is a day, and not a month."""
        return not self.readings or self.readings[0].day > 0


@dataclass(frozen=True, slots=True)
class DatesForDocument:
    """The dates in a question, with the properties of a document that are needed to find them there.

    Attributes
    ----------
    dates : tuple of WrittenDate
        The dates in the question.
    order : str
        `DAY_FIRST` or `MONTH_FIRST`, the order of numeric dates in the document; empty if it is unknown.
    written_on : date or None
        The day on which the document was written, to which its relative dates refer; ``None`` if it is unknown.
    """

    dates: tuple[WrittenDate, ...] = ()
    order: str = ""
    written_on: date | None = None


@dataclass(frozen=True, slots=True)
class AskedDates:
    """The dates in a question, with the properties of all documents that were found; see `DatesForDocument`.

    ``orders`` and ``written_on`` map version ids to the known properties.
    """

    dates: tuple[WrittenDate, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)
    written_on: Mapping[str, date] = field(default_factory=dict)

    def of(self, version_id: str) -> DatesForDocument:
        """Return the dates with the properties of a document."""
        return DatesForDocument(self.dates, self.orders.get(version_id, ""), self.written_on.get(version_id))

    def days_of(self, version_id: str) -> DatesForDocument:
        """Return the days among the dates, with the properties of a document.

        Months are left out, because a month seldom distinguishes the parts of a document.
        """
        return replace(self.of(version_id), dates=tuple(one for one in self.dates if one.names_day))


# Orders of day and month in numeric dates, as in 31/12/2023 and 12/31/2023.
DAY_FIRST, MONTH_FIRST = "dmy", "mdy"

NO_DATES, NO_DATES_FOR_DOCUMENT = AskedDates(), DatesForDocument()
