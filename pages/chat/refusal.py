"""What a refusal shows: how close the passages came, and why none answers."""

from __future__ import annotations

import streamlit as st

from pages.shared.backend import Backend
from pages.shared.library import searchable
from pages.shared.text import plain, score
from rag_core.types import Answer


def refusal(back: Backend, answer: Answer) -> None:
    """Show what keeps a question from being answered, and what the reader can do."""
    if not answer.passages and not searchable(back.engine.documents.list()):
        st.caption("There are no documents to ask yet. Drop PDFs on the field below, and ask again.")
        return
    if answer.passages:
        gate = answer.gate
        best, needed = (score(gate.score_name, one, gate.decimals) for one in (gate.score, gate.threshold))
        # Passages that pass may hold no answer all the same.
        lacking = f" (best {best}, needs {needed})" if gate.score < gate.threshold else ""
        st.markdown(f"**Closest passages**{lacking}")
        if reasons := _shared_reasons(answer):
            st.caption(f":material/rule: Speaks against each that was looked at: {plain('; '.join(reasons))}.")
    st.caption(
        "Put the question in the documents' own words, choose other documents above, or add the document "
        "that holds the answer."
    )


def _shared_reasons(answer: Answer) -> list[str]:
    """What no passage that was looked at bears out."""
    looked_at = [one for one in answer.passages if one.scores.get("answerable") is not None]
    if answer.gate.score_name != "answerable" or len(looked_at) < 2:
        return []
    return [reason for reason in looked_at[0].unmet if all(reason in one.unmet for one in looked_at)]
