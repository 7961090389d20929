"""A worker that fails in the ways that the name of the file demands."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from rag_core.parsing.workers import child
from rag_core.types.documents import PageState


class HostileService(child.Service):
    def do_open(self, request: dict[str, Any]) -> dict[str, Any]:
        self._path = Path(request["path"])
        if "dies-at-open" in request["path"]:
            os.abort()
        if "opens-once" in request["path"]:
            if Path(request["path"] + ".opened").exists():
                self._fail(request["path"])
            Path(request["path"] + ".opened").touch()
        return super().do_open(request)

    def _fail(self, path: str) -> None:
        if "aborts" in path:
            os.abort()
        raise LookupError("not twice")

    def do_metadata(self, request: dict[str, Any]) -> dict[str, Any]:
        if "dies-at-metadata" in self._path.name:
            os.abort()
        return super().do_metadata(request)

    def do_page(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["index"] == 1 or "all" in self._path.name:
            if "hangs" in self._path.name:
                time.sleep(60)
            if "crashes" in self._path.name:
                os.abort()
            if "eats" in self._path.name:
                return {"eaten": len(bytearray(4_000_000_000))}
            if "raises" in self._path.name:
                raise LookupError("a bug of ours")
            if "chatters" in self._path.name:
                print("a library that prints")
                os.write(1, b"from C as well\n")
        page = super().do_page(request)
        if "recognizes" in self._path.name:
            page |= {"state": PageState.OCR.value, "reason": str(os.getpid())}
        return page


if __name__ == "__main__":
    child.Service = HostileService  # type: ignore[misc]
    child.main()
