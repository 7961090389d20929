"""Documents about two companies with shared themes, and entities that tests of themes use."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.types.chunks import ChunkRow

RISKS = (
    "Supply chain delays are the main risk for the {0} Works of the Ostmark Group. "
    "The {0} Works of the Ostmark Group buys copper wire from the Atacama Mine, and supply chain delays raise costs. "
    "In the last year supply chain delays stopped the {0} Works of the Ostmark Group for nine days in the winter. "
    "The {0} Works keeps copper wire for three months, because supply chain delays may last for a whole season."
)
PEOPLE = (
    "Ida Brandt leads the {0} Works and reports to the Tern Island Council every month of the year. "
    "The Tern Island Council appointed Ida Brandt in the spring after a long search for a new director. "
    "Ida Brandt and the Tern Island Council agreed on a plan for new jobs at the {0} Works in the autumn."
)
LIBRARY = {f"{name.lower()}.pdf": [RISKS.format(name), PEOPLE.format(name)] for name in ("Harrow", "Lindow")}


def build_rows(*texts: str, version_id: str = "v1") -> list[ChunkRow]:
    """Return a chunk for each text, each on a page of its own."""
    return [
        ChunkRow(number + 1, version_id, number, number, 0, number, len(text), text, "doc", "", 9, b"", "d", "doc.pdf",
                 str(number + 1), None)
        for number, text in enumerate(texts)
    ]  # fmt: skip


def names(entities: Sequence[object]) -> set[str]:
    return {str(getattr(one, "name", "")) for one in entities}
