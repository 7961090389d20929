from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.answers import Answers
from pages.shared.runs import Run
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.types import REFUSAL, AnswerState, Scope
from tests.support.app import (
    BRIDGE,
    CANAL,
    LENGTH,
    OpenPage,
    add,
    answer_texts,
    answered,
    ask,
    conversation_of,
    plain_text,
    settle,
    shown,
    texts,
)
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

HOSTILE = make_pdf(
    "The price of zircon paint is $5|litre <img src=x onerror=alert(1)> `rm` ![x](http://evil.example/a.png) "
    "and [more](http://evil.example) says the zircon catalogue."
)


def test_an_empty_library_offers_the_guide_and_then_questions(open_page: OpenPage) -> None:
    app = open_page()
    assert app.title[0].value == "Ask your documents"
    app.button(key="add_guide").click().run()
    settle(app, lambda app: any(one.key == "example_0" for one in app.button) and "is ready" in texts(app))
    answered(app.button(key="example_0").click().run())
    assert "[1]" in answer_texts(app)[0]
    assert "is ready" not in texts(app)
    assert app.query_params["c"]


def test_a_question_to_an_empty_library_is_told_what_is_missing(open_page: OpenPage) -> None:
    app = ask(open_page(), LENGTH)
    assert "There are no documents to ask yet" in texts(app)
    assert "Rephrase the question" not in texts(app)


def test_an_answer_that_comes_while_the_page_is_drawn_is_shown(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(engine, bridge=BRIDGE)
    running = Answers.running

    def when_done(answers: Answers, conversation_id: str) -> Run | None:
        for thread in answers._threads:
            thread.join()
        return running(answers, conversation_id)

    monkeypatch.setattr(Answers, "running", when_done)
    app = ask(open_page(), LENGTH)
    assert "412 metres" in answer_texts(app)[0]
    assert "This question has no answer yet." not in texts(app)


def test_document_names_are_chosen_from_as_they_are_written(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "_a_ *b* [c].pdf", BRIDGE)
    assert open_page().multiselect[0].options == ["_a_ *b* [c].pdf"]


def test_the_date_asked_for_leads_in_bold_with_its_source(open_page: OpenPage, engine: Engine) -> None:
    add(engine, tower=make_pdf("The Quivertree tower was opened to visitors by the queen on 3 May 1931."))
    answer = shown(ask(open_page(), "When was the Quivertree tower opened to visitors?"))[0]
    bold, _, source = answer["blocks"][0]["c"]
    assert (bold["t"], plain_text([bold]), source) == ("b", "3 May 1931", {"t": "cite", "n": 1})


def test_an_answer_is_cited_and_its_passages_are_listed(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = ask(open_page(), LENGTH)
    answer = shown(app)[0]
    assert "412 metres" in plain_text(answer["blocks"])
    assert answer["sources"]["1"] == "bridge.pdf, page 1"
    labels = [one.label for one in app.expander]
    assert any("bridge" in label and "answerable" in label and label.endswith("· cited") for label in labels)
    bars = [node for one in shown(app) for node in one["blocks"] if node["t"] == "scores"]
    assert {row["name"] for row in bars[0]["rows"]} >= {"rerank", "dense", "bm25"}
    assert all(0 <= row["share"] <= 1 for bar in bars for row in bar["rows"])


def test_what_is_copied_says_what_is_shown_and_exported(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), "When was the Harrow Bridge opened?")
    answer = shown(app)[0]
    short, sentence, sources = answer["copy"].split("\n\n")
    assert (short, sentence) == ("1931", "The Harrow Bridge was opened in 1931. [1]")
    assert sources.startswith("[1] bridge.pdf, page 1")
    assert plain_text(answer["blocks"]) == f"{short} [1]{sentence}"
    exported = engine.conversations.export_markdown(conversation_of(app)).replace("\\", "")
    assert f"**{short}**\n\n{sentence}\n" in exported


def test_a_passage_says_where_else_the_same_stands(open_page: OpenPage, engine: Engine) -> None:
    same = "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell."
    add(engine, bridge=make_pdf(same, title="First"), copy=make_pdf("Notes on the county of Ostmark.", same))
    app = ask(open_page(), LENGTH)
    said = [one.value for one in app.caption if "Also in" in one.value]
    assert len(said) == 1
    assert said[0].replace("\\", "") in ("Also in bridge.pdf p. 1", "Also in copy.pdf p. 2")
    assert sum("412" in text for text in answer_texts(app)[1:]) == 1


def test_nothing_is_lost_by_a_reload(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    identity = conversation_of(ask(open_page(), LENGTH))
    again = open_page(c=identity)
    assert LENGTH in texts(again)
    assert "412 metres" in answer_texts(again)[0]


def test_what_is_not_in_the_documents_is_refused_with_the_closest_passages(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), "Which enzyme repairs DNA in tardigrades?")
    assert answer_texts(app)[0] == REFUSAL
    assert "Closest passages" in texts(app)
    assert "needs 0." in texts(app)
    assert any("bridge" in one.label for one in app.expander)


def test_a_refusal_of_passages_that_pass_does_not_say_that_they_fail(open_page: OpenPage, engine: Engine) -> None:
    add(engine, pier=make_pdf("The Harrow Pier was designed by engineers of the county. Its lamps are lit at dusk."))
    engine.preferences.set_threshold(0.0)
    app = ask(open_page(), "How many engineers designed the Harrow Pier?")
    assert answer_texts(app)[0] == REFUSAL
    assert "closest sentences contain none" in app.warning[0].value
    assert "Closest passages" in texts(app)
    assert "needs" not in texts(app)


def test_a_refusal_says_what_speaks_against_all_that_was_found(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = ask(open_page(), "How many metres long is the bridge in Brooklyn over the river?")
    assert answer_texts(app)[0] == REFUSAL
    said = [one.value.replace("\\", "") for one in app.caption]
    assert sum("None of them matches the question: “Brooklyn” is nowhere in the document" in one for one in said) == 1


def test_a_source_opens_with_page_image_and_quote(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), LENGTH)
    next(one for one in app.button if one.label == "Open source").click().run()
    assert not app.exception
    page = shown(app, "footnote_pageview")[0]
    assert page["src"].startswith("data:image/png;base64,")
    assert "412 metres" in app.code[0].value
    assert "1 of 2" in texts(app)


def test_a_source_is_closed_by_leaving_its_conversation(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), LENGTH)
    identity = conversation_of(app)
    next(one for one in app.button if one.label == "Open source").click().run()
    app.button(key="new_chat").click().run()
    app.button(key=f"open_{identity}").click().run()
    assert "412 metres" in answer_texts(app)[0]
    assert not shown(app, "footnote_pageview")


