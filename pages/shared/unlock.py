"""Ask for the password of an encrypted document, and index the document; the password is not stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.jobs import MAX_JOBS, track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, DocumentStatus
from rag_core.types.jobs import Job

OnOpened = Callable[[Sequence[Job]], object]


def find_rejected(engine: Engine, library: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """Return the documents whose rejection the job panel of this session still shows."""
    recent = st.session_state.get(keys.RECENT_JOBS)
    if not recent:
        return []
    jobs = engine.jobs.list(limit=MAX_JOBS)
    ids = {job.document_id for job in jobs if job.job_id in recent and job.result is DocumentStatus.REJECTED}
    return [one for one in library if one.document_id in ids]


def show_password_fields(engine: Engine, documents: Iterable[DocumentInfo], on_opened: OnOpened | None = None) -> None:
    """Show a password field for each document that needs a password.

    When the reader submits a password, ``on_opened`` is called with the job that indexes the document.
    """
    for one in documents:
        if one.needs_password:
            _show_field(engine, one, on_opened)


def _show_field(engine: Engine, document: DocumentInfo, on_opened: OnOpened | None) -> None:
    key = f"password_{document.document_id}"

    def submit_password() -> None:
        if password := st.session_state[key]:
            with show_errors():
                jobs = [engine.documents.retry(document.document_id, password=password)]
                track_jobs(jobs)
                if on_opened:
                    on_opened(jobs)

    with st.form(f"unlock_{document.document_id}", clear_on_submit=True):
        st.text_input(
            _("Password of {name}", name=escape_markdown(document.name)),
            type="password",
            help=_("It is used to read the file now and is not stored."),
            key=key,
        )
        st.form_submit_button(_("Open and index"), icon=":material/lock_open:", on_click=submit_password)
