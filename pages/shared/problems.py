"""Show errors at the place of the page where they happen."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.shared import keys
from pages.shared.text import escape_markdown
from pages.shared.translation import translate_message
from rag_core.errors import RagError

_log = logging.getLogger(__name__)


def explain(error: BaseException) -> str:
    """Return a message about an error for the reader; an unexpected error is logged, and the message names its type."""
    if isinstance(error, RagError):
        return str(error)
    _log.error("Unexpected error", exc_info=error)
    return f"Something went wrong ({type(error).__name__}). See the log of the app for details."


@contextmanager
def show_errors() -> Iterator[None]:
    """Show a `RagError` at this place of the page; the rest of the page is still drawn."""
    try:
        yield
    except RagError as error:
        st.error(escape_markdown(translate_message(str(error))), icon=":material/error:")


@contextmanager
def show_errors_next_run(key: str = keys.PROBLEM) -> Iterator[None]:
    """Store a `RagError`, so that `show_stored_error` shows it in the next run.

    Use this if the page reruns at once, for example to close a dialog, because the rerun would remove a message of
    `show_errors`. Use it in a callback with a ``key`` of your own, and call `show_stored_error` with this key where the
    error belongs, because Streamlit shows the output of a callback at the top of the page.
    """
    try:
        yield
    except RagError as error:
        st.session_state[key] = str(error)


def show_stored_error(key: str = keys.PROBLEM) -> None:
    """Show the error that `show_errors_next_run` stored.

    Without an error, an empty element takes its place. Otherwise the fields below would move when an error appears or
    disappears, and the browser would replace the fields and lose what is being typed.
    """
    place = st.empty()
    if words := st.session_state.pop(key, ""):
        place.error(escape_markdown(translate_message(words)), icon=":material/error:")
