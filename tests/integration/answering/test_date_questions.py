"""Answers to questions about days, which documents write in other ways."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rag_core.engine import Engine
from rag_core.types.answers import AnswerState
from rag_core.types.local_time import get_today
from tests.support.engines import indexed

DELIVERIES = [
    "Deliveries of the Hollin brewery. Delivery 811 of 03/09/2021 brought hops from Kent.",
    "Delivery 840 of 09/03/2021 brought barley from Fife.",
    "Delivery 852 of 11/30/2021 brought yeast from Leith.",
]
LOG = [
    "Log of the Sorvik lighthouse. 05.08.2020: The lamp was cleaned by Lund.",
    "08.05.2020: The stairs were painted by Moe.",
]
VISITS = "Visits to the Arden museum. On 02/06/2019 the mayor came. On 06/02/2019 the bishop came."


@pytest.mark.parametrize(
    ("question", "part", "exchanged"),
    [
        ("What was delivered to the brewery on March 9, 2021?", "hops", "barley"),
        ("What was delivered to the brewery on 3 September 2021?", "barley", "hops"),
        ("What was delivered to the brewery on 09/03/2021?", "barley", "hops"),
        ("What was delivered to the brewery on 2021-11-30?", "yeast", "hops"),
        ("Who cleaned the lamp on 5 August 2020?", "Lund", "stairs"),
        ("Who painted the stairs on May 8th, 2020?", "Moe", "lamp"),
    ],
)
def test_entry_of_the_day_is_shown_however_it_is_written(
    engine: Engine, question: str, part: str, exchanged: str
) -> None:
    indexed(engine, "deliveries.pdf", DELIVERIES)
    indexed(engine, "log.pdf", LOG)
    text = engine.answer(question).text
    assert part in text.split("\n\n")[1]
    assert exchanged not in text


@pytest.mark.parametrize(
    "question",
    [
        "What was delivered on 4 September 2021?",
        "Who cleaned the lamp on 7 August 2020?",
        "Who painted the stairs the day after the lamp was cleaned?",
        "Who cleaned the lamp yesterday?",
    ],
)
def test_day_without_an_entry_is_refused(engine: Engine, question: str) -> None:
    indexed(engine, "deliveries.pdf", DELIVERIES)
    indexed(engine, "log.pdf", LOG)
    assert engine.answer(question).state is AnswerState.ABSTAINED


@pytest.mark.parametrize(
    ("documents", "question", "notice"),
    [
        (VISITS, "Who came on 6 February 2019?", "“02/06/2019” in a.pdf can be 2 June 2019 or 6 February 2019."),
        (VISITS, "Who came on 06/02/2019?", "“06/02/2019” in a.pdf can be 6 February 2019 or 2 June 2019."),
        (
            "Visits. On 3 May 2019 the mayor came.",
            "Who came on 03/05/2019?",
            "“03/05/2019” in the question can be 3 May 2019 or 5 March 2019.",
        ),
        (
            DELIVERIES,
            "What was delivered to the brewery on March 9, 2021?",
            "“03/09/2021” in a.pdf is read as 9 March 2021: a.pdf writes the month first.",
        ),
        ("Visits. On 3 May the mayor came.", "Who came on 3 May 2019?", "“3 May” in a.pdf has no year."),
    ],
)
def test_reading_of_a_date_of_numbers_is_said(
    engine: Engine, documents: str | list[str], question: str, notice: str
) -> None:
    indexed(engine, "a.pdf", documents)
    assert notice in engine.answer(question).notices


def test_date_within_a_paragraph_does_not_end_an_excerpt(engine: Engine) -> None:
    lease = "The lease was signed on 7 April 2023 by Nora Lind and Peter Falk. It ends on 6 April 2028."
    indexed(engine, "lease.pdf", lease)
    assert "It ends on 6 April 2028" in engine.answer("When does the lease signed on 7 April 2023 end?").text


def test_day_that_counts_from_today_is_found_and_said(engine: Engine) -> None:
    day = get_today() - timedelta(days=1)
    indexed(engine, "log.pdf", f"Log of the pier. On {day:%d/%m/%Y} the lamp was cleaned by Tove Lund.")
    answer = engine.answer("Who cleaned the lamp yesterday?")
    assert "Tove Lund" in answer.text
    assert f"Yesterday: {day.day} {day:%B %Y}." in answer.notices
