"""``mcp``: serve a client of the Model Context Protocol over standard input and output."""

from __future__ import annotations

from typing import Any

from rag_core.api.client import RunningApp
from rag_core.cli.common import open_engine_or_app
from rag_core.types.access import Caller

# The address in links, which open only while the application runs.
APPLICATION = "http://localhost:8501"


def mcp() -> None:
    """Serve an MCP client that starts this command.

    A running application answers the requests; otherwise, this process opens the data folder until the client ends.
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
