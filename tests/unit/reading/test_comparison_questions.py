"""What a question compares, and the question about each of the compared things."""

from __future__ import annotations

import pytest

from rag_core.reading.comparison_questions import parse_comparison


@pytest.mark.parametrize(
    ("question", "names", "template", "direction"),
    [
        (
            "Compare the rent in the lease of Oak Street and of Elm Street",
            ("Oak Street", "Elm Street"),
            "What is the rent in the lease of {}?",
            0,
        ),
        (
            "Which of Amcor and Boeing has the longer warranty?",
            ("Amcor", "Boeing"),
            "How long is the warranty of {}?",
            1,
        ),
        ("net sales of Amcor and of Boeing in 2022", ("Amcor", "Boeing"), "What is the net sales of {} in 2022?", 0),
        (
            "Compare the sales of Amcor and Boeing in FY 2023",
            ("Amcor", "Boeing"),
            "What is the sales of {} in FY 2023?",
            0,
        ),
        (
            "Compare the sales of Amcor and Boeing in H1 2023",
            ("Amcor", "Boeing"),
            "What is the sales of {} in H1 2023?",
            0,
        ),
        (
            "Compare the sales of Amcor and Boeing in the H1 2023",
            ("Amcor", "Boeing"),
            "What is the sales of {} in the H1 2023?",
            0,
        ),
        (
            "Compare the sales of Vision March and Boeing in FY 2023",
            ("Vision March", "Boeing"),
            "What is the sales of {} in FY 2023?",
            0,
        ),
        ("What were 3M's and AMD's sales in FY2022?", ("3M", "AMD"), "What were {}'s sales in FY2022?", 0),
        ("How do Amcor and Boeing differ in their staffing?", ("Amcor", "Boeing"), "What is the staffing of {}?", 0),
        ("Who pays more rent, Amcor or Boeing?", ("Amcor", "Boeing"), "How much rent does {} pay?", 1),
        ("Does Amcor have fewer employees than Boeing?", ("Amcor", "Boeing"), "How many employees does {} have?", -1),
        (
            "Which contract ends earlier, Oak Street or Elm Street?",
            ("Oak Street", "Elm Street"),
            "When does {} end?",
            -1,
        ),
        (
            "Compare a_2021.pdf and b_2022.pdf by the number of beds",
            ("a_2021.pdf", "b_2022.pdf"),
            "What is the number of beds of {}?",
            0,
        ),
        (
            "How does the rent of Oak Street compare with that of Elm Street?",
            ("Oak Street", "Elm Street"),
            "What is the rent of {}?",
            0,
        ),
        (
            "What is the difference in rent between Oak Street and Elm Street?",
            ("Oak Street", "Elm Street"),
            "What is the rent of {}?",
            0,
        ),
    ],
)
def test_comparison_of_names(question: str, names: tuple[str, ...], template: str, direction: int) -> None:
    found = parse_comparison(question)
    assert found is not None
    assert (found.names, found.template, found.direction) == (names, template, direction)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Compare the sales of Amcor in 2019, Boeing in 2020 and AMD in fiscal 2021",
            [
                "What is the sales of Amcor in 2019?",
                "What is the sales of Boeing in 2020?",
                "What is the sales of AMD in fiscal 2021?",
            ],
        ),
        (
            "What was the revenue of Amcor in 2019 and of Boeing in 2020?",
            ["What was the revenue of Amcor in 2019?", "What was the revenue of Boeing in 2020?"],
        ),
        (
            "Compare the sales of Amcor and of Boeing in 2020",
            ["What is the sales of Amcor in 2020?", "What is the sales of Boeing in 2020?"],
        ),
    ],
)
def test_each_name_keeps_its_own_period(question: str, asked: list[str]) -> None:
    found = parse_comparison(question)
    assert found is not None
    periods = found.periods or ("",) * len(found.names)
    assert [found.question_about(name, period) for name, period in zip(found.names, periods, strict=True)] == asked


@pytest.mark.parametrize(
    ("question", "noun", "template", "direction"),
    [
        ("What is the notice period in each contract?", "contract", "What is the notice period?", 0),
        ("List the rent for each lease.", "lease", "What is the rent?", 0),
        ("What does every report say about staffing?", "report", "What does the report say about staffing?", 0),
        ("How long is the term in both leases?", "leases", "How long is the term?", 0),
        ("Which contract has the longest notice period?", "contract", "How long is the notice period?", 1),
        ("Which lease ends earliest?", "lease", "When does it end?", -1),
    ],
)
def test_comparison_of_documents(question: str, noun: str, template: str, direction: int) -> None:
    found = parse_comparison(question)
    assert found is not None
    assert (found.names, found.noun, found.template, found.direction) == ((), noun, template, direction)


@pytest.mark.parametrize(
    "question",
    [
        "Who founded Amcor and when?",
        "What is the rent of Oak Street?",
        "Compare Amcor and Boeing",
        "How much more land does the school own in Allston than Cambridge?",
        "Which river flows through Warsaw?",
        "Did Spain defeat Portugal?",
        "How far is Warsaw from the Baltic Sea?",
        "Which type of debt received the largest investment for Amcor in H1 FY2023?",
        "What does the lease of Oak Street cost per month?",
        "What happened between 1990 and 1995 at Amcor?",
        "Which report describes the largest earthquake?",
    ],
)
def test_other_questions_compare_nothing(question: str) -> None:
    assert parse_comparison(question) is None


@pytest.mark.parametrize(
    ("question", "within"),
    [
        ("Compare the rent in the lease of Oak Street and of Elm Street", "What is the rent in the lease?"),
        ("What were 3M's and AMD's sales in 2022?", "What were sales in 2022?"),
        ("Does Amcor have more employees than Boeing?", "How many employees does it have?"),
    ],
)
def test_question_within_a_document_omits_its_name(question: str, within: str) -> None:
    found = parse_comparison(question)
    assert found is not None
    assert found.question_within() == within


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("employs more people", "How many people does {} employ?"),
        ("employed more women", "How many women has {} employed?"),
        ("produces more steel", "How much steel does {} produce?"),
        ("produced more steel", "How much steel has {} produced?"),
        ("carries less debt", "How much debt does {} carry?"),
        ("carried less debt", "How much debt has {} carried?"),
        ("reaches more customers", "How many customers does {} reach?"),
        ("owes more tax", "How much tax does {} owe?"),
        ("shipped more cars", "How many cars has {} shipped?"),
        ("needs fewer children", "How many children does {} need?"),
        ("operates more mills", "How many mills does {} operate?"),
        ("guaranteed more loans", "How many loans has {} guaranteed?"),
        ("discovers more gold", "How much gold does {} discover?"),
        ("sells more cars", "How many cars does {} sell?"),
        ("sold more cars", "How many cars does {} sell?"),
        ("has more business", "How much business does {} have?"),
        ("opened earlier", "When has {} opened?"),
        ("closes later", "When does {} close?"),
    ],
)
def test_verb_after_the_name_is_a_word(verb: str, asked: str) -> None:
    found = parse_comparison(f"Which of Amcor and Boeing {verb}?")
    assert found is not None
    assert found.template == asked
