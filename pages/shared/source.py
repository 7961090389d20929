"""The source beside the conversation: the page that a statement comes from, with the quoted words highlighted."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.current import ask_documents, close_source, find_open_source, open_source
from pages.shared.evidence import (
    find_citations,
    find_passage,
    find_quotes,
    format_quotes,
    list_cited_passages,
)
from pages.shared.openpdf import show_open_button
from pages.shared.page_text import Tables, build_chunk, build_passage
from pages.shared.panel import open_panel, show_close_button
from pages.shared.passages import show_duplicates, show_hidden_text, show_injection_warning
from pages.shared.richtext import show_richtext
from pages.shared.scores import build_score_bars
from pages.shared.source_page import draw_ahead, show_source_page
from pages.shared.text import escape_markdown, format_time
from pages.shared.translation import N_, _, translate_message
from rag_core.engine import Engine
from rag_core.errors import DocumentError, RagError
from rag_core.types.answers import Answer
from rag_core.types.chunks import ChunkSpan
from rag_core.types.documents import DocumentInfo
from rag_core.types.retrieval import Passage

_GONE = N_("This document is no longer in the library. Below is the text as it was stored with the answer.")


def show_source(engine: Engine, answers: dict[str, Answer]) -> None:
    """Show the open source beside the page; ``answers`` maps message ids to answers.

    Nothing is shown if no source is open, or if the open source belongs to none of these answers.
    The source stays until the reader closes it or opens another one, so that it can be compared with the answer.
    """
    message_id, _dot, marker = find_open_source().rpartition(".")
    answer = answers.get(message_id)
    passage = find_passage(answer, int(marker)) if answer and marker.isdecimal() else None
    if answer is None or passage is None:
        return
    label = _("Source {number}: {document}", number=passage.rank, document=passage.document)
    with open_panel(label, f"{message_id}:{passage.rank}", close_source):
        _show_header(message_id, answer, passage)
        _show_passage(engine, answer, passage)
    cited = list_cited_passages(answer)
    following = [one for place, one in enumerate(cited) if place and cited[place - 1].rank == passage.rank]
    draw_ahead(engine, answer, following)


def draw_first_source(engine: Engine, answer: Answer) -> None:
    """In the background, draw the first source that an answer cites, so that a click shows its page at once."""
    draw_ahead(engine, answer, list_cited_passages(answer)[:1])


def _show_header(message_id: str, answer: Answer, passage: Passage) -> None:
    """Show which source is open, and buttons to step through the sources that the answer cites and to close it."""
    ranks = [one.rank for one in list_cited_passages(answer)]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="source_header"):
        st.markdown(f"**{escape_markdown(f'[{passage.rank}]')} {escape_markdown(passage.document)}**", width="stretch")
        if len(ranks) > 1 and passage.rank in ranks:
            position = ranks.index(passage.rank)
            _show_step_button(
                N_("Previous source"), "arrow_back", message_id, ranks[position - 1] if position else None
            )
            st.caption(_("{number} of {total}", number=position + 1, total=len(ranks)), width="content")
            _show_step_button(
                N_("Next source"), "arrow_forward", message_id, ranks[position + 1] if ranks[position + 1 :] else None
            )
        show_close_button("source_close", close_source)


def _show_step_button(label: str, icon: str, message_id: str, rank: int | None) -> None:
    key = f"source_{label.split()[0].lower()}_source"
    st.button(
        _(label),
        icon=f":material/{icon}:",
        key=key,
        type="tertiary",
        on_click=open_source,
        args=[message_id, rank],
        disabled=rank is None,
        help=_(label),
    )


def _show_passage(engine: Engine, answer: Answer, passage: Passage) -> None:
    if passage.heading:
        st.caption(escape_markdown(passage.heading))
    show_injection_warning(passage)
    show_hidden_text(passage)
    show_duplicates(passage)
    _show_added_note(answer, passage)
    document = None
    try:
        document = engine.documents.get(passage.document_id, version_id=passage.version_id)
        _show_version_note(engine, document, passage)
        show_source_page(engine, document, answer, passage)
    except DocumentError as error:
        st.info(
            _(_GONE) if document is None else escape_markdown(translate_message(str(error))), icon=":material/info:"
        )
    except RagError as error:
        st.warning(escape_markdown(translate_message(str(error))), icon=":material/error:")
    if quotes := format_quotes(answer, passage):
        show_richtext([], key="source_quote", copy=quotes, copy_label=_("Copy the quote with its reference"))
    _show_text(engine, answer, passage)
    if document is not None:
        _show_actions(engine, document, passage)


def _show_version_note(engine: Engine, document: DocumentInfo, passage: Passage) -> None:
    """Say which version of the document the source is from, if there are several."""
    versions = engine.documents.versions(document.document_id)
    oldest_first = [one.version_id for one in sorted(versions, key=lambda one: one.added_at)]
    if len(versions) > 1 and passage.version_id in oldest_first:
        number = oldest_first.index(passage.version_id) + 1
        added = next(one.added_at for one in versions if one.version_id == passage.version_id)
        st.caption(
            _("Version {number} of {total}, added {time}", number=number, total=len(versions), time=format_time(added))
        )


def _show_added_note(answer: Answer, passage: Passage) -> None:
    """Show a note if Footnote added the citation, and not the model."""
    cited = find_citations(answer, passage)
    if cited and all(one.added for one in cited):
        st.caption(
            _(
                ":material/add_link: The model did not cite this passage. Footnote added the citation, because the "
                "highlighted sentence fits the answer best."
            )
        )


def _show_text(engine: Engine, answer: Answer, passage: Passage) -> None:
    """Show the passage, and the chunks before and after it if they are in the library."""
    try:
        before, after = engine.documents.neighbours(passage.chunk_id)
    except RagError as error:
        before = after = None
        st.warning(escape_markdown(translate_message(str(error))), icon=":material/error:")
    # A passage that is a whole page contains the neighbours of its chunk.
    if before and (before.page_index, before.start) >= (passage.page_index, passage.start):
        before = None
    if after and (after.page_index, after.start) < (passage.page_index_end, passage.end):
        after = None
    pages = {(passage.version_id, one.page_index) for one in (before, after) if one} | {passage.page_key}
    tables = engine.documents.tables(pages)
    _show_chunk(N_("Text before"), before, tables, passage.version_id)
    quotes = build_passage(passage, tables, find_quotes(answer, passage))
    show_richtext([*quotes, build_score_bars(passage, answer.passages, answer.gate)], key="source_text", small=True)
    _show_chunk(N_("Text after"), after, tables, passage.version_id)


def _show_chunk(label: str, chunk: ChunkSpan | None, tables: Tables, version_id: str) -> None:
    if chunk is not None:
        with st.expander(f"{_(label)} ({_('p. {page}', page=chunk.page_index + 1)})", type="compact"):
            blocks = build_chunk(chunk, tables.get((version_id, chunk.page_index), ()))
            show_richtext(blocks, key=f"source_{label.lower()}", small=True)


def _show_actions(engine: Engine, document: DocumentInfo, passage: Passage) -> None:
    file_format = engine.formats.find_by_name(document.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(_("Ask this document"), icon=":material/chat:", key="source_ask"):
            ask_documents([document.document_id])
        if file_format.opens_at_page:
            show_open_button(
                file_format,
                lambda: engine.documents.content(passage.document_id, version_id=document.version_id),
                page=st.session_state.get(keys.SOURCE_PAGE, passage.page_index) + 1,
                key="source_open_pdf",
            )
        st.download_button(
            _("Download {noun}", noun=file_format.noun),
            # Pass a function, so that the file is read only when the reader clicks the button.
            data=lambda: engine.documents.content(passage.document_id, version_id=document.version_id),
            file_name=document.name,
            mime=file_format.media_type,
            icon=":material/download:",
            key="source_download",
            on_click="ignore",
        )
