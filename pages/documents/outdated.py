"""The offer to read documents again that an older version of the reader has read."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import MAX_JOBS, track_jobs
from pages.shared.problems import show_errors
from rag_core.engine import Engine
from rag_core.types import NEWER_READER, format_count


def offer_reading_again(engine: Engine) -> None:
    """If an older version of the reader has read documents, say how many and why to read them again, with a button."""
    outdated = engine.index.outdated_ids()
    # The job panel shows a re-index that is running.
    if not outdated or any(job.kind == "reindex" for job in engine.jobs.list(active=True, limit=MAX_JOBS)):
        return
    were = "was" if len(outdated) == 1 else "were"
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="outdated"):
        st.markdown(
            f":material/update: {format_count(len(outdated), 'document')} {were} read by an older version of the "
            f"reader. {NEWER_READER} Answers use the current text meanwhile.",
            width="stretch",
        )
        st.button(
            f"Read {format_count(len(outdated), 'document')} again",
            icon=":material/sync:",
            key="read_again",
            on_click=_read_again,
            args=[engine],
        )


def _read_again(engine: Engine) -> None:
    with show_errors():
        # Single documents cannot be indexed with other settings than the rest; then index everything again.
        changed = engine.index.differences().keys() - {"extractor"}
        track_jobs([engine.index.rebuild(None if changed else engine.index.outdated_ids())])
