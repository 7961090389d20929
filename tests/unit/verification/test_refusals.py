"""Refusals that models phrase differently."""

from __future__ import annotations

import pytest

from rag_core.types.answers import REFUSAL
from rag_core.verification.refusals import contains_refusal, has_leading_refusal


@pytest.mark.parametrize(
    "text",
    [
        REFUSAL,
        "I don't know.",
        "The provided documents don't contain information about the founder.",
        "Unfortunately, the passages do not explicitly mention a founder.",
        "I couldn't find the answer in the documents.",
        "I'm unable to find it.",
        "The founder is not mentioned in the passages.",
        "The name of the founder has not been disclosed.",
        "No information is given.",
        "It is unclear who founded it.",
        "The founder cannot be found in the documents.",
        "Based on the passages, it is not possible to say who founded it.",
        "Not stated.",
        "N/A",
        "Ich weiß es nicht.",
        "Das geht aus den Dokumenten nicht hervor.",
        "Die Dokumente enthalten keine Angaben dazu.",
        "Je ne sais pas.",
        "Les documents ne le précisent pas.",
        "Los documentos no lo dicen.",
        "I documenti non lo dicono.",
    ],
)
def test_refusal_is_recognized(text: str) -> None:
    assert contains_refusal(text)
    assert has_leading_refusal(f"{text}\n\nThey tell of the warranty.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The budget is 42 million euros.",
        "Damage by water is not included.",
        "The company did not name a successor.",
        "The price is given in the documents.",
        "No data was lost in the incident.",
        "The founder, who earned $9 million, is not mentioned.",
        "The seller does not provide a guarantee.",
        "Das Rauchen ist nicht gestattet.",
        "La coopérative n'exporte pas hors de l'Union européenne.",
    ],
)
def test_other_negation_is_not_a_refusal(text: str) -> None:
    assert not contains_refusal(text)


def test_refusal_after_an_answer_is_not_at_the_start() -> None:
    assert not has_leading_refusal("It is 42 million euros. The documents do not say who pays.")
