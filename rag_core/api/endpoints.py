"""All endpoints of the HTTP API, and a function that calls them within the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from starlette.routing import compile_path

from rag_core.api import documents, questions, tokens, transfers
from rag_core.api.access import require_right
from rag_core.api.calls import Call, Endpoint
from rag_core.engine import Engine
from rag_core.errors import RequestError
from rag_core.types.access import Caller

ENDPOINTS: tuple[Endpoint, ...] = (*documents.ENDPOINTS, *questions.ENDPOINTS, *tokens.ENDPOINTS, *transfers.ENDPOINTS)
# A function of a method, a path and the values of the query or the body, which returns the JSON value of the reply.
Fetch = Callable[[str, str, dict[str, Any]], Any]


def fetch_locally(engine: Engine, caller: Caller, application: str, stopping: threading.Event) -> Fetch:
    """Return a function that runs endpoints for a caller within this process; see `Call` for the other parameters."""

    def fetch(method: str, path: str, values: dict[str, Any]) -> Any:
        for one in ENDPOINTS:
            found = compile_path(one.path)[0].match(path)
            if found is None or one.method != method:
                continue
            require_right(caller, one.right)
            query = one.query.model_validate({} if one.body else values)
            body = one.body.model_validate(values) if one.body else None
            return one.run(
                Call(engine, caller, found.groupdict(), query, body, application, headers={}, stopping=stopping)
            )
        raise RequestError(404, f"There is no address {method} {path}.")

    return fetch
