"""Citations of the operands of a computed figure, and short answers of a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from rag_core.answering.generated_answers import find_short_answer
from rag_core.answering.prompt_evidence import ComputedFact, cite_operands
from rag_core.types.answers import Citation, Claim
from rag_core.types.retrieval import Reading
from rag_core.verification.verified_answer import VerifiedAnswer
from tests.support.passages import passage

SALES, PLANT = passage(1, "Net sales 2,400 2,100"), passage(2, "Plant, net 640 560")
FACT = ComputedFact(passage(3, "3.75 = 2,400 ÷ 640"), (Citation.of(SALES, 0, 15), Citation.of(PLANT, 0, 14)))
TEXT = "The turnover is 3.75 [3]. Sales were 2,400 [1]. It is high [3]."


def claims(text: str, *parts: str, **fields: object) -> tuple[Claim, ...]:
    return tuple(Claim(text.index(part), text.index(part) + len(part), True, **fields) for part in parts)


def test_operands_replace_the_computed_figure() -> None:
    parts = ("The turnover is 3.75", "Sales were 2,400", "It is high")
    by_model, added = Citation.of(FACT.passage, 0, 4), Citation.of(SALES, 0, 15)
    written = VerifiedAnswer(TEXT, (by_model, added), claims(TEXT, *parts, compared_rank=3))
    answer = cite_operands(written, FACT)
    assert answer.text == "The turnover is 3.75 [1][2]. Sales were 2,400 [1]. It is high [1][2]."
    assert [(one.marker, one.quote) for one in answer.citations] == [(1, "Net sales 2,400"), (2, "Plant, net 640")]
    assert tuple(answer.text[one.start : one.end] for one in answer.statements) == parts
    assert {one.compared_rank for one in answer.statements} == {1}


def test_answer_without_the_computed_figure_is_unchanged() -> None:
    text = "Sales were 2,400 [1]."
    answer = VerifiedAnswer(text, (Citation.of(SALES, 0, 15),), claims(text, "Sales were 2,400"))
    assert cite_operands(answer, FACT) == answer


def reading_of(wanted: str, probability: float = 0.9) -> Callable[[Sequence[tuple[str, str]]], Iterator[Reading]]:
    """Return a reading model that finds a text, if it is there."""

    def read(pairs: Sequence[tuple[str, str]]) -> Iterator[Reading]:
        for _, text in pairs:
            at = text.find(wanted)
            yield Reading(probability if at >= 0 else 0.0, at, at + len(wanted), 1.0)

    return read


def short_of(text: str, wanted: str, *statements: Claim, probability: float = 0.9, **fields: object) -> str:
    answer = VerifiedAnswer(text, (Citation.of(SALES, 0, 15),), statements or claims(text, text[:-5]), **fields)
    return find_short_answer("What were sales?", answer, [SALES, PLANT], reading_of(wanted, probability))


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("In that year, net sales were **2,400** [1].", "2,400", "2,400"),
        ("In that year, net sales were 2,401 [1].", "2,401", ""),
        ("In that year, the plant was worth 640 [1].", "640", ""),
        ("In that year, net sales were at least 2,400 [1].", "2,400", ""),
        ("In that year, net sales fell to nothing [1].", "nothing", ""),
        ("2,400 [1].", "-", "2,400"),
        ("**2,400** net [1].", "-", "2,400 net"),
        ("2,401 [1].", "-", ""),
        ("Not stated [1].", "-", ""),
    ],
)
def test_short_answer_is_in_the_cited_passage(text: str, wanted: str, expected: str) -> None:
    assert short_of(text, wanted) == expected


@pytest.mark.parametrize(
    ("statement", "marked", "expected"),
    [
        ("The choir needs at least eleven singers for the mass.", "eleven", "at least eleven"),
        ("The fine that they pay is up to 400 crowns for each day.", "400 crowns", "up to 400 crowns for each day"),
        ("They always meet on the first Monday of each month.", "Monday", "first Monday of each month"),
        ("Die Gebühr des Vereins beträgt höchstens 12 Euro im Monat.", "12 Euro", "höchstens 12 Euro im Monat"),
        ("The organ was built by Dr. Mina Raptis of Elmfield.", "Dr. Mina Raptis", "Dr. Mina Raptis"),
    ],
)
def test_short_answer_keeps_what_limits_its_value(statement: str, marked: str, expected: str) -> None:
    source = passage(1, statement)
    text = f"{statement} [1]"
    answer = VerifiedAnswer(text, (Citation.of(source, 0, len(statement)),), claims(text, statement))
    assert find_short_answer("What is asked?", answer, [source], reading_of(marked)) == expected


def test_short_answer_is_probable_and_in_a_supported_statement() -> None:
    text = "In that year, net sales were 2,400 [1]."
    assert short_of(text, "2,400") == "2,400"
    assert short_of(text, "2,400", probability=0.4) == ""
    assert short_of(text, "2,400", Claim(0, 20, False)) == ""
    assert short_of(text, "2,400", refused=True) == short_of(text, "2,400", unchecked=True) == ""
