"""The Documents page: uploads, the table, details, deletion and collections."""

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
from rag_core.types.documents import DocumentStatus, Page, PageState
from rag_core.types.jobs import Job
from tests.support.app import BRIDGE, CANAL, OpenPage, add, rows, settle, shown, texts
from tests.support.engines import EmbeddingBarrier, add_document, idle, raising, read_by_older_parser
from tests.support.pdfs import make_pdf


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
    assert (row["Status"], row["Pages"], row["Chunks"]) == ("Searchable by words", 2, 2)
    assert engine.search("bridge").passages
    (embedding,) = engine.jobs.list(active=True)
    # The page is rerun when a job reaches this stage, not only when it ends.
    assert _states([embedding]) != _states([replace(embedding, stage="reading")])
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
    engine._stores.jobs.forget_ended(0)
    app.button(key=f"cancel_{job.job_id}").click().run()
    assert not app.exception
    assert rows(app) == {"bridge.pdf": "Ready"}


def test_rejected_file_shows_its_reason(open_page: OpenPage) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("notes.pdf", b"These are only notes.", "application/pdf")
    app.file_uploader[0].upload("bridge.pdf", BRIDGE, "application/pdf").run()
    settle(app, lambda app: bool(app.dataframe) and rows(app).get("bridge.pdf") == "Ready")
    assert rows(app)["notes.pdf"].startswith("Not accepted: it is not a PDF")
    assert "1 document and 1 file that could not be read. Tick rows" in texts(app)


