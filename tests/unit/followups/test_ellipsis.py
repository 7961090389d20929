"""A short follow-up replaces the matching part of the question before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rag_core.followups.ellipsis import substitute_fragment

OFFICER = "Who is the Chief Executive Officer of Delmar Motors?"
CONTRACT = "When may the Client terminate the Agreement?"
MEETING = "Who attended the board meeting on 16 May 2024?"
SALES = "What did Toyota earn in Japan in 2019?"


@pytest.mark.parametrize(
    ("fragment", "earlier", "expected"),
    [
        # A role replaces a role.
        ("the Chief Financial Officer", OFFICER, "Who is the Chief Financial Officer of Delmar Motors?"),
        ("the CFO", OFFICER, "Who is the CFO of Delmar Motors?"),
        ("the chairman", OFFICER, "Who is the chairman of Delmar Motors?"),
        ("Finance Director", OFFICER, "Who is the Finance Director of Delmar Motors?"),
        ("the CFO", "Who is the chief executive of Delmar Motors?", "Who is the CFO of Delmar Motors?"),
        ("the cfo", "who is the ceo of delmar motors?", "who is the cfo of delmar motors?"),
        ("the CFO", "Who is Delmar Motors' Chief Executive Officer?", "Who is Delmar Motors' CFO?"),
        ("the CFO", "Who is Acme's CEO?", "Who is Acme's CFO?"),
        ("the CFO", "Which director of Acme resigned?", "Which CFO of Acme resigned?"),
        ("for the CFO", "What is the salary of the CEO of Acme?", "What is the salary of the CFO of Acme?"),
        ("the CFO in 2022", "Who was the CEO of Acme in 2023?", "Who was the CFO of Acme in 2022?"),
        # A company replaces the company of an officer.
        ("Acme Robotics", OFFICER, "Who is the Chief Executive Officer of Acme Robotics?"),
        ("at Acme", OFFICER, "Who is the Chief Executive Officer of Acme?"),
        ("Delmar Trucks", OFFICER, "Who is the Chief Executive Officer of Delmar Trucks?"),
        ("the BBC", OFFICER, "Who is the Chief Executive Officer of the BBC?"),
        (
            "Acme Robotics",
            "Who is Delmar Motors' Chief Executive Officer?",
            "Who is Acme Robotics' Chief Executive Officer?",
        ),
        ("Borg", "Who is Acme's CEO?", "Who is Borg's CEO?"),
        (
            "the Federal Reserve",
            "Who is the Governor of the Bank of England?",
            "Who is the Governor of the Federal Reserve?",
        ),
        ("the CFO of Acme", OFFICER, "Who is the CFO of Acme?"),
        ("Acme's CFO", OFFICER, "Who is Acme's CFO?"),
        ("the CFO of Acme", "Who is the chief executive of Delmar Motors?", "Who is the CFO of Acme?"),
        # One of several names is replaced.
        ("the Provider", CONTRACT, "When may the Provider terminate the Agreement?"),
        ("Borg", "When did Acme buy the Foundry?", "When did Borg buy the Foundry?"),
        ("the Mill", "When did Acme buy the Foundry?", "When did Acme buy the Mill?"),
        ("in China", SALES, "What did Toyota earn in China in 2019?"),
        (
            "the Seven Years War",
            "When did the War of the Austrian Succession begin?",
            "When did the Seven Years War begin?",
        ),
        # All are kept where several may be meant.
        ("Nissan", SALES, f"Nissan – {SALES}"),
        ("China", SALES, f"China – {SALES}"),
        ("Jordan", "When did Syria and Egypt attack Israel?", "Jordan – When did Syria and Egypt attack Israel?"),
        # A date replaces a whole date, with the words before it.
        ("on 18 April", MEETING, "Who attended the board meeting on 18 April 2024?"),
        ("18 April", MEETING, "Who attended the board meeting on 18 April 2024?"),
        ("the meeting on 18 April", MEETING, "Who attended the board meeting on 18 April 2024?"),
        ("on June 3", MEETING, "Who attended the board meeting on June 3, 2024?"),
        ("on 18 April 2023", MEETING, "Who attended the board meeting on 18 April 2023?"),
        ("in June", MEETING, "Who attended the board meeting in June 2024?"),
        ("in 2023", MEETING, "Who attended the board meeting in 2023?"),
        ("in 2021", "What were total assets as of December 31, 2022?", "What were total assets in 2021?"),
        # Nothing is replaced without a counterpart.
        ("the Audit Committee", OFFICER, ""),
        ("the Chairman of the Board", OFFICER, ""),
        ("the CFO", "How many employees does Delmar Motors have?", ""),
        ("the Chairman", "Did the CEO or the CFO sign?", ""),
        ("the Vice President", "Who was President Lincoln?", ""),
        ("by the CFO", OFFICER, ""),
        ("the CFO", "How many directors does Acme have?", ""),
        ("the revenue", OFFICER, ""),
        ("Acme", "Who met in April?", ""),
        ("on 18 April", "Who met between 1 May 2024 and 3 June 2024?", ""),
        # The verb "may" is not a month.
        ("in April", CONTRACT, ""),
    ],
)
def test_fragment_replaces_its_counterpart(fragment: str, earlier: str, expected: str) -> None:
    assert substitute_fragment(fragment, earlier) == expected


WORDS = st.lists(
    st.sampled_from("the CEO chief Executive Officer of Acme 's ' in on May 16 2024 – , and for president".split()),
    max_size=9,
).map(" ".join)


@given(WORDS, WORDS)
def test_any_fragment_can_follow_any_question(fragment: str, earlier: str) -> None:
    substitute_fragment(fragment, f"Who is {earlier}?")
