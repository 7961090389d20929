"""Questions about all things of a kind are recognized by quantifiers and superlatives."""

from __future__ import annotations

import pytest

from rag_core.reading.set_questions import parse_set_question


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("List the fees.", "all"),
        ("What do all tenants pay?", "all"),
        ("Name every ship of the fleet.", "all"),
        ("Who are the trustees?", "all"),
        ("Which ships sail on Sunday?", "all"),
        ("In which towns are there offices?", "all"),
        ("Welche Schiffe sind versichert?", "all"),
        ("Quels navires sont assurés ?", "all"),
        ("How many ships are there?", "count"),
        ("Wie viele Schiffe gibt es?", "count"),
        ("Combien de navires y a-t-il ?", "count"),
        ("¿Cuántos barcos hay?", "count"),
        ("Who is the oldest captain?", "most"),
        ("Which ship carries the most salt?", "most"),
        ("Wer ist der älteste Kapitän?", "most"),
        ("Quel est le plus vieux capitaine ?", "most"),
        ("¿Cuál es el barco más viejo?", "most"),
        ("Quem são todos os membros da direção?", "all"),
        ("Quais são os barcos do porto?", "all"),
        ("Quantos barcos há?", "count"),
        ("Qual é a ponte com a maior altura?", "most"),
        ("Quali sono i membri?", "all"),
        ("Qual è la barca più lunga?", "most"),
        ("Welke schepen zijn verzekerd?", "all"),
    ],
)
def test_set_question_is_recognized(question: str, kind: str) -> None:
    asked = parse_set_question(question)
    assert asked is not None
    assert asked.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "When was the bridge built?",
        "What is the interest rate of the loan?",
        "Is any fee due at all?",
        "How often does the board meet each year?",
        "Which ship carries salt?",
        "On which graphics card was it timed?",
        "What is one of the largest towns of the coast?",
        "Must the deposit be at least 400 crowns?",
        "Was kosten die Tickets?",
        "¿Cuesta más o menos mil euros?",
        "Onde vive a maior parte?",
    ],
)
def test_other_question_is_not(question: str) -> None:
    assert parse_set_question(question) is None
