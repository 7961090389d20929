"""Select the candidates that an answer without a language model shows, and decide whether to answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rag_core.answering.sources.candidates import Candidate
from rag_core.gate.calibration import weigh_reading
from rag_core.types.documents import PageKey
from rag_core.types.retrieval import Gate

# Number of excerpts that are shown at first, and number of all excerpts, with those that the reader can unfold.
SHOWN, MAX_EXCERPTS = 3, 5


@dataclass(frozen=True, slots=True)
class Selection:
    """The excerpts of an answer, best first, and the decision of the gate whether to show them."""

    excerpts: tuple[Candidate, ...]
    gate: Gate


def select(candidates: Iterable[Candidate], gate: Gate, page_texts: Mapping[PageKey, str]) -> Selection:
    """Return the best candidates, and the decision of the gate, given how probably they answer.

    A candidate that overlaps a better candidate, or has the same text, is left out.

    Parameters
    ----------
    candidates : iterable of Candidate
        Without candidates, the gate refuses.
    gate : Gate
        The decision before the pages were read.
    page_texts : mapping of PageKey to str
    """
    ranked = sorted(candidates, key=lambda one: -one.score)
    if not ranked:
        return Selection((), replace(gate, answerable=False))
    chosen: dict[str, Candidate] = {}
    for one in ranked:
        page_text = page_texts.get(one.page, "")
        text = " ".join(" ".join(page_text[quote.start : quote.end] for quote in one.quotes).split()).casefold()
        if text not in chosen and not any(one.overlaps(other) for other in chosen.values()):
            chosen[text] = one
        if len(chosen) == MAX_EXCERPTS:
            break
    most_probable = max(ranked, key=lambda one: one.probability)
    can_raise = not most_probable.passage.lacks_name
    return Selection(tuple(chosen.values()), weigh_reading(gate, most_probable.probability, can_raise=can_raise))
