"""Chat: ask the documents, and check each sentence against its page."""

from __future__ import annotations

from pages.chat.asking import answer_under_way, prompt
from pages.chat.current import current, open_conversation
from pages.chat.history import history, unanswered
from pages.chat.scope import scope, widen
from pages.chat.sidebar import sidebar
from pages.chat.strategy import strategy_select
from pages.chat.welcome import welcome
from pages.shared.backend import arrive, backend
from pages.shared.clashes import clashes
from pages.shared.jobs import job_panel
from pages.shared.library import searchable
from pages.shared.problems import problem
from pages.shared.source import source_drawer
from pages.shared.unlock import refused, unlock
from pages.shared.warmth import warmth

back = backend()
arrived = arrive("chat")
suggesting = back.answers.suggesting(current() or "")
conversation, messages = open_conversation(back.engine, arrived=arrived)
run = back.answers.running(current() or "")
if run is None and conversation and messages[-1:] and messages[-1].role == "user":
    # The answer may have been stored between the two lines above.
    conversation = back.engine.conversations.get(conversation.conversation_id)
    messages = back.engine.conversations.messages(conversation.conversation_id)
problem()
sidebar(back.engine)
warmth(back.engine)
library = back.engine.documents.list()
documents = searchable(library)
chosen = scope(back.engine, conversation, library)
strategy_select(back.engine)
if not messages:
    welcome(back, documents)
shown = history(back, messages, suggesting)
if run:
    answer_under_way(back, run)
elif messages and messages[-1].role == "user":
    unanswered(back)
clashes(back.engine, on_added=lambda jobs: widen(back.engine, chosen, jobs))
job_panel(back.engine)
unlock(back.engine, refused(back.engine, library), on_opened=lambda jobs: widen(back.engine, chosen, jobs))
source_drawer(back.engine, shown)
prompt(back, chosen, locked=run is not None)
