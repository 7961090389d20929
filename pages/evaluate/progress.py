"""The progress of work that runs in the background, and the problem with which it ended."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.types.jobs import RunState


def show_background_run(get_state: Callable[[], RunState | None], cancel: Callable[[], None], key: str) -> None:
    """Show the progress of a run and a button that cancels the run; after the end, show the problem, if any.

    ``key`` is the key of the button.
    """
    state = get_state()
    if state is None:
        return
    if not state.running:
        if state.problem:
            st.warning(escape_markdown(translate_message(state.problem)), icon=":material/error:")
        return

    @st.fragment(run_every=1.0)
    def progress() -> None:
        now = get_state()
        if now is None or not now.running:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            text = _(
                "{stage}: {done} of {total}",
                stage=escape_markdown(translate_message(now.stage)),
                done=now.done,
                total=now.total,
            )
            st.progress(now.done / now.total if now.total else 0.0, text=text)
            st.button(_("Cancel"), key=key, type="tertiary", on_click=cancel)

    progress()
