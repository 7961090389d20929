"""The page image of a source, with controls to turn pages and to zoom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import streamlit as st

from pages.shared import keys
from pages.shared.evidence import find_citations, find_highlights
from pages.shared.nodes import build_text_node
from pages.shared.pageview import show_page_image
from pages.shared.richtext import show_richtext
from pages.shared.source_search import show_search
from pages.shared.text import escape_markdown
from pages.shared.translation import N_, _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.types.answers import Answer
from rag_core.types.documents import DocumentInfo, Page, PageKey, PageState, PageView
from rag_core.types.retrieval import Passage

ZOOMS = (1.0, 1.5, 2.0, 3.0)
# Pixels per point at zoom 1. The image is then sharp in the panel, and small enough to load quickly.
_SCALE = 1.5
_LARGEST_SCALE = 3.0
# Seconds to wait for LibreOffice before the page is shown without its layout. Most documents need less.
_WAIT_S = 6.0
_AHEAD = ThreadPoolExecutor(1, "draw-ahead")


def show_source_page(engine: Engine, document: DocumentInfo, answer: Answer, passage: Passage) -> None:
    """Show the current page of the source, with the quoted words highlighted."""
    cited = [one.page_index for one in find_citations(answer, passage)] or [passage.page_index]
    page = st.session_state.setdefault(keys.SOURCE_PAGE, cited[0])
    cells = answer.find_cells(passage.rank) if page == cited[0] else ""
    found = show_search(engine, document)
    quoted = find_highlights(answer, passage, page)
    highlights = found.get(page) or quoted
    _show_figure(engine, passage, page, quoted)
    view = show_page(
        engine,
        document,
        page,
        version_id=passage.version_id,
        highlights=highlights,
        quoted=cited[0],
        cells=cells,
    )
    if document.version_id != passage.version_id:
        st.caption(_("The document was replaced after this answer. This is its current page, without highlights."))
    elif highlights and not view.highlighted:
        st.caption(_("The quoted words were not found on the page image, so nothing is highlighted."))


def _show_figure(engine: Engine, passage: Passage, page: int, quoted: Sequence[tuple[int, int]]) -> None:
    """Show the figure whose caption is quoted, if there is one, larger than on its page."""
    found = (
        engine.documents.render_figure(
            passage.document_id, page, version_id=passage.version_id, span=span, scale=_LARGEST_SCALE
        )
        for span in quoted
    )
    if figure := next((one for one in found if one), None):
        st.caption(f":material/image: {_('The figure of the quoted caption')}")
        show_page_image(figure, alt=_("The figure of the quoted caption"), zoom=1.0, key="source_figure")
    show_descriptions(engine, (passage.version_id, page), quoted)


def show_descriptions(engine: Engine, page: PageKey, quoted: Sequence[tuple[int, int]] | None = None) -> None:
    """Show what a model wrote about the figures of a page.

    If ``quoted`` is given, show only what it wrote about figures whose captions overlap these spans of the page's text.
    """
    for one in engine.documents.find_descriptions([page]).get(page, ()):
        if quoted is None or any(start < one.end and one.start < end for start, end in quoted):
            words = _("Described by {model}, not text of the document", model=escape_markdown(one.model))
            st.caption(f":material/smart_toy: {words}")
            show_richtext([{"t": "p", "c": [build_text_node(one.text)]}], key=f"description_{one.start}", small=True)


def draw_ahead(engine: Engine, answer: Answer, passages: Sequence[Passage]) -> None:
    """Draw the first cited page of each passage in the background, so that `show_source_page` shows it at once.

    If the answer does not cite a passage, that is the passage's first page.
    An error is ignored here, because `show_source_page` draws the page again and shows the error.
    """
    for passage in passages:
        cited = [one.page_index for one in find_citations(answer, passage)] or [passage.page_index]
        _AHEAD.submit(
            engine.documents.render_view,
            passage.document_id,
            cited[0],
            version_id=passage.version_id,
            highlights=find_highlights(answer, passage, cited[0]),
            scale=_SCALE,
            wait_s=_WAIT_S,
        )


def show_page(
    engine: Engine,
    document: DocumentInfo,
    page: int,
    *,
    version_id: str | None = None,
    highlights: Sequence[tuple[int, int]] = (),
    quoted: int | None = None,
    cells: str = "",
) -> PageView:
    """Show a page of a document with its controls, and return its pictures.

    ``version_id`` and ``highlights`` are as in `Documents.render_view`. One of the controls returns to the page
    ``quoted``. ``cells``, the address of cited cells, is shown instead of the page's name.
    """
    zoom = st.session_state.setdefault(keys.SOURCE_ZOOM, 0)
    # Render the page before drawing the controls, so that no controls are shown if the rendering fails.
    render = partial(
        engine.documents.render_view,
        document.document_id,
        page,
        version_id=version_id,
        highlights=highlights,
        scale=min(_LARGEST_SCALE, _SCALE * ZOOMS[zoom]),
    )
    with st.spinner(_("Drawing the page")):
        view = render(wait_s=_WAIT_S)
    shown = engine.documents.page(document.document_id, page, version_id=document.version_id)
    _show_controls(shown, max(document.pages, page + 1), zoom, quoted=page if quoted is None else quoted, cells=cells)
    _show_ocr_note(shown)
    _show_drawing_note(view)
    if view.is_pending:
        _wait_for_drawing(render)
    alt = _("Page {page} of {name}", page=page + 1, name=document.name)
    for number, image in enumerate(view.images):
        show_page_image(image, alt=alt, zoom=ZOOMS[zoom], key=f"source_page_image{number or ''}")
    return view


def _show_drawing_note(view: PageView) -> None:
    """Name the program that laid out the page, if the file has no pages of its own."""
    if view.drawn_by == "libreoffice":
        st.caption(f":material/print: {_('Drawn by LibreOffice, which divides pages differently.')}")
    elif view.drawn_by:
        drawn = _("Footnote drew this page from the content of the file, which looks different.")
        reason = view.reason and _("LibreOffice does not show it: {reason}.", reason=translate_message(view.reason))
        waiting = _("LibreOffice is still converting the document.") if view.is_pending else ""
        st.caption(f":material/draft: {' '.join(filter(None, (drawn, escape_markdown(reason), waiting)))}")


def _wait_for_drawing(render: Callable[[], PageView]) -> None:
    """Run the page again when LibreOffice has converted the document."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        # A rerun closes an open dialog, so wait until the reader has closed it.
        if not render().is_pending and not st.session_state.get(keys.DIALOG_OPEN):
            st.rerun()

    look()