def test_a_source_that_was_deleted_shows_the_stored_text(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    identity = conversation_of(ask(open_page(), LENGTH))
    engine.documents.delete([ids["bridge"]])
    app = open_page(c=identity)
    next(one for one in app.button if one.label == "Open source").click().run()
    assert "no longer in the library" in texts(app)
    assert "412 metres" in app.code[0].value
    assert not shown(app, "footnote_pageview")


def test_scope_is_stored_and_holds(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    ask(app, LENGTH)
    identity = conversation_of(app)
    conversation = engine.conversations.get(identity)
    messages = engine.conversations.messages(identity)
    assert conversation.scope.documents == (ids["canal"],)
    answer = messages[-1].answer
    assert answer is not None
    assert {one.document for one in answer.passages} == {"canal.pdf"}
    assert open_page(c=identity).multiselect[0].value == [ids["canal"]]


def test_a_conversation_over_a_collection_asks_what_it_holds_by_then(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "canal.pdf", CANAL, collection="Works")
    bridge = add(engine, bridge=BRIDGE)["bridge"]
    app = open_page()
    assert app.multiselect[0].options[0] == "Collection Works (1)"
    app.multiselect[0].select("collection:Works").run()
    ask(app, LENGTH)
    identity = conversation_of(app)
    assert engine.conversations.get(identity).scope == Scope(collections=("Works",))
    assert "412 metres" not in "\n".join(answer_texts(app))
    engine.collections.move_documents([bridge], "Works")
    assert "412 metres" in "\n".join(answer_texts(ask(open_page(c=identity), LENGTH)))


def test_a_collection_that_is_gone_is_told(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    identity = engine.conversations.create(Scope(collections=("Works",))).conversation_id
    app = open_page(c=identity)
    assert "1 collection this conversation was limited to contains no documents. It now searches all" in texts(app)
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]


def test_a_scope_whose_documents_are_gone_says_so(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    identity = engine.conversations.create(Scope((ids["canal"],))).conversation_id
    engine.documents.delete([ids["canal"]])
    app = open_page(c=identity)
    assert "It now searches all documents." in texts(app)
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]


def test_files_dropped_with_a_question_are_indexed_before_it_is_answered(open_page: OpenPage) -> None:
    app = open_page()
    answered(app.chat_input[0].set_value(LENGTH).upload("bridge.pdf", BRIDGE, "application/pdf").run())
    assert not app.exception
    assert "412 metres" in answer_texts(app)[0]


@pytest.mark.parametrize("question", ["When was the Lindow Canal dug?", ""])
def test_a_file_dropped_on_chosen_documents_is_one_of_them(open_page: OpenPage, engine: Engine, question: str) -> None:
    ids = add(engine, canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    app.chat_input[0].set_value(question).upload("bridge.pdf", BRIDGE, "application/pdf").run()
    assert "deleted" not in texts(app)
    settle(app, lambda app: not engine.jobs.list(active=True))
    ids = {one.name: one.document_id for one in engine.documents.list()}
    assert answered(app).multiselect[0].value == [ids["canal.pdf"], ids["bridge.pdf"]]
    assert "412 metres" in answer_texts(ask(app, LENGTH))[-len(engine.documents.list()) - 1]


def test_a_question_waits_for_a_file_whose_name_is_taken(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=make_pdf("The Tell bridge was never built."), canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    app.chat_input[0].set_value(LENGTH).upload("bridge.pdf", BRIDGE, "application/pdf").run()
    assert "c" not in app.query_params
    assert app.chat_input[0].proto.value == LENGTH
    assert "name of an attached file is taken" in app.toast[0].value
    app.button(key="clash_keep_0").click().run()
    settle(app, lambda app: "is ready" in texts(app))
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]
    assert len(app.multiselect[0].value) == 2


def test_a_dropped_file_that_is_no_pdf_is_told_in_the_conversation(open_page: OpenPage) -> None:
    app = open_page()
    app.chat_input[0].upload("notes.pdf", b"These are only notes.", "application/pdf").run()
    settle(app, lambda app: "notes" in texts(app) and "Not added" in texts(app))


@pytest.mark.parametrize(
    "shown_as", ["$5|litre", "<img src=x onerror=alert(1)>", "`rm`", "![x](http://evil.example/a.png)"]
)
def test_text_of_a_document_is_shown_as_written(open_page: OpenPage, engine: Engine, shown_as: str) -> None:
    add(engine, hostile=HOSTILE)
    app = ask(open_page(), "What is the price of zircon paint?")
    assert any(shown_as in text for text in answer_texts(app))
    assert shown_as not in texts(app)
    assert not app.get("html")


def test_the_last_answer_can_be_replaced(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), "What are the maintenance costs?")
    identity = conversation_of(app)
    engine.preferences.set_threshold(1.0)
    answered(next(one for one in app.button if one.label == "Ask again").click().run())
    messages = engine.conversations.messages(identity)
    assert [one.role for one in messages] == ["user", "assistant"]
    answer = messages[-1].answer
    assert answer is not None
    assert answer.state is AnswerState.ABSTAINED


def button(app: AppTest, prefix: str) -> Any:
    return next(one for one in app.button if str(one.key).startswith(prefix))


def field(app: AppTest, prefix: str) -> Any:
    return next(one for one in app.text_area if str(one.key).startswith(prefix))


def test_a_follow_up_tells_what_was_searched_for_and_can_be_corrected(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = ask(ask(open_page(), LENGTH), "When was it opened?")
    assert "Searched for: When was the Harrow Bridge opened\\?" in texts(app)
    field(app, "search_").set_value("When was the Lindow Canal dug?")
    answered(next(one for one in app.button if str(one.key).startswith("search_") and one.label == "Ask").click().run())
    assert not app.exception
    messages = engine.conversations.messages(conversation_of(app))
    assert [one.text for one in messages if one.role == "user"] == [LENGTH, "When was it opened?"]
    answer = messages[-1].answer
    assert answer is not None
    assert (answer.question, answer.rewritten) == ("When was it opened?", "When was the Lindow Canal dug?")
    assert "1803" in answer.text


def test_the_last_question_can_be_edited_and_asked_again(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = ask(ask(open_page(), "Who pays for the Harrow Bridge?"), LENGTH)
    field(app, "edit_").set_value("When was the Lindow Canal dug?")
    answered(next(one for one in app.button if str(one.key).startswith("edit_") and one.label == "Ask").click().run())
    messages = engine.conversations.messages(conversation_of(app))
    asked = [one.text for one in messages if one.role == "user"]
    assert asked == ["Who pays for the Harrow Bridge?", "When was the Lindow Canal dug?"]
    assert "1803" in messages[-1].text


def test_questions_to_go_on_with_are_answered_by_the_documents(open_page: OpenPage, engine: Engine) -> None:
    tower = "The Vardo tower is 88 metres tall. Lena Holm drew it. Lena Holm lived in Bergen until 1920."
    add(engine, tower=make_pdf(tower))
    app = ask(open_page(), "How tall is the Vardo tower?")
    settle(app, lambda app: any(str(one.key).startswith("follow_up_") for one in app.button))
    answered(button(app, "follow_up_").click().run())
    messages = engine.conversations.messages(conversation_of(app))
    assert messages[-2].text == "Who or what is Lena Holm?"
    assert messages[-1].answer is not None
    assert messages[-1].answer.state is AnswerState.ANSWERED


def test_a_question_without_an_answer_can_be_tried_again(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    identity = engine.conversations.create().conversation_id
    engine.conversations.add_message(identity, "user", LENGTH)
    app = open_page(c=identity)
    assert "no answer yet" in texts(app)
    answered(app.button(key="try_again").click().run())
    assert "412 metres" in answer_texts(app)[0]


def test_conversations_are_listed_opened_renamed_pinned_and_deleted(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), LENGTH)
    first = conversation_of(app)
    app.button(key="new_chat").click().run()
    assert "c" not in app.query_params
    ask(app, "Who pays for the bridge?")
    app.button(key=f"open_{first}").click().run()
    assert conversation_of(app) == first
    app.get("menu_button")[-1].set_value("Pin").run()
    assert any(one.pinned for one in engine.conversations.list())
    menu = next(one for one in app.get("menu_button") if one.key == f"menu_{first}")
    menu.set_value("Delete").run()
    app.button(key="confirm_delete_conversation").click().run()
    assert [one.conversation_id for one in engine.conversations.list()] != [first]
    assert len(engine.conversations.list()) == 1
    menu = app.get("menu_button")[0]
    menu.set_value("Rename").run()
    app.text_input(key="new_title").set_value("Who pays")
    app.button(key="confirm_rename").click().run()
    assert engine.conversations.list()[0].title == "Who pays"


def test_a_conversation_that_cannot_be_pinned_says_why(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(conversation_id: str, pinned: bool) -> None:
        raise StoreUnavailable("The database is locked.")

    app = ask(open_page(), LENGTH)
    monkeypatch.setattr(engine.conversations, "set_pinned", failing)
    app.get("menu_button")[0].set_value("Pin").run()
    assert "The database is locked" in app.error[0].value


def test_search_finds_conversations_by_their_text(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = ask(open_page(), LENGTH)
    app.text_input(key="conversation_search").set_value("412 metres").run()
    assert any(str(one.key).startswith("open_") for one in app.button)
    app.text_input(key="conversation_search").set_value("zebra").run()
    assert not any(str(one.key).startswith("open_") for one in app.button)
    assert "No conversation contains these words." in texts(app)


def test_an_address_of_a_deleted_conversation_opens_a_new_one(open_page: OpenPage) -> None:
    app = open_page(c="gone")
    assert "no longer stored" in texts(app)
    assert "c" not in app.query_params


def test_a_wrong_setting_is_told_plainly(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "0")
    app = open_page()
    assert "RAG" in app.error[0].value
    assert not app.chat_input
