"""The passages of an answer, one expander each."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.shared.evidence import citations_of, quotes_within, score_bars
from pages.shared.nodes import marked
from pages.shared.richtext import richtext
from pages.shared.text import count, plain, score
from rag_core.types import Answer, AnswerState, Passage

# Places of the same text that are named.
_PLACES = 5
_HIDDEN_SHOWN = 300


def passage_list(
    answer: Answer, *, key: str, on_open: Callable[[int], None], on_confirm: Callable[[int], None]
) -> None:
    """List the passages, best first.

    ``on_open`` is called with the rank of the one to open, ``on_confirm`` with that of one which, the
    reader says, answers the question.
    """
    with st.container(gap="xsmall"):
        for passage in answer.passages:
            with st.expander(_label(answer, passage), key=f"{key}_{passage.rank}"):
                _passage(answer, passage, key=f"{key}_{passage.rank}", on_open=on_open, on_confirm=on_confirm)


def _passage(
    answer: Answer, passage: Passage, *, key: str, on_open: Callable[[int], None], on_confirm: Callable[[int], None]
) -> None:
    instructions_note(passage)
    hidden_note(passage)
    duplicates_note(passage)
    unmet_note(passage)
    richtext(
        [
            score_bars(passage, answer.passages, answer.gate),
            *marked(passage.text, quotes_within(answer, passage)),
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
            "Right passage",
            icon=":material/check:",
            type="tertiary",
            key=f"{key}_right",
            help="Its page answers the question. Kept as a labelled question for Evaluate.",
            on_click=on_confirm,
            args=[passage.rank],
        )


def instructions_note(passage: Passage) -> None:
    """Say so where a passage speaks to a model."""
    if passage.instructions:
        which = "This passage or text hidden on its page" if passage.hidden else "This passage"
        st.warning(
            f"{which} holds text that reads like instructions to a model. It is shown as it stands, and kept "
            "from models.",
            icon=":material/gpp_maybe:",
        )


def hidden_note(passage: Passage) -> None:
    """Say what a page holds and does not show."""
    if passage.hidden:
        shown = f"{passage.hidden[:_HIDDEN_SHOWN]}…" if len(passage.hidden) > _HIDDEN_SHOWN else passage.hidden
        st.caption(
            ":material/visibility_off: Its page also holds text that a reader cannot see. It is left out of search and "
            f"answers: “{plain(shown)}”"
        )


def duplicates_note(passage: Passage) -> None:
    """Say where else the same stands, for what was left out because it does."""
    if passage.duplicates:
        places = [f"{one.document} p. {one.page_label}" for one in passage.duplicates]
        left = len(places) - _PLACES
        more = f" and {count(left, 'more place')}" if left > 0 else ""
        st.caption(plain(f"Also in {', '.join(places[:_PLACES])}{more}"))


def unmet_note(passage: Passage) -> None:
    """Say what of the question a passage does not bear out."""
    if passage.unmet:
        st.caption(f":material/rule: Speaks against it: {plain('; '.join(passage.unmet))}.")


def _label(answer: Answer, passage: Passage) -> str:
    name = answer.gate.score_name
    parts = [
        f"{plain(f'[{passage.rank}]')} {plain(passage.document)}",
        f"p. {plain(passage.page_label)}",
        # A summary's passages were not found by a search, so they have no score.
        *([f"{name} {score(name, passage.scores[name])}"] if name in passage.scores else []),
    ]
    if answer.state is AnswerState.ANSWERED and not answer.stopped:
        parts.append("cited" if citations_of(answer, passage) else "not cited")
    return " · ".join(parts)
