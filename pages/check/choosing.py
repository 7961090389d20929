"""The text to check, and the documents to check it against."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.library import build_scope, name_scope_entries
from pages.shared.problems import show_errors_next_run, show_stored_error
from pages.shared.translation import _
from rag_core.errors import QuestionError
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo

_TEXT, _FILE, _SCOPE = "check_text", "check_file", "check_scope"
_PROBLEM = "check_problem"
_LARGEST_MB = 2


def choose_text() -> str:
    """Let the reader paste a text or drop a file; return the text, which is kept while other pages are open."""
    st.session_state.setdefault(_TEXT, st.session_state.get(keys.CHECK_TEXT, ""))
    text = st.text_area(
        _("Text to check"), key=_TEXT, height=200, placeholder=_("Paste a draft, a memo or the answer of another model")
    )
    st.file_uploader(
        _("Or drop a text file here (.txt or .md)"),
        type=["txt", "md"],
        key=_FILE,
        max_upload_size=_LARGEST_MB,
        on_change=_read_file,
    )
    show_stored_error(_PROBLEM)
    st.session_state[keys.CHECK_TEXT] = text
    return str(text)


def _read_file() -> None:
    """Put the text of the chosen file into the field."""
    file = st.session_state[_FILE]
    if file is None:
        return
    with show_errors_next_run(_PROBLEM):
        try:
            st.session_state[_TEXT] = file.getvalue().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise QuestionError(
                f"{file.name} could not be read as text in UTF-8 ({error.reason}). Save it as UTF-8, or paste its text."
            ) from error


def choose_scope(documents: Sequence[DocumentInfo]) -> Scope:
    """Let the reader choose documents and collections; return the choice, which is kept while other pages are open."""
    names = name_scope_entries(documents)
    kept = st.session_state.get(_SCOPE, st.session_state.get(keys.CHECK_SCOPE, []))
    st.session_state[_SCOPE] = [one for one in kept if one in names]
    chosen = st.multiselect(
        _("Documents to check against"),
        list(names),
        key=_SCOPE,
        format_func=lambda one: names.get(one, ""),
        placeholder=_("All documents ({number})", number=len(documents)),
    )
    st.session_state[keys.CHECK_SCOPE] = chosen
    return build_scope(chosen)
