"""Watched folders, which the library is synchronized with."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import MAX_JOBS, track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown, format_time
from rag_core.engine import Engine
from rag_core.types.formatting import format_count
from rag_core.types.jobs import WatchedFolder


def show_watched_folders(engine: Engine) -> None:
    """List the watched folders, each with the time of the last check and the problem that the check found."""
    st.header("Watched folders", anchor=False)
    folders = engine.watches.list()
    if not folders:
        # The operator must close the app, because only one process at a time can open the data folder.
        st.caption(
            "None. To watch a folder, close the app, run `python -m rag_core watch FOLDER`, and start the app again. "
            "The app then checks the folder regularly."
        )
    for one in folders:
        with st.container(border=True):
            st.text(one.url)
            last_check = format_time(one.checked_at) if one.checked_at else "never"
            st.caption(f"{format_count(one.files, 'file')} · last check: {last_check}")
            if one.problem:
                st.warning(escape_markdown(one.problem), icon=":material/error:")
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Check now", icon=":material/sync:", key=f"sync_{one.watch_id}", on_click=_sync, args=[engine, one]
                )
                st.button(
                    "Stop watching",
                    icon=":material/close:",
                    key=f"unwatch_{one.watch_id}",
                    on_click=engine.watches.remove,
                    args=[one.watch_id],
                    help="Its documents stay in the library.",
                )


def _sync(engine: Engine, watch: WatchedFolder) -> None:
    with show_errors():
        result = engine.watches.sync(watch.watch_id)
        if result is None:  # the folder was removed in another window
            return
        track_jobs([job for job in engine.jobs.list(limit=MAX_JOBS) if job.job_id in result.job_ids])
        if not result.problem:
            counts = (
                f"{len(paths):,} {what}"
                for paths, what in ((result.added, "added"), (result.changed, "changed"), (result.removed, "removed"))
            )
            st.toast(f"Folder checked: {', '.join(counts)}", icon=":material/check:")
