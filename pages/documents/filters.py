"""The search and the filters of the table of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.documents.statuses import describe_status
from pages.shared.library import format_collection_name
from pages.shared.translation import N_, _
from rag_core.types.documents import DEFAULT_COLLECTION, DocumentInfo

# For each filter, a function that returns the values of a document. The name of a filter is also that of a column.
FILTERS: Mapping[str, Callable[[DocumentInfo], Sequence[str]]] = {
    N_("Company"): lambda one: [one.company] if one.company else [],
    N_("Year"): lambda one: [str(one.year)] if one.year else [],
    N_("Type"): lambda one: [one.kind] if one.kind else [],
    N_("Tags"): lambda one: one.tags,
    N_("Collection"): lambda one: [format_collection_name(one.collection)],
    N_("Status"): lambda one: [describe_status(one)],
}


def list_filters(documents: Sequence[DocumentInfo]) -> list[str]:
    """Return the names of the filters for which at least one document has a value other than the default."""
    usual = {"Collection": [format_collection_name(DEFAULT_COLLECTION)]}
    return [
        name
        for name, values in FILTERS.items()
        if any(values(one) not in ([], (), usual.get(name)) for one in documents)
    ]


def filter_documents(documents: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Show the search field and the filters; return the documents that match them."""
    query = st.text_input(
        _("Search documents"),
        placeholder=_("Search by name, company, tag or status"),
        icon=":material/search:",
        label_visibility="collapsed",
        key="document_search",
    )
    chosen: dict[str, set[str]] = {}
    with st.container(horizontal=True, gap="small"):
        for name in list_filters(documents):
            counts = Counter(value for one in documents for value in FILTERS[name](one))
            chosen[name] = set(_choose_values(name, counts, len(documents)))
    words = query.casefold().split()
    shown = [
        one
        for one in documents
        if all(not wanted or wanted.intersection(FILTERS[name](one)) for name, wanted in chosen.items())
        and (not words or _contains_words(one, words))
    ]
    if not shown:
        if any(chosen.values()):
            missing = _("No document that you have chosen has these words in its name, its tags or its status.")
        else:
            missing = _("No document has these words in its name, its tags or its status.")
        st.caption(f"{missing} {_('Change the search or filters.')}")
    return shown


def _choose_values(label: str, counts: Mapping[str, int], documents: int) -> list[str]:
    """Let the reader choose values of a filter, and return them; an empty list means all values.

    If all documents have the same value, there is nothing to choose, and the list is empty.
    """
    key = f"document_filter_{label.lower()}"
    # Remove values that no document has any longer. Such a value would hide all documents.
    st.session_state[key] = [one for one in st.session_state.get(key, []) if one in counts]
    if len(counts) < 2 and documents in counts.values():
        return []
    return st.multiselect(
        _(label),
        sorted(counts, key=str.casefold),
        format_func=lambda one: f"{one} ({counts.get(one, 0):,})",
        placeholder=_(label),
        label_visibility="collapsed",
        key=key,
        # A chosen value needs more room than the name of the filter.
        width=240 if st.session_state[key] else 150,
    )


def _contains_words(document: DocumentInfo, words: Sequence[str]) -> bool:
    values = [value for name, find in FILTERS.items() if name != "Collection" for value in find(document)]
    text = " ".join([document.all_names, *values]).casefold()
    return all(word in text for word in words)
