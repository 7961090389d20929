"""The same text in two documents takes one place, and is not lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types import Answer, Evaluation, Label, LabelKind, LabelledPage
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, indexed, opened


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three facts, the first of them in a second document and, with another figure, in a third."""
    with opened(tmp_path_factory.mktemp("folding") / "data") as made:
        indexed(made, "bridge.pdf", BUDGET)
        indexed(made, "copy.pdf", COPPER, BUDGET.replace("Building", "building"))
        indexed(made, "draft.pdf", BUDGET.replace("42", "41"))
        indexed(made, "birds.pdf", PENGUINS)
        yield made


def test_top_k_holds_different_evidence_and_tells_where_else_it_stands(library: Engine) -> None:
    found = library.search(ASK_BUDGET, top_k=4)
    assert [passage.rank for passage in found.passages] == [1, 2, 3, 4]
    (folded,) = (passage for passage in found.passages if passage.duplicates)
    pages = {"bridge.pdf": "1", "copy.pdf": "2"}
    (other,) = pages.keys() - {folded.document}
    assert [(one.document, one.page_label) for one in folded.duplicates] == [(other, pages[other])]
    assert {" ".join(passage.text.split()) for passage in found.passages if passage is not folded} == {
        BUDGET.replace("42", "41"),
        PENGUINS,
        COPPER,
    }


def test_the_places_are_kept_with_the_answer(library: Engine) -> None:
    answer = library.answer(ASK_BUDGET)
    conversation = library.conversations.create()
    library.conversations.add_message(conversation.conversation_id, "assistant", answer.text, answer)
    (message,) = library.conversations.messages(conversation.conversation_id)
    assert isinstance(message.answer, Answer)
    assert message.answer.passages == answer.passages
    assert any(passage.duplicates for passage in message.answer.passages)


@pytest.mark.parametrize("name", ["bridge.pdf", "copy.pdf"])
def test_a_label_on_either_copy_counts_as_found_and_cited(library: Engine, name: str) -> None:
    label = Label("one", ASK_BUDGET, LabelKind.ANSWERABLE, (LabelledPage(name, quote="42 million euros"),))
    *_, found = library.evaluations.run([label])
    assert isinstance(found, Evaluation)
    values = {one.metric: one.interval.value for one in found.figures}
    assert (values["recall@1"], values["cited_page"]) == (1.0, 1.0)


def test_an_opened_up_question_shows_every_passage(library: Engine) -> None:
    assert len(library.explain(ASK_BUDGET).passages) == 5
