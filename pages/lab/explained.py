"""The explanation of a search, which the page computes once per question."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st

from pages.lab.labels import find_labelled_passage
from pages.shared import keys
from pages.shared.problems import show_errors
from pages.shared.text import escape_markdown
from pages.shared.translation import _
from rag_core.engine import Engine
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo
from rag_core.types.explanations import Explanation


def get_explanation(
    engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope
) -> Explanation | None:
    """Return the explanation of the question; if there is nothing to show, give a hint and return ``None``.

    The session keeps the explanation until the question, scope or conditions change, so that moving a slider does not
    start a new search.
    """
    if not documents:
        st.info(
            _("The library is empty. Add documents on the Documents page, then ask here."),
            icon=":material/info:",
        )
        return None
    if not question:
        st.markdown(
            _(
                "Ask something to see its answer and how it came about: which passages each step of the search found, "
                "which words match, and how much each passage counts in the answer."
            )
        )
        return None
    signature = (question, scope, list_conditions(engine, documents))
    kept = st.session_state.get(keys.LAB_EXPLANATION)
    if kept is None or kept[0] != signature:
        explanation = None
        with st.spinner(_("Searching, step by step")), show_errors():
            explanation = engine.explain(question, documents=scope.documents, collections=scope.collections)
        if explanation is None:
            return None
        kept = st.session_state[keys.LAB_EXPLANATION] = (signature, explanation)
        st.session_state.pop(keys.LAB_RIGHT, None)
    shown: Explanation = kept[1]
    if keys.LAB_RIGHT not in st.session_state:
        st.session_state[keys.LAB_RIGHT] = find_labelled_passage(engine, shown)
    for notice in shown.notices:
        st.caption(escape_markdown(notice))
    if not shown.passages:
        st.info(_("Nothing was found. Use other words, or other documents."), icon=":material/info:")
        return None
    return shown


def list_conditions(engine: Engine, documents: Sequence[DocumentInfo]) -> tuple[Hashable, ...]:
    """Return what a search depends on besides the question and its scope: the library, the settings and the adapter."""
    library = tuple((one.document_id, one.version_id, one.collection, one.embedder, one.chunks) for one in documents)
    preferences = engine.preferences
    return (library, preferences.gate, preferences.threshold, preferences.top_k, engine.learning.is_on)
