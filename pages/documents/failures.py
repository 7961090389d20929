"""A CSV file for download, which lists the documents that were indexed only in part or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import streamlit as st

from pages.shared.text import get_reader_zone
from rag_core.types.documents import DocumentInfo, DocumentStatus
from rag_core.types.formatting import escape_formula
from rag_core.types.local_time import to_local_time

_PROBLEMS = (DocumentStatus.FAILED, DocumentStatus.REJECTED, DocumentStatus.PARTIAL)
_COLUMNS = ("name", "status", "reason", "pages", "pages_empty", "pages_failed", "added_at")


def show_failures_download(documents: Sequence[DocumentInfo]) -> None:
    """If there are documents with problems, show a button to download their list as CSV."""
    problems = [one for one in documents if one.status in _PROBLEMS]
    if problems:
        st.download_button(
            f"Problems as CSV ({len(problems):,})",
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
