"""The letter and colour that identify a passage in every part of the page."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types import Explanation, Passage

# Number of passages shown per stage.
SHOWN = 10
# Dark enough for white letters, light enough for lines on a dark page.
COLOURS = (
    *("#1d73c9", "#b35919", "#128125", "#b329e0", "#db1f3e"),
    *("#127d7d", "#816f12", "#5e5ee8", "#d21e96", "#418112"),
)
OTHERS = "#6b7680"


@dataclass(frozen=True)
class Mark:
    """The letter and colour of a passage; ``where`` is, for example, ``report.pdf, p. 12``."""

    letter: str
    colour: str
    passage: Passage

    @property
    def where(self) -> str:
        return f"{self.passage.document}, p. {self.passage.page_label}"


def create_marks(explanation: Explanation, right: str | None = None) -> dict[str, Mark]:
    """Return marks by chunk id, in the final order, for the first passages of every stage and the right one."""
    first = {str(hit.chunk_id) for stage in explanation.stages for hit in stage.hits[:SHOWN]}
    shown = [one for one in explanation.passages if one.chunk_id in first or one.chunk_id == right]
    return {
        one.chunk_id: Mark(to_letters(at), COLOURS[at] if at < len(COLOURS) else OTHERS, one)
        for at, one in enumerate(shown)
    }


def to_letters(position: int) -> str:
    """Return ``A`` to ``Z`` for 0 to 25, then ``AA``, ``AB``."""
    rest, last = divmod(position, 26)
    return (to_letters(rest - 1) if rest else "") + chr(ord("A") + last)
