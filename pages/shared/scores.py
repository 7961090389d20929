"""The scores of passages, as numbers and as bars, and the threshold of the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pages.shared.nodes import Node
from pages.shared.translation import _, format_number
from rag_core.stages import SCORES
from rag_core.types.formatting import count_decimals
from rag_core.types.retrieval import Gate, Passage

# Scores that are from 0 to 1 by definition. The bar of any other score is relative to the best passage's score.
_BOUNDED = frozenset(one.name for one in SCORES if one.is_bounded)


def build_score_bars(passage: Passage, passages: Sequence[Passage], gate: Gate) -> Node:
    """Return a node that shows the scores of a passage as bars, each with a note that explains its scale."""
    rows = []
    for name, value in _order_scores(passage.scores):
        best = max((one.scores.get(name) or 0.0 for one in passages), default=0.0)
        scale = 1.0 if name in _BOUNDED else best
        decides = name == gate.score_name
        if name not in _BOUNDED:
            note = _("best here {score}", score=format_score(name, best))
        elif decides:
            note = _("threshold {value}", value=format_threshold(gate.threshold))
        else:
            note = _("of 1")
        rows.append(
            {
                "name": name,
                "text": format_score(name, value, gate.decimals if decides else 2),
                "share": min(1.0, max(0.0, value / scale)) if scale > 0 else 0.0,
                "tick": min(1.0, max(0.0, gate.threshold)) if decides else None,
                "note": note,
            }
        )
    return {"t": "scores", "rows": rows}


def format_score(name: str, value: float | None, places: int = 2) -> str:
    """Format a score with the given number of decimals.

    Scores of fused ranks always have three decimals, because they are only a few hundredths. A missing score is a dash.
    """
    if value is None:
        return "–"
    # Round first and then add 0.0. Otherwise a score just below zero would be shown as "-0.00".
    places = 3 if name in ("rrf", "financials") else places
    return format_number(round(value, places) + 0.0, places)


def format_threshold(value: float) -> str:
    """Format a threshold with the same number of decimals as the scores that are shown with it."""
    return format_number(value, count_decimals(value))


def _order_scores(scores: Mapping[str, float | None]) -> list[tuple[str, float]]:
    """Return the names and values of the computed scores, in the order of `SCORES`; other names come last."""
    known = [one.name for one in SCORES if one.name in scores]
    names = known + [name for name in scores if name not in known]
    return [(name, value) for name in names if (value := scores[name]) is not None]