def test_rows_are_high_enough_for_reasons(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    plain = open_page("documents").dataframe[0].proto.row_height
    add(engine, notes=b"These are only notes.", partly=make_pdf("The pier is 90 metres long.", ""))
    app = open_page("documents")
    assert rows(app)["partly.pdf"] == "Ready, in part: page 2 without text"
    assert rows(app)["notes.pdf"].endswith("Export it as a PDF and add the exported file.")
    # The table wraps a text only in rows of more than one line.
    assert app.dataframe[0].proto.row_height >= 2 * plain
    app.text_input(key="document_search").set_value("bridge").run()
    assert app.dataframe[0].proto.row_height == plain


def test_search_filters_the_table(open_page: OpenPage, ids: dict[str, str]) -> None:
    app = open_page("documents")
    app.text_input(key="document_search").set_value("canal ready").run()
    assert list(rows(app)) == ["canal.pdf"]
    app.text_input(key="document_search").set_value("zebra").run()
    assert "No document has these words" in texts(app)
    assert "Tick rows" not in texts(app)


def test_documents_can_be_filtered_by_status(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    assert not open_page("documents").get("button_group")
    ids = add(engine, notes=b"These are only notes.", empty=b"")
    app = open_page("documents")
    (statuses,) = app.get("button_group")
    assert [option.content for option in statuses.proto.options] == ["Not accepted (2)", "Ready (1)"]
    statuses.set_value(["Not accepted"]).run()
    assert sorted(rows(app)) == ["empty.pdf", "notes.pdf"]
    assert "2 of 3 shown: 1 document and 2 files that could not be read." in texts(app)
    app.text_input(key="document_search").set_value("bridge").run()
    assert "No document of the chosen status has these words" in texts(app)
    app.text_input(key="document_search").set_value("").run()
    # A status without documents can no longer be chosen.
    engine.documents.delete([ids["notes"], ids["empty"]])
    app.run()
    assert list(rows(app)) == ["bridge.pdf"]


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("wide_status", [False, True])
def test_columns_fit_next_to_the_sidebar_of_a_laptop(wide_status: bool, collected: bool) -> None:
    columns = _configuration(wide_status=wide_status, collected=collected)
    widths = [int(one["width"]) for name, one in columns.items() if collected or name != "Collection"]
    assert sum(widths) <= 780


def test_deletion_is_confirmed_and_shows_a_receipt(open_page: OpenPage, engine: Engine, ids: dict[str, str]) -> None:
    app = open_page("documents", d=ids["bridge"])
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
    app = open_page("documents", d=list(ids.values()))
    app.button(key="delete_selected").click().run()
    engine.documents.delete([engine.documents.list()[0].document_id])
    app.button(key="confirm_delete").click().run()
    assert engine.documents.list() == []
    assert "Deleted 1 document: " in texts(app)


def test_deletions_before_a_store_failure_are_reported(
    open_page: OpenPage, engine: Engine, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("documents", d=list(ids.values()))
    app.button(key="delete_selected").click().run()
    second = engine.documents.list()[1].document_id
    remove = engine._removal.remove_document
    fail = raising(StoreUnavailable("The vectors do not answer."))
    monkeypatch.setattr(engine._removal, "remove_document", lambda key: (fail if key == second else remove)(key))
    app.button(key="confirm_delete").click().run()
    assert [document.document_id for document in engine.documents.list()] == [second]
    assert "Deleted 1 document: " in texts(app)
    assert "The vectors do not answer" in app.error[0].value


def test_selected_document_shows_pages_and_chunks(open_page: OpenPage, bridge: str) -> None:
    app = open_page("documents", d=bridge)
    pages = app.dataframe[1].value
    assert list(pages["Page"]) == [1, 2]
    assert list(pages["Read as"]) == ["text", "text"]
    assert any("412 metres" in str(item["blocks"]) for item in shown(app))


def test_identity_from_the_cover_page_is_shown(open_page: OpenPage, engine: Engine) -> None:
    lease = make_pdf(["Tell Valley Railway plc", "(Exact name of registrant as specified in its charter)"])
    ids = add(engine, scan7=lease, bridge=BRIDGE)
    assert "Title on its first page: Tell Valley Railway plc" in texts(open_page("documents", d=ids["scan7"]))
    assert "Title on its first page" not in texts(open_page("documents", d=ids["bridge"]))


def test_page_source_and_confidence_are_shown() -> None:
    scan = Page(0, "1", "A scan.", PageState.OCR, confidence=0.97)
    pages = _frame([scan, Page(1, "2", "A text.", PageState.TEXT)])
    assert list(pages["Read as"]) == ["image (OCR)", "text"]
    assert list(pages["Confidence"].dropna()) == [0.97]


def test_size_is_rounded_up_in_one_unit(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    add_document(engine, "notes.pdf", b"These are only notes.")
    sizes = open_page("documents").dataframe[0].value.set_index("Name")["Size, kB"]
    assert sizes["notes.pdf"] == 1
    assert 1000 * (sizes["bridge.pdf"] - 1) < len(BRIDGE) <= 1000 * sizes["bridge.pdf"]


def test_selected_documents_can_be_reindexed(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = open_page("documents", d=bridge)
    app.button(key="reindex_selected").click().run()
    job = engine.jobs.list()[0]
    assert job.kind == "reindex"
    assert engine.jobs.wait([job.job_id])[0].reason == ""
    assert engine.documents.get(bridge).status is DocumentStatus.INDEXED


def test_rejected_file_can_be_retried(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, notes=b"These are only notes.")
    app = open_page("documents", d=ids["notes"])
    before = len(engine.jobs.list())
    app.button(key="retry_selected").click().run()
    assert not app.exception
    assert len(engine.jobs.list()) == before + 1


def collect(app: AppTest, into: str) -> None:
    """Move the selected documents to an existing collection."""
    app.button(key="collect_selected").click().run()
    app.selectbox(key="collect_into").set_value(into)
    app.button(key="collect").click().run()


def test_selected_documents_can_be_moved_to_a_collection(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = open_page("documents", d=ids["bridge"])
    assert "Collection" not in app.dataframe[0].proto.column_order
    app.button(key="collect_selected").click().run().button(key="collect").click().run()
    assert "needs a name" in app.error[0].value
    # AppTest accepts only listed names; new names can only be typed in a browser.
    engine.collections.move_documents([ids["canal"]], "Works")
    app = open_page("documents", d=ids["bridge"])
    collections = dict(app.dataframe[0].value[["Name", "Collection"]].itertuples(index=False))
    assert collections == {"bridge.pdf": "No collection", "canal.pdf": "Works"}
    (within,) = app.get("button_group")
    within.set_value(["No collection"]).run()
    assert list(rows(app)) == ["bridge.pdf"]
    collect(app, "Works")
    assert {document.collection for document in engine.documents.list()} == {"Works"}
    assert sorted(rows(app)) == ["bridge.pdf", "canal.pdf"]


def test_name_clash_in_the_collection_is_reported(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "bridge.pdf", CANAL, collection="Works")
    job = add_document(engine, "bridge.pdf", BRIDGE)
    app = open_page("documents", d=job.document_id)
    collect(app, "Works")
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


def test_outline_shows_the_sections_with_their_pages(open_page: OpenPage, engine: Engine) -> None:
    pages = [["ANNUAL REPORT", "The harbour grew."], ["RISK FACTORS", "Storms may come."], "Fog may come too."]
    document_id = str(add_document(engine, "report.pdf", make_pdf(*pages)).document_id)
    app = open_page("documents", d=document_id)
    (frame,) = [one.value for one in app.dataframe if "Section" in one.value.columns]
    assert [tuple(row) for row in frame.to_numpy()] == [("1", "ANNUAL REPORT"), ("2–3", "RISK FACTORS")]


def test_replaced_version_is_listed_restored_and_removed(open_page: OpenPage, engine: Engine) -> None:
    document_id = str(add_document(engine, "a.pdf", BRIDGE).document_id)
    add_document(engine, "a.pdf", CANAL)
    app = open_page("documents", d=document_id)
    assert [tab.label for tab in app.tabs][-1] == "Versions (2)"
    assert "in use" in texts(app)
    assert "replaced" in texts(app)
    (replaced,) = [one for one in engine.documents.versions(document_id) if one.is_replaced]
    app.button(key=f"restore_version_{replaced.version_id}").click().run()
    idle(engine)
    assert engine.documents.content(document_id) == BRIDGE
    (replaced,) = [one for one in engine.documents.versions(document_id) if one.is_replaced]
    app = open_page("documents", d=document_id)
    app.button(key=f"remove_version_{replaced.version_id}").click().run()
    assert len(engine.documents.versions(document_id)) == 1
    assert [tab.label for tab in app.tabs] == ["Pages", "Outline", "Chunks"]


def test_both_names_of_a_file_are_listed_and_found(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "a.pdf", BRIDGE, folder="/x")
    add_document(engine, "b.pdf", BRIDGE, folder="/y")
    app = open_page("documents")
    assert rows(app) == {"a.pdf (also b.pdf)": "Ready"}
    app.text_input(key="document_search").input("b.pdf").run()
    assert rows(app) == {"a.pdf (also b.pdf)": "Ready"}
