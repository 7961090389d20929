"""Draw pictures of pages in a worker process, so that users can check citations."""

from __future__ import annotations

import atexit
import base64
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rag_core.errors import DamagedDocument, EncryptedDocument, ExtractionFailed
from rag_core.parsing.formats.accepted import require_format
from rag_core.parsing.workers.messages import build_opening, pack_array, unpack_array
from rag_core.parsing.workers.process import WorkerDiedError, WorkerProcess, WorkerTimedOutError
from rag_core.types.arrays import FloatArray
from rag_core.types.documents import PageImage

_SMALLEST_SCALE, _LARGEST_SCALE = 0.1, 8.0
# Number of pictures in memory, so that a page that was drawn before appears at once.
_MAX_KEPT = 16


class PdfCharacters(NamedTuple):
    """The characters of a page of a PDF, their boxes as fractions of the page, and the number of pages of the file.

    ``boxes`` has the shape (n, 4); the box of a character that is not drawn is NaN.
    """

    text: str
    boxes: FloatArray
    page_count: int


class PageRenderer:
    """Draw pages in one worker process; threads that draw pages at the same time wait for each other.

    Parameters
    ----------
    timeout_s : float
        Time limit for each page.
    memory_mb : int
        Memory limit of the worker.
    """

    def __init__(self, *, timeout_s: float = 30.0, memory_mb: int = 1024) -> None:
        self._timeout_s = timeout_s
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._open: tuple[Any, ...] | None = None
        self._kept: OrderedDict[str, PageImage | None] = OrderedDict()

    def render(
        self,
        path: Path,
        page_index: int,
        *,
        name: str | None = None,
        rects: FloatArray | None = None,
        scale: float = 1.5,
    ) -> PageImage:
        """Return the picture of a page with highlights.

        Parameters
        ----------
        path : Path
        page_index : int
        name : str, optional
            Name of the file in messages, by default its name on disk.
        rects : FloatArray, shape (n, 4), optional
            ``x0, y0, x1, y1`` of the highlights, as fractions of the displayed page.
        scale : float
            Pixels per point (1/72 inch), limited to 0.1..8, and reduced if the picture would have too many pixels.

        Raises
        ------
        UnknownFormat, EncryptedDocument, DamagedDocument, ExtractionFailed
        """
        boxes = np.zeros((0, 4), np.float32) if rects is None else np.asarray(rects, np.float32).reshape(-1, 4)
        request = {
            "do": "render",
            "index": page_index,
            "rects": pack_array(boxes),
            "scale": min(max(scale, _SMALLEST_SCALE), _LARGEST_SCALE),
        }
        image = self._draw(path, page_index, name or path.name, request)
        assert image is not None
        return image

    def render_figure(
        self,
        path: Path,
        page_index: int,
        *,
        name: str,
        caption: FloatArray,
        words: FloatArray,
        others: FloatArray,
        scale: float,
    ) -> PageImage | None:
        """Return the picture of a figure with its caption; ``None`` if there is no figure near the caption.

        Parameters
        ----------
        path, page_index, name, scale
            See `render`.
        caption, words, others : FloatArray, shape (n, 4)
            See `find_figure`.

        Raises
        ------
        UnknownFormat, EncryptedDocument, DamagedDocument, ExtractionFailed
        """
        arrays = {"caption": pack_array(caption), "words": pack_array(words), "others": pack_array(others)}
        return self._draw(path, page_index, name, {"do": "figure", "index": page_index, "scale": scale, **arrays})

    def read_characters(self, path: Path, page_index: int, *, name: str) -> PdfCharacters:
        """Return the characters of a page of a PDF in the order of the page's content stream.

        Raises
        ------
        UnknownFormat, EncryptedDocument, DamagedDocument, ExtractionFailed
        """
        with self._lock:
            found = self._request(path, page_index, name, {"do": "characters", "index": page_index})
        codes, boxes = unpack_array(found["codes"]), unpack_array(found["boxes"])
        return PdfCharacters("".join(map(chr, codes.tolist())), boxes, int(found["page_count"]))

    def _draw(self, path: Path, page_index: int, name: str, request: dict[str, Any]) -> PageImage | None:
        """Return a picture that was drawn before, or let the worker draw it; ``None`` if there is no figure."""
        with self._lock:
            key = repr((_identify_file(path), request))
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            result = self._request(path, page_index, name, request)
            image = PageImage(base64.b64decode(result.pop("png")), **result) if result else None
            self._kept[key] = image
            if len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
            return image

    def _request(self, path: Path, page_index: int, name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the worker's answer about a page of a file; the caller must have acquired the lock."""
        try:
            self._open_file(path, name)
            return self._ask(request, name)
        except (WorkerDiedError, WorkerTimedOutError) as error:
            self._worker = self._open = None
            reason = str(error) or f"it took longer than {self._timeout_s:g} s"
            raise ExtractionFailed(f"Page {page_index + 1} of {name} cannot be shown: {reason}.") from None

    def close(self) -> None:
        """End the worker and forget the pictures; the next request starts a new worker."""
        with self._lock:
            worker, self._worker, self._open = self._worker, None, None
            self._kept.clear()
        if worker is not None:
            worker.close()

    def _open_file(self, path: Path, name: str) -> None:
        """Let the worker open a file, and start a worker if none is running; do nothing if the file is open already."""
        if self._worker is not None and not self._worker.alive:
            self._worker.close()
            self._worker = self._open = None
        if self._worker is None:
            self._worker = WorkerProcess(self._memory_mb)
        key = _identify_file(path)
        if key != self._open:
            self._open = None
            with path.open("rb") as file:
                file_format = require_format(file, name)
            self._ask(build_opening(file_format, path, None), name)
            self._open = key

    def _ask(self, request: dict[str, Any], name: str) -> dict[str, Any]:
        assert self._worker is not None
        answer = self._worker.ask(request, self._timeout_s)
        if "error" not in answer:
            result: dict[str, Any] = answer["result"]
            return result
        if answer["error"] == "password":
            raise EncryptedDocument(
                f"{name} is encrypted, and its password is not kept, so its pages cannot be drawn; its text was read "
                "and can be searched. Add a copy without a password to see the pages."
            )
        if answer["error"] == "unreadable":
            raise DamagedDocument(f"{name} cannot be shown: it is damaged ({answer['detail']}).")
        raise ExtractionFailed(f"{name} cannot be shown ({answer['error']}: {answer['detail']}).")


def _identify_file(path: Path) -> tuple[Any, ...]:
    """Return a value that differs if the file at a path was changed."""
    status = path.stat()
    return path.absolute(), status.st_mtime_ns, status.st_size


# The renderer of this process, which starts its worker when it draws the first page.
_shared = PageRenderer()
atexit.register(_shared.close)
render_page, render_figure, read_characters = _shared.render, _shared.render_figure, _shared.read_characters
