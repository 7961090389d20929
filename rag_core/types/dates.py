"""Dates that a text states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
        Two if day and month can be exchanged, the one with the day first before the other; otherwise one.
    order : str
        `DAY_FIRST` or `MONTH_FIRST` if a date of numbers shows which it is; otherwise empty.
    is_numeric : bool
        Whether it consists of numbers in an order that differs between countries.
    """

    start: int
    end: int
    text: str
    readings: tuple[CalendarDate, ...]
    order: str = ""
    is_numeric: bool = False


@dataclass(frozen=True, slots=True)
class AskedDates:
    """The dates in a question, and the order of day and month in the documents that were found.

    Attributes
    ----------
    dates : tuple of WrittenDate
    orders : mapping of str to str
        `DAY_FIRST` or `MONTH_FIRST` by version id; documents that do not show their order are missing.
    """

    dates: tuple[WrittenDate, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)

    def get_order(self, version_id: str) -> str:
        """Return the order of day and month in a document; empty if it is not known."""
        return self.orders.get(version_id, "")


# The order of day and month in a date of numbers, such as 31/12/2023 and 12/31/2023.
DAY_FIRST, MONTH_FIRST = "dmy", "mdy"

NO_DATES = AskedDates()
