"""The question and scope of the Lab page, which are also in its address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.library import count_by_collection
from pages.shared.translation import _
from rag_core.types.conversations import Scope
from rag_core.types.documents import DocumentInfo


def choose_question(documents: Sequence[DocumentInfo]) -> tuple[str, Scope]:
    """Let the reader type a question and choose names of documents and collections; return question and scope.

    The address contains the question and the scope, so that a reader can link to them.
    """
    left, right = st.columns([2, 1])
    with left:
        question = st.text_input(
            _("Question"),
            key=keys.LAB_QUESTION,
            bind="query-params",
            placeholder=_("A question about your documents"),
            icon=":material/search:",
        )
    with right:
        limited = st.session_state.get(keys.LAB_COLLECTIONS, st.query_params.get_all(keys.LAB_COLLECTION_PARAM))
        chosen = _choose_names(
            _("Documents to ask"),
            [one.name for one in documents],
            keys.LAB_DOCUMENTS,
            keys.LAB_DOCUMENT_PARAM,
            _("Only those of the collections") if limited else _("All documents ({number})", number=len(documents)),
        )
        of = _choose_names(
            _("Collections to ask"),
            count_by_collection(documents),
            keys.LAB_COLLECTIONS,
            keys.LAB_COLLECTION_PARAM,
            _("None"),
        )
    return (question or "").strip(), Scope(tuple(chosen), tuple(of))


def _choose_names(label: str, names: Iterable[str], key: str, param: str, placeholder: str) -> list[str]:
    """Let the reader choose among the names; return the chosen names."""
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get_all(param)
    # A chosen name that is not in the library stays in the list, so that the search reports it.
    listed = list(dict.fromkeys([*names, *st.session_state[key]]))
    if not listed:
        return []

    def into_address() -> None:
        st.query_params[param] = st.session_state[key]

    return st.multiselect(label, listed, key=key, placeholder=placeholder, on_change=into_address)
