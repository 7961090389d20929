"""The Documents page: uploads, the table, details, deletion and collections."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.shared.jobs import _list_states
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.types.documents import DocumentStatus
from rag_core.types.jobs import Job
from rag_core.types.page_links import build_page_link
from tests.support.app import BRIDGE, CANAL, OpenPage, add, rows, settle, shown, texts
from tests.support.engines import EmbeddingBarrier, add_document, idle, raising, read_by_older_parser
from tests.support.pdfs import make_pdf


def tick(app: AppTest, *names: str) -> AppTest:
    """Tick the rows of documents."""
    table = app.dataframe[0]
    chosen = [row for row, name in enumerate(table.value["Name"]) if name in names]
    app.session_state[table.proto.id.rpartition("-")[2]] = {"selection": {"rows": chosen, "columns": [], "cells": []}}
    return app.run()


def choose_action(app: AppTest, action: str) -> AppTest:
    """Choose an action of the menu of the open document."""
    return next(menu for menu in app.get("menu_button") if menu.key == "document_menu").set_value(action).run()


def open_tab(app: AppTest, name: str) -> AppTest:
    """Open a tab of the preview of a document."""
    app.session_state["preview_tab"] = name
    return app.run()


def test_empty_library_is_explained(open_page: OpenPage) -> None:
    app = open_page("documents")
    assert "The library is empty" in texts(app)
    assert not app.dataframe


def test_upload_is_indexed_once_and_removed_from_the_uploader(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app) == {"bridge.pdf": "Ready"})
    app.run()
    assert len(engine.jobs.list()) == 1
    assert app.file_uploader[0].value == []
    assert "is ready" in texts(app)


@pytest.mark.parametrize("limit", [300, 2])
def test_upload_limit_follows_the_setting(open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setenv("RAG_MAX_FILE_MB", str(limit))
    app = open_page("documents")
    assert app.file_uploader[0].proto.max_upload_size_mb == limit
    assert config.get_option("server.maxUploadSize") == limit


@pytest.fixture
def blocked_job(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> tuple[EmbeddingBarrier, Job]:
    """Submit the bridge document; block the job with its text stored and its vectors missing."""
    barrier = EmbeddingBarrier(monkeypatch)
    barrier.block()
    job = engine.documents.submit("bridge.pdf", BRIDGE)
    barrier.wait_until_reached()
    return barrier, job


def test_document_is_found_by_words_before_it_is_ready(
    open_page: OpenPage, engine: Engine, blocked_job: tuple[EmbeddingBarrier, Job]
) -> None:
    barrier, job = blocked_job
    app = open_page("documents")
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["Status"], row["Pages"]) == ("Searchable by words", 2)
    assert engine.search("bridge").passages
    (embedding,) = engine.jobs.list(active=True)
    # The page is rerun when a job reaches this stage, not only when it ends.
    assert _list_states([embedding]) != _list_states([replace(embedding, stage="reading")])
    barrier.release()
    engine.jobs.wait([job.job_id])
    settle(app, lambda app: rows(app) == {"bridge.pdf": "Ready"})


def test_cancelling_a_removed_job_is_harmless(
    open_page: OpenPage, engine: Engine, blocked_job: tuple[EmbeddingBarrier, Job]
) -> None:
    barrier, job = blocked_job
    app = open_page("documents")
    barrier.release()
    engine.jobs.wait([job.job_id])
    engine._stores.jobs.remove_ended(0)
    app.button(key=f"cancel_{job.job_id}").click().run()
    assert not app.exception
    assert rows(app) == {"bridge.pdf": "Ready"}


def test_deletion_is_confirmed_and_shows_a_receipt(open_page: OpenPage, engine: Engine, ids: dict[str, str]) -> None:
    app = tick(open_page("documents"), "bridge.pdf")
    app.button(key="delete_selected").click().run()
    assert "bridge.pdf" in texts(app)
    assert len(engine.documents.list()) == 2
    app.button(key="confirm_delete").click().run()
    assert [document.name for document in engine.documents.list()] == ["canal.pdf"]
    assert "0 remaining" in texts(app)
    assert list(rows(app)) == ["canal.pdf"]


def test_document_deleted_elsewhere_does_not_block_deletion(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = tick(open_page("documents"), "bridge.pdf", "canal.pdf")
    app.button(key="delete_selected").click().run()
    engine.documents.delete([engine.documents.list()[0].document_id])
    app.button(key="confirm_delete").click().run()
    assert engine.documents.list() == []
    assert "Deleted 1 document: " in texts(app)


def test_deletions_before_a_store_failure_are_reported(
    open_page: OpenPage, engine: Engine, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tick(open_page("documents"), "bridge.pdf", "canal.pdf")
    app.button(key="delete_selected").click().run()
    second = engine.documents.list()[1].document_id
    remove = engine._removal.remove_document
    fail = raising(StoreUnavailable("The vectors do not answer."))
    monkeypatch.setattr(engine._removal, "remove_document", lambda key: (fail if key == second else remove)(key))
    app.button(key="confirm_delete").click().run()
    assert [document.document_id for document in engine.documents.list()] == [second]
    assert "Deleted 1 document: " in texts(app)
    assert "The vectors do not answer" in app.error[0].value


def test_identity_from_the_cover_page_is_shown(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, scan7=make_pdf(["TELL VALLEY RAILWAY", "Trains run hourly."]), bridge=BRIDGE)
    assert "Title on its first page: TELL VALLEY RAILWAY" in texts(open_page("documents", document=ids["scan7"]))
    assert "Title on its first page" not in texts(open_page("documents", document=ids["bridge"]))


def test_size_is_rounded_up_in_one_unit(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    add_document(engine, "notes.pdf", make_pdf("A note."))
    sizes = open_page("documents").dataframe[0].value.set_index("Name")["Size, kB"]
    assert sizes["notes.pdf"] == 2
    assert 1000 * (sizes["bridge.pdf"] - 1) < len(BRIDGE) <= 1000 * sizes["bridge.pdf"]


def test_selected_documents_can_be_reindexed(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = tick(open_page("documents"), "bridge.pdf")
    app.button(key="reindex_selected").click().run()
    job = engine.jobs.list()[0]
    assert job.kind == "reindex"
    assert engine.jobs.wait([job.job_id])[0].reason == ""
    assert engine.documents.get(bridge).status is DocumentStatus.INDEXED


def collect(app: AppTest, into: str) -> None:
    """Move the selected documents to an existing collection."""
    app.button(key="collect_selected").click().run()
    app.selectbox(key="collect_into").set_value(into)
    app.button(key="collect").click().run()


def test_selected_documents_can_be_moved_to_a_collection(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = tick(open_page("documents"), "bridge.pdf")
    assert "Collection" not in app.dataframe[0].proto.column_order
    app.button(key="collect_selected").click().run().button(key="collect").click().run()
    assert "needs a name" in app.error[0].value
    # AppTest accepts only listed names; new names can only be typed in a browser.
    engine.collections.move_documents([ids["canal"]], "Works")
    app = tick(open_page("documents"), "bridge.pdf")
    collections = dict(app.dataframe[0].value[["Name", "Collection"]].itertuples(index=False))
    assert collections == {"bridge.pdf": "No collection", "canal.pdf": "Works"}
    app.multiselect(key="document_filter_collection").set_value(["No collection"]).run()
    assert list(rows(app)) == ["bridge.pdf"]
    collect(tick(app, "bridge.pdf"), "Works")
    assert {document.collection for document in engine.documents.list()} == {"Works"}
    assert sorted(rows(app)) == ["bridge.pdf", "canal.pdf"]


def test_name_clash_in_the_collection_is_reported(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", CANAL, collection="Works")
    job = add_document(engine, "bridge.pdf", BRIDGE)
    app = choose_action(open_page("documents", document=job.document_id), "Move to a collection")
    app.selectbox(key="collect_into").set_value("Works")
    app.button(key="collect").click().run()
    assert "twice" in app.error[0].value
    assert engine.documents.get(str(job.document_id)).collection != "Works"


def test_uploads_are_added_to_the_chosen_collection(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", BRIDGE, collection="Works")
    app = open_page("documents")
    app.selectbox(key="upload_collection").set_value("Works").run()
    app.file_uploader[0].upload("canal.pdf", CANAL, "application/pdf").run()
    settle(app, lambda app: rows(app).get("canal.pdf") == "Ready")
    assert {document.collection for document in engine.documents.list()} == {"Works"}
    # Names clash only within a collection; the second document is added to the same one.
    other = make_pdf("The Tell bridge was never built.")
    app.file_uploader[0].upload("bridge.pdf", other, "application/pdf").run()
    app.button(key="clash_keep_0").click().run()
    settle(app, lambda app: rows(app).get("bridge (2).pdf") == "Ready")
    assert {document.collection for document in engine.documents.list()} == {"Works"}


def test_documents_of_an_older_parser_can_be_reindexed(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    assert not [button for button in open_page("documents").button if button.key == "reindex_outdated"]
    read_by_older_parser(engine, ids["bridge"])
    app = open_page("documents")
    assert "1 document was parsed by an older version of Footnote. This version reads" in texts(app)
    app.button(key="reindex_outdated").click().run()
    (job,) = [job for job in engine.jobs.list() if job.kind == "reindex"]
    engine.jobs.wait([job.job_id])
    assert [row["document"] for row in engine.jobs.list()[0].details["documents"]] == ["bridge.pdf"]
    settle(app, lambda app: "older version" not in texts(app))
    assert engine.index.outdated_ids() == []
    assert engine.index.differences() == {}


def test_replaced_version_is_listed_restored_and_removed(open_page: OpenPage, engine: Engine) -> None:
    document_id = str(add_document(engine, "a.pdf", BRIDGE).document_id)
    add_document(engine, "a.pdf", CANAL)
    app = open_tab(open_page("documents", document=document_id), "Versions")
    assert "in use" in texts(app)
    assert "replaced" in texts(app)
    (replaced,) = [one for one in engine.documents.versions(document_id) if one.is_replaced]
    app.button(key=f"restore_version_{replaced.version_id}").click().run()
    idle(engine)
    assert engine.documents.content(document_id) == BRIDGE
    (replaced,) = [one for one in engine.documents.versions(document_id) if one.is_replaced]
    app = open_tab(open_page("documents", document=document_id), "Versions")
    app.button(key=f"remove_version_{replaced.version_id}").click().run()
    assert len(engine.documents.versions(document_id)) == 1


def test_both_names_of_a_file_are_listed_and_found(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "a.pdf", BRIDGE, folder="/x")
    add_document(engine, "b.pdf", BRIDGE, folder="/y")
    app = open_page("documents")
    assert rows(app) == {"a.pdf (also b.pdf)": "Ready"}
    app.text_input(key="document_search").input("b.pdf").run()
    assert rows(app) == {"a.pdf (also b.pdf)": "Ready"}


COVER = ["FORM 10-K", "For the fiscal year ended June 30, 2023", "Tell Valley Railway plc"]
FILING = make_pdf([*COVER, "(Exact name of registrant as specified in its charter)", "Trains run hourly."])


def test_files_that_were_not_added_are_listed_apart(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("notes.pdf", b"These are only notes.", "application/pdf")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app) == {"bridge.pdf": "Ready"})
    assert "1 document. Click a name" in texts(app)
    assert "1 file not added" in texts(app)
    assert r"Not accepted\: it is not a PDF\, DOCX" in texts(app)
    (notes,) = (one.document_id for one in engine.documents.list() if one.name == "notes.pdf")
    before = len(engine.jobs.list())
    app.button(key=f"retry_{notes}").click().run()
    assert len(engine.jobs.list()) == before + 1
    idle(engine)
    app.run().button(key=f"delete_{notes}").click().run().button(key="confirm_delete").click().run()
    assert "not added" not in texts(app)


def test_table_is_searched_filtered_and_asked(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, railway=FILING, report_2021=CANAL, bridge=BRIDGE)
    app = open_page("documents")
    table = app.dataframe[0].value.set_index("Name")
    assert list(table.loc["railway.pdf", ["Company", "Year", "Type"]]) == ["Tell Valley Railway plc", "2023", "10-K"]
    assert table["Year"]["report_2021.pdf"] == "2021"
    assert "Tags" not in app.dataframe[0].proto.column_order
    tick(app, "railway.pdf", "bridge.pdf").button(key="tag_selected").click().run()
    engine.documents.set_tags({ids["railway"]: ["Board ", "board"], ids["bridge"]: ["Board", "old"]})
    app.run()
    assert list(app.dataframe[0].value.set_index("Name")["Tags"]["railway.pdf"]) == ["board"]
    app.multiselect(key="document_filter_tags").set_value(["board"]).run()
    assert list(rows(app)) == ["railway.pdf"]
    app.multiselect(key="document_filter_tags").set_value([]).run()
    app.text_input(key="document_search").set_value("valley 10-k").run()
    assert list(rows(app)) == ["railway.pdf"]
    app.text_input(key="document_search").set_value("zebra").run()
    assert "No document has these words" in texts(app)
    app.text_input(key="document_search").set_value("ready").run()
    tick(app)
    app.multiselect(key="document_filter_year").set_value(["2021", "2023"]).run()
    assert "2 of 3 documents." in texts(app)
    assert app.button(key="ask_selected").label == "Ask these 2 documents"
    app.button(key="ask_selected").click().run()
    assert sorted(app.session_state["scope_new"]) == sorted([ids["railway"], ids["report_2021"]])
    assert app.chat_input


def test_preview_shows_what_is_in_a_document(open_page: OpenPage, engine: Engine) -> None:
    pages = [["ANNUAL REPORT", "The harbour grew."], ["RISK FACTORS", "Storms may come."], "Fog may come too.", ""]
    document_id = str(add_document(engine, "report.pdf", make_pdf(*pages)).document_id)
    app = open_page("documents", document=document_id)
    assert "Ready, in part · 4 pages · 1 without text" in texts(app).replace("\\", "")
    (image,) = shown(app, "footnote_pageview")
    assert image["alt"] == "Page 1 of report.pdf"
    app.button(key="source_next_page").click().run()
    assert shown(app, "footnote_pageview")[0]["alt"] == "Page 2 of report.pdf"
    outline = open_tab(app, "Outline").dataframe[1].value
    assert [tuple(row) for row in outline.to_numpy()] == [("1", "ANNUAL REPORT"), ("2–4", "RISK FACTORS")]
    assert "No tables were found" in texts(open_tab(app, "Tables"))
    assert any("The harbour grew" in str(item["blocks"]) for item in shown(open_tab(app, "Chunks")))
    problems = open_tab(app, "Problems").dataframe[1].value
    assert (problems["Page"][0], problems["Read as"][0]) == (4, "no text")
    assert "page 4 without text" in texts(app)
    app.button(key="preview_close").click().run()
    assert not app.tabs
    assert "no longer in the library" in texts(open_page("documents", document="gone"))
    for quote, is_changed in (("RISK FACTORS", False), ("RISK-FACTORS", True)):
        link = urlsplit(build_page_link("", document_id, 1, 0, quote))
        app = open_page("documents", **dict(parse_qsl(link.query)))
        assert shown(app, "footnote_pageview")[0]["alt"] == "Page 2 of report.pdf"
        assert ("has changed since the link was made" in texts(app)) == is_changed


def test_document_is_renamed_tagged_read_again_and_deleted_in_its_preview(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = open_page("documents", document=ids["bridge"])
    for name, problem in (("canal", "exists already"), (" ", "is empty"), ("Harrow", "")):
        choose_action(app, "Rename").text_input(key="document_name").set_value(name)
        app.button(key="rename").click().run()
        assert [problem in one.value for one in app.error] == [True] * bool(problem)
    idle(engine)
    assert engine.documents.get(ids["bridge"]).name == "Harrow.pdf"
    app.run().multiselect(key=f"tags_{ids['bridge']}").set_value([]).run()
    choose_action(app, "Read again with OCR")
    assert engine.jobs.list()[0].details["ocr"] == "on"
    choose_action(app.run(), "Delete").button(key="confirm_delete").click().run()
    assert [one.name for one in engine.documents.list()] == ["canal.pdf"]
    assert "0 remaining" in texts(app)
    assert not app.tabs
