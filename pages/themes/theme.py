"""A theme: its title, its summary with sources, and its entities."""

from __future__ import annotations

import streamlit as st

from pages.shared.blocks import build_answer_blocks
from pages.shared.current import open_source
from pages.shared.evidence import find_linked_sources, format_for_copy, name_sources
from pages.shared.richtext import show_richtext
from pages.shared.text import escape_markdown
from pages.shared.translation import _, ngettext
from rag_core.types.answers import Answer
from rag_core.types.themes import Theme


def show_theme(theme: Theme) -> dict[str, Answer]:
    """Show a theme; return the answers whose sources can be opened, by the id that the address uses."""
    st.header(escape_markdown(theme.title), anchor=False)
    summary = theme.summary
    written = (
        _("quoted from the documents")
        if summary.generator == "extractive"
        else _("written by {generator}", generator=summary.generator)
    )
    names = ngettext("{number} name or term", "{number} names and terms", len(theme.entities))
    counts = ngettext("{names} in {number} document", "{names} in {number} documents", theme.documents, names=names)
    st.caption(escape_markdown(_("{counts} · summary {written}", counts=counts, written=written)))
    return show_cited(theme.theme_id, summary)


def show_cited(message_id: str, answer: Answer) -> dict[str, Answer]:
    """Show an answer whose citations open the sources; return the answer by ``message_id``, its id in the address."""
    show_richtext(
        build_answer_blocks(answer, name_sources(answer)),
        key=f"cited_{message_id}",
        sources=find_linked_sources(answer),
        on_cite=lambda marker: open_source(message_id, marker),
        copy=format_for_copy(answer),
    )
    return {message_id: answer}
