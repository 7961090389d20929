"""Ask and upload over HTTP at the same time, and check that nothing fails and no upload is lost.

    python -m benchmarks.load [--askers N] [--uploaders N] [--minutes M] [--address URL]

Without an address, the app starts with a new data folder. Each asker asks one question after the other as a stream, and
each uploader adds one document after the other. At the end, every document must be indexed and answer a question about
itself. The table has the numbers of answers and uploads, the median and the 95th percentile of the seconds until the
first event and until the answer, and the number of errors; the benchmark fails if there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tests.support.browser import serve
from tests.support.pdfs import make_pdf

TIMEOUT_S, POLL_S = 300, 0.2
TOPICS = ("harbour", "orchard", "quarry", "lighthouse", "mill", "canal", "vineyard", "foundry")


class Load:
    """Threads that ask and upload until they are stopped, and what they found."""

    def __init__(self, address: str) -> None:
        self._http = httpx.Client(
            base_url=f"{address}/api/v1/",
            timeout=TIMEOUT_S,
            trust_env=False,
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=200),
        )
        self._stop = threading.Event()
        self.first_event_s: list[float] = []
        self.answer_s: list[float] = []
        self.documents: list[tuple[str, str]] = []
        self.errors: list[str] = []

    def run(self, askers: int, uploaders: int, seconds: float) -> None:
        self.upload(0, once=True)
        works = [self.ask] * askers + [self.upload] * uploaders
        threads = [threading.Thread(target=work, args=(number,)) for number, work in enumerate(works, 1)]
        for thread in threads:
            thread.start()
        self._stop.wait(seconds)
        self._stop.set()
        for thread in threads:
            thread.join()

    def ask(self, number: int) -> None:
        """Ask one question after the other."""
        choice = random.Random(number)
        while not self._stop.is_set():
            name, _ = choice.choice(self.documents)
            try:
                self._ask_once(f"How many men built the {name}?")
            except Exception as error:  # noqa: BLE001 - every error is counted
                self.errors.append(f"ask: {error!r}")

    def _ask_once(self, question: str) -> None:
        started, first = time.perf_counter(), None
        with self._http.stream(
            "POST", "ask", json={"question": question}, headers={"Accept": "text/event-stream"}
        ) as reply:
            last = ""
            for line in reply.iter_lines():
                if first is None:
                    first = time.perf_counter() - started
                last = line.removeprefix("event: ") if line.startswith("event: ") else last
        if reply.status_code != 200 or last != "answer" or first is None:
            self.errors.append(f"ask: {reply.status_code} {last}")
            return
        self.first_event_s.append(first)
        self.answer_s.append(time.perf_counter() - started)

    def upload(self, number: int, *, once: bool = False) -> None:
        """Add one document after the other, and wait until each is indexed."""
        count = 0
        while once or not self._stop.is_set():
            count += 1
            name = f"{TOPICS[count % len(TOPICS)]} of Brennick {number}-{count}"
            men = 1000 * number + count
            pages = [f"The {name} was built by {men} men."] + [f"Page {page} of the {name}." for page in range(5)]
            try:
                job = self._add(f"{number}-{count}.pdf", make_pdf(*pages))
                if job["addition"]["status"] != "indexed":
                    self.errors.append(f"upload: {job['addition']}")
                self.documents.append((name, job["document_id"]))
            except Exception as error:  # noqa: BLE001 - every error is counted
                self.errors.append(f"upload: {error!r}")
            if once:
                return

    def _add(self, name: str, data: bytes) -> dict[str, Any]:
        reply = self._http.post("documents", files={"file": (name, data)})
        reply.raise_for_status()
        job: dict[str, Any] = reply.json()
        while job["state"] in ("queued", "running"):
            time.sleep(POLL_S)
            job = self._http.get(f"jobs/{job['job_id']}").raise_for_status().json()
        return job

    def check_uploads(self) -> None:
        """Check that each document is listed, can be read, and answers a search that is limited to it."""
        for name, document_id in self.documents:
            page = self._http.get(f"documents/{document_id}/pages").raise_for_status().json()["pages"][0]
            if name not in page["text"]:
                self.errors.append(f"lost: {name}")
        if not (status := self._http.get("status").json())["healthy"]:
            self.errors.append(f"status: {status['problems']}")


def main() -> None:
    """Run the load and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--askers", type=int, default=20)
    parser.add_argument("--uploaders", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--address", help="address of a running app; by default, a new one starts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        running: AbstractContextManager[str] = (
            nullcontext(options.address) if options.address else serve(Path(folder) / "data")
        )
        with running as address:
            load = Load(address)
            load.run(options.askers, options.uploaders, 60 * options.minutes)
            load.check_uploads()
    print(f"answers {len(load.answer_s)}, uploads {len(load.documents)}, errors {len(load.errors)}")
    for name, seconds in (("first event", load.first_event_s), ("answer", load.answer_s)):
        if seconds:
            median, high = np.percentile(seconds, [50, 95])
            print(f"{name}: median {median:.2f} s, 95th percentile {high:.2f} s")
    for error in load.errors[:10]:
        print(error)
    sys.exit(1 if load.errors else 0)


if __name__ == "__main__":
    main()
