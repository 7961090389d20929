"""The steps of a running answer: ask the engine, process its events, and store what was written."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from pages.shared.runs import Run
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AskEvent, Delta, Marked, Restart, Rewritten, Stage
from rag_core.types.retrieval import RetrievalConfig, SearchResult

NOTHING_WRITTEN = "Stopped before there was an answer."


def write_answer(engine: Engine, run: Run) -> None:
    """Ask the question and process the events; store the answer when it arrives. Return early if the run is stopped."""
    events = _start_events(engine, run)
    with closing(events):
        for event in events:
            if isinstance(event, Answer):
                run.answer = event
                _store_answer(engine, run, event)
                run.show(done=True)
            elif isinstance(event, Stage):
                run.show_stage(event)
            elif isinstance(event, Rewritten):
                run.rewritten = event.text
            elif isinstance(event, SearchResult):
                run.found = event
            elif isinstance(event, Delta):
                run.show(text=run.progress.text + event.text)
            elif isinstance(event, Marked):
                run.show(marked=(*run.progress.marked, event.claim))
            elif isinstance(event, Restart):
                run.show(text="", marked=(), restarted=event.reason)
            if run.stopping.is_set():
                return


def store_partial(engine: Engine, run: Run) -> None:
    """Store the text of an incomplete answer, if the reader stopped the answer or if any text was written.

    If the run continues an interrupted answer, that answer is replaced only if the text became longer.
    """
    text = run.progress.text.rstrip()
    if run.continued and run.continued.answer:
        answer = run.continued.answer
        if len(text) > len(answer.unfinished_text):
            longer = replace(answer, text=text, citations=(), statements=(), quotes_start=None, stopped=True)
            engine.conversations.replace_answer(run.continued.message_id, longer)
        return
    if run.stopping.is_set() or text:
        generator = engine.models.find_generator_name(run.writer.model)
        partial = run.partial_answer(run.found, text, generator) if text and run.found else None
        engine.conversations.add_message(run.conversation_id, "assistant", text or NOTHING_WRITTEN, partial)


def _start_events(engine: Engine, run: Run) -> Generator[AskEvent, None, None]:
    """Return the events of the answer, or of the continuation of an interrupted answer."""
    options: Any = {"model": run.writer.model, "instructions": run.writer.instructions}
    if run.continued and run.continued.answer:
        return engine.continuations.continue_answer(run.continued.answer, run.history, **options)
    return engine.ask(
        run.question,
        documents=run.scope.documents,
        collections=run.scope.collections,
        as_of=run.scope.as_of,
        history=run.history,
        configuration=RetrievalConfig(strategy=run.strategy),
        search_for=run.search_for,
        **options,
    )


def _store_answer(engine: Engine, run: Run, answer: Answer) -> None:
    """Store a complete answer, or replace the answer that was continued."""
    if run.continued is None:
        engine.conversations.add_message(run.conversation_id, "assistant", answer.text, answer)
    else:
        engine.conversations.replace_answer(run.continued.message_id, answer)
