"""Lines of a page: runs side by side, with the properties by which paragraphs and headings are detected."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rag_core.parsing.characters import UNSPACED
from rag_core.parsing.layout.runs import Run
from rag_core.text.normalize import SUPERSCRIPT_DIGITS

_NUMBER = re.compile(rf"^[($€£¥+\-–—]*\d[\d,.]*[%){SUPERSCRIPT_DIGITS}]*$|^[—–\-$€£%()]+$|^n/?[am]$", re.IGNORECASE)

# Raised endings and signs, and punctuation, which follow the text before them without a space.
_SUFFIX = re.compile(rf"^(?:st|nd|rd|th|®|™|©|[{SUPERSCRIPT_DIGITS},]+)$|^[.,;:!?)](?!\w)")


@dataclass(slots=True)
class Line:
    """Runs of one row in reading order, and the box around the runs in points.

    ``size`` is the height in points of most characters, and ``text`` is the text of all runs.
    """

    runs: list[Run]
    box: tuple[float, float, float, float] = field(init=False)
    size: float = field(init=False)
    text: str = field(init=False)
    _tabular: bool | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        boxes = [run.box for run in self.runs]
        self.box = (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
        # The run with most words has the usual size, unlike a superscript or a bullet.
        self.size = max(self.runs, key=lambda run: len(run.words)).size
        self.text = "".join(
            (" " if number and self.has_space_before(number) else "") + run.text for number, run in enumerate(self.runs)
        )

    def has_space_before(self, number: int) -> bool:
        """Return whether there is a space before the run at index ``number``."""
        before, run = self.runs[number - 1], self.runs[number]
        if not _touches(before, run):
            return True
        is_unspaced = UNSPACED.match(before.text[-1]) and UNSPACED.match(run.text)
        return not (is_unspaced or _SUFFIX.match(run.text))

    @property
    def bold(self) -> bool:
        """Whether all runs are bold."""
        return all(run.bold for run in self.runs)

    @property
    def hyphen(self) -> bool:
        """Whether the line ends in a hyphen that divides a word; ``text`` does not contain this hyphen."""
        return self.runs[-1].hyphen

    @property
    def tabular(self) -> bool:
        """Whether the line looks like a table row: it has several cells, or mostly figures after the first figure."""
        if self._tabular is None:
            self._tabular = self._is_tabular()
        return self._tabular

    def _is_tabular(self) -> bool:
        if sum(run.cells for run in self.runs) >= 3:
            return True
        words = self.text.split()
        figures = [number for number, word in enumerate(words) if _NUMBER.match(word)]
        if len(figures) < 2:
            return False
        return len(figures) >= 0.5 * (len(words) - figures[0])


def _touches(before: Run, run: Run) -> bool:
    return -run.size < run.box[0] - before.box[2] < 0.15 * max(run.size, before.size)
