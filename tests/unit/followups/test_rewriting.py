"""Follow-up questions are rewritten as complete ones; complete questions are kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rag_core.followups.anaphora import ReferenceKind, find_reference, is_anchored
from rag_core.followups.rewriting import Turn, pair_turns, rewrite_question

from rag_core.text.noun_phrases import find_names, find_noun_phrases
from rag_core.types import Answer, AnswerState, Gate, Message

NOW = datetime(2025, 1, 1, tzinfo=UTC)
BRIDGE = Turn("How long is the Harrow Bridge?", "The Harrow Bridge is 412 metres long.")
ARCHITECT = Turn("Who designed the Vardo tower?", "Lena Holm, born in Oslo, designed it in 1902.")
WAR = Turn("When did Syria and Egypt attack Israel?", "In October 1973.")
RIVERS = Turn("Which rivers flow through Quenby?", "Three do:\n- Tell: 90 km long\n- **Orrin** - 40 km\n- Ash")

COMPLETE_QUESTIONS = (
    "How old was Chopin when he moved to Warsaw with his family?",
    "How long does it take to settle a claim?",
    "Is it true that the bridge was closed?",
    "What does the report say about its own limits?",
    "Why did OPEC raise its prices?",
    "And who designed the Eiffel Tower?",
    "What is the termination clause",
    "after sales service",
    "Which countries said that they would join?",
    "Who announced she would step down?",
    "How many museums are there in Warsaw?",
    "What did the IT department buy?",
    "What does this document say about fees?",
    "What are the duties of those who sign?",
    "Who are the former presidents?",
    "Who was the first one to climb Everest?",
    "If a tenant is late, what does he pay?",
    "What can groups ask the officer to do for them?",
    "Which president of the university transformed it?",
    "How does a steam plant compare to that of a factory?",
    "Who used taxes during their rule?",
    "Wie lang ist die Brücke?",
    "capex 2022",
    "",
    "?",
)


@pytest.mark.parametrize("question", COMPLETE_QUESTIONS)
@pytest.mark.parametrize("turn", [BRIDGE, ARCHITECT, RIVERS])
def test_complete_question_is_unchanged(question: str, turn: Turn) -> None:
    assert rewrite_question(question, [turn]) == question


@pytest.mark.parametrize(
    ("question", "turn", "expected"),
    [
        ("When was it opened?", BRIDGE, "When was the Harrow Bridge opened?"),
        ("What is its width?", BRIDGE, "What is the Harrow Bridge’s width?"),
        ("Who works there?", BRIDGE, "Who works in the Harrow Bridge?"),
        ("Who paid for that bridge?", BRIDGE, "Who paid for the Harrow Bridge?"),
        ("And the Lindow Canal?", BRIDGE, "How long is the Lindow Canal?"),
        ("what about the Lindow Canal", BRIDGE, "How long is the Lindow Canal?"),
        ("And the cost?", BRIDGE, "The cost (the Harrow Bridge)?"),
        ("When was she born?", ARCHITECT, "When was Lena Holm born?"),
        ("Who was her father?", ARCHITECT, "Who was Lena Holm’s father?"),
        ("What are their goals?", WAR, "What are Syria and Egypt’s goals?"),
        ("Why?", WAR, "Why did Syria and Egypt attack Israel?"),
        ("and why", BRIDGE, "Why – How long is the Harrow Bridge?"),
        ("Who else?", ARCHITECT, "Who else – Who designed the Vardo tower?"),
        ("Why did it fail?", WAR, "Why did it fail (Syria, Egypt, Israel)?"),
        ("How long is the second one?", RIVERS, "How long is Orrin?"),
        ("what about the last one?", RIVERS, "What about Ash (Quenby)?"),
        ("Tell me more about the former.", WAR, "Tell me more about Syria."),
        ("and in 2021?", Turn("What was capex in 2022?"), "What was capex in 2021?"),
        ("In 2021?", Turn("What was the capex of Borg?"), "What was the capex of Borg In 2021?"),
        ("for Germany?", Turn("What are the sales of Siemens?"), "What are the sales of Siemens for Germany?"),
        ("And the CFO?", Turn("Who is the CEO of Borg?"), "Who is the CFO of Borg?"),
        ("And the CFO?", Turn("How old is Borg?"), "The CFO (Borg)?"),
        ("And the Audit Committee?", Turn("Who is the CEO of Borg?"), "The Audit Committee (the CEO of Borg)?"),
        ("And the Seller?", Turn("When may the Buyer end the Lease?"), "When may the Seller end the Lease?"),
        ("And in May?", Turn("Who met on 16 April 2024?"), "Who met in May 2024?"),
        ("And Nissan in 2020?", Turn("What did Toyota earn in 2019?"), "What did Nissan earn in 2020?"),
        ("How high is it?", Turn("how long is harrow bridge"), "How high is it (long harrow bridge)?"),
        ("When did this happen?", Turn("Who closed the old mill?"), "When did this happen (old mill)?"),
        ("When was it built?", Turn("What is the tallest mast?", "It is Kolmen Mast."), "When was Kolmen Mast built?"),
    ],
)
def test_follow_up_is_rewritten(question: str, turn: Turn, expected: str) -> None:
    assert rewrite_question(question, [turn]) == expected


@pytest.mark.parametrize(
    ("turns", "expected"),
    [([BRIDGE, Turn("Why?")], "When was the Harrow Bridge opened?"), ([], "When was it opened?")],
)
def test_antecedent_is_found_in_earlier_turns(turns: list[Turn], expected: str) -> None:
    assert rewrite_question("When was it opened?", turns) == expected


def test_earlier_question_is_used_as_rewritten() -> None:
    gate = Gate("rerank", 0.7, 0.6, True)
    question, rewritten = "And the Lindow Canal?", "How long is the Lindow Canal?"
    answer = Answer(question, AnswerState.ANSWERED, "31 km [1].", (), (), gate, "extractive", {}, rewritten=rewritten)
    history = [
        Message("1", "user", question, NOW),
        Message("2", "assistant", "31 km [1].", NOW, answer),
        Message("3", "user", "Unanswered?", NOW),
    ]
    assert pair_turns(history) == [Turn(rewritten, "31 km."), Turn("Unanswered?")]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Why?", ReferenceKind.BARE),
        ("since when?", ReferenceKind.BARE),
        ("and in 2021?", ReferenceKind.FRAGMENT),
        ("who was his successor?", ReferenceKind.POSSESSIVE),
        ("Who succeeded him?", ReferenceKind.PRONOUN),
        ("What caused these losses?", ReferenceKind.DEMONSTRATIVE),
        ("who lived there?", ReferenceKind.PLACE),
        ("what was the first?", ReferenceKind.ORDINAL),
    ],
)
def test_kind_of_reference_is_recognised(question: str, kind: ReferenceKind) -> None:
    reference = find_reference(question)
    assert reference is not None
    assert reference.kind is kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "What did St. John's Cathedral, DATANET 1 and the War of the Austrian Succession cost 3M in 1931?",
            ["St. John's Cathedral", "DATANET 1", "the War of the Austrian Succession", "3M"],
        ),
        (
            "Was the Zanzibar bridge opened when the Ostmark closed or did the SNP win?",
            ["the Zanzibar bridge", "the Ostmark", "the SNP"],
        ),
        ("Is Warsaw's symbol old? In Warsaw. It is.", ["Warsaw", "Warsaw"]),
    ],
)
def test_names_are_found_whole_and_without_genitive(text: str, names: list[str]) -> None:
    assert [name.text for name in find_names(text)] == names


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("When did the board meet?", "the board"),
        ("When was the old bridge built?", "the old bridge"),
        ("What is the annual report?", "the annual report"),
    ],
)
def test_noun_phrase_excludes_the_verb(question: str, phrase: str) -> None:
    assert [span.text for span in find_noun_phrases(question)] == [phrase]


def test_name_or_quotation_anchors_a_question() -> None:
    assert is_anchored("Who built Warsaw?")
    assert is_anchored("what is “net zero”?")
    assert not is_anchored("how many seats were won?")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_follow_up_can_be_rewritten(question: str, earlier: str, answer: str) -> None:
    rewritten = rewrite_question(question, [Turn(earlier, answer)])
    assert rewritten == question or find_reference(question) is not None
