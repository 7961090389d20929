"""A library in which questions use other words than the documents, so that an adapter has something to learn."""

from __future__ import annotations

import json

from rag_core.engine import Engine
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

PUMPS = ("Harrow", "Lindow", "Brennick", "Tolm", "Ostmark", "Marlow", "Kestrel", "Dunmere")
# Each subject has a page in each document. The questions name it by an invented word.
SUBJECTS = {
    "zorvel": "The {} pump has a throughput of {} litres of water per minute when the inlet is open and the filter is "
    "clean. A gauge beside the outlet shows the flow.",
    "brimsk": "For the {} pump, a price of {} crowns is paid to the supplier within thirty days after the invoice. The "
    "accounts office keeps a copy of each order.",
    "quandle": "The warranty of the {} pump lasts {} months and covers broken parts, but no damage from frost or sand. "
    "Claims are sent to the maker in writing.",
    "tavish": "The empty housing of the {} pump weighs {} kilograms and is lifted by two persons or by a small crane. "
    "Straps for the transport lie in the crate.",
}


def add_pumps(engine: Engine, count: int = len(PUMPS)) -> bytes:
    """Add a document about each of the first pumps; return labelled questions as JSON lines."""
    rows = []
    for number, pump in enumerate(PUMPS[:count]):
        values = {subject: str(100 + 37 * number + 11 * place) for place, subject in enumerate(SUBJECTS)}
        name = f"{pump.lower()}.pdf"
        add_document(engine, name, make_pdf(*(SUBJECTS[one].format(pump, value) for one, value in values.items())))
        rows += [
            {
                "question": f"What is the {subject} of the {pump} pump?",
                "document": name,
                "page_index": page,
                "answers": [value],
            }
            for page, (subject, value) in enumerate(values.items())
        ]
    return "\n".join(json.dumps(row) for row in rows).encode()
