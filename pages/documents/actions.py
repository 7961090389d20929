"""Actions on the selected documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import streamlit as st

from pages.shared import keys
from pages.shared.current import ask_documents
from pages.shared.dialogs import open_dialog
from pages.shared.jobs import track_jobs
from pages.shared.library import format_collection_name
from pages.shared.problems import show_errors, show_errors_next_run
from pages.shared.text import count_documents, escape_markdown
from pages.shared.translation import _, format_number, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.errors import UnknownDocument
from rag_core.types.documents import DEFAULT_COLLECTION, DeleteReceipt, DocumentInfo
from rag_core.types.page_links import MARKED_PARAM, PAGE_PARAM

# Maximum number of documents that a dialog or a receipt lists, and that a new chat can be limited to one by one.
_LISTED = 10
_MOST_ASKED = 200
_INTO, _TAGS, _NAME = "collect_into", "tags_added", "document_name"


def show_actions(
    engine: Engine, chosen: Sequence[DocumentInfo], narrowed: Sequence[DocumentInfo], collections: Iterable[str]
) -> None:
    """Show the buttons for the documents ``chosen``, which are ticked.

    If none is ticked, show only the button that asks the documents ``narrowed``, which the filters leave.
    """
    if not chosen and not narrowed:
        return
    with st.container(horizontal=True, gap="small"):
        asked = chosen or narrowed
        label = ngettext("Ask this document", "Ask these {number} documents", len(asked))
        show_ask_button(asked, label, key="ask_selected")
        if not chosen:
            return
        if len(chosen) == 1:
            # Streamlit's tables open nothing by keyboard, so a ticked row has this button too.
            st.button(
                _("Open"),
                icon=":material/menu_book:",
                key="open_selected",
                on_click=open_preview,
                args=[chosen[0].document_id],
            )
        if st.button(_("Tag"), icon=":material/label:", key="tag_selected"):
            open_dialog(_("Tag documents"), ":material/label:", _show_tag_form, engine, chosen)
        if st.button(_("Move to collection"), icon=":material/folder:", key="collect_selected"):
            open_move_dialog(engine, chosen, collections)
        indexed = [one.document_id for one in chosen if one.chunks]
        st.button(
            _("Re-index"),
            icon=":material/sync:",
            key="reindex_selected",
            on_click=_reindex_documents,
            args=[engine, indexed],
            disabled=not indexed,
        )
        if st.button(_("Delete {number}", number=len(chosen)), icon=":material/delete:", key="delete_selected"):
            confirm_deletion(engine, chosen)


def open_preview(document_id: str) -> None:
    """Make the next run show the preview of a document, whose id becomes part of the address."""
    st.query_params[keys.DOCUMENT_PARAM] = document_id
    for name in (PAGE_PARAM, MARKED_PARAM):
        st.query_params.pop(name, None)
    for name in (keys.SOURCE_PAGE, keys.SOURCE_ZOOM):
        st.session_state.pop(name, None)


def show_ask_button(documents: Sequence[DocumentInfo], label: str, *, key: str) -> None:
    """Show a button that opens a new chat about those of the documents that can be searched."""
    ids = [one.document_id for one in documents if one.chunks]
    too_many = _(
        "At most {limit} documents can be chosen one by one. Move them to a collection, and ask that.",
        limit=_MOST_ASKED,
    )
    if st.button(
        label,
        icon=":material/forum:",
        key=key,
        type="primary",
        disabled=not 0 < len(ids) <= _MOST_ASKED,
        help=too_many if len(ids) > _MOST_ASKED else None,
    ):
        ask_documents(ids)


def retry_documents(engine: Engine, document_ids: Sequence[str], ocr: str | None = None) -> None:
    """Start jobs that read files again, with OCR on every page if ``ocr`` is ``"on"``."""
    for one in document_ids:
        with show_errors_next_run():
            track_jobs([engine.documents.retry(one, ocr=ocr)])


def show_receipts() -> None:
    """Show what the last deletion removed and what remains in each store, until the reader closes the message."""
    shown: list[DeleteReceipt] = st.session_state.get(keys.RECEIPTS, [])
    if not shown:
        return
    left = sum(one.chunks_remaining for one in shown)
    removed = sum(one.chunks_removed for one in shown)
    title = _(
        "Deleted {documents}: {chunks} removed, {left} remaining",
        documents=count_documents(len(shown)),
        chunks=ngettext("{number} chunk", "{number} chunks", removed),
        left=left,
    )
    with st.container(border=True):
        st.markdown(f"{':material/check:' if not left else ':material/error:'} {title}")
        for one in shown[:_LISTED]:
            stores = ", ".join(
                f"{translate_message(name)} {format_number(number)}" for name, number in one.remaining.items()
            )
            st.caption(
                _(
                    "{document}: {removed} removed; remaining: {remaining}",
                    document=escape_markdown(one.document),
                    removed=one.chunks_removed,
                    remaining=escape_markdown(stores),
                )
            )
        if len(shown) > _LISTED:
            st.caption(_("and {number} more", number=len(shown) - _LISTED))
        st.button(_("Close"), key="close_receipt", type="tertiary", on_click=shown.clear)


def confirm_deletion(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    """Open a dialog that deletes documents when the reader confirms it."""
    open_dialog(_("Delete documents"), ":material/delete:", _show_deletion_form, engine, chosen)


def _show_deletion_form(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    _show_names(chosen)
    st.caption(_("This removes all names and versions, and attached documents. Earlier answers keep their quotes."))
    label = _("Delete {documents}", documents=count_documents(len(chosen)))
    if st.button(label, type="primary", key="confirm_delete", on_click=_delete_documents, args=[engine, chosen]):
        st.rerun()


def _show_names(chosen: Sequence[DocumentInfo]) -> None:
    st.text("\n".join(one.all_names for one in chosen[:_LISTED]))
    if len(chosen) > _LISTED:
        st.caption(_("and {number} more", number=len(chosen) - _LISTED))


def open_move_dialog(engine: Engine, chosen: Sequence[DocumentInfo], collections: Iterable[str]) -> None:
    """Open a dialog that moves documents to a collection."""
    open_dialog(_("Move to a collection"), ":material/folder:", _show_move_form, engine, chosen, collections)


def _show_move_form(engine: Engine, chosen: Sequence[DocumentInfo], collections: Iterable[str]) -> None:
    with st.form("collect_form", border=False):
        st.selectbox(
            _("Collection"),
            [*collections, DEFAULT_COLLECTION],
            index=None,
            format_func=format_collection_name,
            placeholder=_("Choose one, or type a new name"),
            accept_new_options=True,
            key=_INTO,
        )
        st.caption(_("A conversation can be limited to a collection, including documents that you add to it later."))
        label, ids = _("Move {documents}", documents=count_documents(len(chosen))), [one.document_id for one in chosen]
        if st.form_submit_button(label, type="primary", key="collect", on_click=_move_documents, args=[engine, ids]):
            st.rerun()


def _show_tag_form(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    known = sorted({tag for one in engine.documents.list() for tag in one.tags}, key=str.casefold)
    with st.form("tag_form", border=False):
        _show_names(chosen)
        st.multiselect(
            _("Tags to add"), known, key=_TAGS, accept_new_options=True, placeholder=_("Choose tags, or type one")
        )
        label = _("Tag {documents}", documents=count_documents(len(chosen)))
        if st.form_submit_button(label, type="primary", key="tag", on_click=_add_tags, args=[engine, chosen]):
            st.rerun()


def _add_tags(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    with show_errors_next_run():
        engine.documents.set_tags({one.document_id: [*one.tags, *st.session_state[_TAGS]] for one in chosen})


def open_rename_dialog(engine: Engine, document: DocumentInfo) -> None:
    """Open a dialog that renames a document."""
    open_dialog(_("Rename the document"), ":material/edit:", _show_rename_form, engine, document)


def _show_rename_form(engine: Engine, document: DocumentInfo) -> None:
    with st.form("rename_document", border=False):
        st.text_input(_("Name"), document.name.rpartition(".")[0] or document.name, key=_NAME)
        st.caption(_("The ending of the file stays. Its text is read again, because searches find it by its name."))
        if st.form_submit_button(
            _("Rename"), type="primary", key="rename", on_click=_rename_document, args=[engine, document]
        ):
            st.rerun()


def _rename_document(engine: Engine, document: DocumentInfo) -> None:
    with show_errors_next_run():
        engine.documents.rename(document.document_id, st.session_state[_NAME] or "")


def _move_documents(engine: Engine, ids: Sequence[str]) -> None:
    with show_errors_next_run():
        engine.collections.move_documents(ids, st.session_state[_INTO] or "")


def _delete_documents(engine: Engine, chosen: Sequence[DocumentInfo]) -> None:
    # Put the list into the session before filling it: if a store fails, the list then shows what was already deleted.
    receipts: list[DeleteReceipt] = []
    st.session_state[keys.RECEIPTS] = receipts
    with show_errors_next_run():
        for one in chosen:
            # Another window may have deleted the document.
            with suppress(UnknownDocument):
                receipts += engine.documents.delete([one.document_id])
        st.session_state[keys.SELECTED] = []
        if st.query_params.get(keys.DOCUMENT_PARAM) in [one.document_id for one in receipts]:
            del st.query_params[keys.DOCUMENT_PARAM]


def _reindex_documents(engine: Engine, ids: Sequence[str]) -> None:
    with show_errors():
        track_jobs([engine.index.rebuild(ids)])
