"""Which question is opened up: the one that the address names."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from rag_core.types import DocumentInfo


def question_box(documents: Sequence[DocumentInfo]) -> tuple[str, list[str]]:
    """Let the reader type a question and choose documents; returns it and their names, none for all.

    Both stand in the address, so that a question can be linked to and sent on.
    """
    names = list(dict.fromkeys(one.name for one in documents))
    if keys.LAB_DOCUMENTS not in st.session_state:
        st.session_state[keys.LAB_DOCUMENTS] = st.query_params.get_all(keys.LAB_DOCUMENT_PARAM)
    # One that the library does not hold stays in the list: asking then says so.
    listed = list(dict.fromkeys([*names, *st.session_state[keys.LAB_DOCUMENTS]]))
    asked, scope = st.columns([2, 1], vertical_alignment="bottom")
    with asked:
        question = st.text_input(
            "Question",
            key=keys.LAB_QUESTION,
            bind="query-params",
            placeholder="A question to your documents",
            icon=":material/search:",
        )
    with scope:
        chosen = st.multiselect(
            "Documents to ask",
            listed,
            key=keys.LAB_DOCUMENTS,
            placeholder=f"All documents ({len(documents):,})",
            on_change=_into_address,
        )
    return (question or "").strip(), chosen


def _into_address() -> None:
    st.query_params[keys.LAB_DOCUMENT_PARAM] = st.session_state[keys.LAB_DOCUMENTS]
