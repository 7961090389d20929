"""The type of answer that a question asks for, and whether a sentence has it."""

from __future__ import annotations

import pytest

from rag_core.reading.answer_types import Kind, answers_kind, find_answer_kind, find_missing_value


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
        ("What is income tax?", None),
        ("What was the main cause of the loss?", Kind.REASON),
        ("What drove the sales of 2022?", None),
        ("Who was the mayor when the bridge opened?", Kind.NAME),
        ("Which company built the tower?", Kind.NAME),
        ("Where is the tower?", Kind.NAME),
        ("Why was the mill closed?", Kind.REASON),
        ("What is a sluice?", None),
        ("What does TTL stand for?", None),
        ("What did the mayor say of the bridge?", None),
        ("Wann wurde die Brücke eröffnet?", None),
        ("", None),
    ],
)
def test_answer_type_of_a_question(question: str, kind: Kind | None) -> None:
    assert find_answer_kind(question) is kind


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("How many swans live there?", "about 40 swans", True),
        ("How many swans live there?", "on the 3rd of May", False),
        ("What percentage of the town is rural?", "30 percent", True),
        ("What percentage of the town is rural?", "the harbour", False),
        ("In which year was the mill built?", "by the mayor", False),
        ("When was the mill built?", "after the war", True),
        ("Who built the mill?", "30 men", True),
    ],
)
def test_short_answer_is_of_the_kind_asked_for(question: str, answer: str, expected: bool) -> None:
    assert answers_kind(question, answer) is expected


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
