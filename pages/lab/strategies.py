"""The answer to the question, with a search strategy of the reader's choice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st

from pages.lab.explained import list_conditions
from pages.shared import keys
from pages.shared.blocks import build_answer_blocks
from pages.shared.current import open_source
from pages.shared.evidence import find_linked_sources, format_for_copy, name_sources
from pages.shared.passages import link_sources
from pages.shared.problems import show_errors
from pages.shared.richtext import show_richtext
from pages.shared.tables import build_cited_tables
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo
from rag_core.types.retrieval import RetrievalConfig


def show_strategies(
    engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope
) -> dict[str, Answer]:
    """Let the reader choose a strategy, and show the answer; return the answer by the id that opens its sources.

    The chat offers only some of these strategies. A model writes an answer only after a click on the button, and the
    result is empty until then; without a model, the answer is shown at once.
    """
    st.header(_("Answer"), anchor=False)
    model = engine.models.find_name(None)
    usable = {one.name: one for one in engine.strategies.list_usable(model, scope.as_of)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            _("Way to search"),
            list(usable),
            format_func=lambda name: translate_message(usable[name].label),
            key="lab_strategy",
            filter_mode=None,
            width=240,
        )
        asked = st.button(_("Answer"), icon=":material/chat:", key="lab_answer")
    st.caption(translate_message(usable[chosen].description))
    signature = (question, scope, model, chosen, list_conditions(engine, documents))
    kept = st.session_state.get(keys.LAB_ANSWER)
    is_shown = kept and kept[0] == signature
    if asked or not (is_shown or model):
        with st.spinner(_("Answering")), show_errors():
            answer = engine.answer(
                question,
                documents=scope.documents,
                collections=scope.collections,
                as_of=scope.as_of,
                configuration=RetrievalConfig(strategy=chosen),
            )
            kept = st.session_state[keys.LAB_ANSWER] = (signature, answer)
    if not kept or kept[0] != signature:
        return {}
    # The address names the answer by this id, so that no source of another question's answer is shown.
    answer_id = hashlib.sha256(f"{question} {chosen}".encode()).hexdigest()[:12]
    with st.container(border=True):
        _show_answer(kept[1], answer_id)
    return {answer_id: kept[1]}


def _show_answer(answer: Answer, answer_id: str) -> None:
    """Show an answer as in the chat, followed by the steps that led to it."""
    sources = name_sources(answer)
    show_richtext(
        [*build_answer_blocks(answer, sources), *build_cited_tables(answer, sources)],
        key="lab_answer_text",
        sources=find_linked_sources(answer),
        on_cite=lambda marker: open_source(answer_id, marker),
        copy=format_for_copy(answer),
    )
    if answer.state is AnswerState.ABSTAINED:
        link_sources(answer, key="lab_closest", on_open=lambda marker: open_source(answer_id, marker))
    show_steps(answer)


def show_plain_answer(answer: Answer) -> None:
    """Show the text and the cited pages of an answer, the steps, and the tokens that the model used."""
    st.text(translate_message(answer.text))
    for one in answer.citations:
        st.caption(escape_markdown(f"[{one.marker}] {one.document} · {_('p. {page}', page=one.page_label)}"))
    show_steps(answer)


def show_steps(answer: Answer) -> None:
    """Show the steps of an answer, its notices, and the tokens that the model used."""
    for step in answer.steps:
        st.caption(f":material/check: {escape_markdown(translate_message(step))}")
    for notice in answer.notices:
        st.caption(f":material/info: {escape_markdown(translate_message(notice))}")
    if answer.usage.calls:
        st.caption(escape_markdown(translate_message(answer.usage.label)))
