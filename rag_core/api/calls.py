"""Endpoints of the API: read and check a request, run its work in a thread, and send the reply."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from rag_core.api.access import find_caller, require_right
from rag_core.api.problems import PROBLEM_TYPE, build_problem
from rag_core.api.visible_library import VisibleLibrary
from rag_core.engine import Engine
from rag_core.errors import RagError, RequestError
from rag_core.types.access import Caller, Right

_log = logging.getLogger(__name__)
# Most bytes of a request without a file, and most bytes of an upload in addition to its file.
MAX_BODY_BYTES, UPLOAD_OVERHEAD_BYTES = 4_000_000, 1_000_000
# Seconds within which a request without a file, an upload, and a reply must be complete.
BODY_S, UPLOAD_S, REPLY_S = 30, 900, 900
# The message does not contain the reason, which may name folders and servers, because everybody can read it.
CANNOT_START = "Footnote cannot start. Its pages and its log say why."
# Seconds between two checks whether a client that reads nothing has left or has taken too long.
_CHECK_S = 1
# Seconds within which the client has to read the last event.
_LAST_EVENT_S = 5
# Requests that are processed at the same time. Further ones wait.
_THREADS = ThreadPoolExecutor(16, "api")
T = TypeVar("T")


class Body(BaseModel):
    """Base class of the content of requests. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class NoValues(Body):
    """No parameters."""


class ServedApp(NamedTuple):
    """The application whose API is served: functions that return its engine and its addresses.

    Attributes
    ----------
    open_engine : callable
        Returns the engine; raises `RagError` if it cannot start.
    listens_at : callable
        Returns the address at which the server listens.
    base_path : callable
        Returns the path at which the application is served: empty, or beginning with a slash.
    """

    open_engine: Callable[[], Engine]
    listens_at: Callable[[], str]
    base_path: Callable[[], str]

    def admit(self, request: Request, right: Right) -> tuple[Engine, Caller]:
        """Return the engine and who sends a request.

        Raises
        ------
        RequestError
            The request is refused, the caller lacks the right, or the engine cannot start.
        """
        try:
            engine = self.open_engine()
        except RagError as error:
            _log.warning("the API cannot open the engine: %s", error)
            raise RequestError(503, CANNOT_START) from None
        caller = find_caller(request, engine, self.listens_at())
        require_right(caller, right)
        return engine, caller

    def find_application(self, request: Request) -> str:
        """Return the address by which a request reached the application, with the base path, for links."""
        return f"{request.url.scheme}://{request.headers.get('host', '')}{self.base_path()}"


@dataclass(frozen=True)
class Call:
    """A request that was read and admitted.

    Attributes
    ----------
    path : mapping of str to str
        The parameters in the path.
    query, body : Body
        The query parameters, and the JSON object or the form, as instances of the models of the `Endpoint`; ``body`` is
        ``None`` if the endpoint has no such model.
    application : str
        Address of the application, for links.
    file : tuple of (str, bytes), optional
        Name and content of an uploaded file.
    stopping : threading.Event
        Set when the client has left, or when the reply takes too long.
    """

    engine: Engine
    caller: Caller
    path: Mapping[str, str]
    query: Any
    body: Any
    application: str
    headers: Mapping[str, str]
    file: tuple[str, bytes] | None = None
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def library(self) -> VisibleLibrary:
        return VisibleLibrary(self.engine, self.caller)


def build_problem_response(error: Exception) -> Response:
    """Return the reply that describes an error."""
    problem = build_problem(error)
    headers = {"WWW-Authenticate": "Bearer"} if problem["status"] == 401 else None
    return JSONResponse(problem, problem["status"], headers, PROBLEM_TYPE)


class Stopped(Exception):
    """The client has left, or the reply takes too long."""


