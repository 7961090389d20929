"""The address of the Model Context Protocol: it admits requests, and starts the server with the first one."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from rag_core.api.access import find_caller, require_right
from rag_core.api.calls import Served, run_in_thread, write_problem
from rag_core.api.endpoints import Fetch, fetch_locally
from rag_core.engine import Engine
from rag_core.types.access import Caller

# Where a request keeps the engine and its caller for the tools.
_KEY = "footnote"


class McpDoor:
    """An ASGI application that serves clients of the Model Context Protocol over HTTP."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._starting: asyncio.Task[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)

        def admit() -> tuple[Engine, Caller]:
            engine = self._served.open_engine()
            caller = find_caller(request, engine, self._served.listens_at())
            require_right(caller, "read")
            return engine, caller

        try:
            scope[_KEY] = await run_in_thread(admit)
            if self._starting is None:
                self._starting = asyncio.create_task(self._start())
            manager = await asyncio.shield(self._starting)
        except Exception as error:  # noqa: BLE001 - every error becomes a reply
            await write_problem(error)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _start(self) -> Any:
        """Return the manager of requests, which runs in a task until the server ends."""
        manager = await run_in_thread(self._build)
        is_running = asyncio.Event()

        async def run() -> None:
            async with manager.run():
                is_running.set()
                await asyncio.Event().wait()

        self._running = asyncio.create_task(run())
        await is_running.wait()
        return manager

    def _build(self) -> Any:
        from rag_core.api.mcp_server import build_manager

        return build_manager(self._open)

    def _open(self, context: Any, stopping: threading.Event) -> Fetch:
        request: Request = context.request
        engine, caller = request.scope[_KEY]
        return fetch_locally(engine, caller, self._served.find_application(request), stopping)
