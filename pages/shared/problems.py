"""Show errors where they happen."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.shared import keys
from pages.shared.text import escape_markdown
from rag_core.errors import RagError

_log = logging.getLogger(__name__)


def explain(error: BaseException) -> str:
    """Return the message of an error for the reader; log an unexpected one and return its name."""
    if isinstance(error, RagError):
        return str(error)
    _log.error("Unexpected error", exc_info=error)
    return f"Something went wrong ({type(error).__name__}). See the log of the app for details."


@contextmanager
def show_errors() -> Iterator[None]:
    """Show a `RagError` in place; the rest of the page continues."""
    try:
        yield
    except RagError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")


@contextmanager
def show_errors_next_run() -> Iterator[None]:
    """As `show_errors`, but in the next run: for a page that reruns at once, such as to close a dialog."""
    try:
        yield
    except RagError as error:
        st.session_state[keys.PROBLEM] = str(error)


def show_stored_error() -> None:
    """Show the error that `show_errors_next_run` stored."""
    if words := st.session_state.pop(keys.PROBLEM, ""):
        st.error(escape_markdown(words), icon=":material/error:")
