"""The same question with passages and without, to see what retrieval adds."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.lab.explained import list_conditions
from pages.lab.strategies import show_plain_answer
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.engine import Engine
from rag_core.types.closed_book import ClosedBookAnswer
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo


def show_closed_book(engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope) -> None:
    """Let the reader ask the model twice, and show its answer from memory beside its answer from passages."""
    st.header(_("With and without your documents"), anchor=False)
    model = engine.models.find_name(None)
    if not model:
        st.caption(
            _(
                "Connect a language model on the Settings page to see what it answers from memory, without your "
                "documents."
            )
        )
        return
    st.caption(_("What the model answers from memory has no source. Compare both to see what your documents add."))
    signature = (question, scope, model, list_conditions(engine, documents))
    if st.button(_("Ask with and without documents"), icon=":material/menu_book:", key="lab_ask_closed_book"):
        with st.spinner(_("{model} answers twice", model=escape_markdown(model))), show_errors():
            answer = engine.closed_book.answer(question, documents=scope.documents, collections=scope.collections)
            st.session_state[keys.LAB_CLOSED_BOOK] = (signature, answer)
    kept = st.session_state.get(keys.LAB_CLOSED_BOOK)
    if kept and kept[0] == signature:
        _show_answers(kept[1])


def _show_answers(answer: ClosedBookAnswer) -> None:
    closed, grounded = st.columns(2)
    with closed.container(border=True):
        st.markdown(_(":material/psychology: **Without documents**"))
        st.warning(_("Unsupported: from the model's memory, without any source."), icon=":material/gpp_maybe:")
        st.text(answer.text or _("The model wrote nothing."))
        st.caption(escape_markdown(translate_message(answer.usage.label)))
    with grounded.container(border=True):
        st.markdown(_(":material/menu_book: **From your documents**"))
        show_plain_answer(answer.grounded)
