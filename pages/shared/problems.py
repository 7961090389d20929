"""How something that went wrong is told, where it happened."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.shared import keys
from pages.shared.text import plain
from rag_core.errors import RagError

_log = logging.getLogger(__name__)


def explain(error: BaseException) -> str:
    """Words for a reader: our own errors carry them, any other is logged and named."""
    if isinstance(error, RagError):
        return str(error)
    _log.error("Unexpected error", exc_info=error)
    return f"Something went wrong ({type(error).__name__}). The log of the program has the details."


@contextmanager
def told() -> Iterator[None]:
    """Show an error of the package in place instead of breaking off the page."""
    try:
        yield
    except RagError as error:
        st.error(plain(str(error)), icon=":material/error:")


@contextmanager
def told_next() -> Iterator[None]:
    """As `told`, where the page is drawn anew at once, as to close a dialog: it is told in that run."""
    try:
        yield
    except RagError as error:
        st.session_state[keys.PROBLEM] = str(error)


def problem() -> None:
    """What `told_next` has kept."""
    if words := st.session_state.pop(keys.PROBLEM, ""):
        st.error(plain(words), icon=":material/error:")
