"""The question and scope that the Lab shows, which the address contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.library import count_by_collection
from rag_core.types import DocumentInfo, Scope


def choose_question(documents: Sequence[DocumentInfo]) -> tuple[str, Scope]:
    """Let the reader type a question and choose documents, by name, and collections.

    All are in the address, so that a reader can link to a question.
    """
    left, right = st.columns([2, 1])
    with left:
        question = st.text_input(
            "Question",
            key=keys.LAB_QUESTION,
            bind="query-params",
            placeholder="A question about your documents",
            icon=":material/search:",
        )
    with right:
        limited = st.session_state.get(keys.LAB_COLLECTIONS, st.query_params.get_all(keys.LAB_COLLECTION_PARAM))
        chosen = _chosen(
            "Documents to ask",
            [one.name for one in documents],
            keys.LAB_DOCUMENTS,
            keys.LAB_DOCUMENT_PARAM,
            "None besides the collections" if limited else f"All documents ({len(documents):,})",
        )
        of = _chosen(
            "Collections to ask",
            count_by_collection(documents),
            keys.LAB_COLLECTIONS,
            keys.LAB_COLLECTION_PARAM,
            "No whole collection",
        )
    return (question or "").strip(), Scope(tuple(chosen), tuple(of))


def _chosen(label: str, names: Iterable[str], key: str, param: str, placeholder: str) -> list[str]:
    """Let the reader choose among names, if there are any."""
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get_all(param)
    # A name that is not in the library stays in the list; the search then reports it.
    listed = list(dict.fromkeys([*names, *st.session_state[key]]))
    if not listed:
        return []

    def into_address() -> None:
        st.query_params[param] = st.session_state[key]

    return st.multiselect(label, listed, key=key, placeholder=placeholder, on_change=into_address)
