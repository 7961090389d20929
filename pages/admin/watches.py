"""Watched folders, which the library is synchronized with."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import MAX_JOBS, track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import count_files, escape_markdown, format_time
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.jobs import WatchedFolder


def show_watched_folders(engine: Engine) -> None:
    """List the watched folders, each with the time of the last check and the problem that the check found."""
    st.header(_("Watched folders"), anchor=False)
    folders = engine.watches.list()
    if not folders:
        # The operator must close the app, because only one process at a time can open the data folder.
        st.caption(
            _(
                "None. To watch a folder, close the app, run `python -m rag_core watch FOLDER`, and start the "
                "app again. The app then checks the folder regularly."
            )
        )
    for one in folders:
        with st.container(border=True):
            st.text(one.url)
            last_check = format_time(one.checked_at) if one.checked_at else _("never")
            st.caption(_("{files} · last check: {time}", files=count_files(one.files), time=last_check))
            if one.problem:
                st.warning(escape_markdown(translate_message(one.problem)), icon=":material/error:")
            with st.container(horizontal=True, gap="small"):
                st.button(
                    _("Check now"),
                    icon=":material/sync:",
                    key=f"sync_{one.watch_id}",
                    on_click=_sync_folder,
                    args=[engine, one],
                )
                st.button(
                    _("Stop watching"),
                    icon=":material/close:",
                    key=f"unwatch_{one.watch_id}",
                    on_click=engine.watches.remove,
                    args=[one.watch_id],
                    help=_("Its documents stay in the library."),
                )


def _sync_folder(engine: Engine, watch: WatchedFolder) -> None:
    with show_errors():
        result = engine.watches.sync(watch.watch_id)
        if result is None:  # the folder was removed in another window
            return
        track_jobs([job for job in engine.jobs.list(limit=MAX_JOBS) if job.job_id in result.job_ids])
        if not result.problem:
            counts = (
                _("{number} added", number=len(result.added)),
                _("{number} changed", number=len(result.changed)),
                _("{number} removed", number=len(result.removed)),
            )
            st.toast(_("Folder checked: {counts}", counts=", ".join(counts)), icon=":material/check:")
