"""A library in which questions use other words than the documents, so that an adapter has something to learn."""

from __future__ import annotations

import json

from rag_core.engine import Engine
from tests.support.engines import add_document
from tests.support.pdfs import make_pdf

PUMPS = ("Harrow", "Lindow", "Brennick", "Tolm", "Ostmark", "Marlow", "Kestrel", "Dunmere")
# Each subject has a page in each document. The questions name it by an invented word.
SUBJECTS = {
    "zorvel": "The throughput is {} litres of water per minute when the inlet is fully open and the filter is clean.",
    "brimsk": "Its price is {} crowns, paid to the supplier within thirty days after the invoice was received.",
    "quandle": "The warranty lasts {} months and covers broken parts, but no damage from frost or from sand.",
    "tavish": "Empty, the housing weighs {} kilograms and needs two persons or a small crane to be lifted.",
}


def add_pumps(engine: Engine) -> bytes:
    """Add a document about each pump; return labelled questions as JSON lines."""
    rows = []
    for number, pump in enumerate(PUMPS):
        values = {subject: str(100 + 37 * number + 11 * place) for place, subject in enumerate(SUBJECTS)}
        texts = [f"The {pump} pump. {SUBJECTS[subject].format(value)}" for subject, value in values.items()]
        name = f"{pump.lower()}.pdf"
        add_document(engine, name, make_pdf(*texts))
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
