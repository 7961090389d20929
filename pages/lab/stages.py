"""The stages of a search as columns; a passage has the same letter and colour in every column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from pages.lab.marks import SHOWN, Mark
from pages.shared import keys
from pages.shared.scores import format_score
from pages.shared.text import truncate
from pages.shared.translation import _, ngettext, translate_message
from rag_core.stages import SCORE_LABELS
from rag_core.types.explanations import Explanation, StageRanking

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "footnote_stages",
    html="",
    css=(_HERE / "stages.css").read_text(encoding="utf-8"),
    js=(_HERE / "stages.js").read_text(encoding="utf-8"),
)
_PREVIEW = 200


def show_stages(explanation: Explanation, marks: Mapping[str, Mark]) -> None:
    """Show the first passages of every stage; a click on a passage opens its drawer."""
    st.header(
        _("How the passages were found"),
        anchor=False,
        help=_("The stages of the search. The name in grey is that of the score by which a stage orders passages."),
    )
    st.caption(
        _(
            "Footnote searches in several ways, merges the results and puts the best passages first. Each "
            "column is one step. A passage keeps its letter and colour: point at it to follow it, click it "
            "to see which words match."
        )
    )

    def clicked() -> None:
        state = st.session_state.get("lab_stages")
        chunk_id = state.get("open") if state else None
        if chunk_id in marks:
            st.session_state[keys.LAB_OPEN] = chunk_id

    _COMPONENT(
        key="lab_stages",
        data={"stages": [_build_column(stage, marks) for stage in explanation.stages]},
        on_open_change=clicked,
    )


def _build_column(stage: StageRanking, marks: Mapping[str, Mark]) -> dict[str, Any]:
    rows = []
    for rank, hit in enumerate(stage.hits[:SHOWN], 1):
        mark = marks[str(hit.chunk_id)]
        rows.append(
            {
                "id": str(hit.chunk_id),
                "rank": rank,
                "letter": mark.letter,
                "colour": mark.colour,
                "document": mark.passage.document,
                "page": _("p. {page}", page=mark.passage.page_label),
                "score": format_score(stage.name, hit.score),
                "label": _("rank {rank}: passage {letter}", rank=rank, letter=mark.letter),
                "preview": truncate(" ".join(mark.passage.text.split()), _PREVIEW),
            }
        )
    words = translate_message(SCORE_LABELS.get(stage.name, ""))
    return {
        "name": stage.name,
        "words": words[:1].upper() + words[1:],
        "note": ngettext("of {number} passage", "of {number} passages", len(stage.hits)),
        "rows": rows,
    }
