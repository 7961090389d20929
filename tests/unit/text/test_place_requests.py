"""The page or section that a question names is recognized by its form."""

from __future__ import annotations

import pytest

from rag_core.text.place_requests import asks_only_for_content, find_asked_kind, parse_place


@pytest.mark.parametrize(
    ("question", "kind", "labels", "position"),
    [
        ("What does page 6 say?", "page", ("6",), None),
        ("What is on p. 12?", "page", ("12",), None),
        ("What does page six say?", "page", ("6",), None),
        ("What is written on page iv?", "page", ("iv",), None),
        ("What do pages 3 to 5 say?", "page", ("3", "4", "5"), None),
        ("Was steht auf Seite 9?", "page", ("9",), None),
        ("Que dit la page 3 ?", "page", ("3",), None),
        ("¿Qué dice la página 4?", "page", ("4",), None),
        ("What is on the first page?", "page", (), 0),
        ("Was steht auf der letzten Seite?", "page", (), -1),
        ("What does the 3rd page show?", "page", (), 2),
        ("What is on the sixth page?", "page", (), 5),
        ("What does § 4 say?", "section", ("4",), None),
        ("Section 2.3", "section", ("2.3",), None),
        ("paragraph 11", "section", ("11",), None),
        ("Summarise chapter 3", "chapter", ("3",), None),
        ("Summarise chapter twenty-one", "chapter", ("21",), None),
        ("Was regelt Artikel 5?", "article", ("5",), None),
        ("What is in table 2?", "table", ("2",), None),
        ("Que contient le tableau 2 ?", "table", ("2",), None),
        ("Que dit l'annexe 2 ?", "annex", ("2",), None),
        ("Qu'y a-t-il à la page 3 ?", "page", ("3",), None),
        ("¿Qué muestra la tabla 2?", "table", ("2",), None),
        ("O que diz a página 3?", "page", ("3",), None),
        ("O que contém o anexo B?", "annex", ("B",), None),
        ("Resuma o capítulo 3", "chapter", ("3",), None),
        ("Cosa contiene l'allegato 2?", "annex", ("2",), None),
        ("Wat staat er in hoofdstuk 3?", "chapter", ("3",), None),
        ("Wat toont tabel 2?", "table", ("2",), None),
        ("Wat staat er op de laatste pagina?", "page", (), -1),
        ("Was enthält Anhang A?", "annex", ("A",), None),
        ("What does Part II say?", "part", ("II",), None),
    ],
)
def test_place_is_parsed(question: str, kind: str, labels: tuple[str, ...], position: int | None) -> None:
    request = parse_place(question)
    assert request is not None
    assert (request.kind, request.labels, request.position) == (kind, labels, position)
    assert asks_only_for_content(f"{question[: request.start]} {question[request.end :]}")


@pytest.mark.parametrize(
    "question",
    [
        "How many pages may the report have?",
        "Is the report longer than 6 pages?",
        "Who wrote the last chapter of the story?",
        "What is a page I can print?",
        "Which part of the harbour is deep?",
        "What does a section of pipe cost?",
        "How much did the table cost in 2019?",
        "Summarize the manual in three pages.",
        "Summarize the manual in one page.",
        "What do the first two pages say?",
        "What is on pages 2 and 5?",
        "On page 3 or 4, who operates the crane?",
        "Compare page 2 with page 5.",
        "Was steht auf Seite 2 und in § 3?",
        "Was steht in Tabelle 2 und in Anhang B?",
        "Wat staat er in hoofdstuk 3 en 4?",
    ],
)
def test_other_question_names_no_place(question: str) -> None:
    assert parse_place(question) is None


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("In which section are guests mentioned?", "section"),
        ("On which page is the crane described?", "page"),
        ("In welchem Kapitel geht es um Segel?", "chapter"),
        ("Em qual capítulo se fala de velas?", "chapter"),
        ("What does page 6 say?", None),
    ],
)
def test_kind_of_asked_place(question: str, kind: str | None) -> None:
    assert find_asked_kind(question) == kind
