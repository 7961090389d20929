"""Labels of the question that the Lab page shows."""

from __future__ import annotations

import streamlit as st

from pages.shared import keys
from pages.shared.problems import show_errors
from rag_core.engine import Engine
from rag_core.types.evaluation import LabelledPage
from rag_core.types.explanations import Explanation
from rag_core.types.retrieval import Passage


def find_labelled_passage(engine: Engine, explanation: Explanation) -> str | None:
    """Return the chunk id of the best passage that starts on a labelled page; ``None`` if there is none."""
    right = engine.labels.find_pages(explanation.question)
    on_it = (one.chunk_id for one in explanation.passages if (one.document_id, one.page_index) in right)
    return next(on_it, None)


def save_label(engine: Engine, explanation: Explanation, passage: Passage) -> None:
    """Label the question with the pages of a passage, and mark the passage as the right one."""
    with show_errors():
        evidence = [LabelledPage(passage.document, page) for page in passage.page_indices]
        engine.labels.add(explanation.question, evidence=evidence)
        st.session_state[keys.LAB_MARKED] = passage.chunk_id
