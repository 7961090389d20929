"""A document of several pages for capable models, and the numbers of its pages in their prompts."""

from __future__ import annotations

import re
from typing import Any

from tests.support.pdfs import make_pdf

_REST = (
    "The clerk keeps the minutes for forty years. The fourth sentence is about the clock of the customs house. "
    "The fifth sentence is about its roof. The sixth sentence is about its door."
)
_SOURCE = re.compile(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)
PAGES = (
    "The master of a ship reports its arrival 24 hours before it reaches the breakwater.",
    "A ship is moored with six lines, and the engine may be stopped when all lines are fast.",
    "The harbour fee is 420 crowns for each ship. Fishing boats of the island pay no fee.",
    "Dangerous goods are declared 48 hours before arrival. Explosives are unloaded only at the outer pier.",
    "Oily waste is delivered to the barge of the harbour, at most two cubic metres for each stay.",
    "Work at night needs a permit, which the master of the harbour issues until four in the afternoon.",
    "In ice, ships wait at the outer buoy for the icebreaker, which leads a convoy each morning.",
    "Complaints about invoices are sent in writing within 30 days, and the board decides on them.",
)


def build_handbook() -> bytes:
    """Return a PDF with a page for each of `PAGES`."""
    return make_pdf(*(f"{page} {_REST}" for page in PAGES))


def find_source(body: dict[str, Any], text: str) -> str:
    """Return a text in which each ``{word}`` is the marker of the source in a request that contains the word."""
    sources = _SOURCE.findall(body["messages"][-1]["content"].partition("\n\nQuestion: ")[0])
    return re.sub(
        r"\{(\w+)\}", lambda word: next(f"[{number}]" for number, source in sources if word[1] in source), text
    )
