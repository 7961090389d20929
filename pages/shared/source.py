"""The source drawer: the page a statement comes from, with the quoted words marked."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared import keys
from pages.shared.blocks import marked
from pages.shared.evidence import citations_of, highlights, passage_for, quotes_within, score_bars
from pages.shared.openpdf import openpdf
from pages.shared.pageview import pageview
from pages.shared.passages import duplicates_note, hidden_note, instructions_note
from pages.shared.richtext import richtext
from pages.shared.text import plain
from rag_core.engine import Engine
from rag_core.errors import DocumentError, RagError
from rag_core.types import Answer, ChunkSpan, DocumentInfo, Page, PageState, Passage

ZOOMS = (1.0, 1.5, 2.0, 3.0)
# Pixels a point at zoom 1: sharp in a drawer of 720 pixels, and small enough to send at once.
_WIDTH = 720
_SCALE = 1.5
_LARGEST_SCALE = 3.0
_GONE = "This document is no longer in the library. Below is the text as it was stored with the answer."


def open_source(message_id: str, marker: int) -> None:
    """Have the drawer opened for ``[marker]`` of a message, in the run that follows."""
    st.session_state[keys.SOURCE] = (message_id, marker)
    st.session_state.pop(keys.SOURCE_PAGE, None)
    st.session_state.pop(keys.SOURCE_ZOOM, None)
    st.session_state.pop(keys.OPEN_PDF, None)


def source_drawer(engine: Engine, answers: dict[str, Answer]) -> None:
    """Open the drawer if a click asked for it; ``answers`` are the shown ones by message.

    It is opened in each run until the reader closes it: an answer that ends draws the page anew.
    """
    message_id, marker = st.session_state.get(keys.SOURCE, ("", 0))
    answer = answers.get(message_id)
    passage = passage_for(answer, marker) if answer else None
    if answer is None or passage is None:
        return
    title = f"Source {passage.rank} of {len(answer.passages)}"
    st.session_state[keys.DIALOG_OPEN] = True
    drawer = st.dialog(title, width=_WIDTH, position="right", icon=":material/format_quote:", on_dismiss=_closed)
    drawer(_drawer)(engine, answer, passage)


def _closed() -> None:
    st.session_state.pop(keys.SOURCE, None)
    st.session_state.pop(keys.DIALOG_OPEN, None)


def _drawer(engine: Engine, answer: Answer, passage: Passage) -> None:
    st.markdown(f"**{plain(passage.document)}** · p. {plain(passage.page_label)}")
    if passage.heading:
        st.caption(plain(passage.heading))
    instructions_note(passage)
    hidden_note(passage)
    duplicates_note(passage)
    _added_note(answer, passage)
    document = None
    try:
        document = engine.documents.get(passage.document_id)
        _page(engine, document, answer, passage)
    except DocumentError as error:
        st.info(_GONE if document is None else plain(str(error)), icon=":material/info:")
    except RagError as error:
        st.warning(plain(str(error)), icon=":material/error:")
    _text(engine, answer, passage)
    _take_away(engine, document, answer, passage)


def _added_note(answer: Answer, passage: Passage) -> None:
    """Say so where the model did not cite the passage itself."""
    cited = citations_of(answer, passage)
    if cited and all(one.added for one in cited):
        st.caption(
            ":material/add_link: The model did not cite this passage. Footnote added the citation: of all sentences "
            "found, the highlighted one fits the answer best."
        )


def _text(engine: Engine, answer: Answer, passage: Passage) -> None:
    """The passage, between the chunks before and after it while they are in the library."""
    try:
        before, after = engine.documents.neighbours(passage.chunk_id)
    except RagError as error:
        before = after = None
        st.warning(plain(str(error)), icon=":material/error:")
    _beside("Text before", before)
    quotes = marked(passage.text, quotes_within(answer, passage))
    richtext([*quotes, score_bars(passage, answer.passages, answer.gate)], key="source_text", small=True)
    _beside("Text after", after)


def _beside(label: str, chunk: ChunkSpan | None) -> None:
    if chunk is not None:
        with st.expander(f"{label} (p. {chunk.page_index + 1:,})", type="compact"):
            richtext(marked(chunk.text, []), key=f"source_{label.lower()}", small=True)


def _page(engine: Engine, document: DocumentInfo, answer: Answer, passage: Passage) -> None:
    cited = [one.page_index for one in citations_of(answer, passage)] or [passage.page_index]
    page = st.session_state.setdefault(keys.SOURCE_PAGE, cited[0])
    zoom = st.session_state.setdefault(keys.SOURCE_ZOOM, 0)
    # Rendered before the controls are drawn, so that a page that cannot be shown leaves none behind.
    with st.spinner("Drawing the page"):
        image = engine.documents.render_page(
            passage.document_id,
            page,
            version_id=passage.version_id,
            highlights=highlights(answer, passage, page),
            scale=min(_LARGEST_SCALE, _SCALE * ZOOMS[zoom]),
        )
    _controls(page, max(document.pages, page + 1), zoom)
    _ocr_note(engine.documents.page(document.document_id, page))
    pageview(image, alt=f"Page {page + 1} of {passage.document}", zoom=ZOOMS[zoom], key="source_page_image")
    if document.version_id != passage.version_id:
        st.caption("The document was replaced since; this is the page as it is now, without marks.")
    elif not image.highlighted and page in cited:
        st.caption("The words of this page could not be located, so none are marked.")


def _ocr_note(page: Page) -> None:
    """Say so where a page was read as a picture, and how sure the reading is."""
    if page.state in (PageState.OCR, PageState.MIXED):
        which = "This page" if page.state is PageState.OCR else "A part of this page"
        sure = "" if page.confidence is None else f", with a confidence of {page.confidence:.2f}"
        st.caption(f":material/document_scanner: {which} was read as a picture (OCR){sure}.")


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
    # Words and not icons alone: an icon's name is all that a screen reader would have.
    key = f"source_{label.lower()}"
    st.button(label, icon=f":material/{icon}:", key=key, on_click=act, args=[step], disabled=off)


def _take_away(engine: Engine, document: DocumentInfo | None, answer: Answer, passage: Passage) -> None:
    quotes = [one.quote for one in citations_of(answer, passage)] or [passage.first_page_text]
    st.caption("Quote, to copy")
    st.code("\n".join(" ".join(quote.split()) for quote in quotes), language=None, wrap_lines=True)
    if document is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        openpdf(
            lambda: engine.documents.content(passage.document_id),
            page=st.session_state.get(keys.SOURCE_PAGE, passage.page_index) + 1,
            key="source_open_pdf",
        )
        st.download_button(
            "Download PDF",
            # Read only when it is clicked.
            data=lambda: engine.documents.content(passage.document_id),
            file_name=document.name,
            mime="application/pdf",
            icon=":material/download:",
            key="source_download",
            on_click="ignore",
        )
