"""Citations that are added to the statements of an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_core.types.answers import Citation, Claim, strip_markers
from rag_core.verification.citation_markers import parse_markers
from rag_core.verification.verified_answer import VerifiedAnswer, cite_statement
from tests.support.passages import passage

FIRST, SECOND = (Citation.of(passage(rank=rank, text="The fee is 5 euros."), 0, 19) for rank in (1, 2))


@pytest.mark.parametrize(
    ("text", "cited", "expected"),
    [
        ("The fee is 5 euros.", (), "The fee is 5 euros [2]."),
        ("The fee is 5 euros", (), "The fee is 5 euros [2]"),
        ("The fee is 5 euros [1].", (FIRST,), "The fee is 5 euros [2][1]."),
        ("The fee is **5 euros** [1].", (FIRST,), "The fee is **5 euros** [2][1]."),
        ("The fee is 5 euros. [1]", (FIRST,), "The fee is 5 euros. [2][1]"),
        ("The fee is 5 euros [2].", (SECOND,), "The fee is 5 euros [2]."),
    ],
)
def test_a_statement_gets_a_citation_once(text: str, cited: tuple[Citation, ...], expected: str) -> None:
    before, after = "It is open", "Dogs stay outside"
    whole = f"{before}.\n{text}\n{after}."
    places = [(whole.index(one), whole.index(one) + len(one)) for one in (before, text, after)]
    places[1] = places[1][0], places[1][0] + (text.index(" [") if " [" in text else len(text))
    answer = VerifiedAnswer(whole, cited, tuple(Claim(*one, supported=True) for one in places))
    found = cite_statement(answer, 1, [SECOND])
    assert found.text == f"{before}.\n{expected}\n{after}."
    said = [strip_markers(found.text[one.start : one.end]).rstrip(".") for one in found.statements]
    assert said == [before, text.partition(" [")[0].rstrip("."), after]
    assert [one.marker for one in found.citations] == sorted({one.marker for one in (*cited, SECOND)}, reverse=True)
    assert [one.added for one in found.citations if one.marker == 2] == [SECOND not in cited]


@pytest.mark.parametrize(
    ("text", "expected", "markers"),
    [
        ("The fee is 5 euros [1]. Dogs [3].", "The fee is 5 euros [2]. Dogs [3].", [2, 3]),
        ("The fee is 5 euros [1][3]. Dogs [1].", "The fee is 5 euros [2][3]. Dogs [1].", [2, 3, 1]),
        ("The fee is 5 euros [2]. Dogs [1].", "The fee is 5 euros [2]. Dogs [1].", [2, 1]),
        ("The fee is 5 euros [1].\nDogs", "The fee is 5 euros [2].\nDogs", [2]),
        # The other statement may rely on the marker.
        ("The fee is 5 euros [1]. Dogs", "The fee is 5 euros [2][1]. Dogs", [2, 1]),
    ],
)
def test_a_statement_loses_the_citation_of_another_value(text: str, expected: str, markers: list[int]) -> None:
    cited = tuple(replace(FIRST, marker=rank) for rank in dict.fromkeys(parse_markers(text)))
    second = text.index("Dogs")
    statements = Claim(0, text.index(" ["), supported=False), Claim(second, second + 4, supported=True)
    found = cite_statement(VerifiedAnswer(text, cited, statements), 0, [replace(FIRST, marker=2)], without=1)
    assert found.text == expected
    assert [found.text[one.start : one.end] for one in found.statements] == ["The fee is 5 euros", "Dogs"]
    assert [one.marker for one in found.citations] == markers


def test_marker_that_a_line_above_shares_stays() -> None:
    text = "- Fee: 5 euros\n- Deposit: 8 euros [1]"
    places = [(text.index(one), text.index(one) + len(one)) for one in ("Fee: 5 euros", "Deposit: 8 euros")]
    answer = VerifiedAnswer(text, (FIRST,), tuple(Claim(*one, supported=True) for one in places))
    found = cite_statement(answer, 1, [SECOND], without=1)
    assert found.text == "- Fee: 5 euros\n- Deposit: 8 euros [2][1]"
