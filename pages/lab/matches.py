"""The component that shows which words of a question match which words of a passage."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.lab.words import group_matches_by_word, split_into_segments
from rag_core.types.explanations import TokenMatches

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_matches",
    html="",
    css=(_HERE / "matches.css").read_text(encoding="utf-8"),
    js=(_HERE / "matches.js").read_text(encoding="utf-8"),
    # Isolated styles would put the words in a shadow tree, which the Tab key skips in a drawer.
    isolate_styles=False,
)


def show_token_matches(matches: TokenMatches, *, key: str) -> None:
    """Show the words of the question with their weights, and the passage with the matching words highlighted."""
    words = group_matches_by_word(matches)
    most = max((one.weight for one in words), default=1.0)
    shown = [
        {
            "s": one.text,
            "share": one.weight / most,
            "weight": f"{100 * one.weight:.0f} %",
            "similarity": f"{one.similarity:.2f}",
            "met": ", ".join(matches.text[start:end] for start, end in one.spans),
        }
        for one in words
    ]
    _COMPONENT(key=key, data={"words": shown, "text": list(split_into_segments(matches.text, words))})
