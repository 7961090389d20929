"""Folders that the library is kept in step with."""

from __future__ import annotations

import streamlit as st

from pages.shared.problems import told
from pages.shared.text import count, plain
from rag_core.engine import Engine
from rag_core.types import Watch


def watches(engine: Engine) -> None:
    """List watched folders, each with its last look and what was wrong with it."""
    st.subheader("Watched folders", anchor=False)
    found = engine.watches()
    if not found:
        st.caption("None. `python -m rag_core watch FOLDER` begins to watch one; the app then looks at it by itself.")
    for one in found:
        with st.container(border=True):
            st.text(one.url)
            looked = one.checked_at.astimezone().strftime("%d %B %Y, %H:%M") if one.checked_at else "not yet"
            st.caption(f"{count(one.files, 'file')} · last look: {looked}")
            if one.problem:
                st.warning(plain(one.problem), icon=":material/error:")
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Look now", icon=":material/sync:", key=f"sync_{one.watch_id}", on_click=_sync, args=[engine, one]
                )
                st.button(
                    "Stop watching",
                    icon=":material/close:",
                    key=f"unwatch_{one.watch_id}",
                    on_click=engine.unwatch,
                    args=[one.watch_id],
                    help="Its documents stay.",
                )


def _sync(engine: Engine, watch: Watch) -> None:
    with told():
        engine.sync_watch(watch.watch_id)
