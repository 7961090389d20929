"""What ends work that nobody waits for, and requests that are sent again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import MutableMapping
from typing import Any

from rag_core.api.calls import EventStream
from rag_core.errors import RequestError
from tests.support.api import ServedApp
from tests.support.event_loop import run_coroutine
from tests.support.pdfs import make_pdf


def test_reader_who_takes_nothing_frees_the_thread_and_others_learn_why_a_stream_ended() -> None:
    sent: list[bytes] = []
    closed = threading.Event()
    stopping = threading.Event()

    def write() -> Any:
        try:
            while True:
                yield b"piece"
        finally:
            closed.set()

    async def send(message: MutableMapping[str, Any]) -> None:
        if message.get("body") == b"piece":
            stopping.set()
            await asyncio.Event().wait()
        sent.append(message.get("body", b""))

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    def encode_problem(error: Exception) -> bytes:
        assert isinstance(error, RequestError)
        return json.dumps(error.status).encode()

    stream = EventStream(write(), stopping, encode_problem)
    run_coroutine(stream({}, receive, send))
    assert closed.is_set()
    assert sent == [b"", b"504"]


def test_key_of_a_deleted_document_adds_its_file_again(app: ServedApp) -> None:
    jobs = []
    for _ in range(2):
        sent = {"file": ("weir.pdf", make_pdf("The weir of Lunde is low."))}
        job = app.http.post("documents", files=sent, headers={"Idempotency-Key": "weir"}).json()
        while app.http.get(f"jobs/{job['job_id']}").json()["state"] in ("queued", "running"):
            pass
        jobs.append(job)
        assert app.http.delete(f"documents/{job['document_id']}").status_code == 200
    assert jobs[0]["job_id"] != jobs[1]["job_id"]
