"""The Chat page: questions, answers, sources, files and conversations."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared import keys
from pages.shared.answers import Answers
from pages.shared.runs import Run
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.types.answers import REFUSAL, AnswerState
from rag_core.types.conversations import Scope
from tests.support.app import (
    BRIDGE,
    CANAL,
    LENGTH,
    PAGES,
    OpenPage,
    add,
    answer_texts,
    answered,
    ask,
    click,
    conversation_of,
    navigate,
    plain_text,
    settle,
    shown,
    texts,
)
from tests.support.engines import add_document, raising
from tests.support.pdfs import make_pdf

DUG = "When was the Lindow Canal dug?"
HOSTILE = make_pdf(
    "The price of zircon paint is $5|litre <img src=x onerror=alert(1)> `rm` ![x](http://evil.example/a.png) "
    "and [more](http://evil.example) says the zircon catalogue."
)


def by_key(elements: Iterable[Any], prefix: str) -> Any:
    return next(element for element in elements if str(element.key).startswith(prefix))


def open_conversations(app: AppTest) -> list[Any]:
    return [button for button in app.button if str(button.key).startswith("open_")]


def test_question_in_a_folder_without_write_access_is_answered_and_not_kept(
    open_page: OpenPage, prepared: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(prepared["bridge"], tmp_path / "data")
    # The tests may run as root, to whom every folder is writable.
    monkeypatch.setattr(os, "access", lambda *_: False)
    app = open_page()
    ask(app, LENGTH)
    ask(app, "When was it opened?")
    assert "412 metres" in answer_texts(app)[0]
    assert len(open_conversations(app)) == 1
    assert "conversations end when Footnote stops" in texts(app)
    st.cache_resource.clear()
    assert open_conversations(open_page()) == []


def test_empty_library_offers_the_guide_and_its_questions(open_page: OpenPage) -> None:
    app = open_page()
    assert app.title[0].value == "Ask your documents"
    app.button(key="add_guide").click().run()
    settle(app, lambda app: any(str(button.key).startswith("ask_") for button in app.button))
    answered(by_key(app.button, "ask_").click().run())
    assert answer_texts(app)[0].startswith("These passages may answer your question.")
    assert "is ready" not in texts(app)
    assert app.query_params["c"]


def test_question_to_empty_library_is_explained(open_page: OpenPage) -> None:
    app = ask(open_page(), LENGTH)
    assert answer_texts(app)[0].startswith("There are no documents to search")
    assert "Drop documents on the input field below" in texts(app)
    assert "Rephrase the question" not in texts(app)


def test_answer_that_ends_during_a_rerun_is_shown(
    open_page: OpenPage, bridge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Answers.running

    def wait_and_get(answers: Answers, conversation_id: str) -> Run | None:
        for thread in answers._threads:
            thread.join()
        return running(answers, conversation_id)

    monkeypatch.setattr(Answers, "running", wait_and_get)
    app = ask(open_page(), LENGTH)
    assert "412 metres" in answer_texts(app)[0]
    assert "This question has no answer yet." not in texts(app)


def test_document_names_are_shown_literally(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "_a_ *b* [c].pdf", BRIDGE)
    assert open_page().multiselect[0].options == ["_a_ *b* [c].pdf"]


def test_excerpt_is_a_quote_with_marked_words_below_its_source(open_page: OpenPage, engine: Engine) -> None:
    add(engine, tower=make_pdf("The Quivertree tower was opened to visitors by the queen on 3 May 1931."))
    answer = shown(ask(open_page(), "When was the Quivertree tower opened to visitors?"))[0]
    introduction, source, quote = answer["blocks"]
    assert plain_text([introduction]) == "These passages may answer your question."
    assert (source["t"], source["c"][-1]) == ("caption", {"t": "cite", "n": 1})
    assert plain_text([source]).startswith("tower.pdf · page 1")
    assert quote["t"] == "quote"
    assert "1931" in "".join(node["s"] for node in quote["c"][0]["c"] if node["t"] == "mark")


def test_answer_has_citations_and_a_list_of_passages_and_survives_a_reload(
    open_page: OpenPage, ids: dict[str, str]
) -> None:
    app = ask(open_page(), LENGTH)
    answer = shown(app)[0]
    assert "412 metres" in plain_text(answer["blocks"])
    assert answer["sources"]["1"] == "bridge.pdf, page 1"
    labels = [expander.label for expander in app.expander]
    assert "\\[1\\] bridge\\.pdf · p. 1 · cited" in labels
    bars = [node for item in shown(app) for node in item["blocks"] if node["t"] == "scores"]
    assert {row["name"] for row in bars[0]["rows"]} >= {"rerank", "dense", "bm25"}
    assert all(0 <= row["share"] <= 1 for bar in bars for row in bar["rows"])
    reloaded = open_page(c=conversation_of(app))
    assert LENGTH in texts(reloaded)
    assert answer_texts(reloaded) == answer_texts(app)


def test_copied_text_equals_shown_and_exported_text(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = ask(open_page(), "When was the Harrow Bridge opened?")
    answer = shown(app)[0]
    introduction, sentence, *_, sources = answer["copy"].split("\n\n")
    assert introduction == "These passages may answer your question."
    assert sentence.startswith("The Harrow Bridge was opened in 1931.")
    assert "[1] bridge.pdf, page 1" in sources
    assert sentence.rpartition(" [")[0] in plain_text(answer["blocks"])
    exported = engine.conversations.export_markdown(conversation_of(app)).replace("\\", "")
    assert f"{introduction}\n\n{sentence}\n" in exported


def test_passage_lists_its_duplicates(open_page: OpenPage, engine: Engine) -> None:
    text = "The Harrow Bridge was opened in 1931. It is 412 metres long and carries the railway over the river Tell."
    add(engine, bridge=make_pdf(text, title="First"), copy=make_pdf("Notes on the county of Ostmark.", text))
    app = ask(open_page(), LENGTH)
    (caption,) = [caption.value for caption in app.caption if "Also in" in caption.value]
    assert caption.replace("\\", "") in ("Also in bridge.pdf p. 1", "Also in copy.pdf p. 2")
    assert sum("412" in text for text in answer_texts(app)[1:]) == 1


def test_off_topic_question_is_refused_with_closest_passages(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), "Which enzyme repairs DNA in tardigrades?")
    assert answer_texts(app)[0] == REFUSAL
    assert answer_texts(app)[1].startswith("Closest: bridge.pdf · p. ")
    assert any("bridge" in expander.label for expander in app.expander)


def test_refusal_links_the_closest_passages_when_the_score_reaches_the_threshold(
    open_page: OpenPage, engine: Engine
) -> None:
    add(engine, pier=make_pdf("Ticket 70 555 018 for the Harrow Pier was sold on 3 May. Its lamps are lit at dusk."))
    engine.preferences.set_threshold(0.0)
    app = ask(open_page(), "When was ticket 70 555 019 for the Harrow Pier sold?")
    # The passage has the number of another ticket, so it is not quoted.
    assert answer_texts(app)[0] == REFUSAL
    assert answer_texts(app)[1].startswith("Closest: pier.pdf · p. 1")


def test_refusal_gives_the_reason_against_all_passages(open_page: OpenPage, ids: dict[str, str]) -> None:
    app = ask(open_page(), "How many metres long is the bridge in Brooklyn over the river?")
    assert answer_texts(app)[0].startswith("Not stated. Closest passages: bridge.pdf, page 1")
    captions = "".join(caption.value for caption in app.caption).replace("\\", "")
    assert captions.count("In the closest passages, “Brooklyn” is nowhere in the document") == 1


def test_refusal_names_the_document_that_is_named_in_the_question(open_page: OpenPage, engine: Engine) -> None:
    lamps = "The lamps of the pier are lit at dusk. The lamps are trimmed by the keeper."
    for number in range(8):
        add(engine, **{f"pier{number}": make_pdf(f"{lamps} There are {number + 20} lamps.")})
    add(engine, Zanzibar=make_pdf("Cloves are dried on mats in the sun before they are packed in sacks."))
    conversation_id = engine.conversations.create().conversation_id
    piers = [document.document_id for document in engine.documents.list() if document.name != "Zanzibar.pdf"]
    engine.conversations.set_scope(conversation_id, Scope(tuple(piers)))
    app = ask(open_page(c=conversation_id), "Which enzyme in the lamps of Zanzibar repairs DNA?")
    captions = "".join(caption.value for caption in app.caption).replace("\\", "")
    assert "Zanzibar.pdf is named after “Zanzibar”. Choose that document beside the input and ask again." in captions


def test_summary_of_a_topic_without_a_model_says_what_is_needed(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), "Give me an overview of the main points of the treaty")
    assert answer_texts(app)[0].startswith(
        "A summary of what documents say about a topic needs a language model, and none is set."
    )


def test_summary_of_a_document_quotes_its_sentences(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), "Summarise this document")
    assert answer_texts(app)[0].startswith("bridge.pdf (2 pages)")
    assert "Maintenance of the Harrow Bridge costs 2.4 million crowns a year" in answer_texts(app)[0]


def copied_quote(app: AppTest) -> str:
    """Return the text that the open source offers to copy."""
    (quote,) = (one["copy"] for one in shown(app) if one["copyLabel"].startswith("Copy the quote"))
    return str(quote)


def test_source_opens_with_page_image_and_quote_also_by_its_address(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    click(app, "Open source")
    for source in (app, open_page(c=conversation_of(app), source=app.query_params["source"])):
        page = shown(source, "footnote_pageview")[0]
        assert page["src"].startswith("data:image/png;base64,")
        assert "412 metres" in copied_quote(source)
        assert copied_quote(source).endswith("(bridge.pdf, p. 1)")
        assert "1 of 2" in texts(source)


def test_source_is_searched_and_its_document_is_asked_alone(open_page: OpenPage, ids: dict[str, str]) -> None:
    app = ask(open_page(), LENGTH)
    click(app, "Open source")
    app.text_input(key="source_search").input("county  of\nOSTMARK").run()
    assert "Found: match 1 of 1 page" in texts(app)
    assert "p. 2 of 2" in texts(app)
    app.text_input(key="source_search").input("unicorn").run()
    assert "Not found in this document." in texts(app)
    click(app, "Ask this document")
    assert not app.exception
    assert app.multiselect[0].value == [ids["bridge"]]


def test_source_is_closed_when_the_conversation_is_left(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    conversation_id = conversation_of(app)
    click(app, "Open source")
    app.button(key="new_chat").click().run()
    app.button(key=f"open_{conversation_id}").click().run()
    assert "412 metres" in answer_texts(app)[0]
    assert not shown(app, "footnote_pageview")


def test_source_is_closed_when_the_address_changes_to_a_new_chat(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    click(app, "Open source")
    navigate(app)
    assert not answer_texts(app)
    assert not shown(app, "footnote_pageview")
    assert "source" not in app.query_params


def test_address_of_another_conversation_decides_which_source_is_open(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    conversation_id = conversation_of(app)
    click(app, "Open source")
    source = app.query_params["source"]
    app.button(key="new_chat").click().run()
    assert not shown(app, "footnote_pageview")
    navigate(app, c=conversation_id, source=source)
    assert shown(app, "footnote_pageview")


def test_choice_in_the_sidebar_stands_if_a_run_has_an_outdated_address(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    conversation_id = conversation_of(app)
    app.button(key="new_chat").click().run()
    app.query_params["c"] = conversation_id
    app.run()
    assert not answer_texts(app)
    assert "c" not in app.query_params
    app.button(key=f"open_{conversation_id}").click().run()
    del app.query_params["c"]
    app.run()
    assert answer_texts(app)
    assert conversation_of(app) == conversation_id


def test_going_back_to_a_new_chat_from_another_page_opens_it(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    conversation_id = conversation_of(app)
    app.switch_page(PAGES["documents"]).run()
    navigate(app.switch_page(PAGES["chat"]))
    assert not answer_texts(app)
    assert "c" not in app.query_params
    app.switch_page(PAGES["documents"]).run()
    assert answer_texts(navigate(app.switch_page(PAGES["chat"]), c=conversation_id))
    app.switch_page(PAGES["documents"]).run()
    assert answer_texts(app.switch_page(PAGES["chat"]).run())


def test_editor_stays_open_if_a_run_has_an_outdated_address(open_page: OpenPage, bridge: str) -> None:
    app = click(ask(open_page(), LENGTH), "Edit question")
    app.query_params.clear()
    app.run()
    assert by_key(app.text_area, "edit_").value == LENGTH


def test_source_stays_open_or_closed_if_a_run_has_an_outdated_address(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    click(app, "Open source")
    source = app.query_params["source"]
    del app.query_params["source"]
    app.run()
    assert shown(app, "footnote_pageview")
    assert app.query_params["source"] == source
    app.button(key="source_close").click().run()
    app.query_params["source"] = source
    app.run()
    assert not shown(app, "footnote_pageview")
    assert "source" not in app.query_params
    click(app, "Open source")
    assert shown(app, "footnote_pageview")


def test_source_of_deleted_document_shows_the_stored_text(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    conversation_id = conversation_of(ask(open_page(), LENGTH))
    engine.documents.delete([bridge])
    app = open_page(c=conversation_id)
    click(app, "Open source")
    assert "no longer in the library" in texts(app)
    assert "412 metres" in copied_quote(app)
    assert not shown(app, "footnote_pageview")


def test_scope_is_stored_and_applied(open_page: OpenPage, engine: Engine, ids: dict[str, str]) -> None:
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    ask(app, LENGTH)
    conversation_id = conversation_of(app)
    conversation = engine.conversations.get(conversation_id)
    messages = engine.conversations.messages(conversation_id)
    assert conversation.scope.documents == (ids["canal"],)
    answer = messages[-1].answer
    assert answer is not None
    assert {passage.document for passage in answer.passages} == {"canal.pdf"}
    assert open_page(c=conversation_id).multiselect[0].value == [ids["canal"]]


def test_scope_of_collection_includes_later_documents(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "canal.pdf", CANAL, collection="Works")
    bridge = add(engine, bridge=BRIDGE)["bridge"]
    app = open_page()
    assert app.multiselect[0].options[0] == "Collection Works (1)"
    app.multiselect[0].select("collection:Works").run()
    ask(app, LENGTH)
    conversation_id = conversation_of(app)
    assert engine.conversations.get(conversation_id).scope == Scope(collections=("Works",))
    assert "412 metres" not in "\n".join(answer_texts(app))
    engine.collections.move_documents([bridge], "Works")
    assert "412 metres" in "\n".join(answer_texts(ask(open_page(c=conversation_id), LENGTH)))


@pytest.mark.parametrize(
    ("collections", "notice"),
    [
        (("Works",), "1 collection this conversation was limited to contains no documents. It now searches all"),
        ((), "It now searches all documents."),
    ],
)
def test_scope_without_documents_falls_back_to_all_documents(
    open_page: OpenPage, engine: Engine, ids: dict[str, str], collections: tuple[str, ...], notice: str
) -> None:
    scope = Scope(collections=collections) if collections else Scope((ids["canal"],))
    conversation_id = engine.conversations.create(scope).conversation_id
    engine.documents.delete([ids["canal"]])
    app = open_page(c=conversation_id)
    assert notice in texts(app)
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]


def test_dropped_files_are_indexed_before_the_answer(open_page: OpenPage) -> None:
    app = open_page()
    answered(app.chat_input[0].set_value(LENGTH).upload("bridge.pdf", BRIDGE, "application/pdf").run())
    assert not app.exception
    assert "412 metres" in answer_texts(app)[0]


@pytest.mark.parametrize("question", [DUG, ""])
def test_dropped_file_is_added_to_the_chosen_documents(open_page: OpenPage, engine: Engine, question: str) -> None:
    ids = add(engine, canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    app.chat_input[0].set_value(question).upload("bridge.pdf", BRIDGE, "application/pdf").run()
    assert "deleted" not in texts(app)
    settle(app, lambda app: not engine.jobs.list(active=True))
    ids = {document.name: document.document_id for document in engine.documents.list()}
    assert answered(app).multiselect[0].value == [ids["canal.pdf"], ids["bridge.pdf"]]
    assert "412 metres" in answer_texts(ask(app, LENGTH))[-len(engine.documents.list()) - 1]


def test_question_waits_for_a_name_clash(open_page: OpenPage, engine: Engine) -> None:
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


def test_dropped_file_that_is_no_pdf_is_reported(open_page: OpenPage) -> None:
    app = open_page()
    app.chat_input[0].upload("notes.pdf", b"These are only notes.", "application/pdf").run()
    settle(app, lambda app: "notes" in texts(app) and "Not added" in texts(app))


def test_document_text_is_shown_literally(open_page: OpenPage, engine: Engine) -> None:
    add(engine, hostile=HOSTILE)
    app = ask(open_page(), "What is the price of zircon paint?")
    for shown_as in ("$5|litre", "<img src=x onerror=alert(1)>", "`rm`", "![x](http://evil.example/a.png)"):
        assert any(shown_as in text for text in answer_texts(app)), shown_as
        assert shown_as not in texts(app)
    # The only HTML is the style sheet of the app.
    assert [element.proto.body.startswith("<style>") for element in app.get("html")] == [True]


def test_last_answer_can_be_replaced(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = ask(open_page(), "What are the maintenance costs?")
    conversation_id = conversation_of(app)
    engine.preferences.set_threshold(1.0)
    answered(click(app, "Ask again"))
    messages = engine.conversations.messages(conversation_id)
    assert [message.role for message in messages] == ["user", "assistant"]
    answer = messages[-1].answer
    assert answer is not None
    assert answer.state is AnswerState.ABSTAINED


def test_completed_follow_up_is_shown_and_can_be_corrected(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = ask(ask(open_page(), LENGTH), "When was it opened?")
    assert "Searched for: When was it opened" in texts(app)
    click(app, "Edit search")
    by_key(app.text_area, "search_").set_value(DUG)
    answered(click(app, "Ask", "search_"))
    assert not app.exception
    messages = engine.conversations.messages(conversation_of(app))
    assert [message.text for message in messages if message.role == "user"] == [LENGTH, "When was it opened?"]
    answer = messages[-1].answer
    assert answer is not None
    assert (answer.question, answer.rewritten) == ("When was it opened?", DUG)
    assert "1803" in answer.text


def test_last_question_can_be_edited(open_page: OpenPage, engine: Engine, ids: dict[str, str]) -> None:
    app = ask(ask(open_page(), "Who pays for the Harrow Bridge?"), LENGTH)
    click(app, "Edit question")
    by_key(app.text_area, "edit_").set_value(DUG)
    answered(click(app, "Ask", "edit_"))
    messages = engine.conversations.messages(conversation_of(app))
    questions = [message.text for message in messages if message.role == "user"]
    assert questions == ["Who pays for the Harrow Bridge?", DUG]
    assert "1803" in messages[-1].text


def test_question_without_answer_can_be_retried(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    conversation_id = engine.conversations.create().conversation_id
    engine.conversations.add_message(conversation_id, "user", LENGTH)
    app = open_page(c=conversation_id)
    assert "no answer yet" in texts(app)
    answered(app.button(key="try_again").click().run())
    assert "412 metres" in answer_texts(app)[0]


def test_conversations_can_be_opened_renamed_pinned_and_deleted(
    open_page: OpenPage, engine: Engine, bridge: str
) -> None:
    app = ask(open_page(), LENGTH)
    first = conversation_of(app)
    app.button(key="new_chat").click().run()
    assert "c" not in app.query_params
    ask(app, "Who pays for the bridge?")
    app.button(key=f"open_{first}").click().run()
    assert conversation_of(app) == first
    app.get("menu_button")[-1].set_value("Pin").run()
    assert any(conversation.pinned for conversation in engine.conversations.list())
    menu = next(menu for menu in app.get("menu_button") if menu.key == f"menu_{first}")
    menu.set_value("Delete").run()
    app.button(key="confirm_delete_conversation").click().run()
    (second,) = engine.conversations.list()
    assert second.conversation_id != first
    app.get("menu_button")[0].set_value("Rename").run()
    app.text_input(key="new_title").set_value("Who pays")
    app.button(key="confirm_rename").click().run()
    assert engine.conversations.list()[0].title == "Who pays"


def test_conversations_are_tagged_and_filtered(open_page: OpenPage, engine: Engine) -> None:
    for title in ("Harrow Bridge", "Lindow Canal"):
        engine.conversations.rename(engine.conversations.create().conversation_id, title)
    app = open_page("documents")
    app.get("menu_button")[0].set_value("Tag").run()
    app.multiselect(key="new_tags").set_value([" Water ways ", "Audit"])
    app.button(key="confirm_tags").click().run()
    assert engine.conversations.list()[0].tags == ("Water ways", "Audit")
    app.button_group(key="conversation_tag").set_value("Audit").run()
    assert [one.label for one in open_conversations(app)] == ["Lindow Canal"]


def test_conversation_is_exported_from_the_sidebar(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    app.switch_page(PAGES["lab"]).run()
    app.get("menu_button")[0].set_value("Export").run()
    labels = [one.proto.label for one in app.get("download_button")]
    assert labels == ["Markdown", "PDF", "Word (DOCX)"]


def test_failure_to_pin_is_reported(open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.conversations.create()
    app = open_page()
    monkeypatch.setattr(engine.conversations, "set_pinned", raising(StoreUnavailable("The database is locked.")))
    app.get("menu_button")[0].set_value("Pin").run()
    assert "The database is locked" in app.error[0].value


def test_search_finds_conversations_by_their_text(open_page: OpenPage, bridge: str) -> None:
    app = ask(open_page(), LENGTH)
    app.text_input(key="conversation_search").set_value("412 metres").run()
    assert open_conversations(app)
    assert any("It is 412 metres long and carries" in one.value.replace("\\", "") for one in app.sidebar.caption)
    app.text_input(key="conversation_search").set_value("zebra").run()
    assert not open_conversations(app)
    assert "No conversation contains these words." in texts(app)


def test_address_of_deleted_conversation_opens_a_new_one(open_page: OpenPage) -> None:
    app = open_page(c="gone")
    assert "no longer stored" in texts(app)
    assert "c" not in app.query_params


def test_invalid_setting_is_reported(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOP_K", "0")
    app = open_page()
    assert "RAG" in app.error[0].value
    assert not app.chat_input


@pytest.mark.parametrize("page", ["documents", "evaluate", "lab", "admin"])
def test_every_page_lists_the_conversations(open_page: OpenPage, engine: Engine, page: str) -> None:
    kept, other = (engine.conversations.create().conversation_id for _ in range(2))
    for identity, title in ((kept, "Harrow Bridge"), (other, "Lindow Canal")):
        engine.conversations.rename(identity, title)
    engine.conversations.set_pinned(kept, True)
    app = open_page(page)
    assert [button.label for button in app.sidebar.button] == ["New chat", "Harrow Bridge", "Lindow Canal"]
    assert "Pinned" in texts(app)
    app.text_input(key="conversation_search").set_value("canal").run()
    assert [button.label for button in app.sidebar.button] == ["New chat", "Lindow Canal"]
    app.button(key=f"open_{other}").click().run()
    assert not app.exception
    assert app.chat_input
    assert conversation_of(app) == other
    app.switch_page(PAGES[page]).run()
    app.button(key="new_chat").click().run()
    assert app.chat_input
    assert "c" not in app.query_params


def test_error_of_a_conversation_is_shown_on_the_page_where_it_happens(open_page: OpenPage, engine: Engine) -> None:
    identity = engine.conversations.create().conversation_id
    app = open_page("lab")
    app.session_state[keys.MENU] = ("Rename", engine.conversations.get(identity))
    app.run()
    engine.conversations.delete(identity)
    app.text_input(key="new_title").set_value("Another title")
    app.button(key="confirm_rename").click().run()
    assert "no longer stored" in app.error[0].value
