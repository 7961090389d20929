"""Write answers in background threads, one per answer.

Each click or reload ends the current script run of a page, but the answer must still be completed. So a
thread writes the answer, and the pages only show its progress. The thread stores the complete answer. If
the reader stops the answer, the thread stores the text written so far.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from pages.shared.problems import explain
from pages.shared.runs import Run, wait_for_jobs
from pages.shared.writing import store_partial, write_answer
from rag_core.engine import Engine
from rag_core.types.conversations import Message, Scope
from rag_core.types.searches import DEFAULT_WRITER, Writer


class Answers:
    """The answers that are being written, at most one per conversation, each in its own thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._runs: dict[str, Run] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def start(
        self,
        conversation_id: str,
        question: str,
        scope: Scope,
        history: Sequence[Message],
        job_ids: Sequence[str] = (),
        search_for: str | None = None,
        strategy: str = "plain",
        writer: Writer = DEFAULT_WRITER,
        continued: Message | None = None,
    ) -> Run:
        """Start to answer the last question of a conversation, and return the run.

        If an answer is already being written in the conversation, return its run instead.

        Parameters
        ----------
        conversation_id : str
        question : str
        scope : Scope
        history : sequence of Message
            The messages before the question.
        job_ids : sequence of str
            The jobs of attached files, for which the run waits first, as in `wait_for_jobs`.
        search_for : str, optional
            The text to search for instead of the question, if the reader has edited the search.
        strategy : str
        writer : Writer
            The model and the instructions of the conversation.
        continued : Message, optional
            The message of an interrupted answer, which is continued instead of a new one being written.
        """
        with self._lock:
            under_way = self._runs.get(conversation_id)
            if under_way and not under_way.progress.done:
                return under_way
            run = Run(
                conversation_id,
                question,
                scope,
                history,
                job_ids=frozenset(job_ids),
                search_for=search_for,
                strategy=strategy,
                writer=writer,
                continued=continued,
            )
            if continued and continued.answer:
                run.show(text=continued.answer.unfinished_text)
            self._runs[conversation_id] = run
            thread = threading.Thread(target=self._work, args=(run,), name="answer", daemon=True)
            self._threads = [one for one in self._threads if one.is_alive()] + [thread]
            thread.start()
            return run

    def running(self, conversation_id: str) -> Run | None:
        """Return the run that is writing an answer in this conversation; ``None`` if there is none."""
        run = self._runs.get(conversation_id)
        return run if run and not run.progress.done else None

    def problem(self, conversation_id: str) -> str:
        """Return the error that ended the last run of this conversation; empty without an error or a run."""
        run = self._runs.get(conversation_id)
        return run.problem if run else ""

    def close(self) -> None:
        """Stop all runs, and wait until they have stored their text, at most 10 seconds for each."""
        with self._lock:
            runs, threads = list(self._runs.values()), list(self._threads)
        for run in runs:
            run.stop()
        for thread in threads:
            thread.join(timeout=10)

    def _work(self, run: Run) -> None:
        try:
            if wait_for_jobs(self._engine, run):
                write_answer(self._engine, run)
        except Exception as error:  # noqa: BLE001 - no caller would catch an exception of this thread
            run.problem = explain(error)
        try:
            if run.answer is None:
                store_partial(self._engine, run)
        except Exception as error:  # noqa: BLE001 - no caller would catch an exception of this thread
            run.problem = explain(error)
        finally:
            run.show(done=True)
