"""Tests of dates that are written in different ways."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date

from rag_core.text.calendar_dates import find_asked_dates, find_dates, find_head_date, find_matching_date, read_date
from rag_core.types.dates import DAY_FIRST, MONTH_FIRST, DatesForDocument

LOCALES = "en_US en_GB en_AU en_CA de_DE de_AT de_CH fr_FR fr_CA es_ES es_MX it_IT it_CH".split()
DAYS = [date(2024, 1, 1) + timedelta(9 * number) for number in range(41)]


@pytest.mark.parametrize("style", ["short", "medium", "long", "full"])
@pytest.mark.parametrize("locale", LOCALES)
def test_dates_of_a_locale_are_read(locale: str, style: str) -> None:
    order = MONTH_FIRST if locale in ("en_US", "en_CA") else DAY_FIRST
    for day in DAYS:
        [found] = find_dates(f"Delivered on {format_date(day, style, locale)}, by ferry.")
        readings = found.readings if locale == "en_CA" else read_date(found, order)
        assert tuple(day.timetuple()[:3]) in readings


@pytest.mark.parametrize(
    ("asked", "said", "order", "matches"),
    [
        ("7 April 2023", "04/07/2023", MONTH_FIRST, True),
        ("7 April 2023", "04/07/2023", DAY_FIRST, False),
        ("7 April 2023", "04/07/2023", "", True),
        ("04/07/2023", "the 4th of July, 2023", DAY_FIRST, True),
        ("04/07/2023", "4 July 2023", MONTH_FIRST, False),
        ("13/02/2023", "13. Februar 2023", "", True),
        ("7.4.23", "2023-04-07T10:00", "", True),
        ("4.7.23", "2023-04-07", MONTH_FIRST, False),
        ("April 7, 2023", "7 avril 2023", "", True),
        ("7. April", "7-Apr-23", "", True),
        ("8 June 2023", "7–9 June 2023", "", True),
        ("10 June 2023", "7–9 June 2023", "", False),
        ("April 2023", "07.04.2023", "", True),
        ("7 April 2023", "April 2023", "", False),
        ("7 April 2023", "7 April 2022", "", False),
        ("4 July 2023", "Tuesday 07/04/2023", "", True),
        ("7 April 2023", "Tuesday 07/04/2023", "", False),
        ("7 May 2023", "we may 7 times", "", False),
        ("3. Dezember 2019", "vom 2. bis 4. Dezember 2019", "", True),
        ("31 May 2019", "gewählt am 31.05. im Saal", "", True),
        ("3 November 2019", "siehe Abschnitt 3.11. im Anhang", "", False),
        ("Christmas Day 2023", "12/25/2023", "", True),
        ("1 February 2023", "version 1.2.2.2023", "", False),
    ],
)
def test_dates_are_compared_by_the_day_that_they_name(asked: str, said: str, order: str, matches: bool) -> None:
    [date_asked] = find_asked_dates(f"What was paid on {asked}?")
    found = find_matching_date(date_asked, f"Paid: {said}.", DatesForDocument((date_asked,), order))
    assert (found is not None) == matches


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("Yesterday it rained.", "2024-03-10"),
        ("It failed two weeks ago.", "2024-02-26"),
        ("It failed last Friday.", "2024-03-08"),
        ("It failed last Monday.", "2024-03-04"),
        ("It begins next Monday.", "2024-03-18"),
        ("Vorgestern fiel die Pumpe aus.", "2024-03-09"),
        ("La pompe est tombée en panne il y a 3 jours.", "2024-03-08"),
    ],
)
def test_relative_days_count_from_the_date_of_the_document(said: str, day: str) -> None:
    written_on = find_head_date("Memo\nOslo, Monday 11 March 2024\nThe pump of 3 May 2023 is old.", "")
    assert written_on == date(2024, 3, 11)
    asked = find_asked_dates(f"What happened on {day}?")
    assert find_matching_date(asked[0], said, DatesForDocument(asked, written_on=written_on))
    assert not find_matching_date(asked[0], said, DatesForDocument(asked))


def test_log_of_several_days_has_no_date() -> None:
    assert find_head_date("Log\n3 May 2023: rain\n4 May 2023: snow", "") is None
