"""Answers in background threads, with an engine that plays a script."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from pages.shared.answers import Answers
from pages.shared.runs import Progress, Run
from pages.shared.writing import NOTHING_WRITTEN
from rag_core.errors import GeneratorTimeout, IndexMismatch
from rag_core.types.answers import Answer, AnswerState, Claim, Delta, Marked, Restart, Rewritten, Stage
from rag_core.types.conversations import Message, Scope
from rag_core.types.retrieval import Gate, SearchResult
from rag_core.types.searches import DEFAULT_WRITER, Writer

GATE = Gate("rerank", 0.8, 0.6, True)
FOUND = SearchResult("Why?", (), GATE, {}, steps=("Searched for “Why?”",))
ANSWER = Answer("Why?", AnswerState.ANSWERED, "Because.", (), (), GATE, "extractive", {})


class ScriptedEngine:
    """Records added messages and answers with the events of a script."""

    def __init__(self, play: Callable[[], Iterator[Any]]) -> None:
        self.play = play
        self.stored: list[tuple[str, str, Answer | None]] = []
        self.active: list[Any] = []
        self.models = SimpleNamespace(find_generator_name=lambda model: f"openai:{model or 'test'}")
        self.jobs = SimpleNamespace(list=lambda **_: self.active)
        self.conversations = SimpleNamespace(add_message=self.add_message)

    def ask(self, question: str, **_: object) -> Iterator[Any]:
        return self.play()

    def add_message(self, conversation_id: str, role: str, text: str, answer: Answer | None = None) -> Message:
        self.stored.append((role, text, answer))
        return Message("m", role, text, datetime.now(UTC), answer)


def start(play: Callable[[], Iterator[Any]], writer: Writer = DEFAULT_WRITER) -> tuple[ScriptedEngine, Answers, Run]:
    engine = ScriptedEngine(play)
    answers = Answers(engine)  # type: ignore[arg-type]
    return engine, answers, answers.start("c", "Why?", Scope(), [], writer=writer)


def follow(run: Run) -> Iterator[Progress]:
    """Yield the progress of an answer until its end."""
    while not run.progress.done:
        yield run.progress
        run.ends_within(0.01)
    yield run.progress


def finish(run: Run) -> list[Progress]:
    return list(follow(run))


def stop_after_text(run: Run) -> None:
    next(progress for progress in follow(run) if progress.text)
    run.stop()
    finish(run)


def test_answer_is_stored_once_without_viewers() -> None:
    go = threading.Event()

    def play() -> Iterator[Any]:
        yield Stage("embed", "Reading the question", done=True)
        yield Delta("Beca")
        go.wait(10)
        yield Delta("use.")
        yield ANSWER

    engine, _, run = start(play)
    viewer = follow(run)
    assert next(progress for progress in viewer if progress.text).text == "Beca"
    viewer.close()
    go.set()
    assert finish(run)[-1].text == "Because."
    assert engine.stored == [("assistant", "Because.", ANSWER)]


def test_restart_discards_text_and_marks_and_gives_the_reason() -> None:
    checked = threading.Event()

    def play() -> Iterator[Any]:
        yield Delta("Nonsense")
        yield Marked(Claim(0, 8, supported=False, mark="not_found"))
        yield Restart("It named no source.")
        checked.wait(10)
        yield ANSWER

    *_, run = start(play)
    progress = next(progress for progress in follow(run) if progress.restarted)
    checked.set()
    assert (progress.text, progress.marked, progress.restarted) == ("", (), "It named no source.")


def test_stopped_answer_keeps_text_passages_and_rewriting() -> None:
    closed = threading.Event()

    def play() -> Iterator[Any]:
        try:
            yield Rewritten("Why did the bridge fail?")
            yield FOUND
            yield Delta("Half an ")
            while True:
                yield Delta("")
        finally:
            closed.set()

    engine, _, run = start(play, Writer("large"))
    stop_after_text(run)
    assert closed.is_set()
    role, text, answer = engine.stored[0]
    assert (role, text) == ("assistant", "Half an")
    assert answer is not None
    assert answer.stopped
    assert (answer.question, answer.rewritten) == ("Why?", "Why did the bridge fail?")
    assert (answer.gate, answer.steps) == (GATE, FOUND.steps)
    assert answer.generator == "openai:large"


def test_answer_stopped_without_text_is_stored_as_such() -> None:
    def play() -> Iterator[Any]:
        while True:
            yield Stage("embed", "Reading the question")

    engine, _, run = start(play)
    run.stop()
    finish(run)
    assert engine.stored == [("assistant", NOTHING_WRITTEN, None)]


@pytest.mark.parametrize("error", [IndexMismatch("Re-index first."), GeneratorTimeout("No reply in 60 s.")])
def test_error_is_shown_and_nothing_is_stored(error: Exception) -> None:
    def play() -> Iterator[Any]:
        raise error
        yield

    engine, _, run = start(play)
    finish(run)
    assert run.problem == str(error)
    assert engine.stored == []


def test_internal_error_is_logged_but_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    def play() -> Iterator[Any]:
        yield Delta("So far ")
        raise ZeroDivisionError("secret")

    engine, _, run = start(play)
    finish(run)
    assert "secret" not in run.problem
    assert "secret" in caplog.text
    assert engine.stored[0][1] == "So far"


def test_question_waits_for_its_files() -> None:
    def play() -> Iterator[Any]:
        yield ANSWER

    engine = ScriptedEngine(play)
    job = SimpleNamespace(job_id="j", name="a.pdf", document_id=None)
    engine.active = [job]
    run = Answers(engine).start("c", "Why?", Scope(), [], ["j"])  # type: ignore[arg-type]
    waiting = next(progress for progress in follow(run) if progress.stages)
    assert waiting.stages[0].label == "Waiting for a.pdf"
    engine.active = []
    assert finish(run)[-1].stages[0].done
    assert engine.stored[0][1] == "Because."


def test_closing_stops_and_stores_answers() -> None:
    def play() -> Iterator[Any]:
        yield Delta("Some")
        while True:
            yield Delta("")

    engine, answers, run = start(play)
    next(progress for progress in follow(run) if progress.text)
    assert answers.running("c") is run
    answers.close()
    assert answers.running("c") is None
    assert engine.stored[0][1] == "Some"


def test_answer_that_cannot_be_stored_is_reported() -> None:
    def play() -> Iterator[Any]:
        yield FOUND
        yield Delta("Because.")
        yield ANSWER

    engine = ScriptedEngine(play)
    failures = [IndexMismatch("The database does not answer.")]

    def add_message(conversation_id: str, role: str, text: str, answer: Answer | None = None) -> None:
        if failures:
            raise failures.pop()
        engine.stored.append((role, text, answer))

    engine.conversations.add_message = add_message
    run = Answers(engine).start("c", "Why?", Scope(), [])  # type: ignore[arg-type]
    finish(run)
    assert engine.stored == []
    assert "The database does not answer." in run.problem
