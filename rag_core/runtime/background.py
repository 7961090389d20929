"""Run work in a background thread, one run at a time, with a state that shows the progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rag_core.errors import RagError
from rag_core.types.jobs import RunState

log = logging.getLogger(__name__)


class _Stopped(Exception):
    """The run was cancelled."""


class BackgroundRun:
    """Runs work in a thread, one run at a time.

    Parameters
    ----------
    name : str
        Name of the thread, and of the work in the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._state: RunState | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    @property
    def state(self) -> RunState | None:
        """The state of the current or last run; ``None`` before the first."""
        return self._state

    def start(self, stage: str, total: int, work: Callable[[], None]) -> RunState:
        """If no run is active, start a run of ``work``. Return the state of the run that is active then.

        ``work`` calls `advance` after each step. An error ends the run, and its message becomes the ``problem`` of the
        state.
        """
        with self._lock:
            if self._state is not None and self._state.running:
                return self._state
            self._stopping.clear()
            state = self._state = RunState(stage, 0, total, running=True)
            self._thread = threading.Thread(target=self._run, args=(work,), name=self._name, daemon=True)
            self._thread.start()
            return state

    def change(self, **changes: Any) -> None:
        """Change fields of the state; a run must have been started."""
        assert self._state is not None
        self._state = replace(self._state, **changes)

    def advance(self, **changes: Any) -> None:
        """Change fields of the state; if the run was cancelled, raise an error that ends ``work``."""
        self.change(**changes)
        if self._stopping.is_set():
            raise _Stopped

    def cancel(self) -> None:
        """Stop the run after its current step."""
        self._stopping.set()

    def close(self) -> None:
        """Stop the run, and wait until it ends."""
        self.cancel()
        if self._thread is not None:
            self._thread.join()

    def _run(self, work: Callable[[], None]) -> None:
        problem = ""
        try:
            work()
        except _Stopped:
            problem = "Stopped before the end."
        except RagError as error:
            problem = str(error)
        except Exception as error:  # no caller would see an error in this thread
            log.exception(self._name)
            problem = f"An internal error: {type(error).__name__}: {error}. The log has the details."
        finally:
            self.change(running=False, problem=problem)


class BackgroundService:
    """A service with work that runs in the background, one run at a time.

    Parameters
    ----------
    name : str
        Name of the work; see `BackgroundRun`.
    """

    def __init__(self, name: str) -> None:
        self._background = BackgroundRun(name)

    def state(self) -> RunState | None:
        """Return the state of the current or last background run; ``None`` before the first."""
        return self._background.state

    def cancel(self) -> None:
        """Stop the background run after its current step, and discard its unfinished result."""
        self._background.cancel()

    def close(self) -> None:
        """Stop the background run, and wait until it ends."""
        self._background.close()
