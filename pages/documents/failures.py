"""Download of the documents that could not be indexed, or only in part, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import streamlit as st

from rag_core.types import DocumentInfo, DocumentStatus, escape_formula

_PROBLEMS = (DocumentStatus.FAILED, DocumentStatus.REJECTED, DocumentStatus.PARTIAL)
_COLUMNS = ("name", "status", "reason", "pages", "pages_empty", "pages_failed", "added_at")
# A spreadsheet runs a cell that starts with one of these as a formula.


def show_failures_download(documents: Sequence[DocumentInfo]) -> None:
    """Show a button to download the problems as CSV, if there are any."""
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
    """Return the documents as CSV, with a header."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    for one in documents:
        values = [one.name, one.status.value, one.reason, one.pages, one.pages_empty, one.pages_failed, one.added_at]
        writer.writerow([escape_formula(str(value)) for value in values])
    return buffer.getvalue()
