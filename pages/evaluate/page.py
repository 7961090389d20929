"""Evaluate: measure search, answers and refusals on labelled questions."""

from __future__ import annotations

import streamlit as st

from pages.evaluate.choosing import configurations, labelled
from pages.evaluate.results import results
from pages.evaluate.running import running, start
from pages.shared.backend import arrive, backend
from pages.shared.warmth import warmth

arrive("evaluate")
back = backend()
st.title("Evaluate", anchor=False)
warmth(back.engine)
name, labels = labelled(back.engine)
start(back.engine, name, labels, configurations(back.engine))
running(back.engine)
results(back.engine)
