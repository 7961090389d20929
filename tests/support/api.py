"""A running app for the tests of the API, and requests to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.browser import serve
from tests.support.cli import HARBOUR, ORCHARD
from tests.support.servers import Exchange, Play, ScriptedEndpoint, complete, listing

MODEL = "small"
SECONDS = 60


@dataclass(frozen=True)
class ServedApp:
    """The app with two documents and a language model at `endpoint`; ``http`` sends requests to its API."""

    address: str
    folder: Path
    endpoint: ScriptedEndpoint
    http: httpx.Client

    def play(self, answer: Play) -> None:
        """Let the model answer all further questions so."""
        self.endpoint.restart(lambda exchange: _reply(exchange, answer))

    def write_until_client_leaves(self) -> list[Exchange]:
        """Let the model answer without an end; return the list that gets the exchange of each answer."""
        started: list[Exchange] = []

        def write(exchange: Exchange) -> None:
            exchange.start()
            started.append(exchange)
            exchange.until_client_leaves()

        self.play(write)
        return started

    def add(self, name: str, data: bytes, **form: str) -> dict[str, Any]:
        """Upload a file and return its job when it has ended."""
        return self.wait(self.upload(name, data, **form).json()["job_id"])

    def upload(self, name: str, data: bytes, key: str = "", **form: str) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post("documents", files={"file": (name, data)}, data=form, headers=headers)

    def wait(self, job_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while (job := self.http.get(f"jobs/{job_id}").json())["state"] in ("queued", "running"):
            assert time.monotonic() < deadline, job
            time.sleep(0.1)
        return dict(job)


def _reply(exchange: Exchange, answer: Play) -> None:
    (listing(MODEL) if exchange.path.endswith("/models") else answer)(exchange)


@contextmanager
def serve_app(folder: Path) -> Iterator[ServedApp]:
    """Run the app with a scratch data folder."""
    with ScriptedEndpoint(lambda exchange: _reply(exchange, complete(""))) as endpoint:
        variables = {"RAG_OPENAI_BASE_URL": endpoint.url, "RAG_OPENAI_MODEL": MODEL, "RAG_MAX_FILE_MB": "5"}
        with (
            serve(folder, **variables) as address,
            httpx.Client(base_url=f"{address}/api/v1/", timeout=SECONDS, trust_env=False) as http,
        ):
            app = ServedApp(address, folder, endpoint, http)
            for name, data in (("harbour.pdf", HARBOUR), ("orchard.pdf", ORCHARD)):
                assert app.add(name, data)["addition"]["status"] == "indexed"
            yield app
