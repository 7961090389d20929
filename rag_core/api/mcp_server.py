"""The server of the Model Context Protocol, over HTTP and over standard input and output.

Only this module imports ``mcp``, which takes a second. The module itself is imported for the first client.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from rag_core.api.calls import MAX_BODY_BYTES, run_in_thread, run_stoppable
from rag_core.api.endpoints import Fetch
from rag_core.api.mcp_tools import INSTRUCTIONS, TOOLS, McpTool
from rag_core.api.problems import build_problem
from rag_core.errors import RequestError

# A function that returns the `Fetch` of a tool call, given the context of the call and an event that stops the call.
FetchFactory = Callable[[Any, threading.Event], Fetch]


def build_manager(create_fetch: FetchFactory) -> StreamableHTTPSessionManager:
    """Return the manager of requests over HTTP, which keeps no sessions, because each request has a separate token."""
    return StreamableHTTPSessionManager(
        _build_server(create_fetch), json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )


def serve_stdio(create_fetch: Callable[[threading.Event], Fetch]) -> None:
    """Serve one client over standard input and output until it leaves.

    ``create_fetch`` is a `FetchFactory` without the context of the call.
    """

    async def serve() -> None:
        server = _build_server(lambda _, stopping: create_fetch(stopping))
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    asyncio.run(serve())


def _build_server(create_fetch: FetchFactory) -> Server[dict[str, Any]]:
    tools = {one.name: one for one in TOOLS}

    async def list_tools(*_: object) -> ListToolsResult:
        return ListToolsResult(tools=[_describe_tool(one) for one in TOOLS])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        stopping = threading.Event()

        def write() -> str:
            tool = tools.get(params.name)
            if tool is None:
                raise RequestError(404, f"There is no tool {params.name!r}. The tools are {', '.join(tools)}.")
            asked = tool.arguments.model_validate(params.arguments or {})
            return "\n\n".join(tool.write(create_fetch(context, stopping), asked))

        request = getattr(context, "request", None)
        work = run_stoppable(request.receive, stopping, write) if request else run_in_thread(write)
        try:
            text, failed = await work, False
        except Exception as error:  # noqa: BLE001 - every error becomes the result of the call
            text, failed = str(build_problem(error)["detail"]), True
        finally:
            stopping.set()
        return CallToolResult(content=[TextContent(text=text)], is_error=failed)

    return Server("footnote", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _describe_tool(tool: McpTool) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
