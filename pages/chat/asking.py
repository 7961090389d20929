"""The input for questions, and the answer while it is written."""

from __future__ import annotations

import streamlit as st

from pages.chat.questions import ask, return_to_input
from pages.chat.scope import add_to_scope
from pages.shared import keys
from pages.shared.backend import Backend
from pages.shared.blocks import build_quoted_text
from pages.shared.jobs import submit_files
from pages.shared.markdown import parse_markdown
from pages.shared.nodes import Node
from pages.shared.problems import show_errors
from pages.shared.readiness import describe_search
from pages.shared.richtext import show_richtext
from pages.shared.runs import Progress, Run
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.errors import RagError
from rag_core.types.answers import Stage
from rag_core.types.conversations import Scope
from rag_core.types.searches import MAX_QUESTION_CHARS

# Seconds to wait for a quick answer before showing its progress, and seconds between two updates of the progress.
_AT_ONCE_S, _POLL_S = 0.3, 0.15


def show_input(back: Backend, asked: Scope) -> None:
    """Show the input for questions and files.

    A question is asked in the scope ``asked``. If this scope is not empty, attached files are added to it.

    The input stays enabled while an answer is written, because a disabled input would lose the focus, and the next
    question can be typed meanwhile. Streamlit's own lock applies only to a script run, and an answer takes longer.
    """
    settings = back.engine.settings

    def submitted() -> None:
        value = st.session_state[keys.ASK]
        if not value:
            return
        with show_errors():
            pending_before = len(st.session_state.get(keys.CLASHES, {}))
            jobs = submit_files(back.engine, [(one.name, one.getvalue()) for one in value.files])
            scope = add_to_scope(back.engine, asked, jobs)
            question = value.text.strip()
            if question and len(st.session_state.get(keys.CLASHES, {})) > pending_before:
                return_to_input(question, _("the name of an attached file is taken, so the file is not added yet"))
            elif question:
                try:
                    ask(back, question, scope, [job.job_id for job in jobs])
                except RagError:
                    st.session_state[keys.ASK] = question
                    raise

    if not back.engine.conversations.are_kept:
        st.bottom.caption(_("The data folder cannot be written, so conversations end when Footnote stops."))
    # An input at the root would scroll the page to its end after each run, and the question out of view.
    st.bottom.chat_input(
        _("Ask your documents, or drop files here"),
        key=keys.ASK,
        accept_file="multiple",
        file_type=list(back.engine.formats.suffixes),
        max_upload_size=settings.max_file_mb,
        max_chars=MAX_QUESTION_CHARS,
        on_submit=submitted,
    )


def show_running_answer(back: Backend, run: Run) -> None:
    """Show the answer of a run while it is written, and rerun the page when the answer is stored.

    A fragment polls the progress of the answer. A script run that lasted as long as the answer would block the rest
    of the page and keep outdated elements on the screen.
    """
    # Most answers are complete within this time. Showing their progress would only cause a flicker.
    if run.ends_within(_AT_ONCE_S):
        st.rerun()

    @st.fragment(run_every=_POLL_S)
    def turn() -> None:
        progress = run.progress
        if progress.done:
            st.rerun()
        with st.chat_message("assistant", avatar=":material/format_quote:"):
            # A status that is entered with `with` is shown as complete after each update.
            status = st.status(escape_markdown(_describe_activity(back, progress)), type="compact")
            status.caption("  \n".join(_format_stage(stage) for stage in progress.stages))
            looks = [_format_stage(stage) for stage in progress.stages if stage.name.startswith("search_")]
            if notes := [*filter(None, [escape_markdown(translate_message(progress.restarted))]), *looks]:
                st.caption("  \n".join(notes))
            show_richtext(_build_text(back, run, progress), key="running_answer")
            if run.stopping.is_set():
                st.caption(_(":material/stop_circle: Stopping after the current step"))
            else:
                st.button(_("Stop"), icon=":material/stop_circle:", type="tertiary", key="stop", on_click=run.stop)

    turn()


def _build_text(back: Backend, run: Run, progress: Progress) -> list[Node]:
    """Return the blocks of an incomplete answer; its citations are text until the answer is stored."""
    by_model = back.engine.models.find_generator_name(run.writer.model) != "extractive"
    return parse_markdown(progress.text, (), progress.marked) if by_model else build_quoted_text(progress.text, ())


def _describe_activity(back: Backend, progress: Progress) -> str:
    if progress.stages:
        return translate_message(progress.stages[-1].label)
    return describe_search(back.engine)


def _format_stage(stage: Stage) -> str:
    icon = ":material/check:" if stage.done else ":material/more_horiz:"
    return f"{icon} {escape_markdown(translate_message(stage.label))}"