def _show_ocr_note(page: Page) -> None:
    """If OCR read the page, show a note with the confidence."""
    if page.state in (PageState.OCR, PageState.MIXED):
        which = _("This page") if page.state is PageState.OCR else _("A part of this page")
        sure = (
            ""
            if page.confidence is None
            else _(", with a confidence of {confidence}", confidence=format_number(page.confidence, 2))
        )
        st.caption(_(":material/document_scanner: {which} was read by OCR{sure}.", which=which, sure=sure))


def _show_controls(shown: Page, pages: int, zoom: int, *, quoted: int, cells: str) -> None:
    """Show the printed page number, and buttons to turn pages, to zoom, and to return to the page ``quoted``."""
    page = shown.page_index

    def turn(step: int) -> None:
        st.session_state[keys.SOURCE_PAGE] = page + step

    def enlarge(step: int) -> None:
        st.session_state[keys.SOURCE_ZOOM] = zoom + step

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="source_controls"):
        _show_button(N_("Previous page"), "chevron_left", turn, -1, off=page == 0)
        place = (
            _(" ({page} of {pages})", page=page + 1, pages=pages)
            if shown.page_label != f"{page + 1}"
            else _(" of {pages}", pages=pages)
        )
        name = escape_markdown(cells) if cells else _("p. {page}", page=escape_markdown(shown.page_label))
        st.markdown(f"{name}{place}", width="content")
        _show_button(N_("Next page"), "chevron_right", turn, 1, off=page + 1 >= pages)
        if page != quoted:
            _show_button(N_("Back to the quote"), "undo", turn, quoted - page, off=False)
        _show_button(N_("Smaller"), "zoom_out", enlarge, -1, off=zoom == 0)
        _show_button(N_("Larger"), "zoom_in", enlarge, 1, off=zoom + 1 == len(ZOOMS))


def _show_button(label: str, icon: str, act: Callable[[int], None], step: int, *, off: bool) -> None:
    # The label, which app.css hides, is for screen readers, which would otherwise read the name of the icon.
    key = f"source_{label.lower().replace(' ', '_')}"
    st.button(_(label), icon=f":material/{icon}:", key=key, on_click=act, args=[step], disabled=off, help=_(label))
