"""What tells a passage apart wherever it is shown: a letter, and a colour for those who see it."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.types import Explanation, Passage

# How many of a stage's passages are shown.
SHOWN = 10
# Dark enough for white letters, light enough for lines on a dark page.
COLOURS = (
    *("#1d73c9", "#b35919", "#128125", "#b329e0", "#db1f3e"),
    *("#127d7d", "#816f12", "#5e5ee8", "#d21e96", "#418112"),
)
OTHERS = "#6b7680"


@dataclass(frozen=True)
class Mark:
    """How a passage is marked. ``where`` is ``report.pdf, p. 12``."""

    letter: str
    colour: str
    passage: Passage

    @property
    def where(self) -> str:
        return f"{self.passage.document}, p. {self.passage.page_label}"


def marks_of(explanation: Explanation, right: str | None = None) -> dict[str, Mark]:
    """Marks by chunk id in the final order, for the first few of every stage and the right passage."""
    first = {str(hit.chunk_id) for stage in explanation.stages for hit in stage.hits[:SHOWN]}
    shown = [one for one in explanation.passages if one.chunk_id in first or one.chunk_id == right]
    return {
        one.chunk_id: Mark(letters(at), COLOURS[at] if at < len(COLOURS) else OTHERS, one)
        for at, one in enumerate(shown)
    }


def letters(position: int) -> str:
    """``A`` to ``Z`` for 0 to 25, then ``AA``, ``AB``."""
    rest, last = divmod(position, 26)
    return (letters(rest - 1) if rest else "") + chr(ord("A") + last)
