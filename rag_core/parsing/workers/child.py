"""Run the worker process, which opens one file at a time and reads or draws its pages.

The parent starts the process with ``python -m rag_core.parsing.workers.child MEMORY_MB`` and exchanges `messages` over
pipes. A hostile file can crash only this process.
"""

from __future__ import annotations

import base64
import os
import queue
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rag_core.parsing.figures import find_figure
from rag_core.parsing.formats import FORMATS
from rag_core.parsing.formats.base import PasswordNeededError, UnpackedSizeError, UnreadableError
from rag_core.parsing.highlights import draw_highlights
from rag_core.parsing.workers import messages
from rag_core.types.arrays import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image


def main() -> None:
    """Answer requests until standard input ends."""
    # Copy the descriptors of standard input and output for the messages, so that text that a library prints to standard
    # output is not mixed with them.
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for file_format in FORMATS:
        file_format.load()
    _limit_memory(int(sys.argv[1]))
    service = Service()
    for request in _read_requests(requests):
        reply = service.answer(request)
        replies.write(messages.encode_message({"id": request.get("id"), **reply}))
        replies.flush()


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # the module does not exist on Windows
        return
    limit = megabytes * 1024 * 1024
    # RLIMIT_DATA counts writable memory. RLIMIT_AS also counts libraries and reserved memory, so its limit is higher.
    for kind, value in ((resource.RLIMIT_DATA, limit), (resource.RLIMIT_AS, 4 * limit)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > value:
            try:
                resource.setrlimit(kind, (value, value))
            except (ValueError, OSError):  # macOS refuses some limits
                continue
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read_requests(stream: BinaryIO) -> Any:
    """Yield the requests in order, without end.

    A thread reads the requests and ends this process when the parent ends, even while a page hangs.
    """
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in stream:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield messages.decode_message(lines.get())


class Service:
    """Answer requests ``{"do": name, …}`` with ``{"result": …}`` or ``{"error": kind, "detail": text}``."""

    def __init__(self) -> None:
        self._ocr = "off"
        self._file: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request: its result, or the error that was raised."""
        try:
            handler = getattr(self, f"do_{request['do']}")
            return {"result": handler(request)}
        except PasswordNeededError as error:
            return {"error": "password", "detail": str(error)}
        except UnreadableError as error:
            return {"error": "unreadable", "detail": str(error)}
        except UnpackedSizeError as error:
            return {"error": "unpacks", "detail": str(error)}
        except MemoryError:
            return {"error": "memory", "detail": ""}
        except Exception as error:  # noqa: BLE001 - a bug on one page must not lose the other pages
            return {"error": "bug", "detail": f"{type(error).__name__}: {error}"[:500]}

    def do_open(self, request: dict[str, Any]) -> dict[str, Any]:
        self.do_close(request)
        self._ocr = request.get("ocr", "off")
        file_format = next(one for one in FORMATS if one.description.name == request["format"])
        self._file = file_format.open(Path(request["path"]), request["password"], request.get("max_unpacked"))
        return {"page_count": self._file.page_count}

    def do_metadata(self, request: dict[str, Any]) -> dict[str, Any]:
        return asdict(self._file.read_metadata())

    def do_attachment(self, request: dict[str, Any]) -> dict[str, Any]:
        data = self._file.read_attachment(request["number"], request["page_index"])
        return {"data": base64.b64encode(data).decode("ascii")}

    def do_page(self, request: dict[str, Any]) -> dict[str, Any]:
        return messages.pack_page(self._file.read_page(request["index"], self._ocr))

    def do_characters(self, request: dict[str, Any]) -> dict[str, Any]:
        found = self._file.read_characters(request["index"])
        codes, boxes = messages.pack_array(found.codes), messages.pack_array(found.boxes)
        return {"codes": codes, "boxes": boxes, "page_count": self._file.page_count}

    def do_render(self, request: dict[str, Any]) -> dict[str, Any]:
        image = self._file.draw_page(request["index"], request["scale"])
        return _pack_image(image, messages.unpack_array(request["rects"]))

    def do_figure(self, request: dict[str, Any]) -> dict[str, Any]:
        image = self._file.draw_page(request["index"], request["scale"])
        words = (messages.unpack_array(request[name]) for name in ("caption", "words", "others"))
        if (box := find_figure(image, *words)) is None:
            return {}
        width, height = image.size
        cropped = image.crop((int(box[0] * width), int(box[1] * height), int(box[2] * width), int(box[3] * height)))
        return _pack_image(cropped, np.zeros((0, 4), np.float32))

    def do_close(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._file is not None:
            self._file.close()
        self._file = None
        return {}


def _pack_image(image: Image, rects: FloatArray) -> dict[str, Any]:
    """Return a picture with highlights as the fields of `PageImage`."""
    png, count = draw_highlights(image, rects)
    encoded = base64.b64encode(png).decode("ascii")
    return {"png": encoded, "width": image.width, "height": image.height, "highlighted": count}


if __name__ == "__main__":
    main()
