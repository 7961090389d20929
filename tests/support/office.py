"""A stand-in for LibreOffice's program on a temporary PATH, for machines without it and for its failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.parsing.libreoffice import find_soffice


class StandIn:
    """A program ``soffice`` that writes a prepared PDF, after other commands of the shell if there are any.

    The conversions are counted by the lines of the file ``log``, which contain the arguments.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log, self._pdf, self._program = folder / "log", folder / "prepared.pdf", folder / "bin" / "soffice"
        self._program.parent.mkdir()
        monkeypatch.setenv("PATH", str(self._program.parent))
        find_soffice.cache_clear()

    def prepare(self, pdf: bytes = b"", commands: str = "") -> None:
        self._pdf.write_bytes(pdf)
        script = f'#!/bin/sh\nPATH=/usr/bin:/bin\necho "$@" >> {self.log}\n{commands}\ncp {self._pdf} document.pdf\n'
        self._program.write_text(script)
        self._program.chmod(0o755)
        find_soffice.cache_clear()

    @property
    def conversions(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def make_stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Return a stand-in in a new folder below ``folder``; `find_soffice` forgets it when its test ends."""
    place = folder / "stand-in"
    place.mkdir()
    return StandIn(place, monkeypatch)
