"""Send requests to an OpenAI-compatible endpoint, and convert its errors to `GeneratorError`.

Only this module imports ``openai``, and it does so only when the endpoint is first used.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from rag_core.errors import GeneratorAuthError, GeneratorError
from rag_core.llm.addresses import build_key_headers, build_list_headers, choose_certificates, is_sendable_key
from rag_core.llm.answer_stream import Pieces
from rag_core.llm.endpoint_errors import CONNECT_TIMEOUT_S, EndpointErrors
from rag_core.llm.gguf import GgufServer
from rag_core.llm.gguf_causal import GgufCausalModel
from rag_core.llm.message_parts import drop_images
from rag_core.llm.model_profile import ModelProfile
from rag_core.llm.openai_apis import select_api
from rag_core.llm.pricing import count_message_tokens
from rag_core.llm.request import (
    DEFAULT_BASE_URL,
    REASONING_FACTOR,
    STATUS_BY_ERROR_CODE,
    ModelRequest,
    RequestReport,
    drop_rejected_option,
    extract_error_details,
    parse_host,
    parse_retry_after_s,
)
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, SettingNames
from rag_core.settings import Settings
from rag_core.types.access import is_loopback

if TYPE_CHECKING:
    from openai import OpenAI

# Sent if no key is set, because the client library requires a key.
_NO_KEY = "no-key-needed"
# HTTP statuses of endpoints that have no list of models.
_NO_LIST = (404, 405, 501)
# The options that limit the tokens of a reply.
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Endpoint:
    """A client of the endpoint in the settings, or of the server of the GGUF model in this process. Thread-safe.

    Parameters
    ----------
    settings : Settings
    profile : ModelProfile
        The length of answers and the context of the model.
    names : SettingNames
        How errors name the settings.
    key_problem : str
        Why the API key cannot be read: the message of the `GeneratorAuthError` that every request then raises. Empty if
        the key can be read.

    Attributes
    ----------
    errors : EndpointErrors
        Creates the errors that the methods raise.
    """

    def __init__(
        self,
        settings: Settings,
        profile: ModelProfile,
        names: SettingNames = ENVIRONMENT_NAMES,
        *,
        key_problem: str = "",
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._names = names
        self._key_problem = key_problem
        self.errors = EndpointErrors(settings, names)
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._gguf_server = GgufServer(settings, names) if settings.gguf else None
        self._api = select_api(settings)
        # The options that the endpoint accepts, built for the first request.
        self._options: dict[str, Any] = {}
        self._has_reasoning_room = False
        # Rejected options for tools and schemas, which only some requests have.
        self._rejected: set[str] = set()

    def stream(self, request: ModelRequest, report: RequestReport) -> Pieces:
        """Yield the pieces of the reply's text, and ``None`` for each piece of reasoning; fill ``report`` meanwhile.

        Closing the iterator closes the connection; servers then stop generating.

        Raises
        ------
        GeneratorError
        """
        from openai import OpenAIError

        connected = False
        failure: GeneratorError | None = None
        try:
            with closing(self._open_stream(request)) as events:
                connected = True
                report.disconnect = lambda: _disconnect(events)
                for event in map(self._api.parse_event, events):
                    report.tokens = event.tokens or report.tokens
                    report.finish = report.finish or event.finish
                    report.refusal += event.refusal
                    report.written += event.text + event.refusal
                    report.calls += event.calls
                    if event.failure:
                        failure = self._convert_event_error(*event.failure, started=bool(report.written))
                        break
                    report.is_reasoning = not event.text and (event.is_reasoning or report.is_reasoning)
                    if event.text:
                        yield event.text
                    elif event.is_reasoning:
                        yield None
                    # Chat Completions reports the token counts after the end of the text. Some servers report counts in
                    # every event.
                    if report.finish and event.tokens:
                        return
        except (OpenAIError, ValueError) as error:
            # Invalid JSON or UTF-8 in a stream raises a ValueError, which the client does not convert.
            failure = self._convert_error(error, connected=connected, started=bool(report.written))
        # An error after the end of the text is ignored, because the text is complete.
        if not report.finish:
            why = "the stream ended before the answer was complete"
            raise failure or self._build_stream_error(why, bool(report.written))

    def models(self) -> list[str]:
        """Return the names of the endpoint's models, sorted.

        Raises
        ------
        GeneratorError
        """
        from openai import Omit, OpenAIError

        try:
            client, (url, key) = self._connect(), self._find_address()
            headers = build_list_headers(url, key)
            unwanted = {} if "Authorization" in headers or not key else {"Authorization": Omit()}
            return sorted(str(model.id) for model in client.models.list(extra_headers={**headers, **unwanted}))
        except (OpenAIError, ValueError, AttributeError) as error:
            failure = self._convert_error(error, connected=False, started=False)
        raise self.errors.no_list(failure.status) if failure.status in _NO_LIST else failure

    def warm_up(self) -> None:
        """Create the client, and load a model that runs in this process; may raise `GeneratorError`."""
        self._api.load_resource(self._connect())

    def make_room_for_reasoning(self) -> bool:
        """Raise the limit on the tokens of a reply with its reasoning; return false if the limit was raised before."""
        had_room, self._has_reasoning_room = self._has_reasoning_room, True
        return not had_room

    def causal_model(self) -> GgufCausalModel | None:
        """Return the model of the GGUF file, which predicts single tokens; ``None`` if no file is set."""
        server = self._gguf_server
        return GgufCausalModel(server, self._settings.openai_timeout_s, self._names) if server else None

    def close(self) -> None:
        """Close idle connections, and free a model in this process; the next request connects and loads again."""
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()
        if self._gguf_server:
            self._gguf_server.stop()

    def _connect(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = self._create_client()
            return self._client

    def _create_client(self) -> OpenAI:
        from openai import DefaultHttpxClient, OpenAI, Timeout

        settings = self._settings
        url, key = self._find_address()
        host = parse_host(url)
        if not host:
            raise self.errors.unreachable("it does not begin with http:// or https:// and a host")
        if not is_sendable_key(key):
            raise self.errors.unusable_key()
        timeout = Timeout(settings.openai_timeout_s, connect=CONNECT_TIMEOUT_S)
        # Documents may only be sent to the configured address, so redirects are not followed. For an address on this
        # machine, proxies in the environment are ignored.
        try:
            http = DefaultHttpxClient(
                timeout=timeout,
                follow_redirects=False,
                trust_env=not is_loopback(host),
                verify=choose_certificates(url),
            )
        except (ImportError, OSError, ValueError) as error:
            problem = self.errors.unusable_environment(str(error))
        else:
            return OpenAI(
                api_key=key or _NO_KEY,
                base_url=url,
                default_headers=build_key_headers(url, key),
                timeout=timeout,
                max_retries=0,
                http_client=http,
            )
        raise problem

    def _find_address(self) -> tuple[str, str]:
        """Return the base URL and the key; for a GGUF file, load the model and return those of its server."""
        if self._key_problem:
            raise GeneratorAuthError(self._key_problem)
        if self._gguf_server:
            return self._gguf_server.start()
        key = self._settings.openai_api_key
        return self._settings.openai_base_url or DEFAULT_BASE_URL, key.get_secret_value().strip() if key else ""

    def _open_stream(self, request: ModelRequest) -> Any:
        """Send a request, and return the stream of its events.

        Repeat the request without the options that the endpoint rejects; later requests leave them out, too.
        """
        from openai import BadRequestError, UnprocessableEntityError

        client, messages, tools = self._connect(), request.messages, request.tools
        self._options = self._options or self._api.build_options(self._profile.answer_tokens)
        if self._gguf_server:
            messages = drop_images(messages)
        described = {"tools": self._api.describe_tools(tools)} if tools else {}
        wanted = self._api.constrain_reply(request.schema) if request.schema and not tools else {}
        if request.must_call:
            wanted = {"tool_choice": "required"}
        suspected = frozenset[str]()
        while True:
            extra = {name: value for name, value in wanted.items() if name not in self._rejected | suspected}
            options = {**self._options, **extra}
            options |= {name: self._compute_limit(messages) for name in _LIMITS if name in options}
            try:
                stream = self._api.create(client, self._settings.model, messages, options | described)
            except (BadRequestError, UnprocessableEntityError) as error:
                simpler = drop_rejected_option(options, error)
                if simpler is None and (tools or not extra):
                    raise
            else:
                self._rejected |= suspected
                return stream
            if simpler is None:
                # The error names no option. Servers describe in many ways that they support no schema, so try without.
                suspected = frozenset(extra)
            else:
                self._rejected |= extra.keys() - simpler.keys()
                self._options = {name: value for name, value in simpler.items() if name not in extra}
                limits = [simpler[name] for name in _LIMITS if name in simpler]
                self._has_reasoning_room |= max(limits, default=0) > self._profile.answer_tokens

    def _compute_limit(self, messages: Sequence[dict[str, Any]]) -> int:
        """Return the limit on the tokens of a reply. Room for reasoning is added as far as the context allows."""
        answer = self._profile.answer_tokens
        if not self._has_reasoning_room:
            return answer
        free = self._profile.context_tokens - count_message_tokens(messages)
        return max(answer, min(REASONING_FACTOR * answer, free))

    def _convert_error(self, error: Exception, *, connected: bool, started: bool) -> GeneratorError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            unconnected = type(error.__cause__).__name__ == "ConnectTimeout"
            return self.errors.no_connection() if unconnected else self.errors.timeout()
        if isinstance(error, openai.APIStatusError):
            return self.errors.status(
                error.status_code, *extract_error_details(error), parse_retry_after_s(error.response.headers)
            )
        if isinstance(error, openai.APIConnectionError) and not connected:
            return self.errors.unreachable(str(error.__cause__ or ""), is_temporary=True)
        if isinstance(error, openai.APIConnectionError):
            return self._build_stream_error("the connection was lost", started)
        if isinstance(error, openai.APIError):
            return self._convert_event_error(*extract_error_details(error), started=started)
        return self._build_stream_error("the endpoint sent something that is not part of an answer", started)

    def _convert_event_error(self, code: str, message: str, *, started: bool) -> GeneratorError:
        """Convert an error that the endpoint sends as an event of the stream."""
        status = int(code) if code.isdecimal() else STATUS_BY_ERROR_CODE.get(code)
        if status is None or started:
            return self._build_stream_error(f"the endpoint reported “{message or code}”", started)
        return self.errors.status(status, code, message)

    def _build_stream_error(self, why: str, started: bool) -> GeneratorError:
        return self.errors.interrupted(why) if started else self.errors.empty(why)


def _disconnect(events: Any) -> None:
    """Shut down the socket, which wakes a thread that waits for the next event; closing the stream does not."""
    stream = events.response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    if isinstance(connection, socket.socket):
        # `ssl.SSLSocket.shutdown` must not be called while another thread reads, so call the method of its base.
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
