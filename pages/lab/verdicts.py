"""What becomes of the right passage, in one plain sentence."""

from __future__ import annotations

from rag_core.types import EvidenceCase, EvidenceMass

_SENTENCES = {
    EvidenceCase.ABSENT: "No stage found the right passage, so nothing that comes after can bring it into the answer.",
    EvidenceCase.TOO_LOW: "The right passage was found at rank {rank}, but an answer is read from the first {k}: it "
    "counts for nothing.",
    EvidenceCase.IGNORED: "The right passage is read, but {rival} counts more ({against} against {mass}): the answer "
    "can pass over it.",
    EvidenceCase.STALE: "The right passage is read beside {rival}, which is older and counts more ({against} against "
    "{mass}): the answer can repeat what no longer holds.",
    EvidenceCase.LEADS: "The right passage counts most, with {mass} of the weight; all others share the rest.",
}


def percent(share: float) -> str:
    """``43 %``; ``< 1 %`` for what would else look like nothing."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def sentence(found: EvidenceMass, k: int, rival: str, against: float) -> str:
    """What becomes of it; ``rival`` and its weight ``against`` are those of the passage that outweighs it."""
    return _SENTENCES[found.case].format(
        rank=found.rank, k=k, rival=rival, against=percent(against), mass=percent(found.mass)
    )
