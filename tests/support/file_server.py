"""A server of one file on the loopback interface, which can misbehave in several ways."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rag_core.llm.model_catalogue import CatalogueModel

_PIECE_BYTES, _PAUSE_S = 1 << 16, 0.05


def write_catalogue(file: Path, *models: CatalogueModel) -> Path:
    """Write a catalogue of models, and return the file."""
    lines = []
    for model in models:
        values = {name: getattr(model, name) for name in model.__dataclass_fields__}
        lines += ["[[models]]", *(f"{name} = {value!r}" for name, value in values.items())]
    file.write_text("\n".join(lines))
    return file


class FileServer:
    """Serves ``content`` at every path; a path of ``redirects`` leads to another address.

    Attributes
    ----------
    accepts_ranges : bool
        If false, every reply contains the whole file.
    range_shift : int
        Number of bytes after the requested start at which a reply to a range starts.
    status : int
        Status of every reply, if it is not 0.
    sends_at_most : int, optional
        Number of bytes after which a reply ends early, or pauses if ``pauses`` is true.
    slow : bool
        Whether the server pauses for some milliseconds after each piece of a reply.
    ranges : list of str or None
        The header ``Range`` of each request for the file.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.accepts_ranges = True
        self.range_shift = 0
        self.status = 0
        self.sends_at_most: int | None = None
        self.pauses = False
        self.slow = False
        self.redirects: dict[str, str] = {}
        self.ranges: list[str | None] = []
        self._over = threading.Event()
        files = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path in files.redirects:
                    self._head(302, Location=files.redirects[self.path])
                    return
                asked = self.headers["Range"]
                files.ranges.append(asked)
                if files.status:
                    self._head(files.status)
                    return
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and files.accepts_ranges else 0
                start += files.range_shift if start else 0
                body, total = files.content[start:], len(files.content)
                if start:
                    self._head(206, Content_Range=f"bytes {start}-{total - 1}/{total}", Content_Length=len(body))
                else:
                    self._head(200, Content_Length=len(body))
                sent = body[: files.sends_at_most]
                size = _PIECE_BYTES if files.slow else len(sent) or 1
                for first in range(0, len(sent), size):
                    self.wfile.write(sent[first : first + size])
                    if files.slow:
                        files._over.wait(_PAUSE_S)
                if files.pauses:
                    self.wfile.flush()
                    files._over.wait(60)

            def _head(self, status: int, **headers: Any) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *args: object) -> None:
                pass  # some clients leave before the end of the file

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def model(self, path: str = "/tiny.gguf", **changes: Any) -> CatalogueModel:
        """Return the entry of the catalogue for the file."""
        values: dict[str, Any] = {
            "name": "tiny",
            "file": "tiny.gguf",
            "size_bytes": len(self.content),
            "memory_bytes": 1,
            "licence": "Apache-2.0",
            "url": self.url + path,
            "sha256": hashlib.sha256(self.content).hexdigest(),
        }
        return CatalogueModel(**values | changes)

    def release(self) -> None:
        """End the replies that pause."""
        self._over.set()

    def __enter__(self) -> FileServer:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
