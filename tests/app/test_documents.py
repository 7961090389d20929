from __future__ import annotations

from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.types import DocumentStatus
from tests.app.conftest import OpenPage, settle, shown, texts
from tests.app.test_chat import BRIDGE, CANAL, add


def rows(app: AppTest) -> dict[str, str]:
    """Status by name, as in the table."""
    frame = app.dataframe[0].value
    return dict(zip(frame["Name"], frame["Status"], strict=True))


def test_an_empty_library_says_what_to_do(open_page: OpenPage) -> None:
    app = open_page("documents")
    assert "The library is empty" in texts(app)
    assert not app.dataframe


def test_an_upload_is_indexed_once_and_the_drop_zone_emptied(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app) == {"bridge.pdf": "Ready"})
    app.run()
    assert len(engine.jobs()) == 1
    assert app.file_uploader[0].value == []
    assert "is ready" in texts(app)


def test_a_file_that_is_no_pdf_has_its_reason_on_its_row(open_page: OpenPage) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("notes.pdf", b"These are only notes.", "application/pdf")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app).get("bridge.pdf") == "Ready")
    assert rows(app)["notes.pdf"].startswith("Not accepted: ")


def test_search_narrows_the_table(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents")
    app.text_input(key="document_search").set_value("canal ready").run()
    assert list(rows(app)) == ["canal.pdf"]
    app.text_input(key="document_search").set_value("zebra").run()
    assert "0 of 2 documents" in texts(app)


def test_delete_asks_first_and_then_gives_a_receipt(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents", d=ids["bridge"])
    app.button(key="delete_selected").click().run()
    assert "bridge.pdf" in texts(app)
    assert len(engine.documents()) == 2
    app.button(key="confirm_delete").click().run()
    assert [one.name for one in engine.documents()] == ["canal.pdf"]
    assert "0 remaining" in texts(app)
    assert list(rows(app)) == ["canal.pdf"]


def test_one_selected_document_shows_its_pages_and_chunks(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents", d=ids["bridge"])
    pages = app.dataframe[1].value
    assert list(pages["Page"]) == [1, 2]
    assert list(pages["Read as"]) == ["text", "text"]
    assert any("412 metres" in str(one["blocks"]) for one in shown(app))


def test_selected_documents_are_indexed_anew(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents", d=ids["bridge"])
    app.button(key="reindex_selected").click().run()
    job = engine.jobs()[0]
    assert job.kind == "reindex"
    assert engine.wait([job.job_id])[0].reason == ""
    assert engine.document(ids["bridge"]).status is DocumentStatus.INDEXED


def test_a_refused_file_can_be_tried_again(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, notes=b"These are only notes.")
    app = open_page("documents", d=ids["notes"])
    before = len(engine.jobs())
    app.button(key="retry_selected").click().run()
    assert not app.exception
    assert len(engine.jobs()) == before + 1
