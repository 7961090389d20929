"""Rejected and encrypted files, name clashes, and watched folders in the app."""

from __future__ import annotations

import csv
import io
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from pypdf import PdfReader, PdfWriter
from streamlit.testing.v1 import AppTest

from pages.documents.rejected import format_csv
from rag_core.engine import Engine
from rag_core.types.documents import DocumentStatus
from tests.support.app import BRIDGE, CANAL, LENGTH, OpenPage, add, answer_texts, ask, click, rows, settle, texts
from tests.support.engines import add_document, idle


def encrypted(pdf: bytes, password: str) -> bytes:
    writer, buffer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf))), io.BytesIO()
    writer.encrypt(password, algorithm="AES-256")
    writer.write(buffer)
    return buffer.getvalue()


PASSWORD = "open sesame"
LOCKED = encrypted(BRIDGE, PASSWORD)


def test_file_of_same_name_can_be_kept(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL, "application/pdf").run()
    assert "with other content" in texts(app)
    assert len(engine.jobs.list()) == 1
    app.button(key="clash_keep_0").click().run()
    settle(app, lambda app: rows(app) == {"bridge.pdf": "Ready", "bridge (2).pdf": "Ready"})
    assert "with other content" not in texts(app)


@pytest.mark.parametrize(("action", "content"), [("replace", CANAL), ("drop", BRIDGE)])
def test_file_of_same_name_can_replace_the_document_or_be_dropped(
    open_page: OpenPage, engine: Engine, bridge: str, action: str, content: bytes
) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL, "application/pdf").run()
    app.button(key=f"clash_{action}_0").click().run()
    assert "with other content" not in texts(app)
    idle(engine)
    assert [document.document_id for document in engine.documents.list()] == [bridge]
    assert engine.documents.content(bridge) == content


def test_second_click_does_not_replace_the_next_document(
    open_page: OpenPage, engine: Engine, ids: dict[str, str]
) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL + b"%", "application/pdf")
    app.file_uploader[0].upload("canal.pdf", BRIDGE + b"%", "application/pdf").run()
    app.button(key="clash_replace_0").click().run()
    left = [button.key for button in app.button if str(button.key).startswith("clash_")]
    assert "clash_replace_0" not in left
    assert len(left) == 3
    idle(engine)
    assert engine.documents.content(ids["canal"]) == CANAL


def try_password(app: AppTest, name: str, password: str) -> None:
    """Fill in and submit the only password field of the page."""
    (field,) = (field for field in app.text_input if field.proto.type == field.proto.Type.PASSWORD)
    assert field.label == f"Password of {name}"
    field.set_value(password)
    click(app, "Open and index")


def drop_locked_file(app: AppTest) -> None:
    """Drop an encrypted file into the chat; wait for its notice and its password field.

    The job may end while a run of the page is between the two.
    """
    app.chat_input[0].upload("secret.pdf", LOCKED, "application/pdf").run()
    settle(app, lambda app: password_fields(app) == 1 and "Not added" in texts(app))


def password_fields(app: AppTest) -> int:
    return sum(field.label.startswith("Password of") for field in app.text_input)


def is_not_stored(engine: Engine, password: str) -> bool:
    """Return whether no file of the engine contains a password."""
    files = [path for path in Path(engine.settings.data_dir).rglob("*") if path.is_file()]
    return bool(files) and not any(password.encode() in path.read_bytes() for path in files)


def test_locked_document_opens_with_its_password(open_page: OpenPage, engine: Engine) -> None:
    job = add_document(engine, "secret_2.pdf", LOCKED)
    assert job.result is DocumentStatus.REJECTED
    app = open_page("documents")
    try_password(app, r"secret\_2\.pdf", PASSWORD)
    settle(app, lambda app: rows(app) == {"secret_2.pdf": "Ready"})
    assert password_fields(app) == 0
    assert is_not_stored(engine, PASSWORD)


def test_locked_upload_opens_with_its_password(open_page: OpenPage) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("secret.pdf", LOCKED, "application/pdf").run()
    settle(app, lambda app: password_fields(app) == 1)
    try_password(app, r"secret\.pdf", PASSWORD)
    settle(app, lambda app: rows(app) == {"secret.pdf": "Ready"})


def test_one_password_field_after_a_wrong_password(open_page: OpenPage, engine: Engine) -> None:
    add_document(engine, "secret.pdf", LOCKED)
    app = open_page("documents")
    try_password(app, r"secret\.pdf", "open barley")
    # If the job ends during a run of the page, the warning may appear before the list is updated.
    settle(
        app,
        lambda app: (
            any("the given password does not open it" in element.value for element in app.warning)
            and password_fields(app) == 1
        ),
    )
    try_password(app, r"secret\.pdf", PASSWORD)
    settle(app, lambda app: rows(app) == {"secret.pdf": "Ready"})


