"""What a person can do about files that are refused, locked, or named like another."""

from __future__ import annotations

import csv
import io
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from streamlit.testing.v1 import AppTest

from pages.documents.failures import as_csv
from rag_core.engine import Engine
from rag_core.types import DocumentStatus
from tests.support.app import BRIDGE, CANAL, LENGTH, OpenPage, add, answer_texts, ask, rows, settle, texts
from tests.support.engines import add_document


def locked(pdf: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.encrypt(password, algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_a_name_that_is_taken_by_other_content_is_asked_about(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL, "application/pdf").run()
    assert "with other content" in texts(app)
    assert len(engine.jobs.list()) == 1
    app.button(key="clash_keep_0").click().run()
    settle(app, lambda app: rows(app) == {"bridge.pdf": "Ready", "bridge (2).pdf": "Ready"})
    assert "with other content" not in texts(app)


def test_a_document_can_be_replaced_by_another_of_its_name(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL, "application/pdf").run()
    app.button(key="clash_replace_0").click().run()
    engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True)])
    assert [one.document_id for one in engine.documents.list()] == [ids["bridge"]]
    assert engine.documents.content(ids["bridge"]) == CANAL


def test_a_second_click_does_not_replace_the_next_document(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE, canal=CANAL)
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL + b"%", "application/pdf")
    app.file_uploader[0].upload("canal.pdf", BRIDGE + b"%", "application/pdf").run()
    app.button(key="clash_replace_0").click().run()
    left = [one.key for one in app.button if str(one.key).startswith("clash_")]
    assert "clash_replace_0" not in left
    assert len(left) == 3
    engine.jobs.wait([job.job_id for job in engine.jobs.list(active=True)])
    assert engine.documents.content(ids["canal"]) == CANAL


def test_a_file_held_back_can_be_left_out(open_page: OpenPage, engine: Engine) -> None:
    ids = add(engine, bridge=BRIDGE)
    app = open_page("documents")
    app.file_uploader[0].upload("bridge.pdf", CANAL, "application/pdf").run()
    app.button(key="clash_drop_0").click().run()
    assert "with other content" not in texts(app)
    assert engine.documents.content(ids["bridge"]) == BRIDGE


def try_password(app: AppTest, name: str, password: str) -> None:
    """Fill in the one field for a password that the page has, and send it."""
    (field,) = (one for one in app.text_input if one.proto.type == one.proto.Type.PASSWORD)
    assert field.label == f"Password of {name}"
    field.set_value(password)
    next(one for one in app.button if one.label == "Open and index").click().run()


def passwords_asked(app: AppTest) -> int:
    return sum(one.label.startswith("Password of") for one in app.text_input)


def is_nowhere(engine: Engine, password: str) -> bool:
    """Whether no file of the engine's holds it."""
    files = [one for one in Path(engine.settings.data_dir).rglob("*") if one.is_file()]
    return bool(files) and not any(password.encode() in one.read_bytes() for one in files)


def test_a_locked_document_opens_with_its_password(open_page: OpenPage, engine: Engine) -> None:
    job = add_document(engine, "secret_2.pdf", locked(BRIDGE, "open sesame"))
    assert job.result is DocumentStatus.REJECTED
    assert passwords_asked(open_page("documents")) == 0
    app = open_page("documents", d=job.document_id)
    try_password(app, r"secret\_2\.pdf", "open sesame")
    settle(app, lambda app: rows(app) == {"secret_2.pdf": "Ready"})
    assert passwords_asked(app) == 0
    assert is_nowhere(engine, "open sesame")


