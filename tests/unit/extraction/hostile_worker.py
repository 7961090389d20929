"""A worker on whose pages terrible things happen, by the name of the file it reads."""

from __future__ import annotations

import os
import time
from typing import Any

from rag_core.extraction import worker


class HostileService(worker.Service):
    def do_open(self, request: dict[str, Any]) -> dict[str, Any]:
        if "dies-at-open" in request["path"]:
            os.abort()
        return super().do_open(request)

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
        return super().do_page(request)


if __name__ == "__main__":
    worker.Service = HostileService  # type: ignore[misc]
    worker.main()
