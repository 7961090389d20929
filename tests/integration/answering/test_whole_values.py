"""Excerpts contain whole values: names with titles, addresses with numbers, and days with their period."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from tests.support.engines import open_library

DOCUMENTS = {
    "allotment.pdf": [
        [
            "Secretary: Harold Quigley (@quigley), e-mail plots@elmfield.example, tel. 01632 960 114.",
            "The treasurer, Dr. Mina Raptis, collects rents on the last Saturday of each month at No. 12, Ferry Road.",
            "Plot P-40 is let to Ewa Brzezinska for approx. 38 pounds a year.",
        ]
    ],
    "verein.pdf": [["Trainerin ist Frau Dr. Leonie Asmussen; das Training findet jeden zweiten Donnerstag statt."]],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return two documents; tests must not change them."""
    with open_library(tmp_path_factory.mktemp("whole values") / "data", DOCUMENTS) as engine:
        yield engine


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Who collects the rents?", "Dr. Mina Raptis"),
        ("When are rents collected?", "the last Saturday of each month"),
        ("Where are rents collected?", "at No. 12, Ferry Road."),
        ("How much does plot P-40 cost?", "approx. 38 pounds a year."),
        ("Who rents plot P-40?", "Ewa Brzezinska"),
        ("What is the phone number of the secretary?", "tel. 01632 960 114."),
        ("What is the e-mail address of Harold Quigley?", "plots@elmfield.example"),
        ("Wann findet das Training statt?", "jeden zweiten Donnerstag statt."),
    ],
)
def test_first_excerpt_has_the_value_in_its_sentence(library: Engine, question: str, quoted: str) -> None:
    assert quoted in " ".join(library.answer(question).citations[0].quote.split())
