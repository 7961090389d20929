"""Asking: the input, and the answer while it is being written."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st
from streamlit import runtime
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from pages.chat.current import current
from pages.chat.history import answer_turn, unanswered
from pages.chat.questions import ask
from pages.shared import keys
from pages.shared.answers import Progress, Run
from pages.shared.backend import Backend
from pages.shared.jobs import forget_ended, submit
from pages.shared.problems import told
from pages.shared.text import plain
from pages.shared.warmth import warming
from rag_core.types import Answer, Stage

# What is still to be done once an answer is stored: wait one turn, or draw the page.
_LET_PASS, _DRAW = "let pass", "draw"


def prompt(back: Backend, documents: Sequence[str]) -> None:
    """The input for questions and PDFs, always at hand, also while models warm up."""
    settings = back.engine.settings

    def submitted() -> None:
        given = st.session_state[keys.ASK]
        if not given:
            return
        with told():
            jobs = submit(back.engine, [(one.name, one.getvalue()) for one in given.files])
            added = [job.document_id for job in jobs if job.document_id]
            # Files dropped into a conversation over some documents are meant to be part of it.
            scope = [*documents, *(one for one in added if one not in documents)] if documents else []
            if scope != list(documents) and current():
                back.engine.set_scope(str(current()), scope)
                st.session_state.pop(f"{keys.SCOPE}_{current()}", None)
            if given.text.strip():
                forget_ended(back.engine)
                ask(back, given.text.strip(), scope, [job.job_id for job in jobs])

    st.chat_input(
        "Ask your documents, or drop PDFs here",
        key=keys.ASK,
        accept_file="multiple",
        file_type="pdf",
        max_upload_size=settings.max_file_mb,
        max_chars=settings.max_question_chars,
        submit_mode="stop",
        on_submit=submitted,
    )


def watch(back: Backend, run: Run) -> None:
    """Draw the page anew once an answer is stored, and tell meanwhile that one is stopping: a stopped run cannot.

    One that was not stopped needs it as well. Fragments that came due meanwhile run at once after it, and the
    browser, which hears of both ends together, then leaves the input locked until a whole run ends by itself. So
    the first turn after the answer, which may be one of those, is let pass: the next comes of a tick just now,
    and no other falls due before the whole run that it asks for has begun.
    """
    st.session_state[keys.FOLLOWING] = _LET_PASS

    @st.fragment(run_every=0.7)
    def ended() -> None:
        following = st.session_state.get(keys.FOLLOWING)
        if not following:
            return
        if not run.progress.done:
            if run.stopping.is_set():
                st.caption(":material/stop_circle: Stopping after the present step")
            return
        if following == _DRAW:
            st.session_state.pop(keys.FOLLOWING)
            st.rerun()
        st.session_state[keys.FOLLOWING] = _DRAW

    ended()


def answer_under_way(
    back: Backend, run: Run, shown: dict[str, Answer], *, live: DeltaGenerator, stored: DeltaGenerator
) -> None:
    """Follow an answer in the place ``live`` until it is there, then show it in ``stored``.

    Two places, because a place that is emptied and filled in one go keeps what it had more of: the browser
    is sent only the second. So nothing of a stored answer is left below the text of the one that follows it.
    """
    try:
        with live.container(), st.chat_message("assistant", avatar=":material/format_quote:"):
            _follow(back, run)
    except StopException:
        # The stop button raises this, and so does a reload or a closed tab, after which the
        # answer is still wanted. A click elsewhere raises another, and the next run follows on.
        if _still_connected():
            run.stop()
        raise
    _, messages = back.engine.conversation(run.conversation_id)
    live.empty()
    with stored.container():
        if messages and messages[-1].role == "assistant" and messages[-1].message_id not in shown:
            answer_turn(back, messages[-1], last=True)
        elif run.problem:
            unanswered(back)


def _still_connected() -> bool:
    """Whether the reader's browser is there; Streamlit notes within moments that it has gone."""
    context = get_script_run_ctx()
    deadline = time.monotonic() + 0.3
    while context is not None and runtime.exists() and time.monotonic() < deadline:
        if not runtime.get_instance().is_active_session(context.session_id):
            return False
        time.sleep(0.02)
    return True


def _follow(back: Backend, run: Run) -> None:
    status = st.status(_doing(back, run.progress), type="compact")
    steps, note, body = status.empty(), st.empty(), st.empty()
    seen = Progress()
    for progress in run.follow():
        # Touching the session is where Streamlit looks whether this run was stopped, also while
        # nothing arrives.
        st.session_state.get(keys.FOLLOWING)
        if progress.stages != seen.stages:
            status.update(label=plain(_doing(back, progress)))
            steps.caption("  \n".join(_step(stage) for stage in progress.stages))
        if progress.restarted != seen.restarted:
            note.caption(plain(progress.restarted))
        if progress.text != seen.text:
            body.text(progress.text)
        seen = progress


def _doing(back: Backend, progress: Progress) -> str:
    if progress.stages:
        return progress.stages[-1].label
    return warming(back.engine) or "Searching"


def _step(stage: Stage) -> str:
    icon = ":material/check:" if stage.done else ":material/more_horiz:"
    return f"{icon} {plain(stage.label)}"
