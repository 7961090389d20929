"""Explain a refusal: why the closest passages do not match, and what the reader can do."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from pages.shared.backend import Backend
from pages.shared.library import find_searchable
from pages.shared.text import escape_markdown
from pages.shared.translation import _, translate_message
from rag_core.types.answers import Answer
from rag_core.types.documents import DocumentInfo

# A name that a reason quotes.
_NAME = re.compile(r"“([^”]+)”")


def show_refusal(back: Backend, answer: Answer) -> None:
    """Show why a question is not answered, and what the reader can do."""
    if not answer.passages and not find_searchable(back.engine.documents.list()):
        st.caption(_("Drop documents on the input field below, then ask again."))
        return
    st.caption(
        _(
            "Rephrase the question with words from the documents, choose other documents beside the input, or add the "
            "document that contains the answer."
        )
    )
    reasons = _find_shared_reasons(answer)
    if reasons:
        st.caption(
            _(
                ":material/rule: In the closest passages, {reasons}.",
                reasons=escape_markdown("; ".join(map(translate_message, reasons))),
            )
        )
    for name, document in _find_named(reasons, back.engine.documents.list()):
        st.caption(
            _(
                ":material/description: {document} is named after “{name}”. Choose that document beside the "
                "input and ask again.",
                document=escape_markdown(document),
                name=escape_markdown(name),
            )
        )


def _find_shared_reasons(answer: Answer) -> list[str]:
    """Return the reasons against a passage that all the passages scored by the gate share.

    The list is empty if fewer than two passages were scored, or if another score decided.
    """
    looked_at = [one for one in answer.passages if one.scores.get("answerable") is not None]
    if answer.gate.score_name != "answerable" or len(looked_at) < 2:
        return []
    return [reason for reason in looked_at[0].unmet if all(reason in one.unmet for one in looked_at)]


def _find_named(reasons: Sequence[str], documents: Sequence[DocumentInfo]) -> list[tuple[str, str]]:
    """Return pairs of a name that the passages lack and the name of the first searchable document that contains it.

    A name that no document's name contains is left out.
    """
    names = dict.fromkeys(name for reason in reasons for name in _NAME.findall(reason))
    searchable = [document.name for document in documents if document.chunks]
    found = {
        name: next((document for document in searchable if name.casefold() in document.casefold()), None)
        for name in names
    }
    return [(name, document) for name, document in found.items() if document]
