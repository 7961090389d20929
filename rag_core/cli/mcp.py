"""``mcp``: serve a client of the Model Context Protocol over standard input and output."""

from __future__ import annotations

from typing import Any

from rag_core.api.client import RunningApp
from rag_core.cli.common import open_engine_or_app
from rag_core.types.access import Caller

# The address of links. They open only while the application runs.
APPLICATION = "http://localhost:8501"


def mcp() -> None:
    """Serve a chat client that speaks MCP and starts this.

    If the application runs, it does the work; otherwise, this process has the data folder open until the program ends.
    """
    # Imported here, because no other command needs the endpoints and the server.
    from rag_core.api.endpoints import fetch_locally
    from rag_core.api.mcp_server import serve_stdio

    with open_engine_or_app() as opened:
        if isinstance(opened, RunningApp):
            running = opened

            def fetch(method: str, path: str, values: dict[str, Any]) -> Any:
                sent = {"params": values} if method == "GET" else {"json": values}
                return running.request(method, path.removeprefix("/"), **sent)

            serve_stdio(lambda _: fetch)
        else:
            opened.warm_up()
            engine = opened
            serve_stdio(lambda stopping: fetch_locally(engine, Caller(), APPLICATION, stopping))
