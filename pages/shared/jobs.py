"""Background jobs: submit files, and show the progress and the results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from pages.shared import keys
from pages.shared.jobwords import describe_files, describe_job, describe_result, estimate_progress, is_embedding
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types.documents import DEFAULT_COLLECTION, SameName
from rag_core.types.jobs import Job, JobState

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
# Maximum number of active jobs that are shown, and of jobs that are read.
_SHOWN = 20
MAX_JOBS = 1000
# Maximum number of files, and of results, that are shown with a line each; one line summarizes more.
_LISTED = 3


def submit_files(engine: Engine, files: Sequence[tuple[str, bytes]], collection: str = DEFAULT_COLLECTION) -> list[Job]:
    """Add files to a collection and return their jobs. The job panel shows the results.

    If a document has the same name as a file but other content, the file waits until the reader decides.
    """
    jobs: list[Job] = []
    for name, data in files:
        if engine.documents.has_name_clash(name, data, collection=collection):
            pending = st.session_state.setdefault(keys.CLASHES, {})
            # A file keeps its number while it waits, so that a second click on a button does not decide about the next
            # file.
            pending[max(pending, default=-1) + 1] = (name, data, collection)
        else:
            jobs += submit_file(engine, name, data, collection)
    return jobs


def submit_file(
    engine: Engine, name: str, data: bytes, collection: str, *, on_same_name: SameName = "replace"
) -> list[Job]:
    """Queue a file and return a list with its job; if that fails, show the error and return an empty list."""
    with show_errors():
        job = engine.documents.submit(name, data, collection=collection, on_same_name=on_same_name)
        track_jobs([job])
        return [job]
    return []


def track_jobs(jobs: Sequence[Job]) -> None:
    """Show the results of these jobs in this session until the reader dismisses them."""
    recent = st.session_state.setdefault(keys.RECENT_JOBS, [])
    recent.extend(job.job_id for job in jobs)


def untrack_ended_jobs(engine: Engine) -> None:
    """Stop showing the results of jobs that have ended."""
    active = {job.job_id for job in engine.jobs.list(active=True, limit=MAX_JOBS)}
    recent = st.session_state.get(keys.RECENT_JOBS, [])
    st.session_state[keys.RECENT_JOBS] = [one for one in recent if one in active]


def show_jobs(engine: Engine) -> None:
    """Show the active jobs, each with a button to cancel it, and the results of this session's jobs.

    Many files share one line, which the reader can expand, so that the rest of the page stays in view.
    """
    before = engine.jobs.list(active=True, limit=MAX_JOBS)
    if not before and not st.session_state.get(keys.RECENT_JOBS):
        return

    @st.fragment(run_every=1.0 if before else None)
    def panel() -> None:
        running = engine.jobs.list(active=True, limit=MAX_JOBS)
        if engine.jobs.problem:
            st.error(escape_markdown(translate_message(engine.jobs.problem)))
        # When a job starts or ends, or a document becomes searchable by words, elements outside this fragment change
        # and the whole page must rerun. A rerun closes an open dialog, so wait until the reader has closed the dialog.
        if _list_states(running) != _list_states(before) and not st.session_state.get(keys.DIALOG_OPEN):
            st.rerun()
        ended = _find_ended(engine)
        if not running or len(running) + len(ended) <= _LISTED or _show_summary(running, ended):
            _show_running(engine, running)
        _show_results(engine, ended)

    panel()


def _list_states(jobs: Sequence[Job]) -> set[tuple[str, JobState, bool]]:
    return {(job.job_id, job.state, is_embedding(job)) for job in jobs}


def _find_ended(engine: Engine) -> list[Job]:
    """Return the ended jobs of this session, oldest first, with only the newest job of each document."""
    recent = st.session_state.get(keys.RECENT_JOBS, [])
    ours = [job for job in reversed(engine.jobs.list(limit=MAX_JOBS)) if job.job_id in recent] if recent else []
    return [job for job in {job.document_id or job.job_id: job for job in ours}.values() if job.state not in ACTIVE]


def _show_summary(running: Sequence[Job], ended: Sequence[Job]) -> bool:
    """Show one line for all files; return whether the reader wants to see each of them."""
    is_open = bool(st.session_state.get(keys.JOBS_OPEN))

    def toggle() -> None:
        st.session_state[keys.JOBS_OPEN] = not is_open

    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.caption(f":material/hourglass_top: {escape_markdown(describe_files(running, ended))}", width="stretch")
        st.button(_("Hide files") if is_open else _("Show files"), key="jobs_toggle", type="tertiary", on_click=toggle)
    return is_open


def _show_running(engine: Engine, running: Sequence[Job]) -> None:
    # Files that are read come before those that wait, and older ones before newer ones.
    oldest_first = running[::-1]
    shown = sorted(oldest_first, key=lambda job: job.state is JobState.QUEUED)[:_SHOWN]
    for job in shown:
        _show_job(engine, job, running)
    # Fill the places that became free. Otherwise, Streamlit would show outdated lines in them until the script ends.
    for _number in range(_SHOWN - len(shown)):
        st.empty()
    if len(running) > _SHOWN:
        st.caption(_("{number} more waiting.", number=len(running) - _SHOWN))


def _show_job(engine: Engine, job: Job, running: Sequence[Job]) -> None:
    words = escape_markdown(describe_job(job, running))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        if job.state is JobState.QUEUED:
            st.caption(words)
        else:
            st.progress(estimate_progress(job), text=words)
        st.button(
            _("Cancel"),
            key=f"cancel_{job.job_id}",
            on_click=_cancel_job,
            args=[engine, job],
            type="tertiary",
        )


def _cancel_job(engine: Engine, job: Job) -> None:
    # The document and its job may have been deleted in the meantime.
    with show_errors(), suppress(UnknownDocument):
        engine.jobs.cancel(job.job_id)


def _show_results(engine: Engine, ended: Sequence[Job]) -> None:
    results = [describe_result(job) for job in ended]
    good = [words for fine, words in results if fine]
    if len(good) > _LISTED:
        good = [_("{number} documents are ready.", number=len(good))]
    for words in good:
        st.caption(f":material/check: {escape_markdown(words)}")
    bad = [words for fine, words in results if not fine]
    for words in bad[:_LISTED]:
        st.warning(escape_markdown(words), icon=":material/error:")
    if len(bad) > _LISTED:
        st.caption(
            ngettext(
                "{number} more file not added: the Documents page has the reasons.",
                "{number} more files not added: the Documents page has the reasons.",
                len(bad) - _LISTED,
            )
        )
    if bad and st.button(_("Close messages"), key="close_outcomes", type="tertiary"):
        untrack_ended_jobs(engine)
        # Elements outside this fragment depend on the messages, so rerun the whole page.
        st.rerun()
