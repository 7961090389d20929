"""The endpoint of the Model Context Protocol over HTTP. The first request starts the server."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from rag_core.api.calls import ServedApp, build_problem_response, run_in_thread
from rag_core.api.endpoints import Fetch, fetch_locally

# Key of the ASGI scope under which tools find the engine and the caller of a request.
_KEY = "footnote"


class McpEndpoint:
    """An ASGI application that serves clients of the Model Context Protocol over HTTP."""

    def __init__(self, served: ServedApp) -> None:
        self._served = served
        self._starting: asyncio.Task[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            scope[_KEY] = await run_in_thread(lambda: self._served.admit(request, "read"))
            # Start the server with the first request, and again if the start failed.
            if self._starting is None or (self._starting.done() and not _has_succeeded(self._starting)):
                self._starting = asyncio.create_task(self._start())
            manager = await asyncio.shield(self._starting)
        except Exception as error:  # noqa: BLE001 - every error becomes a reply
            await build_problem_response(error)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _start(self) -> Any:
        """Start the manager of requests in a task that runs until the process ends; return the manager."""
        manager = await run_in_thread(self._build_manager)
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def run() -> None:
            try:
                async with manager.run():
                    started.set_result(None)
                    await asyncio.Event().wait()
            except Exception as error:
                if started.done():
                    raise
                started.set_exception(error)

        self._running = asyncio.create_task(run())
        await started
        return manager

    def _build_manager(self) -> Any:
        from rag_core.api.mcp_server import build_manager

        return build_manager(self._create_fetch)

    def _create_fetch(self, context: Any, stopping: threading.Event) -> Fetch:
        request: Request = context.request
        engine, caller = request.scope[_KEY]
        return fetch_locally(engine, caller, self._served.find_application(request), stopping)


def _has_succeeded(task: asyncio.Task[Any]) -> bool:
    return not task.cancelled() and task.exception() is None
