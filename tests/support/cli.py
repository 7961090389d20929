"""Documents and names for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
PAGES = {
    "harbour.pdf": ["The harbour of Brennick was dredged in 1931 by forty men.", "Its lighthouse is painted red."],
    "orchard.pdf": ["The orchard of Tolm bears quinces, and its owner sells them in October."],
}
HARBOUR, ORCHARD = (make_pdf(*pages) for pages in PAGES.values())
QUESTION = "When was the harbour of Brennick dredged?"
Run = Callable[..., tuple[int, list[dict[str, Any]], str]]
