"""The search for words in the document of a source."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import streamlit as st

from pages.shared import keys
from pages.shared.text import count_pages
from pages.shared.translation import N_, _
from rag_core.engine import Engine
from rag_core.types.documents import DocumentInfo


def show_search(engine: Engine, document: DocumentInfo) -> dict[int, Sequence[tuple[int, int]]]:
    """Let the reader search a document; return the spans of the words by the index of the page that contains them.

    A search opens the next page with the words, beginning with the page in view.
    """

    def changed() -> None:
        pages = sorted(_find_words(engine, document))
        if pages:
            place = bisect_left(pages, st.session_state[keys.SOURCE_PAGE])
            st.session_state[keys.SOURCE_PAGE] = pages[place % len(pages)]

    words = st.text_input(
        _("Search in this document"),
        key=keys.SOURCE_SEARCH,
        icon=":material/search:",
        placeholder=_("Search in this document"),
        label_visibility="collapsed",
        on_change=changed,
    )
    found = _find_words(engine, document)
    if words:
        _show_pages(sorted(found))
    return found


def _find_words(engine: Engine, document: DocumentInfo) -> dict[int, Sequence[tuple[int, int]]]:
    words = str(st.session_state.get(keys.SOURCE_SEARCH) or "")
    return engine.documents.find_text(document.document_id, words, version_id=document.version_id) if words else {}


def _show_pages(pages: list[int]) -> None:
    """Say which of the pages with the words is in view, with buttons to the page before and after it."""
    if not pages:
        st.caption(_("Not found in this document."))
        return
    page = st.session_state[keys.SOURCE_PAGE]
    place = bisect_left(pages, page)
    is_match = page in pages

    def go(to: int) -> None:
        st.session_state[keys.SOURCE_PAGE] = pages[to]

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="source_matches"):
        found = count_pages(len(pages))
        if is_match:
            words = _("Found: match {number} of {pages}", number=place + 1, pages=found)
        else:
            words = _("Found: {pages}", pages=found)
        st.caption(words, width="content")
        following = place + is_match
        for label, icon, to in (
            (N_("Previous match"), "arrow_upward", place - 1),
            (N_("Next match"), "arrow_downward", following),
        ):
            st.button(
                _(label),
                icon=f":material/{icon}:",
                key=f"source_{label.lower().replace(' ', '_')}",
                type="tertiary",
                on_click=go,
                args=[to],
                disabled=not 0 <= to < len(pages),
                help=_(label),
            )
