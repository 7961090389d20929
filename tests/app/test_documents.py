from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.documents.detail import _frame
from pages.documents.table import _configuration
from pages.shared.jobs import _states
from rag_core.engine import Engine
from rag_core.errors import StoreUnavailable
from rag_core.types import DeleteReceipt, DocumentStatus, Job, Page, PageState
from tests.support.app import BRIDGE, CANAL, OpenPage, add, rows, settle, shown, texts
from tests.support.engines import EmbeddingBarrier, add_document
from tests.support.pdfs import make_pdf


def test_an_empty_library_says_what_to_do(open_page: OpenPage) -> None:
    app = open_page("documents")
    assert "The library is empty" in texts(app)
    assert not app.dataframe


def test_an_upload_is_indexed_once_and_the_drop_zone_emptied(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app) == {"bridge.pdf": "Ready"})
    app.run()
    assert len(engine.jobs.list()) == 1
    assert app.file_uploader[0].value == []
    assert "is ready" in texts(app)


@pytest.mark.parametrize("limit", [300, 2])
def test_the_server_takes_files_as_large_as_the_setting_says(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setenv("RAG_MAX_FILE_MB", str(limit))
    app = open_page("documents")
    assert app.file_uploader[0].proto.max_upload_size_mb == limit
    assert config.get_option("server.maxUploadSize") == limit


def held(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> tuple[EmbeddingBarrier, Job]:
    """A job that waits with its text stored and its vectors to be made."""
    barrier = EmbeddingBarrier(monkeypatch)
    barrier.block()
    job = engine.documents.submit("bridge.pdf", BRIDGE)
    barrier.wait_until_reached()
    return barrier, job


def test_a_new_document_is_told_to_be_found_by_its_words_before_it_is_ready(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier, job = held(engine, monkeypatch)
    app = open_page("documents")
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["Status"], row["Pages"], row["Chunks"]) == ("Found by words", 2, 2)
    assert engine.search("bridge").passages
    (embedding,) = engine.jobs.list(active=True)
    # The page is drawn again when a job comes to that stage, not only when it ends.
    assert _states([embedding]) != _states([replace(embedding, stage="reading")])
    barrier.release()
    engine.jobs.wait([job.job_id])
    settle(app, lambda app: rows(app) == {"bridge.pdf": "Ready"})


def test_work_that_is_gone_can_be_cancelled(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier, job = held(engine, monkeypatch)
    app = open_page("documents")
    barrier.release()
    engine.jobs.wait([job.job_id])
    engine._stores.jobs.forget_ended(0)
    app.button(key=f"cancel_{job.job_id}").click().run()
    assert not app.exception
    assert rows(app) == {"bridge.pdf": "Ready"}


def test_a_file_that_is_no_pdf_has_its_reason_on_its_row(open_page: OpenPage) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("notes.pdf", b"These are only notes.", "application/pdf")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app).get("bridge.pdf") == "Ready")
    assert rows(app)["notes.pdf"].startswith("Not accepted: it is not a PDF")


def test_search_narrows_the_table(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents")
    app.text_input(key="document_search").set_value("canal ready").run()
    assert list(rows(app)) == ["canal.pdf"]
    app.text_input(key="document_search").set_value("zebra").run()
    assert "No document has these words" in texts(app)
    assert "Tick rows" not in texts(app)


def test_documents_are_chosen_by_status(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    assert not open_page("documents").get("button_group")
    ids = add(engine, notes=b"These are only notes.", empty=b"")
    app = open_page("documents")
    (statuses,) = app.get("button_group")
    assert [one.content for one in statuses.proto.options] == ["Not accepted (2)", "Ready (1)"]
    statuses.set_value(["Not accepted"]).run()
    assert sorted(rows(app)) == ["empty.pdf", "notes.pdf"]
    assert "2 of 3 documents" in texts(app)
    app.text_input(key="document_search").set_value("bridge").run()
    assert "No document of the chosen status has these words" in texts(app)
    app.text_input(key="document_search").set_value("").run()
    # With the last document of a status goes the choice of it.
    engine.documents.delete([ids["notes"], ids["empty"]])
    app.run()
    assert list(rows(app)) == ["bridge.pdf"]


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("wide_status", [False, True])
def test_all_columns_have_room_beside_the_sidebar_of_a_laptop(wide_status: bool, collected: bool) -> None:
    columns = _configuration(wide_status=wide_status, collected=collected)
    widths = [int(one["width"]) for name, one in columns.items() if collected or name != "Collection"]
    assert sum(widths) <= 780


def test_delete_asks_first_and_then_gives_a_receipt(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents", d=ids["bridge"])
    app.button(key="delete_selected").click().run()
    assert "bridge.pdf" in texts(app)
    assert len(engine.documents.list()) == 2
    app.button(key="confirm_delete").click().run()
    assert [one.name for one in engine.documents.list()] == ["canal.pdf"]
    assert "0 remaining" in texts(app)
    assert list(rows(app)) == ["canal.pdf"]


def test_what_another_window_deleted_keeps_nothing_else_from_being_deleted(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents", d=list(ids.values()))
    app.button(key="delete_selected").click().run()
    engine.documents.delete([engine.documents.list()[0].document_id])
    app.button(key="confirm_delete").click().run()
    assert engine.documents.list() == []
    assert "Deleted 1 document: " in texts(app)


def test_documents_deleted_before_a_store_failed_are_told_with_the_failure(
    open_page: OpenPage, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents", d=list(ids.values()))
    app.button(key="delete_selected").click().run()
    second = engine.documents.list()[1].document_id
    remove = engine._removal.document

    def failing(document_id: str) -> DeleteReceipt:
        if document_id == second:
            raise StoreUnavailable("The vectors do not answer.")
        return remove(document_id)

    monkeypatch.setattr(engine._removal, "document", failing)
    app.button(key="confirm_delete").click().run()
    assert [one.document_id for one in engine.documents.list()] == [second]
    assert "Deleted 1 document: " in texts(app)
    assert "The vectors do not answer" in app.error[0].value


def test_one_selected_document_shows_its_pages_and_chunks(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents", d=ids["bridge"])
    pages = app.dataframe[1].value
    assert list(pages["Page"]) == [1, 2]
    assert list(pages["Read as"]) == ["text", "text"]
    assert any("412 metres" in str(one["blocks"]) for one in shown(app))


def test_a_document_whose_name_says_nothing_tells_what_it_is_known_as(open_page: OpenPage, engine: Engine) -> None:
    lease = make_pdf(["Tell Valley Railway plc", "(Exact name of registrant as specified in its charter)"])
    ids = add(engine, scan7=lease, bridge=BRIDGE)
    assert "Known by its first page as: Tell Valley Railway plc" in texts(open_page("documents", d=ids["scan7"]))
    assert "Known by its first page" not in texts(open_page("documents", d=ids["bridge"]))


def test_how_a_page_was_read_is_told_in_words() -> None:
    scan = Page(0, "1", "A scan.", PageState.OCR, confidence=0.97)
    pages = _frame([scan, Page(1, "2", "A text.", PageState.TEXT)])
    assert list(pages["Read as"]) == ["picture (OCR)", "text"]
    assert list(pages["Confidence"].dropna()) == [0.97]


def test_a_size_is_told_in_one_unit_and_never_as_nothing(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    add_document(engine, "notes.pdf", b"These are only notes.")
    sizes = open_page("documents").dataframe[0].value.set_index("Name")["Size, kB"]
    assert sizes["notes.pdf"] == 1
    assert 1000 * (sizes["bridge.pdf"] - 1) < len(BRIDGE) <= 1000 * sizes["bridge.pdf"]


def test_selected_documents_are_indexed_anew(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents", d=ids["bridge"])
    app.button(key="reindex_selected").click().run()
    job = engine.jobs.list()[0]
    assert job.kind == "reindex"
    assert engine.jobs.wait([job.job_id])[0].reason == ""
    assert engine.documents.get(ids["bridge"]).status is DocumentStatus.INDEXED


def test_a_refused_file_can_be_tried_again(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, notes=b"These are only notes.")
    app = open_page("documents", d=ids["notes"])
    before = len(engine.jobs.list())
    app.button(key="retry_selected").click().run()
    assert not app.exception
    assert len(engine.jobs.list()) == before + 1


def collect(app: AppTest, into: str) -> None:
    """Put the selected documents into a collection that there is."""
    app.button(key="collect_selected").click().run()
    app.selectbox(key="collect_into").set_value(into)
    app.button(key="collect").click().run()


def test_selected_documents_are_put_into_a_collection(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents", d=ids["bridge"])
    assert "Collection" not in app.dataframe[0].proto.column_order
    app.button(key="collect_selected").click().run().button(key="collect").click().run()
    assert "needs a name" in app.error[0].value
    # A new name has to be typed in a browser: this double of the field takes those listed alone.
    engine.collections.move_documents([ids["canal"]], "Works")
    app = open_page("documents", d=ids["bridge"])
    assert dict(app.dataframe[0].value[["Name", "Collection"]].itertuples(index=False)) == {
        "bridge.pdf": "No collection",
        "canal.pdf": "Works",
    }
    (within,) = app.get("button_group")
    within.set_value(["No collection"]).run()
    assert list(rows(app)) == ["bridge.pdf"]
    collect(app, "Works")
    assert {one.collection for one in engine.documents.list()} == {"Works"}
    assert sorted(rows(app)) == ["bridge.pdf", "canal.pdf"]


def test_a_name_that_a_collection_holds_already_is_told(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", CANAL, collection="Works")
    job = add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page("documents", d=job.document_id)
    collect(app, "Works")
    assert "twice" in app.error[0].value
    assert engine.documents.get(str(job.document_id)).collection != "Works"


def test_uploads_go_into_the_collection_chosen(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", BRIDGE, collection="Works")
    app = open_page("documents")
    app.selectbox(key="upload_collection").set_value("Works").run()
    app.file_uploader[0].upload("canal.pdf", CANAL, "application/pdf").run()
    settle(app, lambda app: rows(app).get("canal.pdf") == "Ready")
    assert {one.name: one.collection for one in engine.documents.list()} == {
        "bridge.pdf": "Works",
        "canal.pdf": "Works",
    }
    # A name is taken within its collection: what is kept beside it stays there as well.
    other = make_pdf("The Tell bridge was never built.")
    app.file_uploader[0].upload("bridge.pdf", other, "application/pdf").run()
    app.button(key="clash_keep_0").click().run()
    settle(app, lambda app: rows(app).get("bridge (2).pdf") == "Ready")
    assert {one.collection for one in engine.documents.list()} == {"Works"}
