"""Lab: the stages of the search for one question, and the weight of each passage in an answer."""

from __future__ import annotations

import streamlit as st

from pages.lab.explained import explained
from pages.lab.gate import verdict_of_the_gate
from pages.lab.marks import marks_of
from pages.lab.passage import passage_drawer
from pages.lab.question import question_box
from pages.lab.ranks import rank_chart
from pages.lab.stages import stage_columns
from pages.lab.weighing import right_passage, weighing
from pages.shared.backend import arrive, backend
from pages.shared.library import searchable
from pages.shared.warmth import warmth

arrive("lab")
back = backend()
st.title("Lab", anchor=False)
warmth(back.engine)
documents = searchable(back.engine.documents.list())
question, scope = question_box(documents)
explanation = explained(back.engine, documents, question, scope)
if explanation is None:
    st.stop()
marks = marks_of(explanation, right_passage())
verdict_of_the_gate(explanation)
stage_columns(explanation, marks)
rank_chart(explanation, marks)
weighing(back.engine, explanation, marks)
passage_drawer(back.engine, explanation, marks)
