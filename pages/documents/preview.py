"""The preview of a document: its pages, what was found on them, and its versions."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.documents.actions import (
    confirm_deletion,
    open_move_dialog,
    open_rename_dialog,
    retry_documents,
    show_ask_button,
)
from pages.documents.contents import show_chunks, show_problems, show_tables
from pages.documents.outline import show_outline
from pages.documents.statuses import describe_status
from pages.documents.versions import show_versions
from pages.shared import keys
from pages.shared.jobs import track_jobs
from pages.shared.panel import open_panel, show_close_button
from pages.shared.problems import show_errors, show_errors_next_run
from pages.shared.source_page import show_descriptions, show_page
from pages.shared.text import count_pages, escape_markdown
from pages.shared.translation import N_, _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types.documents import DocumentInfo
from rag_core.types.page_links import MARKED_PARAM, PAGE_PARAM, find_marked

_RENAME, _MOVE, _READ, _DELETE = N_("Rename"), N_("Move to a collection"), N_("Read again with OCR"), N_("Delete")
_DESCRIBE = N_("Describe figures")
_ICONS = {
    **{_RENAME: "edit", _MOVE: "folder", _READ: "document_scanner"},
    **{_DESCRIBE: "image_search", _DELETE: "delete"},
}
_PAGES, _OUTLINE, _TABLES, _CHUNKS, _PROBLEMS, _VERSIONS = TABS = (
    *(N_("Pages"), N_("Outline"), N_("Tables"), N_("Chunks")),
    *(N_("Problems"), N_("Versions")),
)
_TAB = "preview_tab"
_TAG_HELP = N_(
    "Words of your own, by which you can filter the table. Type a new one, or choose one that you have used."
)


def show_preview(engine: Engine, documents: Iterable[DocumentInfo], collections: Iterable[str]) -> None:
    """Show the document whose id is in the address, in the panel beside the page.

    Show nothing without an id, and a note if the document is no longer in the library.
    """
    document_id = st.query_params.get(keys.DOCUMENT_PARAM)
    if not document_id:
        return
    library = list(documents)
    document = next((one for one in library if one.document_id == document_id), None)
    if document is None:
        st.info(_("The document of this address is no longer in the library."), icon=":material/info:")
        return
    with open_panel(_("Document {name}", name=document.name), document_id, _close_preview):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="source_header"):
            st.markdown(f"**{escape_markdown(document.all_names)}**", width="stretch")
            show_close_button("preview_close", _close_preview)
        _show_summary(engine, document)
        _show_actions(engine, document, collections)
        _edit_tags(engine, document, sorted({tag for one in library for tag in one.tags}, key=str.casefold))
        _show_tabs(engine, document)


def _close_preview() -> None:
    for name in (keys.DOCUMENT_PARAM, PAGE_PARAM, MARKED_PARAM):
        st.query_params.pop(name, None)


def _show_summary(engine: Engine, document: DocumentInfo) -> None:
    kind = " ".join(filter(None, (document.kind, str(document.year or ""))))
    parts = [part for part in (document.company, kind) if part]
    parts += [describe_status(document), count_pages(document.pages)]
    for number, words in (
        (document.pages_ocr, _("read by OCR")),
        (document.pages_empty, _("without text")),
        (document.pages_failed, _("failed")),
    ):
        if number:
            parts.append(f"{format_number(number)} {words}")
    st.caption(escape_markdown(" · ".join(parts)))
    if document.pages and not document.company and (title := engine.documents.title(document.document_id)):
        st.caption(_("Title on its first page: {title}", title=escape_markdown(title)))


def _show_actions(engine: Engine, document: DocumentInfo, collections: Iterable[str]) -> None:
    file_format = engine.formats.find_by_name(document.name)
    with st.container(horizontal=True, gap="small"):
        show_ask_button([document], _("Ask this document"), key="ask_document")
        st.download_button(
            _("Download"),
            data=lambda: engine.documents.content(document.document_id),
            file_name=document.name.rpartition("/")[2],
            mime=file_format.media_type,
            icon=":material/download:",
            key="download_document",
            on_click="ignore",
        )
        choice = st.menu_button(
            _("More"),
            [one for one in _ICONS if one != _DESCRIBE or engine.preferences.describes_figures],
            key="document_menu",
            format_func=lambda action: f":material/{_ICONS[action]}: {_(action)}",
        )
    if choice == _RENAME:
        open_rename_dialog(engine, document)
    elif choice == _MOVE:
        open_move_dialog(engine, [document], collections)
    elif choice == _READ:
        retry_documents(engine, [document.document_id], ocr="on")
        st.rerun()
    elif choice == _DESCRIBE:
        _describe_figures(engine, document)
    elif choice == _DELETE:
        confirm_deletion(engine, [document])


def _describe_figures(engine: Engine, document: DocumentInfo) -> None:
    with show_errors():
        if job := engine.documents.describe_figures(document.document_id):
            track_jobs([job])
            st.rerun()
        problem = translate_message(engine.preferences.figures_problem)
        st.info(escape_markdown(problem) or _("No figure with a caption was found."), icon=":material/info:")


def _edit_tags(engine: Engine, document: DocumentInfo, known: list[str]) -> None:
    key = f"tags_{document.document_id}"

    def changed() -> None:
        with show_errors_next_run():
            engine.documents.set_tags({document.document_id: st.session_state[key]})

    st.session_state[key] = list(document.tags)
    st.multiselect(
        _("Tags"),
        known,
        key=key,
        accept_new_options=True,
        placeholder=_("Add tags"),
        on_change=changed,
        help=_(_TAG_HELP),
    )


def _show_tabs(engine: Engine, document: DocumentInfo) -> None:
    tabs = st.tabs([_(one) for one in TABS], key=_TAB, on_change="rerun")
    for name, tab in zip(TABS, tabs, strict=True):
        if not tab.open:
            continue
        with tab, show_errors():
            if name == _PAGES:
                _show_pages(engine, document)
            elif name == _OUTLINE:
                show_outline(engine, document, _turn_to_page)
            elif name == _TABLES:
                show_tables(engine, document)
            elif name == _CHUNKS:
                show_chunks(engine, document)
            elif name == _PROBLEMS:
                show_problems(engine, document)
            else:
                show_versions(engine, document, engine.documents.versions(document.document_id))


def _turn_to_page(page_index: int) -> None:
    """Make the next run show a page of the document, in the tab "Pages"."""
    st.session_state[keys.SOURCE_PAGE] = page_index
    st.session_state[_TAB] = _(_PAGES)


def _show_pages(engine: Engine, document: DocumentInfo) -> None:
    if not document.pages:
        st.caption(_("No page was read."))
        return
    address = st.query_params.get(PAGE_PARAM, "")
    linked = min(int(address) - 1, document.pages - 1) if address.isdecimal() and int(address) else None
    page = min(st.session_state.setdefault(keys.SOURCE_PAGE, linked or 0), document.pages - 1)
    try:
        marked = None
        if page == linked and (marks := st.query_params.get(MARKED_PARAM, "")):
            marked = find_marked(marks, engine.documents.page(document.document_id, page).text)
            if marked is None:
                st.caption(_("This page has changed since the link was made, so nothing is highlighted."))
        show_page(engine, document, page, highlights=[marked] if marked else (), quoted=linked)
        show_descriptions(engine, (document.version_id, page))
    except UnknownDocument:
        st.caption(_("This page was not stored."))
