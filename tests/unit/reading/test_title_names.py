"""Names that the title of a document contains and its text takes for granted."""

from __future__ import annotations

import pytest

from rag_core.reading.title_names import replace_title_names

TITLE = "GREENHEATH_2021.pdf GREENHEATH 2021 · Green Heath Mills Ltd."
OURS = "We employed 83 people in 2021."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many people did Green Heath employ in 2021?", "How many people did it employ in 2021?"),
        ("How many people worked at Green Heath’s sites?", "How many people worked at its sites?"),
        ("What were Green Heath Mills' costs?", "What were its costs?"),
        ("How many people work for the Green Heath Mills?", "How many people work for it?"),
        ("How many Green Heath shares were sold?", "How many shares were sold?"),
        ("Which Green Heath sites are in Peru?", "Which sites are in Peru?"),
        ("When was Green Heath founded?", "When was it founded?"),
        ("What are Green Heath Mills Ltd.'s costs?", "What are its costs?"),
        ("What does Green Heath sell in Peru?", "What does it sell in Peru?"),
        ("Who leads Green Heath in Peru?", "Who leads it in Peru?"),
        ("What is stated in the Green Heath report on Peru?", "What is stated in the report on Peru?"),
        ("What does the Green Heath report state?", "What does the report state?"),
        # Part of the name of a version.
        ("Who wrote the Green Heath protocol V1.2?", "Who wrote the protocol V1.2?"),
        ("Who wrote Green Heath V1.2?", "Who wrote Green Heath V1.2?"),
        ("Wer hat das Werk der Green Heath gebaut?", "Wer hat das Werk der Green Heath gebaut?"),
        # The brand belongs to the company, and is not in the title.
        ("What did Green Heath's Harrow Brand earn?", "What did its Harrow Brand earn?"),
        # A longer name is another name.
        ("How many people did Green Heath Finance employ?", "How many people did Green Heath Finance employ?"),
        ("How many people did Acme employ?", "How many people did Acme employ?"),
        ("How many people were employed in 2021?", "How many people were employed in 2021?"),
        ("", ""),
    ],
)
def test_names_of_the_title_are_replaced(question: str, expected: str) -> None:
    assert replace_title_names(question, OURS, TITLE) == expected


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What was revenue in March?", "acme_march.pdf"),
        ("Who is mayor of Berg?", "heidelberg.pdf"),
        ("What was Apple revenue?", "Pineapple.pdf"),
        ("Who wrote it for Al?", "Aldertree.pdf"),
    ],
)
def test_name_that_no_part_of_the_title_begins_with_is_kept(question: str, title: str) -> None:
    assert replace_title_names(question, OURS, title) == question


def test_name_that_ends_like_a_possessive_is_replaced() -> None:
    assert replace_title_names("How many sites does McDonald's have?", OURS, "mcdonalds.pdf").endswith("does it have?")


def test_name_in_the_text_is_kept() -> None:
    question = "How many people did Green Heath employ?"
    assert replace_title_names(question, "Green Heath employed 83 people.", TITLE) == question
    # "Green" alone is another word.
    assert replace_title_names(question, "Green energy cost 5 euros.", TITLE) == "How many people did it employ?"
