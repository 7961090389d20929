"""The rejected files, which could not be read, and a CSV file of all problems."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import streamlit as st

from pages.documents.actions import confirm_deletion, retry_documents
from pages.documents.statuses import describe_status_with_reason
from pages.shared.text import count_files, escape_markdown, get_reader_zone
from pages.shared.translation import _
from pages.shared.unlock import show_password_fields
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo, DocumentStatus
from rag_core.types.formatting import escape_formula
from rag_core.types.local_time import to_local_time

_COLUMNS = ("name", "status", "reason", "pages", "pages_empty", "pages_failed", "added_at")
_SHOWN = 20


def show_rejected(engine: Engine, files: Sequence[DocumentInfo], asked: Sequence[DocumentInfo]) -> None:
    """List the rejected files with the reasons; the page already shows password fields for the files in ``asked``."""
    if not files:
        return
    with st.expander(_("{files} not added", files=count_files(len(files))), icon=":material/error:", key="rejected"):
        for one in files[:_SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"**{escape_markdown(one.name)}**  \n{escape_markdown(describe_status_with_reason(one))}",
                    width="stretch",
                )
                key = one.document_id
                again = st.button(_("Try again"), icon=":material/refresh:", key=f"retry_{key}", type="tertiary")
                if again:
                    retry_documents(engine, [key])
                    st.rerun()
                if st.button(_("Delete"), icon=":material/delete:", key=f"delete_{key}", type="tertiary"):
                    confirm_deletion(engine, [one])
            show_password_fields(engine, [one] if one not in asked else [])
        if len(files) > _SHOWN:
            st.caption(_("and {number} more", number=len(files) - _SHOWN))
        if st.button(
            _("Delete {documents}", documents=count_files(len(files))), icon=":material/delete:", key="delete_rejected"
        ):
            confirm_deletion(engine, files)


def show_problems_download(documents: Sequence[DocumentInfo]) -> None:
    """Show a button that downloads the list of all problems as CSV, if there are any."""
    known = (DocumentStatus.FAILED, DocumentStatus.REJECTED, DocumentStatus.PARTIAL)
    if problems := [one for one in documents if one.status in known]:
        st.download_button(
            _("Problems as CSV ({number})", number=len(problems)),
            data=format_csv(problems).encode(),
            file_name="footnote-problems.csv",
            mime="text/csv",
            icon=":material/download:",
            key="failures_csv",
            type="tertiary",
            on_click="ignore",
        )


def format_csv(documents: Sequence[DocumentInfo]) -> str:
    """Return the documents as CSV, with a header row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    for one in documents:
        pages = one.pages, one.pages_empty, one.pages_failed
        added_at = to_local_time(one.added_at, get_reader_zone())
        values = [one.name, one.status.value, one.reason, *pages, added_at]
        writer.writerow([escape_formula(str(value)) for value in values])
    return buffer.getvalue()
