"""The page image in the source drawer, with controls to turn pages and to zoom."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared import keys
from pages.shared.evidence import find_citations, find_highlights
from pages.shared.pageview import show_page_image
from rag_core.engine import Engine
from rag_core.types.answers import Answer
from rag_core.types.documents import DocumentInfo, Page, PageState
from rag_core.types.retrieval import Passage

ZOOMS = (1.0, 1.5, 2.0, 3.0)
# Pixels per point at zoom 1. The image is then sharp in the drawer, and small enough to load quickly.
_SCALE = 1.5
_LARGEST_SCALE = 3.0


def show_source_page(engine: Engine, document: DocumentInfo, answer: Answer, passage: Passage) -> None:
    """Show the current page of the drawer, with the quoted words highlighted."""
    cited = [one.page_index for one in find_citations(answer, passage)] or [passage.page_index]
    page = st.session_state.setdefault(keys.SOURCE_PAGE, cited[0])
    zoom = st.session_state.setdefault(keys.SOURCE_ZOOM, 0)
    highlights = find_highlights(answer, passage, page)
    # Render the page before drawing the controls, so that no controls are shown if the rendering fails.
    with st.spinner("Drawing the page"):
        image = engine.documents.render_page(
            passage.document_id,
            page,
            version_id=passage.version_id,
            highlights=highlights,
            scale=min(_LARGEST_SCALE, _SCALE * ZOOMS[zoom]),
        )
    _controls(page, max(document.pages, page + 1), zoom)
    _ocr_note(engine.documents.page(document.document_id, page, version_id=document.version_id))
    show_page_image(image, alt=f"Page {page + 1} of {passage.document}", zoom=ZOOMS[zoom], key="source_page_image")
    if document.version_id != passage.version_id:
        st.caption("The document was replaced after this answer. This is its current page, without highlights.")
    elif highlights and not image.highlighted:
        st.caption("The quoted words were not found on the page image, so nothing is highlighted.")


def _ocr_note(page: Page) -> None:
    """If OCR read the page, show a note with the confidence."""
    if page.state in (PageState.OCR, PageState.MIXED):
        which = "This page" if page.state is PageState.OCR else "A part of this page"
        sure = "" if page.confidence is None else f", with a confidence of {page.confidence:.2f}"
        st.caption(f":material/document_scanner: {which} was read by OCR{sure}.")


def _controls(page: int, pages: int, zoom: int) -> None:
    def turn(step: int) -> None:
        st.session_state[keys.SOURCE_PAGE] = page + step

    def enlarge(step: int) -> None:
        st.session_state[keys.SOURCE_ZOOM] = zoom + step

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        _step("Previous", "chevron_left", turn, -1, off=page == 0)
        st.markdown(f"{page + 1:,} of {pages:,}", width="content")
        _step("Next", "chevron_right", turn, 1, off=page + 1 >= pages)
        st.space("small")
        _step("Smaller", "zoom_out", enlarge, -1, off=zoom == 0)
        _step("Larger", "zoom_in", enlarge, 1, off=zoom + 1 == len(ZOOMS))


def _step(label: str, icon: str, act: Callable[[int], None], step: int, *, off: bool) -> None:
    # The button has a label and not only an icon, because a screen reader would read the name of the icon.
    key = f"source_{label.lower()}"
    st.button(label, icon=f":material/{icon}:", key=key, on_click=act, args=[step], disabled=off)
