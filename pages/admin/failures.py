"""The newest background jobs that failed, with the reason of each."""

from __future__ import annotations

import streamlit as st

from pages.shared.jobs import MAX_JOBS
from pages.shared.jobwords import describe_result
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.jobs import JobState

_SHOWN = 5


def show_recent_failures(engine: Engine) -> None:
    """List what could not be added, re-indexed or built, newest first and up to `_SHOWN` failures."""
    ended = [one for one in engine.jobs.list(limit=MAX_JOBS) if one.state in (JobState.DONE, JobState.FAILED)]
    # Only the last job of each document counts.
    newest = {one.document_id or one.job_id: one for one in reversed(ended)}
    failed = [words for good, words in map(describe_result, reversed(newest.values())) if not good]
    st.header(_("Recent failures"), anchor=False)
    if not failed:
        st.caption(_("None."))
        return
    for words in failed[:_SHOWN]:
        st.markdown(f":material/error: {escape_markdown(words)}")
    what = _("On the Documents page, a file can be tried again or removed.")
    if len(failed) > _SHOWN:
        what = f"{_('The newest {shown} of {number} failures.', shown=_SHOWN, number=len(failed))} {what}"
    st.caption(what)
