"""The check of a text in a background thread, so that reruns and other pages do not end it."""

from __future__ import annotations

import threading
from contextlib import closing

from pages.shared.problems import explain
from rag_core.engine import Engine
from rag_core.types.checks import CheckedStatement
from rag_core.types.conversations import Scope


class TextCheck:
    """A check of a text, which runs until all sentences are checked or the reader stops it.

    Attributes
    ----------
    statements : list of DraftStatement
        The sentences of the text.
    checked : list of CheckedStatement
        The results so far, in the order of the sentences.
    problem : str
        Why the check failed; empty if it did not fail.
    """

    def __init__(self, engine: Engine, text: str, scope: Scope) -> None:
        self._engine = engine
        self._scope = scope
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="text-check", daemon=True)
        self.statements = engine.checker.split(text)
        self.checked: list[CheckedStatement] = []
        self.problem = ""

    @property
    def done(self) -> bool:
        """Whether the check is not running: it has ended, or it was not started."""
        return not self._thread.is_alive()

    def start(self) -> None:
        """Start to check the sentences."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the check to end after the current sentences; the results so far stay."""
        self._stopping.set()

    def _work(self) -> None:
        try:
            with closing(self._engine.checker.check_all(self.statements, self._scope)) as results:
                for one in results:
                    self.checked.append(one)
                    if self._stopping.is_set():
                        return
        except Exception as error:  # noqa: BLE001 - no caller would catch an exception of this thread
            self.problem = explain(error)
