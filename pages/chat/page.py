"""The Chat page: ask the documents, and compare each sentence of an answer with the page it comes from."""

from __future__ import annotations

import streamlit as st

from pages.chat.asking import show_input, show_running_answer
from pages.chat.cards import find_added, show_cards
from pages.chat.connecting import recommend_model
from pages.chat.drop import accept_drops
from pages.chat.history import link_first_source, scroll_to_question, show_history, show_missing_answer
from pages.chat.scope import add_to_scope, choose_scope, show_scope_notes
from pages.chat.strategy import choose_strategy
from pages.chat.welcome import show_examples, show_welcome
from pages.chat.writer import choose_writer
from pages.shared.backend import enter_page, get_backend
from pages.shared.clashes import ask_about_clashes
from pages.shared.current import get_current_id, open_conversation
from pages.shared.jobs import show_jobs
from pages.shared.library import find_searchable
from pages.shared.problems import show_stored_error
from pages.shared.readiness import show_load_error, show_loading
from pages.shared.sidebar import show_sidebar
from pages.shared.source import show_source
from pages.shared.unlock import find_rejected, show_password_fields

back = get_backend()
enter_page("chat")
conversation, messages = open_conversation(back.engine)
run = back.answers.running(get_current_id() or "")
last = messages[-1].answer if messages else None
if run is None and conversation and messages and (last is None or last.interrupted):
    # The answer, or its continuation, may have been stored after the messages were loaded, so load them again.
    conversation = back.engine.conversations.get(conversation.conversation_id)
    messages = back.engine.conversations.messages(conversation.conversation_id)
show_stored_error()
show_sidebar(back.engine)
show_load_error(back.engine)
library = back.engine.documents.list()
documents = find_searchable(library)
with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small", key="choices"):
    chosen = choose_scope(back.engine, conversation, library)
    choose_strategy(back.engine, choose_writer(back.engine, conversation), chosen.as_of)
    link_first_source(messages)
show_scope_notes(back.engine, conversation, library, chosen)
if not messages:
    show_welcome(back, documents)
# An answer that is being continued is shown below the other messages, with its text so far.
continued = run.continued.message_id if run and run.continued else ""
added = find_added(back, documents, messages)
history = st.container()
# The source comes first, so that its page appears before the messages are drawn again.
show_source(back.engine, {one.message_id: one.answer for one in messages if one.answer})
with history:
    show_history(
        back,
        [one for one in messages if one.message_id != continued],
        before=lambda place: show_cards(back, added.get(place, ()), messages, is_last=False),
    )
if run:
    show_running_answer(back, run)
elif messages and messages[-1].role == "user":
    show_missing_answer(back)
ask_about_clashes(back.engine, on_added=lambda jobs: add_to_scope(back.engine, chosen, jobs))
show_jobs(back.engine)
newest = added.get(len(messages), ())
show_cards(back, newest, messages, is_last=True)
if not messages:
    if not newest:
        show_examples(back, documents)
    recommend_model(back)
show_password_fields(
    back.engine, find_rejected(back.engine, library), on_opened=lambda jobs: add_to_scope(back.engine, chosen, jobs)
)
scroll_to_question(messages)
show_loading(back.engine)
show_input(back, chosen)
accept_drops()