def test_a_locked_upload_opens_beside_the_words_that_refuse_it(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    settle(app, lambda app: passwords_asked(app) == 1)
    try_password(app, r"secret\.pdf", "open sesame")
    settle(app, lambda app: rows(app) == {"secret.pdf": "Ready"})


def test_a_chosen_document_is_asked_for_its_password_once_after_a_wrong_one(
    open_page: OpenPage, engine: Engine
) -> None:
    job = add_document(engine, "secret.pdf", locked(BRIDGE, "open sesame"))
    app = open_page("documents", d=job.document_id)
    try_password(app, r"secret\.pdf", "open barley")
    # A run of the page in which the job ends may tell so below a list that was drawn before.
    settle(
        app,
        lambda app: (
            any("the password given does not open it" in one.value for one in app.warning) and passwords_asked(app) == 1
        ),
    )
    assert [one.value for one in app.subheader] == [r"secret\.pdf"]
    try_password(app, r"secret\.pdf", "open sesame")
    settle(app, lambda app: rows(app) == {"secret.pdf": "Ready"})


def test_a_locked_file_dropped_into_the_chat_opens_there(open_page: OpenPage, engine: Engine) -> None:
    app = open_page()
    app.chat_input[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    settle(app, lambda app: passwords_asked(app) == 1)
    assert "Not added: secret.pdf is encrypted. Give its password" in texts(app).replace("\\", "")
    try_password(app, r"secret\.pdf", "open barley")
    settle(app, lambda app: "the password given does not open it" in texts(app))
    try_password(app, r"secret\.pdf", "")
    assert len(engine.jobs.list()) == 2
    try_password(app, r"secret\.pdf", "open sesame")
    settle(app, lambda app: "is ready" in texts(app))
    assert "encrypted" not in texts(app)
    assert passwords_asked(app) == 0
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]
    assert is_nowhere(engine, "open sesame")


def test_a_locked_file_dropped_on_chosen_documents_is_one_of_them_once_open(
    open_page: OpenPage, engine: Engine
) -> None:
    ids = add(engine, canal=CANAL)
    app = open_page()
    app.multiselect[0].select(ids["canal"]).run()
    app.chat_input[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    # What is chosen is drawn before the file's words: the run in which it is refused may show it as chosen still.
    settle(app, lambda app: passwords_asked(app) == 1 and app.multiselect[0].value == [ids["canal"]])
    try_password(app, r"secret\.pdf", "open sesame")
    settle(app, lambda app: "is ready" in texts(app))
    assert len(app.multiselect[0].value) == 2
    assert "412 metres" in answer_texts(ask(app, LENGTH))[0]


def test_a_password_is_asked_for_no_more_once_the_refusal_is_closed(open_page: OpenPage) -> None:
    app = open_page()
    app.chat_input[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    settle(app, lambda app: passwords_asked(app) == 1)
    next(one for one in app.button if one.label == "Close messages").click().run()
    assert passwords_asked(app) == 0
    assert "encrypted" not in texts(app)


def test_a_password_for_a_document_deleted_meanwhile_is_told(open_page: OpenPage, engine: Engine) -> None:
    app = open_page()
    app.chat_input[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    settle(app, lambda app: passwords_asked(app) == 1)
    engine.documents.delete([str(engine.jobs.list()[0].document_id)])
    try_password(app, r"secret\.pdf", "open sesame")
    assert "no longer in the library" in app.error[0].value
    assert passwords_asked(app) == 0


def test_a_problem_is_told_no_more_once_trying_again_has_mended_it(open_page: OpenPage, engine: Engine) -> None:
    app = open_page("documents")
    app.file_uploader[0].upload("secret.pdf", locked(BRIDGE, "open sesame"), "application/pdf").run()
    settle(app, lambda app: "is encrypted" in texts(app))
    again = engine.documents.retry(str(engine.jobs.list()[0].document_id), password="open sesame")
    app.session_state["recent_jobs"] = [*app.session_state["recent_jobs"], again.job_id]
    settle(app, lambda app: "is ready" in texts(app))
    assert "is encrypted" not in texts(app)


def test_problems_can_be_taken_away_as_csv(open_page: OpenPage, engine: Engine) -> None:
    add(engine, bridge=BRIDGE)
    add_document(engine, "=SUM(A1).pdf", b"no pdf at all")
    app = open_page("documents")
    assert [one.label for one in app.get("download_button")] == ["Problems as CSV (1)"]
    problems = [one for one in engine.documents.list() if one.status is DocumentStatus.REJECTED]
    heading, row = csv.reader(io.StringIO(as_csv(problems)))
    assert dict(zip(heading, row, strict=True))["name"] == "'=SUM(A1).pdf"
    assert "is not a PDF" in dict(zip(heading, row, strict=True))["reason"]


def test_when_a_folder_was_looked_at_is_told_by_the_reader_s_clock(
    open_page: OpenPage, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.shared.text.reader_zone", lambda: timezone(timedelta(hours=13)))
    (tmp_path / "inbox").mkdir()
    engine.watches.sync(engine.watches.add(str(tmp_path / "inbox")).watch_id)
    (looked,) = (one.checked_at for one in engine.watches.list())
    assert looked is not None
    told = (looked + timedelta(hours=13)).strftime("%d %b %Y, %H:%M")
    assert f"0 files · last check: {told}" in texts(open_page("admin"))


def test_without_a_watched_folder_it_is_told_how_to_begin(open_page: OpenPage, engine: Engine) -> None:
    assert "close the app, run `python -m rag_core watch FOLDER`" in texts(open_page("admin"))


def test_watched_folders_are_listed_looked_at_and_let_go(open_page: OpenPage, engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    watch = engine.watches.add(str(folder))
    app = open_page("admin")
    assert "inbox" in texts(app)
    (folder / "bridge.pdf").write_bytes(BRIDGE)
    app.button(key=f"sync_{watch.watch_id}").click().run()
    assert [one.value for one in app.toast] == ["Folder checked: 1 added, 0 changed, 0 removed"]
    settle(app, lambda app: "bridge.pdf is ready." in texts(app).replace("\\", ""))
    assert [one.name for one in engine.documents.list()] == ["bridge.pdf"]
    app.button(key=f"unwatch_{watch.watch_id}").click().run()
    assert engine.watches.list() == []
    assert len(engine.documents.list()) == 1
