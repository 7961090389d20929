"""The explanation that the page shows, made once a question."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.lab.labels import labelled
from pages.shared import keys
from pages.shared.problems import told
from pages.shared.text import plain
from rag_core.engine import Engine
from rag_core.types import DocumentInfo, Explanation, Scope


def explained(engine: Engine, documents: Sequence[DocumentInfo], question: str, scope: Scope) -> Explanation | None:
    """Explain the question, or say what to do first; ``None`` where there is nothing to show.

    What was found stays until question, documents or library change, so that a slider moves nothing
    but what it is about.
    """
    if not documents:
        st.info("The library is empty. Add PDFs on the Documents page, then ask here.", icon=":material/info:")
        return None
    if not question:
        st.markdown(
            "Ask something to see which passages each stage of the search found, how they moved from stage to "
            "stage, which words made their scores, and how much each would count in an answer."
        )
        return None
    library = tuple((one.document_id, one.version_id, one.collection, one.embedder, one.chunks) for one in documents)
    signature = (
        question,
        scope,
        library,
        engine.preferences.gate,
        engine.preferences.threshold,
        engine.preferences.top_k,
    )
    kept = st.session_state.get(keys.LAB_EXPLANATION)
    if kept is None or kept[0] != signature:
        explanation = None
        with st.spinner("Searching, stage by stage"), told():
            explanation = engine.explain(question, documents=scope.documents, collections=scope.collections)
        if explanation is None:
            return None
        kept = st.session_state[keys.LAB_EXPLANATION] = (signature, explanation)
        st.session_state.pop(keys.LAB_RIGHT, None)
    found: Explanation = kept[1]
    if keys.LAB_RIGHT not in st.session_state:
        st.session_state[keys.LAB_RIGHT] = labelled(engine, found)
    for notice in found.notices:
        st.caption(plain(notice))
    if not found.passages:
        st.info("No stage found anything. Use other words, or other documents.", icon=":material/info:")
        return None
    return found