def test_locked_file_in_the_chat_opens_with_its_password(open_page: OpenPage, engine: Engine) -> None:
    app = open_page()
    drop_locked_file(app)
    assert "Not added: secret.pdf is encrypted. Give its password" in texts(app).replace("\\", "")
    try_password(app, r"secret\.pdf", "open barley")
    settle(app, lambda app: "the given password does not open it" in texts(app) and password_fields(app) == 1)
    try_password(app, r"secret\.pdf", "")
    assert len(engine.jobs.list()) == 2
    try_password(app, r"secret\.pdf", PASSWORD)
    settle(app, lambda app: "is ready" in texts(app))
    assert "encrypted" not in texts(app)
    assert password_fields(app) == 0
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]
    assert is_not_stored(engine, PASSWORD)


def test_unlocked_file_is_added_to_the_chosen_documents(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    app.chat_input[0].upload("secret.pdf", LOCKED, "application/pdf").run()
    # If the file is rejected during a run of the page, this run may still show it as chosen.
    settle(app, lambda app: password_fields(app) == 1 and app.multiselect[0].value == [ids["canal"]])
    try_password(app, r"secret\.pdf", PASSWORD)
    settle(app, lambda app: "is ready" in texts(app))
    assert len(app.multiselect[0].value) == 2
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]


def test_password_field_disappears_with_the_notice(open_page: OpenPage) -> None:
    app = open_page()
    drop_locked_file(app)
    click(app, "Close messages")
    assert password_fields(app) == 0
    assert "encrypted" not in texts(app)


def test_password_for_deleted_document_is_reported(open_page: OpenPage, engine: Engine) -> None:
    app = open_page()
    drop_locked_file(app)
    engine.documents.delete([str(engine.jobs.list()[0].document_id)])
    try_password(app, r"secret\.pdf", PASSWORD)
    assert "no longer in the library" in app.error[0].value
    assert password_fields(app) == 0


def test_notice_disappears_after_successful_retry(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("secret.pdf", LOCKED, "application/pdf").run()
    settle(app, lambda app: "is encrypted" in texts(app))
    retried = engine.documents.retry(str(engine.jobs.list()[0].document_id), password=PASSWORD)
    app.session_state["recent_jobs"] = [*app.session_state["recent_jobs"], retried.job_id]
    settle(app, lambda app: "is ready" in texts(app))
    assert "is encrypted" not in texts(app)


def test_problems_can_be_downloaded_as_csv(open_page: OpenPage, engine: Engine, bridge: str) -> None:
    add_document(engine, "=SUM(A1).pdf", b"no pdf at all")
    app = open_page("documents")
    assert [button.label for button in app.get("download_button")] == ["Problems as CSV (1)"]
    problems = [document for document in engine.documents.list() if document.status is DocumentStatus.REJECTED]
    (row,) = csv.DictReader(io.StringIO(format_csv(problems)))
    assert row["name"] == "'=SUM(A1).pdf"
    assert "is not a PDF" in row["reason"]


def test_last_sync_is_shown_in_the_time_zone_of_the_reader(
    open_page: OpenPage, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.shared.text.get_reader_zone", lambda: timezone(timedelta(hours=13)))
    (tmp_path / "inbox").mkdir()
    engine.watches.sync(engine.watches.add(str(tmp_path / "inbox")).watch_id)
    (checked,) = (watch.checked_at for watch in engine.watches.list())
    assert checked is not None
    shown = (checked + timedelta(hours=13)).strftime("%d %b %Y, %H:%M")
    assert f"0 files · last check: {shown}" in texts(open_page("admin"))


def test_missing_watched_folder_is_explained(open_page: OpenPage) -> None:
    assert "close the app, run `python -m rag_core watch FOLDER`" in texts(open_page("admin"))


def test_watched_folder_can_be_synchronized_and_removed(
    open_page: OpenPage, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toasts: list[str] = []
    show = st.toast

    def record(body: str, **options: Any) -> object:
        toasts.append(body)
        return show(body, **options)

    # If the file is indexed before the page is complete, the page reruns, and the result of the test has no toast.
    monkeypatch.setattr(st, "toast", record)
    folder = tmp_path / "inbox"
    folder.mkdir()
    watch = engine.watches.add(str(folder))
    app = open_page("admin")
    assert "inbox" in texts(app)
    (folder / "bridge.pdf").write_bytes(BRIDGE)
    app.button(key=f"sync_{watch.watch_id}").click().run()
    assert toasts == ["Folder checked: 1 added, 0 changed, 0 removed"]
    settle(app, lambda app: "bridge.pdf is ready." in texts(app).replace("\\", ""))
    assert [document.name for document in engine.documents.list()] == ["bridge.pdf"]
    app.button(key=f"unwatch_{watch.watch_id}").click().run()
    assert engine.watches.list() == []
    assert len(engine.documents.list()) == 1
