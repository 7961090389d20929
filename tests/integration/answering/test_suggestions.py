"""Suggested questions, and the neighbours of a passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.answering.suggestions import find_topic_questions
from rag_core.engine import Engine
from rag_core.types import Answer, Passage, SearchResult, Suggestions
from tests.support.engines import indexed, open_library, opened

TOWER = (
    "The Vardo tower is 88 metres tall. Lena Holm drew the Vardo tower. Lena Holm lived in Bergen until 1920 and "
    "taught at the school of Bergen."
)
HARBOUR = "The Tromvik harbour was dredged in 1950. Ships of four metres draught can enter the Tromvik harbour."
QUESTION = "How tall is the Vardo tower?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("suggesting") / "data", {"tower.pdf": [TOWER, HARBOUR]}) as engine:
        yield engine


def suggested(engine: Engine, question: str) -> Suggestions:
    *events, suggestions = engine.ask(question, suggest=True)
    assert any(isinstance(event, Answer) for event in events)
    assert isinstance(suggestions, Suggestions)
    return suggestions


def test_suggested_questions_can_be_answered(library: Engine) -> None:
    offered = suggested(library, QUESTION).questions
    assert 1 <= len(offered) <= 3
    assert any("Lena Holm" in question for question in offered)
    assert not any("Vardo" in question for question in offered)
    for question in offered:
        assert library.search(question).gate.answerable


def test_answer_of_deleted_document_has_no_suggestions(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document = indexed(engine, "tower.pdf", TOWER, HARBOUR)
        events = []
        for event in engine.ask(QUESTION, documents=[document], suggest=True):
            events.append(event)
            if isinstance(event, SearchResult):
                engine.documents.delete([document])
    [answer] = [event for event in events if isinstance(event, Answer)]
    suggestions = events[-1]
    assert "88 metres" in answer.text
    assert answer.citations
    assert isinstance(suggestions, Suggestions)
    assert suggestions.questions == ()
    assert suggestions.problem.endswith("No further questions are suggested.")


def topics_of(text: str = "", heading: str = "") -> list[str]:
    passage = Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, len(text), text, heading, {})
    questions = find_topic_questions([passage], set())
    return [re.sub("^(Who or what is |What is in “)|”?[?]$", "", question) for question in questions]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was made by Baran, not by Lenin: of Lenin and of Baran they say little.", ["Baran", "Lenin"]),
        ("OPEC was founded in 1960. It asked OPEC, and OPEC answered, as OPEC does.", ["OPEC"]),
        ("Revenue was 5 crowns. Revenue rose later.", []),
        ("Here Revenue means sales, and Revenue is what counts as revenue.", []),
        ("It paid the Company, and the Company built on.", []),
        ("It was built by British masons, for British masons.", []),
        ("It was begun in March, and ended in March.", []),
        ("It grew, see Note 5, and again see Note 5.", []),
        ("It turns S/R0 and G, of which S/R0 and G are frames.", []),
        ("The price of Fixed Assets rose. We sold Fixed Assets, which are assets that are fixed.", []),
        ("It hired Lena Holm. Lena Holm had total control.", ["Lena Holm"]),
    ],
)
def test_topics_are_names_in_the_text(text: str, names: list[str]) -> None:
    assert sorted(topics_of(text)) == names


@pytest.mark.parametrize(
    ("heading", "topic"),
    [
        ("Report › 2. The School of Bergen.", ["2. The School of Bergen"]),
        ("Report › Overview", []),
        ("In millions", []),
        ("Part II", []),
        ("3. Exhibits", []),
    ],
)
def test_topics_are_informative_headings(heading: str, topic: list[str]) -> None:
    assert topics_of(heading=heading) == topic


def test_no_suggestions_unless_requested_or_after_a_refusal(library: Engine) -> None:
    assert isinstance(list(library.ask(QUESTION))[-1], Answer)
    assert suggested(library, "Who won the chess match in Reykjavik?") == Suggestions()


def test_neighbours_of_a_passage(library: Engine) -> None:
    passages = sorted(library.search(QUESTION).passages, key=lambda passage: passage.page_index)
    first, second = (passage.chunk_id for passage in passages)
    before, after = library.documents.neighbours(first)
    assert before is None
    assert after is not None
    assert "Tromvik" in after.text
    before, after = library.documents.neighbours(second)
    assert before is not None
    assert "Vardo" in before.text
    assert after is None
    assert library.documents.neighbours("999999") == (None, None)


def test_suggestions_are_stored_with_their_answer(library: Engine) -> None:
    conversation = library.conversations.create().conversation_id
    *events, suggestions = library.ask(QUESTION, suggest=True)
    [answer] = [event for event in events if isinstance(event, Answer)]
    assert isinstance(suggestions, Suggestions)
    assert library.answer(QUESTION, suggest=True).follow_ups == suggestions.questions
    message = library.conversations.add_message(conversation, "assistant", answer.text, answer)
    library.conversations.set_follow_ups(message.message_id, suggestions)
    [stored] = library.conversations.messages(conversation)
    assert stored.answer is not None
    assert stored.answer.follow_ups == suggestions.questions != ()
    library.conversations.set_follow_ups(message.message_id, Suggestions(problem="The store does not answer."))
    [stored] = library.conversations.messages(conversation)
    assert stored.answer is not None
    assert stored.answer.notices[-1] == "The store does not answer."
    library.conversations.remove_messages([message.message_id])
    library.conversations.set_follow_ups(message.message_id, suggestions)
