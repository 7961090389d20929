"""The offer to re-index documents that an older version of the parser has parsed."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import MAX_JOBS, track_jobs
from pages.shared.problems import show_errors
from pages.shared.text import count_documents
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.status import describe_outdated


def offer_reindex(engine: Engine) -> None:
    """Offer to re-index the documents that another version of the parser has read.

    Show nothing if there are none, or while a re-index is queued or runs.
    """
    outdated = engine.index.outdated_ids()
    # The job panel shows a re-index that is running.
    if not outdated or any(job.kind == "reindex" for job in engine.jobs.list(active=True, limit=MAX_JOBS)):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="outdated"):
        st.markdown(
            _(
                ":material/update: {outdated} Answers use the current text meanwhile.",
                outdated=translate_message(describe_outdated(len(outdated))),
            ),
            width="stretch",
        )
        st.button(
            _("Re-index {documents}", documents=count_documents(len(outdated))),
            icon=":material/sync:",
            key="reindex_outdated",
            on_click=_reindex_outdated,
            args=[engine],
        )


def _reindex_outdated(engine: Engine) -> None:
    with show_errors():
        # If the settings of the index have changed, single documents cannot be re-indexed, so re-index all of them.
        changed = engine.index.differences().keys() - {"extractor"}
        track_jobs([engine.index.rebuild(None if changed else engine.index.outdated_ids())])