@dataclass(frozen=True)
class Endpoint:
    """A method and a path of the API, with the function that answers their requests.

    Attributes
    ----------
    right : Right
        The right that a caller needs.
    run : callable
        Function of a `Call` that returns a JSON value or a `Response`.
    row : str
        Name of the type of the JSON value in `rag_core.api.rows`; empty if there is none.
    query, body : type
        Models of the query parameters, and of the JSON object or the form that a client sends.
    takes_file : bool
        Whether a client sends a form with a file instead of a JSON object.
    media_types : tuple of str
        Media types of the reply.
    """

    method: str
    path: str
    right: Right
    summary: str
    run: Callable[[Call], Any]
    row: str = ""
    query: type[Body] = NoValues
    body: type[Body] | None = None
    takes_file: bool = False
    media_types: tuple[str, ...] = ("application/json",)

    async def reply(
        self,
        request: Request,
        served: ServedApp,
        build_error_response: Callable[[Exception], Response] = build_problem_response,
    ) -> Response:
        """Return the reply to a request; ``build_error_response`` returns the reply for an error."""
        try:
            call = await self._read(request, served)
            value = await run_stoppable(request.receive, call.stopping, lambda: self.run(call))
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it, because the client has left
        except Exception as error:  # noqa: BLE001 - every error becomes a reply
            return build_error_response(error)
        return value if isinstance(value, Response) else build_json_response(value)

    async def _read(self, request: Request, served: ServedApp) -> Call:
        engine, caller = await run_in_thread(lambda: served.admit(request, self.right))
        body, file = await self._read_body(request, engine) if self.body else (None, None)
        return Call(
            engine=engine,
            caller=caller,
            path=request.path_params,
            query=self.query.model_validate(dict(request.query_params)),
            body=body,
            application=served.find_application(request),
            headers=request.headers,
            file=file,
        )

    async def _read_body(self, request: Request, engine: Engine) -> tuple[Any, tuple[str, bytes] | None]:
        assert self.body is not None
        limit, seconds = MAX_BODY_BYTES, BODY_S
        if self.takes_file:
            limit, seconds = engine.settings.max_file_mb * 1_000_000 + UPLOAD_OVERHEAD_BYTES, UPLOAD_S
        limited = Request(request.scope, _limit_body(request.receive, limit))
        try:
            async with asyncio.timeout(seconds):
                if not self.takes_file:
                    return self.body.model_validate_json(await limited.body() or b"{}"), None
                async with limited.form(max_files=1, max_fields=20) as form:
                    file = await _read_file(form)
                    fields = {name: value for name, value in form.items() if isinstance(value, str)}
                    return self.body.model_validate(fields), file
        except TimeoutError:
            raise RequestError(408, f"The request did not arrive within {seconds} seconds. Send it again.") from None
        except HTTPException as error:
            raise RequestError(error.status_code, f"The form cannot be read: {error.detail}") from None
        except (MultiPartException, FormParserError) as error:
            raise RequestError(400, f"The form cannot be read: {error}") from None


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run work in one of the threads of the API and return its result."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, copy_context().run, work)


async def run_stoppable(receive: Receive, stopping: threading.Event, work: Callable[[], T]) -> T:
    """Run work in a thread and return its result.

    ``stopping`` is set when the client leaves, and after `REPLY_S` seconds; the work then has to raise `Stopped`.

    Raises
    ------
    RequestError
        The work was stopped, because it took too long.
    """

    async def watch() -> None:
        try:
            async with asyncio.timeout(REPLY_S):
                while (await receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            pass
        stopping.set()

    watching = asyncio.create_task(watch())
    try:
        return await run_in_thread(work)
    except Stopped:
        raise RequestError(504, f"The reply was not complete within {REPLY_S} seconds, so it was stopped.") from None
    except asyncio.CancelledError:
        stopping.set()
        raise
    finally:
        watching.cancel()


class EventStream(Response):
    """A stream of server-sent events. A thread runs the generator, which is closed when the client leaves.

    Parameters
    ----------
    chunks : generator of bytes
        The events.
    stopping : threading.Event
        See `Call`.
    encode_problem : callable
        Returns the last event of a stream that takes too long, from the error.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        chunks: Generator[bytes, None, None],
        stopping: threading.Event,
        encode_problem: Callable[[Exception], bytes],
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._stopping = stopping
        self._encode_problem = encode_problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        loop = asyncio.get_running_loop()

        def write() -> None:
            with closing(self._chunks) as chunks:
                for chunk in chunks:
                    if self._stopping.is_set():
                        raise Stopped
                    message = {"type": "http.response.body", "body": chunk, "more_body": True}
                    sending = asyncio.run_coroutine_threadsafe(_send(send, message), loop)
                    while not wait([sending], _CHECK_S).done:
                        if self._stopping.is_set():
                            sending.cancel()
                            raise Stopped
                    sending.result()

        last = b""
        try:
            await run_stoppable(receive, self._stopping, write)
        except RequestError as error:
            last = self._encode_problem(error)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_EVENT_S):
                await send({"type": "http.response.body", "body": last, "more_body": False})


class Download(EventStream):
    """A zip file that a generator writes. If writing takes too long, the connection is closed before the end."""

    media_type = "application/zip"

    def __init__(self, chunks: Generator[bytes, None, None], stopping: threading.Event, name: str) -> None:
        super().__init__(chunks, stopping, _raise)
        self.headers["Content-Disposition"] = f'attachment; filename="{name}"'


def _raise(error: Exception) -> bytes:
    raise error


async def _send(send: Send, message: Message) -> None:
    await send(message)


def encode_event(name: str, value: Any) -> bytes:
    """Return a server-sent event with a JSON value; without a name, the event has only the line ``data``."""
    return f"{f'event: {name}' if name else ''}\ndata: {json.dumps(value, default=str)}\n\n".lstrip().encode()


def build_json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a reply with a JSON value, in ASCII, because UTF-8 cannot encode all characters of file names."""
    content = json.dumps(value, default=str)
    return Response(content, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def _limit_body(receive: Receive, most: int) -> Receive:
    """Return a function like ``receive`` that raises `RequestError` if the body has more than ``most`` bytes."""
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise RequestError(413, f"The request has more than {most / 1e6:.0f} MB, which is the limit. Send less.")
        return message

    return limited


async def _read_file(form: FormData) -> tuple[str, bytes]:
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise RequestError(422, "The form has no file. Send the file in the field “file”.")
    return file.filename or "", await file.read()
