"""The answer to the question with a search strategy of the reader's choice."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.lab.explained import list_conditions
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from rag_core.engine import Engine
from rag_core.types.answers import Answer
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo
from rag_core.types.retrieval import RetrievalConfig


def show_strategies(engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope) -> None:
    """Let the reader choose a strategy, and show its answer; the chat offers only some of the strategies."""
    st.header("Answer", anchor=False)
    model = engine.models.find_name(None)
    usable = {one.name: one for one in engine.strategies.list_usable(model, scope.as_of)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Search strategy",
            list(usable),
            format_func=lambda name: usable[name].label,
            key="lab_strategy",
            filter_mode=None,
            width=240,
        )
        asked = st.button("Answer", icon=":material/chat:", key="lab_answer")
    st.caption(usable[chosen].description)
    signature = (question, scope, model, chosen, list_conditions(engine, documents))
    if asked:
        with st.spinner("Answering"), show_errors():
            answer = engine.answer(
                question,
                documents=scope.documents,
                collections=scope.collections,
                as_of=scope.as_of,
                configuration=RetrievalConfig(strategy=chosen),
            )
            st.session_state[keys.LAB_ANSWER] = (signature, answer)
    kept = st.session_state.get(keys.LAB_ANSWER)
    if kept and kept[0] == signature:
        with st.container(border=True):
            show_plain_answer(kept[1])


def show_plain_answer(answer: Answer) -> None:
    """Show the steps, the text and the cited pages of an answer, and the tokens that the model used."""
    for step in answer.steps:
        st.caption(f":material/check: {escape_markdown(step)}")
    st.text(answer.text)
    for one in answer.citations:
        st.caption(escape_markdown(f"[{one.marker}] {one.document} · p. {one.page_label}"))
    for notice in answer.notices:
        st.caption(f":material/info: {escape_markdown(notice)}")
    if answer.usage.calls:
        st.caption(escape_markdown(answer.usage.label))
