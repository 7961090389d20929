"""The passages of an answer, each in an expander."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared.evidence import build_score_bars, find_citations, find_quotes
from pages.shared.page_text import Tables, build_passage, load_tables
from pages.shared.richtext import show_richtext
from pages.shared.text import escape_markdown
from rag_core.engine import Engine
from rag_core.types import Answer, AnswerState, Passage, format_count

# Maximum number of copies of a passage that are listed.
_PLACES = 5
_HIDDEN_SHOWN = 300


def show_passages(
    engine: Engine, answer: Answer, *, key: str, on_open: Callable[[int], None], on_confirm: Callable[[int], None]
) -> None:
    """List the passages of an answer, best first.

    ``on_open`` is called with the rank of a passage that the reader opens, and ``on_confirm`` with the rank of a
    passage that the reader marks as right.
    """
    tables = load_tables(engine, answer.passages)
    with st.container(gap="xsmall"):
        for passage in answer.passages:
            with st.expander(_label(answer, passage), key=f"{key}_{passage.rank}"):
                _passage(answer, passage, tables, key=f"{key}_{passage.rank}", on_open=on_open, on_confirm=on_confirm)


def _passage(
    answer: Answer,
    passage: Passage,
    tables: Tables,
    *,
    key: str,
    on_open: Callable[[int], None],
    on_confirm: Callable[[int], None],
) -> None:
    show_injection_warning(passage)
    show_hidden_text(passage)
    show_duplicates(passage)
    show_unmet(passage)
    show_richtext(
        [
            *build_passage(passage, tables, find_quotes(answer, passage)),
            build_score_bars(passage, answer.passages, answer.gate),
        ],
        key=f"{key}_text",
        small=True,
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Open source",
            icon=":material/description:",
            key=f"{key}_open",
            on_click=on_open,
            args=[passage.rank],
        )
        st.button(
            "Mark as right",
            icon=":material/check:",
            type="tertiary",
            key=f"{key}_right",
            help="Save its page as a label for Evaluate.",
            on_click=on_confirm,
            args=[passage.rank],
        )


def show_injection_warning(passage: Passage) -> None:
    """Show a warning if a passage contains text that reads like instructions to a model."""
    if passage.instructions:
        which = "This passage or text hidden on its page" if passage.hidden else "This passage"
        st.warning(
            f"{which} contains text that reads like instructions to a model. It is shown unchanged, and is not sent "
            "to models.",
            icon=":material/gpp_maybe:",
        )


def show_hidden_text(passage: Passage) -> None:
    """Show the invisible text of the passage's page, if there is any."""
    if passage.hidden:
        shown = f"{passage.hidden[:_HIDDEN_SHOWN]}…" if len(passage.hidden) > _HIDDEN_SHOWN else passage.hidden
        st.caption(
            ":material/visibility_off: Its page also contains text that a reader cannot see. Search and answers leave "
            f"it out: “{escape_markdown(shown)}”"
        )


def show_duplicates(passage: Passage) -> None:
    """List the pages of near-duplicate passages, which the search left out of its result."""
    if passage.duplicates:
        places = [f"{one.document} p. {one.page_label}" for one in passage.duplicates]
        left = len(places) - _PLACES
        more = f" and {format_count(left, 'more place')}" if left > 0 else ""
        st.caption(escape_markdown(f"Also in {', '.join(places[:_PLACES])}{more}"))


def show_unmet(passage: Passage) -> None:
    """Show which assumptions of the question the passage does not support, if there are any."""
    if passage.unmet:
        st.caption(f":material/rule: Does not match the question: {escape_markdown('; '.join(passage.unmet))}.")


def _label(answer: Answer, passage: Passage) -> str:
    parts = [
        f"{escape_markdown(f'[{passage.rank}]')} {escape_markdown(passage.document)}",
        f"p. {escape_markdown(passage.page_label)}",
    ]
    if answer.state is AnswerState.ANSWERED and not answer.stopped:
        parts.append("cited" if find_citations(answer, passage) else "not cited")
    return " · ".join(parts)
