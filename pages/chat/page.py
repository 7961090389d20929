"""Chat: ask the documents, and check each sentence against its page."""

from __future__ import annotations

import streamlit as st

from pages.chat.asking import answer_under_way, prompt, watch
from pages.chat.current import current, open_conversation
from pages.chat.history import history, unanswered
from pages.chat.scope import scope
from pages.chat.sidebar import sidebar
from pages.chat.strategy import strategy_select
from pages.chat.welcome import welcome
from pages.shared import keys
from pages.shared.backend import arrive, backend
from pages.shared.clashes import clashes
from pages.shared.jobs import job_panel
from pages.shared.library import searchable
from pages.shared.source import source_drawer
from pages.shared.warmth import warmth

back = backend()
arrived = arrive("chat")
# Every part has a place of its own in each run. What a run does not draw stays on the screen until the
# run ends, which is long while an answer is written; only an empty place gives it up at once. So two
# conversations that follow one another are drawn on two sides, one of which is empty.
notice, chooser, start, sides = st.container(), st.container(), st.empty(), (st.empty(), st.empty())
with notice:
    conversation, messages = open_conversation(back.engine, arrived=arrived)
run = back.answers.running(current() or "")
if run is None and conversation and messages[-1:] and messages[-1].role == "user":
    # The answer may have come between the two lines above.
    conversation, messages = back.engine.conversation(conversation.conversation_id)
sidebar(back.engine)
with notice:
    warmth(back.engine)
documents = searchable(back.engine.documents())
with chooser:
    chosen = scope(back.engine, conversation, documents)
strategy_select(back.engine)
prompt(back, chosen)
if not messages:
    with start.container():
        welcome(back, documents)
with sides[st.session_state.get(keys.OTHER_SIDE, False)].container():
    shown = history(back, messages)
    stored = st.empty()
    if run is None and messages and messages[-1].role == "user":
        with stored.container():
            unanswered(back)
live = st.empty()
# While a run follows an answer no fragment is drawn anew: the answer itself then tells of the files.
clashes(back.engine)
job_panel(back.engine, shown=run is None)
source_drawer(back.engine, shown)
if run is None:
    st.session_state.pop(keys.FOLLOWING, None)
else:
    watch(back, run)
    answer_under_way(back, run, shown, live=live, stored=stored)
