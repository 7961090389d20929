"""Cards of added documents, examples in a new chat, and the recommended model."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.types.conversations import Scope
from tests.support.app import OpenPage, add, answer_texts, answered, conversation_of, settle, texts
from tests.support.pdfs import make_pdf

ORCHARD = make_pdf(
    [
        "Minutes of the orchard society",
        "The annual fee is 35 euros. It was not changed. The members discussed the hedge.",
        "The cider press will be repaired on 12 April 2024.",
    ]
)
HEDGE = make_pdf(["Report on the hedge", "The hedge is 40 metres long."])
CLOSE = "Close the card of hedge.pdf"
FEE, PRESS = "What is the annual fee?", "When will the cider press be repaired?"


def labels(app: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in app.button]


def words(app: AppTest) -> str:
    return texts(app).replace("\\", "")


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label.replace("\\", "").startswith(label)).click().run()


def test_added_document_gets_a_card_whose_questions_are_answered(open_page: OpenPage, engine: Engine) -> None:
    app = open_page()
    app.file_uploader[0].upload("orchard.pdf", ORCHARD, "application/pdf").run()
    settle(app, lambda app: FEE in labels(app))
    assert "**Minutes of the orchard society**" in words(app)
    assert "orchard.pdf · Minutes · 1 page · English" in words(app)
    answered(press(app, FEE))
    assert "35 euros" in answer_texts(app)[0]
    # The card is one line above the question, which opens; it has the questions that were not asked.
    (line,) = [one for one in app.expander if one.label.startswith("Added: ")]
    assert line.label.replace("\\", "") == "Added: orchard.pdf"
    assert not line.proto.expanded
    assert PRESS in [one.label.replace("\\", "") for one in line.button]
    assert FEE not in labels(app)
    # The card of a file that is added later is below the answer.
    app.chat_input[0].upload("hedge.pdf", HEDGE, "application/pdf").run()
    settle(app, lambda app: CLOSE in labels(app))
    assert len([one for one in app.expander if one.label.startswith("Added: ")]) == 1
    assert CLOSE not in [one.label.replace("\\", "") for expander in app.expander for one in expander.button]
    press(app, "Close the card")
    assert PRESS not in labels(app)


def test_new_chat_offers_questions_about_one_document_each(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    ids = add(engine, orchard=ORCHARD)
    app = settle(open_page(), lambda app: FEE in labels(app))
    assert "orchard.pdf answers, for example" in words(app)
    answered(press(app, FEE))
    # The next questions are about all documents again.
    assert engine.conversations.get(conversation_of(app)).scope == Scope()
    answer = engine.conversations.messages(conversation_of(app))[-1].answer
    assert answer is not None
    assert {one.document_id for one in answer.passages} == {ids["orchard"]}


def test_model_that_fits_the_machine_is_recommended_and_can_be_hidden(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (offer, *_) = engine.model_downloads.list()
    app = open_page()
    assert offer.is_recommended
    assert "coder" not in offer.name
    assert offer.name in words(app)
    assert "licence Apache-2.0" in words(app)
    started: list[str] = []
    monkeypatch.setattr(type(engine.model_downloads), "start", lambda _, name, **options: started.append(name))
    app.button(key="use_recommended_model").click().run()
    assert started == [offer.name]
    app.button(key="hide_model_offer").click().run()
    assert offer.name not in words(app)
