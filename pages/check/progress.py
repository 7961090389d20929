"""The progress of the check of a text, with a button to stop it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.check.text_check import TextCheck
from pages.shared.text import escape_markdown
from pages.shared.translation import _, ngettext, translate_message
from rag_core.types.checks import CheckedStatement

# Number of new results after which the page is drawn again. Drawing after each result would be slow for a long text.
_BATCH = 20


def show_progress(running: TextCheck) -> Sequence[CheckedStatement]:
    """Show the progress of the check, or the problem that ended the check early; return the results so far."""
    is_done = running.done
    checked = tuple(running.checked)
    total = len(running.statements)
    if not total:
        st.info(_("The text contains no sentence to check. Paste a text above."), icon=":material/info:")
    elif not is_done:
        _show_running(running, len(checked))
    elif running.problem:
        st.error(escape_markdown(translate_message(running.problem)), icon=":material/error:")
    if is_done and len(checked) < total:
        st.caption(
            ngettext(
                "Stopped after {done} of {number} sentence.",
                "Stopped after {done} of {number} sentences.",
                total,
                done=len(checked),
            )
        )
    return checked


def _show_running(running: TextCheck, shown: int) -> None:
    @st.fragment(run_every=0.5)
    def panel() -> None:
        if running.done or len(running.checked) >= shown + _BATCH:
            st.rerun()
        total = len(running.statements)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = ngettext(
                "{done} of {number} sentence", "{done} of {number} sentences", total, done=len(running.checked)
            )
            st.progress(len(running.checked) / total, words, width="stretch")
            st.button(_("Stop"), icon=":material/stop_circle:", key="check_stop", on_click=running.stop)

    panel()
