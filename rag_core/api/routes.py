"""The routes of the server for other programs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, compile_path

from rag_core.api import completions, responses
from rag_core.api.access import require_all_collections
from rag_core.api.calls import (
    CANNOT_START,
    Endpoint,
    ServedApp,
    build_json_response,
    build_problem_response,
    run_in_thread,
)
from rag_core.api.endpoints import ENDPOINTS
from rag_core.api.mcp_endpoint import McpEndpoint
from rag_core.api.observation import ObservationMiddleware, write_metrics
from rag_core.errors import RagError, RequestError

BASE = "/api/v1"
_MODEL_ENDPOINTS = (*completions.ENDPOINTS, *responses.ENDPOINTS)
Reply = Callable[[Request], Awaitable[Response]]


def build_routes(served: ServedApp) -> list[BaseRoute]:
    """Return all routes for other programs."""
    return [
        Mount(
            BASE,
            routes=[
                *(_build_route(one, served, BASE) for one in ENDPOINTS),
                Route("/openapi.json", _send_description),
                *_build_refusal_routes(ENDPOINTS),
            ],
        ),
        Mount(
            "/v1",
            routes=[
                *(_build_route(one, served, "/v1", completions.build_error_response) for one in _MODEL_ENDPOINTS),
                *_build_refusal_routes(_MODEL_ENDPOINTS, completions.build_error_response),
            ],
        ),
        Route("/mcp", ObservationMiddleware(McpEndpoint(served), "/mcp")),
        Route("/metrics", _build_metrics_reply(served)),
        Route("/healthz", _report_liveness),
        Route("/readyz", _build_readiness_reply(served)),
    ]


def _build_route(
    one: Endpoint,
    served: ServedApp,
    base: str,
    build_error_response: Callable[[Exception], Response] = build_problem_response,
) -> Route:
    async def reply(request: Request) -> Response:
        return await one.reply(request, served, build_error_response)

    observed = Middleware(ObservationMiddleware, f"{base}{one.path}")
    return Route(one.path, reply, methods=[one.method], middleware=[observed])


def _build_refusal_routes(
    endpoints: Sequence[Endpoint],
    build_error_response: Callable[[Exception], Response] = build_problem_response,
) -> list[Route]:
    """Return the route that refuses requests that no endpoint answers, to which Streamlit would send its page.

    The status is 405 if the path has endpoints for other methods, and 404 for other paths.
    """
    patterns = [(compile_path(one.path)[0], one.method) for one in endpoints]

    async def refuse(request: Request) -> Response:
        path = f"/{request.path_params['rest']}"
        if allowed := sorted({method for pattern, method in patterns if pattern.match(path)}):
            words = f"{request.url.path} takes {', '.join(allowed)}, not {request.method}."
            response = build_error_response(RequestError(405, words))
            response.headers["Allow"] = ", ".join(allowed)
            return response
        words = f"There is no address {request.method} {request.url.path}. {BASE}/openapi.json describes all."
        return build_error_response(RequestError(404, words))

    return [Route("/{rest:path}", refuse, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])]


async def _send_description(_: Request) -> Response:
    from rag_core.api.openapi import describe_api

    return build_json_response(await run_in_thread(lambda: describe_api(ENDPOINTS, BASE)))


async def _report_liveness(_: Request) -> Response:
    return build_json_response({"status": "ok"})


def _build_metrics_reply(served: ServedApp) -> Reply:
    """Return a function that reports metrics to Prometheus if the caller may manage all collections."""

    def write(request: Request) -> Response:
        try:
            engine, caller = served.admit(request, "manage")
            require_all_collections(caller, "The figures need")
            return Response(write_metrics(engine), headers={"Cache-Control": "no-store"}, media_type="text/plain")
        except Exception as error:  # noqa: BLE001 - every error becomes a reply
            return build_problem_response(error)

    async def report(request: Request) -> Response:
        # Use no thread of the API: all of them may be busy with questions.
        return await asyncio.to_thread(write, request)

    return report


def _build_readiness_reply(served: ServedApp) -> Reply:
    """Return a function that reports whether the application is ready: its models loaded and its stores open."""

    async def report(_: Request) -> Response:
        try:
            # Use no thread of the API: all of them may be busy with questions.
            ready = await asyncio.to_thread(lambda: served.open_engine().readiness())
        except RagError:
            return build_problem_response(RequestError(503, CANNOT_START))
        reason = CANNOT_START if ready.error else ready.label
        return build_json_response({"ready": ready.ready, "reason": reason}, 200 if ready.ready else 503)

    return report
