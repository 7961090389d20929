"""Whether an answer would use the right passage, in one sentence."""

from __future__ import annotations

from rag_core.types import EvidenceCase, EvidenceMass

_SENTENCES = {
    EvidenceCase.ABSENT: "No stage found the right passage, so an answer cannot use it.",
    EvidenceCase.TOO_LOW: "The right passage has rank {rank}, but an answer uses only the first {k}: it has no weight.",
    EvidenceCase.IGNORED: "The right passage is read, but {rival} counts more ({against} against {mass}): the answer "
    "can ignore it.",
    EvidenceCase.STALE: "The right passage is read, but {rival} is older and counts more ({against} against {mass}): "
    "the answer can be out of date.",
    EvidenceCase.LEADS: "The right passage counts most, with {mass} of the weight; all others share the rest.",
}


def format_percent(share: float) -> str:
    """Return ``43 %``, or ``< 1 %`` for a small share that would be rounded to 0."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def describe_case(evidence: EvidenceMass, k: int, rival: str, against: float) -> str:
    """Describe the case; ``rival`` is the passage with more weight, and ``against`` its weight."""
    return _SENTENCES[evidence.case].format(
        rank=evidence.rank, k=k, rival=rival, against=format_percent(against), mass=format_percent(evidence.mass)
    )
