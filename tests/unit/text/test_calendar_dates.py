"""Tests of dates that are written in different ways."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date

from rag_core.text.calendar_dates import find_asked_dates, find_dates, find_head_date, find_matching_date, read_date
from rag_core.text.relative_dates import describe_days, find_relative_dates
from rag_core.types.dates import DAY_FIRST, MONTH_FIRST, DatesForDocument

LOCALES = "en_US en_GB en_AU en_CA de_DE de_AT de_CH fr_FR fr_CA es_ES es_MX it_IT it_CH nl_NL pt_PT pt_BR".split()
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
        ("31 May 2019", "Am 31.05. wird gewählt", "", True),
        ("3 November 2019", "siehe Abschnitt 3.11. im Anhang", "", False),
        ("1 February 2023", "version 1.2.2.2023", "", False),
        ("3 August 2025", "op 3 augustus jl.", "", True),
        ("1 de maio de 2023", "1.º de maio", "", True),
        ("8 June 2023", "van 7 tot en met 9 juni 2023", "", True),
        ("7 October 2023", "7 out of 2023 votes, rolled out 2023", "", False),
        ("the day after 3 August 2023", "4 August 2023", "", True),
        ("the day after 3 August 2023", "3 August 2023", "", False),
        ("el día antes del 1 de enero de 2023", "31/12/2022", "", True),
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
        ("Letzten Freitag fiel die Pumpe aus.", "2024-03-08"),
        ("Afgelopen vrijdag viel de pomp uit.", "2024-03-08"),
        ("La pompe est tombée en panne vendredi dernier.", "2024-03-08"),
        ("La bomba falló el viernes pasado.", "2024-03-08"),
        ("A bomba parou na sexta-feira passada.", "2024-03-08"),
        ("La bomba se cambia pasado mañana.", "2024-03-13"),
    ],
)
def test_relative_days_count_from_the_date_of_the_document(said: str, day: str) -> None:
    written_on = find_head_date("Memo\nOslo, Monday 11 March 2024\nThe pump of 3 May 2023 is old.", "")
    assert written_on == date(2024, 3, 11)
    asked = find_asked_dates(f"What happened on {day}?")
    assert find_matching_date(asked[0], said, DatesForDocument(asked, written_on=written_on))
    assert not find_matching_date(asked[0], said, DatesForDocument(asked))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("The day before yesterday it rained.", "2024-03-10"),
        ("Hier fiel die Pumpe aus.", "2024-03-10"),
        ("It failed last week.", "2024-03-04"),
    ],
)
def test_other_days_do_not_count_from_the_date_of_the_document(said: str, day: str) -> None:
    asked = find_asked_dates(f"What happened on {day}?")
    assert not find_matching_date(asked[0], said, DatesForDocument(asked, written_on=date(2024, 3, 11)))


@pytest.mark.parametrize(
    ("said", "day", "matches"),
    [
        ("8 March", "2024-03-08", True),
        ("8 March", "2022-03-08", False),
        ("8 March", "2025-03-08", False),
        ("8 December", "2023-12-08", True),
        ("8 December", "2024-12-08", True),
    ],
)
def test_day_without_a_year_is_of_the_year_of_the_document_or_the_nearest(said: str, day: str, matches: bool) -> None:
    [asked] = find_asked_dates(f"What happened on {day}?")
    found = find_matching_date(asked, said, DatesForDocument((asked,), written_on=date(2024, 3, 11)))
    assert (found is not None) == matches


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What must I do next week?", "7 to 13 December 2026"),
        ("What was decided last Tuesday?", "1 December 2026"),
        ("Who came the day before yesterday?", "30 November 2026"),
        ("What did we pay last month?", "November 2026"),
        ("Wat is er volgende week open?", "7 to 13 December 2026"),
        ("Was geschah letzten Freitag?", "27 November 2026"),
        ("Qu'a-t-on fait la semaine dernière ?", "23 to 29 November 2026"),
        ("Qué se hizo el martes pasado?", "1 December 2026"),
        ("O que acontece na próxima semana?", "7 to 13 December 2026"),
    ],
)
def test_relative_days_of_a_question_count_from_today(question: str, days: str) -> None:
    [found] = find_relative_dates(question, date(2026, 12, 2), is_question=True)
    assert describe_days(found.readings) == days


@pytest.mark.parametrize(
    "question",
    [
        "What is open on Tuesdays?",
        "What is the last week of the course about?",
        "How long does a week last?",
        "Who meets on the last Friday of the month?",
        "How many boats are built in two weeks?",
        "What is the town called today?",
        "Who sang Yesterday?",
        "who builds the houses of tomorrow?",
        "Was steht hier, und was geschieht am Morgen?",
        "De quoi parle la dernière semaine du cours ?",
    ],
)
def test_question_names_no_day(question: str) -> None:
    assert not find_asked_dates(question)


@pytest.mark.parametrize(
    ("head", "day"),
    [
        ("Jahresbericht 2026\nStand: 3. August\nDas Wehr ist alt.", date(2026, 8, 3)),
        ("Harlingen, woensdag 3 september 2025\n\n03/08/2025 Regen.\n04/08/2025 Zon.\n", date(2025, 9, 3)),
        ("Log of May 2023\n3 May 2023\nRain\n4 May 2023\nSnow", None),
        ("Oslo, 9 May 2023\n3 May 2023: The pump failed yesterday.", None),
    ],
)
def test_date_of_a_document_is_at_its_head(head: str, day: date | None) -> None:
    assert find_head_date(head, DAY_FIRST) == day


def test_log_of_several_days_has_no_date() -> None:
    assert find_head_date("Log\n3 May 2023: rain\n4 May 2023: snow", "") is None
