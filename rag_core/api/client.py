"""Requests to the running application, for the command line and for MCP over standard input and output."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO

from rag_core import errors
from rag_core.api.problems import PROBLEM_TYPE

# Seconds within which the application has to answer, and seconds between two requests for the state of a job.
_TIMEOUT_S, _POLL_S = 900, 0.2


class RunningApp:
    """A client of the application that has the data folder open.

    Methods raise the errors that `Engine` would raise, and return the rows of the API, as ``--json`` prints them; `ask`
    removes the links, which ``--json`` does not print.

    Parameters
    ----------
    address : str
    """

    def __init__(self, address: str) -> None:
        import httpx  # imported here, because most commands use the engine

        self.address = address
        # Use no proxy: through a proxy, the request would seem to come from another computer.
        self._http = httpx.Client(base_url=f"{address}/api/v1/", timeout=_TIMEOUT_S, trust_env=False)

    def __enter__(self) -> RunningApp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def request(self, method: str, path: str, **sent: Any) -> Any:
        """Return the JSON value of the reply to a request; ``sent`` are further arguments for httpx."""
        import httpx

        try:
            reply = self._http.request(method, path, **sent)
        except httpx.HTTPError as error:
            raise errors.StoreUnavailable(
                f"The application at {self.address} uses the data folder, but does not answer "
                f"({type(error).__name__}). Wait until it has started, or close it."
            ) from None
        if reply.headers.get("content-type") == PROBLEM_TYPE:
            raise _build_error(reply.json())
        return reply.json()

    def download(self, path: str, target: BinaryIO) -> None:
        """Write the file at a path of the API into an open file."""
        import httpx

        try:
            with self._http.stream("GET", path) as reply:
                if reply.headers.get("content-type") == PROBLEM_TYPE:
                    raise _build_error(json.loads(reply.read()))
                for data in reply.iter_bytes():
                    target.write(data)
        except httpx.HTTPError as error:
            raise errors.StoreUnavailable(
                f"The application at {self.address} stopped sending ({type(error).__name__}). Its log says why."
            ) from None

    def read_list(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield all rows of a list, such as ``documents``."""
        cursor: str | None = ""
        while cursor is not None:
            part = self.request("GET", name, params={"cursor": cursor, "limit": 1000})
            yield from part[name]
            cursor = part["next_cursor"]

    def ask(self, endpoint: str, question: str, **options: Any) -> dict[str, Any]:
        """Send a question to the endpoint ``ask`` or ``search``, and return its row without links."""
        row: dict[str, Any] = self.request("POST", endpoint, json={"question": question, **options})
        for one in (*row["passages"], *row.get("citations", ()), *row.get("more", ())):
            one.pop("link")
        return row

    def add(self, name: str, data: bytes, **form: str | None) -> str:
        """Upload a file and return the id of its job; ``form`` contains further fields of the form."""
        fields = {field: value for field, value in form.items() if value is not None}
        return str(self.request("POST", "documents", files={"file": (name, data)}, data=fields)["job_id"])

    def wait(self, job_id: str) -> dict[str, Any]:
        """Wait until a job has ended, and return its row."""
        while (job := self.request("GET", f"jobs/{job_id}"))["state"] in ("queued", "running"):
            time.sleep(_POLL_S)
        return dict(job)


def _build_error(problem: dict[str, Any]) -> errors.RagError:
    """Return the exception for the problem details of a reply; `RequestError` if its class cannot be created again."""
    kind = getattr(errors, problem["code"], None)
    if isinstance(kind, type) and issubclass(kind, errors.RagError) and kind.__init__ is Exception.__init__:
        return kind(problem["detail"])
    return errors.RequestError(problem["status"], problem["detail"])
