"""Dates that a text states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple


class CalendarDate(NamedTuple):
    """A day, a day of any year, or a month; ``year`` and ``day`` are 0 if the text does not state them."""

    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text.

    Attributes
    ----------
    start, end : int
    text : str
    readings : tuple of CalendarDate
        Two if day and month can be exchanged, the one with the day first before the other; one for each day of a range;
        none for a day of an event, such as "the day after the meeting".
    order : str
        `DAY_FIRST` or `MONTH_FIRST` if a date of numbers shows which it is; otherwise empty.
    is_numeric : bool
        Whether it consists of numbers in an order that differs between countries.
    is_computed : bool
        Whether it counts from another day, as "next week" does.
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
        """Whether it is a day rather than a month."""
        return not self.readings or self.readings[0].day > 0


@dataclass(frozen=True, slots=True)
class DatesForDocument:
    """The dates in a question, with what is needed to find them in a document.

    Attributes
    ----------
    dates : tuple of WrittenDate
    order : str
        `DAY_FIRST` or `MONTH_FIRST`; empty if the document does not show in which order it writes day and month.
    written_on : date or None
        The day on which the document was written, from which "yesterday" counts; ``None`` if it is not known.
    """

    dates: tuple[WrittenDate, ...] = ()
    order: str = ""
    written_on: date | None = None


@dataclass(frozen=True, slots=True)
class AskedDates:
    """The dates in a question, and the order of day and month and the date of the documents that were found.

    Documents that are missing in ``orders`` or ``written_on``, by version id, do not show these.
    """

    dates: tuple[WrittenDate, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)
    written_on: Mapping[str, date] = field(default_factory=dict)

    def of(self, version_id: str) -> DatesForDocument:
        """Return the dates with the order and the date of a document."""
        return DatesForDocument(self.dates, self.orders.get(version_id, ""), self.written_on.get(version_id))

    def days_of(self, version_id: str) -> DatesForDocument:
        """Return the same without months, because a month seldom distinguishes the parts of a document."""
        return replace(self.of(version_id), dates=tuple(one for one in self.dates if one.names_day))


# The order of day and month in a date of numbers, such as 31/12/2023 and 12/31/2023.
DAY_FIRST, MONTH_FIRST = "dmy", "mdy"

NO_DATES, NO_DATES_FOR_DOCUMENT = AskedDates(), DatesForDocument()
