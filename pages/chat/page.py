"""Chat: ask the documents, and check each sentence against its page."""

from __future__ import annotations

from pages.chat.asking import answer_under_way, prompt, watch
from pages.chat.current import current, open_conversation
from pages.chat.history import history
from pages.chat.scope import scope
from pages.chat.sidebar import sidebar
from pages.chat.welcome import welcome
from pages.shared.backend import arrive, backend
from pages.shared.jobs import job_panel
from pages.shared.library import searchable
from pages.shared.source import source_drawer
from pages.shared.warmth import warmth

back = backend()
conversation, messages = open_conversation(back.engine, arrived=arrive("chat"))
sidebar(back.engine, conversation)
documents = searchable(back.engine.documents())
chosen = scope(back.engine, conversation, documents)
prompt(back, chosen)
warmth(back.engine)
if not messages:
    welcome(back, documents)
run = back.answers.running(current() or "")
shown = history(back, messages, answering=run is not None)
job_panel(back.engine)
source_drawer(back.engine, shown)
if run is not None:
    watch(back, run)
    answer_under_way(back, run, shown)
