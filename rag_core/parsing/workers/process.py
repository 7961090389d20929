"""Start worker processes, send them requests, limit their time, and end them."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_core.parsing.workers import messages
from rag_core.system import count_available_cores

_ROOT = Path(__file__).resolve().parents[3]
# Interval at which a waiting thread calls ``cancelled``.
_SLICE_S = 0.1
WORKER_MODULE = "rag_core.parsing.workers.child"
# The only environment variables of processes that open files, so that a hostile file cannot read API keys.
_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


def inherit_environment() -> dict[str, str]:
    """Return the environment of a process that opens files; see `_INHERITED`."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


class WorkerDiedError(Exception):
    """The process ended without an answer; the message says how it ended."""


class WorkerTimedOutError(Exception):
    """The process did not answer in time."""


class ReadCancelledError(Exception):
    """The caller no longer wants the answer."""


class WorkerProcess:
    """A worker process, which answers requests in order."""

    def __init__(self, memory_mb: int) -> None:
        self.memory_mb = memory_mb
        paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
        environment = inherit_environment() | {
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONIOENCODING": "utf-8",
            "OMP_NUM_THREADS": str(count_available_cores()),
            "OPENBLAS_NUM_THREADS": "1",
            # By default, glibc reserves a heap for each thread, which can use up the memory limit.
            "MALLOC_ARENA_MAX": "2",
        }
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", WORKER_MODULE, str(memory_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=_ROOT,
        )
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="extraction-reader", daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def has_answered(self) -> bool:
        """Whether `receive` returns or raises at once, because an answer has arrived or the process has ended."""
        return not self._answers.empty()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            for line in stream:
                self._answers.put(messages.decode_message(line))
        except ValueError:  # the process died while it wrote a line, so the line is incomplete
            pass
        finally:
            self._answers.put(None)

    def send(self, request: dict[str, Any]) -> None:
        """Send a request. If the process has ended, only `receive` raises an error."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(messages.encode_message(request))
            self._process.stdin.flush()
        except OSError:
            return

    def receive(self, timeout_s: float, cancelled: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Wait for the next answer and return it.

        Raises
        ------
        WorkerDiedError
            The process has ended.
        WorkerTimedOutError
            The answer did not arrive in time, and this method has killed the process.
        ReadCancelledError
            ``cancelled`` returned true, and this method has killed the process.
        """
        deadline = time.monotonic() + timeout_s
        if cancelled():
            self.kill()
            raise ReadCancelledError
        while True:
            try:
                left = deadline - time.monotonic()
                answer = self._answers.get(timeout=max(min(_SLICE_S, left), 0.001))
            except queue.Empty:
                if cancelled():
                    self.kill()
                    raise ReadCancelledError from None
                if time.monotonic() >= deadline:
                    self.kill()
                    raise WorkerTimedOutError from None
                continue
            if answer is None:
                raise WorkerDiedError(self._describe_exit())
            return answer

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send a request and return its answer; see `send` and `receive`."""
        self.send(request)
        return self.receive(timeout_s)

    def _describe_exit(self) -> str:
        """Wait for the end of the process, and return why it ended."""
        try:
            self._process.wait(2)  # the pipe closes a little before the process ends
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()
        code = self._process.returncode
        if code is not None and code < 0:
            names = {int(member): member.name for member in signal.Signals}
            name = names.get(-code, str(-code))
            return f"the reader crashed ({name}), or needed more than the {self.memory_mb} MB that it may use"
        return f"the reader ended unexpectedly (exit status {code})"

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._reap()

    def close(self) -> None:
        """Close the input of the process, which ends it; kill the process if it runs for two more seconds."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(2)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
        self._reap()

    def _reap(self) -> None:
        """Wait for the end of the process, and close its streams."""
        self._process.wait()
        self._reader.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # the process that should read the buffered data has ended
                    continue


class WorkerPool:
    """A pool of worker processes, which starts a new process if no process is idle.

    Parameters
    ----------
    memory_mb : int
        Memory limit of each worker.
    """

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._idle: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._closed = False

    def acquire(self) -> WorkerProcess:
        """Return an idle worker without an open file, or a new worker."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.close()
        return WorkerProcess(self._memory_mb)

    def release(self, worker: WorkerProcess) -> None:
        """Take back a worker that has no file open, or that has ended."""
        with self._lock:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
        worker.close()

    def close(self) -> None:
        """End the idle workers now, and each busy worker when it is released."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()
