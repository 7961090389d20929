"""The Lab page: the answer to one question, how its passages were found, and how much each of them counts."""

from __future__ import annotations

import streamlit as st

from pages.lab.closed_book import show_closed_book
from pages.lab.example import show_worked_example
from pages.lab.explained import get_explanation
from pages.lab.gate import show_gate_decision
from pages.lab.marks import create_marks
from pages.lab.passage import open_passage_drawer
from pages.lab.question import choose_question
from pages.lab.ranks import show_rank_chart
from pages.lab.snapshots import show_snapshot_comparison
from pages.lab.stages import show_stages
from pages.lab.strategies import show_strategies
from pages.lab.weighing import get_right_passage, show_weights
from pages.shared.library import find_searchable
from pages.shared.source import show_source
from pages.shared.start import start_page
from pages.shared.translation import _

back = start_page("lab", _("Lab"))
documents = find_searchable(back.engine.documents.list())
question, scope = choose_question(documents)
explanation = get_explanation(back.engine, documents, question, scope)
if explanation is None:
    show_worked_example(back.engine)
    st.stop()
marks = create_marks(explanation, get_right_passage())
answers = show_strategies(back.engine, documents, question, scope)
show_gate_decision(explanation)
show_stages(explanation, marks)
show_rank_chart(explanation, marks)
show_weights(back.engine, explanation, marks)
show_worked_example(back.engine)
show_snapshot_comparison(back.engine, documents, question, scope)
show_closed_book(back.engine, documents, question, scope)
open_passage_drawer(back.engine, explanation, marks)
show_source(back.engine, answers)
