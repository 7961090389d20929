"""Background jobs as they go on, on whatever page the reader is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from pages.shared import keys
from pages.shared.jobwords import is_embedding, job_label, job_outcome, job_share
from pages.shared.problems import told
from pages.shared.text import plain
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types import DEFAULT_COLLECTION, Job, JobState, SameName

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
_SHOWN = 8
MOST = 1000
_SHOWN_OUTCOMES = 3


def submit(engine: Engine, files: Sequence[tuple[str, bytes]], collection: str = DEFAULT_COLLECTION) -> list[Job]:
    """Hand files to the engine, for a collection, and remember their jobs, so that their outcome is told here.

    A file whose name is taken by other content is held back until the reader has said what becomes
    of both.
    """
    jobs: list[Job] = []
    for name, data in files:
        if engine.documents.has_name_clash(name, data, collection=collection):
            held = st.session_state.setdefault(keys.CLASHES, {})
            # A number is not given anew, so that a second click on a button does not settle the next file.
            held[max(held, default=-1) + 1] = (name, data, collection)
        else:
            jobs += hand_over(engine, name, data, collection)
    return jobs


def hand_over(
    engine: Engine, name: str, data: bytes, collection: str, *, on_same_name: SameName = "replace"
) -> list[Job]:
    """Queue one file and remember its job; a failure is told where it happens, and gives none."""
    with told():
        job = engine.documents.submit(name, data, collection=collection, on_same_name=on_same_name)
        remember([job])
        return [job]
    return []


def remember(jobs: Sequence[Job]) -> None:
    """Tell the outcome of these jobs in this session until the reader dismisses it."""
    recent = st.session_state.setdefault(keys.RECENT_JOBS, [])
    recent.extend(job.job_id for job in jobs)


def forget_ended(engine: Engine) -> None:
    """Tell no more of jobs that have ended."""
    active = {job.job_id for job in engine.jobs.list(active=True, limit=MOST)}
    recent = st.session_state.get(keys.RECENT_JOBS, [])
    st.session_state[keys.RECENT_JOBS] = [one for one in recent if one in active]


def job_panel(engine: Engine) -> None:
    """Running jobs, each with its bar and a way to cancel, and what became of this session's."""
    before = engine.jobs.list(active=True, limit=MOST)
    if not before and not st.session_state.get(keys.RECENT_JOBS):
        return

    @st.fragment(run_every=1.0 if before else None)
    def panel() -> None:
        running = engine.jobs.list(active=True, limit=MOST)
        # Tables, counts and pickers outside this fragment change with a job that begins or ends, and once a
        # document is found by its words. A full run would close an open dialog, so that waits until the reader
        # has closed it.
        if _states(running) != _states(before) and not st.session_state.get(keys.DIALOG_OPEN):
            st.rerun()
        for job in reversed(running[-_SHOWN:]):
            _bar(engine, job)
        if len(running) > _SHOWN:
            st.caption(f"{len(running) - _SHOWN:,} more waiting.")
        _outcomes(engine)

    panel()


def _states(jobs: Sequence[Job]) -> set[tuple[str, JobState, bool]]:
    return {(job.job_id, job.state, is_embedding(job)) for job in jobs}


def _bar(engine: Engine, job: Job) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.progress(job_share(job), text=plain(job_label(job)))
        st.button(
            "Cancel",
            key=f"cancel_{job.job_id}",
            on_click=_cancel,
            args=[engine, job],
            type="tertiary",
        )


def _cancel(engine: Engine, job: Job) -> None:
    # Its document may be gone by now, and the work with it.
    with told(), suppress(UnknownDocument):
        engine.jobs.cancel(job.job_id)


def _outcomes(engine: Engine) -> None:
    recent = st.session_state.get(keys.RECENT_JOBS, [])
    if not recent:
        return
    ours = [job for job in reversed(engine.jobs.list(limit=MOST)) if job.job_id in recent]
    # Of a document that was tried again, only what became of it then.
    newest = {job.document_id or job.job_id: job for job in ours}
    results = [job_outcome(job) for job in newest.values() if job.state not in ACTIVE]
    good = [words for fine, words in results if fine]
    if len(good) > _SHOWN_OUTCOMES:
        good = [f"{len(good)} documents are ready."]
    for words in good:
        st.caption(f":material/check: {plain(words)}")
    bad = [words for fine, words in results if not fine]
    for words in bad:
        st.warning(plain(words), icon=":material/error:")
    if bad and st.button("Close messages", key="close_outcomes", type="tertiary"):
        forget_ended(engine)
        # What goes with a message stands outside this fragment.
        st.rerun()
