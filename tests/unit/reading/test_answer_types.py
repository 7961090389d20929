"""The type of answer that a question asks for, and whether a sentence has it."""

from __future__ import annotations

import pytest

from rag_core.reading.answer_types import Kind, contains_kind, find_answer_kind, find_missing_value


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge opened?", Kind.DATE),
        ("In which year did the mill burn?", Kind.DATE),
        ("What percentage of the town is Jewish?", Kind.PERCENT),
        ("How many swans live there?", Kind.NUMBER),
        ("What was the total cost of the bridge?", Kind.NUMBER),
        ("What were Acme's total revenues in 2022?", Kind.NUMBER),
        ("What is Acme's net income?", Kind.NUMBER),
        ("What is income tax?", Kind.DEFINITION),
        ("What was the main cause of the loss?", Kind.REASON),
        ("What drove the sales of 2022?", None),
        ("Who was the mayor when the bridge opened?", Kind.NAME),
        ("Which company built the tower?", Kind.NAME),
        ("Where is the tower?", Kind.NAME),
        ("Why was the mill closed?", Kind.REASON),
        ("What is a sluice?", Kind.DEFINITION),
        ("What does TTL stand for?", Kind.DEFINITION),
        ("What did the mayor say of the bridge?", None),
        ("Wann wurde die Brücke eröffnet?", None),
        ("", None),
    ],
)
def test_answer_type_of_a_question(question: str, kind: Kind | None) -> None:
    assert find_answer_kind(question) is kind


@pytest.mark.parametrize(
    ("kind", "text", "is_answer"),
    [
        (Kind.DATE, "It was opened in 1931.", True),
        (Kind.DATE, "It was opened on 5 May by the mayor.", True),
        (Kind.DATE, "It stems from the 17th century.", True),
        (Kind.DATE, "It cost 1,931 crowns and has 12 piers.", False),
        (Kind.PERCENT, "Some 30 percent left.", True),
        (Kind.PERCENT, "Half of them left.", True),
        (Kind.PERCENT, "Some 30 men left in 1931.", False),
        (Kind.NUMBER, "It has twelve piers.", True),
        (Kind.NUMBER, "It was opened in 1931.", False),
        (Kind.NUMBER, "It was opened on 3 May 1931.", False),
        (Kind.NUMBER, "It was opened on May 3.", False),
        (Kind.NUMBER, "Of its friends 12 may attend.", True),
        (Kind.NUMBER, "On the 3rd of May it had 4 piers.", True),
        (Kind.NAME, "The bridge is by Anna Weir.", True),
        (Kind.NAME, "The bridge is by the mayor of the town.", False),
        (Kind.NAME, "Bridges are built by the mayor.", False),
        (Kind.REASON, "It closed because of the flood.", True),
        (Kind.REASON, "It closed in the flood.", False),
        (Kind.DEFINITION, "A sluice is a gate for water.", True),
        (Kind.DEFINITION, "Sluices leak.", False),
    ],
)
def test_text_has_an_answer_of_the_type(kind: Kind, text: str, is_answer: bool) -> None:
    assert contains_kind(kind, text, "What of the bridge?") is is_answer


@pytest.mark.parametrize(
    ("kind", "text", "question"),
    [
        (Kind.DATE, "The bridge was opened in 1931.", "When after 1931 was the bridge rebuilt?"),
        (Kind.NUMBER, "The bridge has twelve piers.", "How many of the 12 piers fell?"),
        (Kind.NAME, "The bridge is by Anna Weir.", "Who taught Anna Weir?"),
    ],
)
def test_detail_of_the_question_is_not_an_answer(kind: Kind, text: str, question: str) -> None:
    assert not contains_kind(kind, text, question)


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("How many pharmacists does the company employ?", "It has a panel of doctors and pharmacists.", "a number"),
        ("How many jobs were cut in 2013?", "In 2013, on 3 March, the company began to cut jobs.", "a number"),
        ("How many guests came?", "The dinner was attended by 2000 guests.", ""),
        ("How many guests came?", "The dinner was held in 2000.", "a number"),
        ("How many guests came?", "The dinner was attended by a dozen of them.", ""),
        ("How many guests came?", "Nobody came to the dinner.", ""),
        ("How many guests came?", "They were served at 20mb/s.", ""),
        ("How many goals does the plan have?", "The goals are:\n• Safety for the people\n• Less of the noise", ""),
        ("How many arches does it have?", "Die Brücke hat drei Bögen aus Stein.", ""),
        ("What percentage of the staff left?", "The staff of the mill was asked to leave.", "a percentage"),
        ("What percentage of the staff left?", "A third of the staff left.", ""),
        ("What percentage of the staff left?", "Of the staff 12 left.", ""),
        ("In what year was the mill rebuilt?", "The mill was rebuilt by the mayor.", "a year"),
        ("In what year was the mill rebuilt?", "The mill was rebuilt a century later.", ""),
        ("In what year was the mill rebuilt?", "The mill was rebuilt c1180.", ""),
        ("Who rebuilt the mill, and in what year?", "The mill was rebuilt by the mayor.", ""),
        ("When was the mill rebuilt?", "The mill was rebuilt as the war ended.", ""),
        ("When was the mill rebuilt?", "The mill was rebuilt on a Monday.", ""),
        ("When was the mill rebuilt?", "The mill was rebuilt by the mayor of the town.", "a time"),
        ("When do mills turn?", "In strong winds the mills of the town turn.", ""),
        ("How long did the mill stand?", "The mill stood by the river and was admired.", "a length"),
        ("How long did the mill stand?", "The mill stood by the river for ever.", ""),
        ("How long is the dam?", "The dam is 40 metres long.", ""),
        ("How much did the mill cost?", "The mill was paid for by the county.", "an amount"),
        ("How much did the mill cost?", "The mill was free.", ""),
        ("How much of a risk is the mill?", "The mill is a risk to the county.", ""),
        ("What was the revenue of the mill in 2013?", "In 2013 the revenue of the mill fell.", "a number"),
        ("What was the revenue of the mill in 2013?", "The revenue of the mill was 12 crowns.", ""),
        ("What is the mill's revenue?", "The revenue of the mill is what it sells.", ""),
        ("How old was the miller?", "The miller was the son of the mayor.", "an age"),
        ("How old was the miller?", "The miller was the youngest of them.", ""),
        ("Who rebuilt the mill?", "The mill was rebuilt by the mayor.", ""),
    ],
)
def test_missing_answer_type_is_reported(question: str, text: str, missing: str) -> None:
    assert find_missing_value(question, [text]) == missing


@pytest.mark.parametrize("texts", [["The guests of the mayor came late.", "There were 40 of them."], []])
def test_nothing_is_missing_if_one_text_has_the_answer(texts: list[str]) -> None:
    assert find_missing_value("How many guests came?", texts) == ""
