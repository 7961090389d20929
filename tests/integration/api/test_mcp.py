"""The tools of the Model Context Protocol, with the official client."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.api import ServedApp
from tests.support.cli import QUESTION, ROOT
from tests.support.environment import INDEPENDENT
from tests.support.event_loop import run_coroutine
from tests.support.servers import complete

DREDGED = "The harbour of Brennick was dredged in 1931 by forty men."
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("search", {"question": QUESTION, "top_k": 1}, f"\n{DREDGED}"),
    ("ask", {"question": QUESTION, "documents": ["harbour.pdf"]}, f"[1] harbour.pdf, page 1: “{DREDGED}” http://"),
    ("list_documents", {"limit": 1}, "orchard.pdf (default, 1 pages, indexed, id "),
    ("read_pages", {"document": "harbour.pdf", "first": 2}, "harbour.pdf, page 2 (2 of 2): http://"),
    ("outline", {"document": "harbour.pdf"}, "No headings were found."),
    ("read_pages", {"document": "none.pdf"}, "No document is named 'none.pdf'"),
    ("search", {"question": QUESTION, "top_k": 99}, "top_k: Input should be less than or equal to 20"),
    ("delete", {}, "There is no tool 'delete'"),
)
FAILED = 3


def call_tools(server: Any) -> tuple[Sequence[str], list[tuple[str, bool]]]:
    """Return the names of the tools, and the text of each call with whether it failed."""

    async def run() -> tuple[Sequence[str], list[tuple[str, bool]]]:
        async with Client(server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            results = [await client.call_tool(name, values) for name, values, _ in CALLS]
            return names, [(one.content[0].text, one.is_error) for one in results]

    return run_coroutine(run())


def start(folder: Path) -> Any:
    """Return the command line's server, which the client starts."""
    variables = {**os.environ, **INDEPENDENT, "RAG_DATA_DIR": str(folder)}
    return stdio_client(
        StdioServerParameters(command=sys.executable, args=["-m", "rag_core", "mcp"], env=variables, cwd=ROOT)
    )


@pytest.mark.parametrize("way", ["http", "stdio alone"])
def test_tools_return_short_texts_with_pages_and_links(app: ServedApp, tmp_path: Path, way: str) -> None:
    app.play(complete("It was dredged in 1931 [1]."))
    server = f"{app.address}/mcp"
    if way == "stdio alone":
        shutil.copytree(app.folder, tmp_path / "data", ignore=shutil.ignore_patterns("*.lock", ".*"))
        server = start(tmp_path / "data")
    names, results = call_tools(server)
    assert names == ["search", "ask", "list_documents", "read_pages", "outline"]
    for (name, _, words), (text, _) in zip(CALLS, results, strict=True):
        assert words in text, (name, text)
    assert [failed for _, failed in results] == [False] * (len(CALLS) - FAILED) + [True] * FAILED
    if way != "stdio alone":
        assert f"{app.address}/documents?document=" in results[0][0]


def test_pages_of_other_sites_and_unknown_tokens_are_refused(app: ServedApp) -> None:
    for headers, status in (({"Origin": "http://evil.example"}, 403), ({"Authorization": "Bearer x"}, 401)):
        reply = httpx.post(f"{app.address}/mcp", json={}, headers=headers, trust_env=False)
        assert (reply.status_code, "detail" in reply.json()) == (status, True)


def test_client_that_leaves_stops_the_tool(app: ServedApp) -> None:
    started = app.write_until_client_leaves()
    call = {"name": "ask", "arguments": {"question": QUESTION}}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{app.address}/mcp", json=sent, headers=headers, timeout=3, trust_env=False)
    assert started[0].closed_by_client.wait(20)
