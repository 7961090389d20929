"""The letter and colour that identify a passage in every part of the page."""

from __future__ import annotations

from dataclasses import dataclass

from pages.shared.text import name_page
from rag_core.types.explanations import Explanation
from rag_core.types.retrieval import Passage

# Number of passages that are shown for each stage.
SHOWN = 10
# The colours are dark enough for white letters on them, and light enough for lines on a dark page.
COLOURS = (
    *("#1d73c9", "#b35919", "#128125", "#b329e0", "#db1f3e"),
    *("#127d7d", "#816f12", "#5e5ee8", "#d21e96", "#418112"),
)
# The colour of passages without a colour of their own.
OTHERS = "#6b7680"


@dataclass(frozen=True)
class Mark:
    """The letter and colour of a passage; ``where`` is a text such as ``report.pdf, p. 12``."""

    letter: str
    colour: str
    passage: Passage

    @property
    def where(self) -> str:
        return name_page(self.passage.document, self.passage.page_label)


def create_marks(explanation: Explanation, right: str | None = None) -> dict[str, Mark]:
    """Return a dictionary that maps chunk ids to marks, in the final order of the passages.

    It contains the first `SHOWN` passages of every stage, and the passage with the chunk id ``right``.
    """
    first = {str(hit.chunk_id) for stage in explanation.stages for hit in stage.hits[:SHOWN]}
    shown = [one for one in explanation.passages if one.chunk_id in first or one.chunk_id == right]
    return {
        one.chunk_id: Mark(to_letters(at), COLOURS[at] if at < len(COLOURS) else OTHERS, one)
        for at, one in enumerate(shown)
    }


def to_letters(position: int) -> str:
    """Return ``A`` to ``Z`` for the positions 0 to 25, then ``AA``, ``AB`` and so on."""
    rest, last = divmod(position, 26)
    return (to_letters(rest - 1) if rest else "") + chr(ord("A") + last)
