"""Workers that wait for the next file."""

from __future__ import annotations

import threading

from rag_core.parsing.workers.process import WorkerProcess


class WorkerPool:
    """Hands out worker processes and takes them back; as many exist as are used at once.

    Parameters
    ----------
    memory_mb : int
        Memory limit of each.
    ocr : {"auto", "on", "off"}
    """

    def __init__(self, memory_mb: int, ocr: str) -> None:
        self._memory_mb = memory_mb
        self._ocr = ocr
        self._idle: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> WorkerProcess:
        """A worker that lives and has no file open, a new one if need be."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.close()
        return WorkerProcess(self._memory_mb, self._ocr)

    def give(self, worker: WorkerProcess) -> None:
        """Take a worker back, alive or not."""
        with self._lock:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
        worker.close()

    def close(self) -> None:
        """End the workers that wait, and each other one when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()
