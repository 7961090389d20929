"""Sentences that say whether an answer would use the right passage."""

from __future__ import annotations

import streamlit as st

from pages.shared.translation import N_, _
from rag_core.types.explanations import EvidenceCase, EvidenceMass
from rag_core.types.mixtures import EvidenceMixture, MixtureVerdict

_SENTENCES = {
    EvidenceCase.ABSENT: N_("No stage found the right passage, so an answer cannot use it."),
    EvidenceCase.TOO_LOW: N_(
        "The right passage has rank {rank}, but an answer uses only the first {k}: it has no weight."
    ),
    EvidenceCase.IGNORED: N_(
        "The right passage is read, but {rival} counts more ({against} against {mass}): the answer can ignore it."
    ),
    EvidenceCase.STALE: N_(
        "The right passage is read, but {rival} is older and counts more ({against} against {mass}): "
        "the answer can be out of date."
    ),
    EvidenceCase.LEADS: N_("The right passage counts most, with {mass} of the weight; all others share the rest."),
}

_VERDICTS = {
    MixtureVerdict.RIGHT: N_("Right, and from the right passage, which has {mass} of the weight."),
    MixtureVerdict.WITHOUT_EVIDENCE: N_("Right, but not from the right passage, which is not read."),
    MixtureVerdict.NOT_COVERED: N_("Wrong, because the right passage is not read."),
    MixtureVerdict.COVERED_BUT_WRONG: N_(
        "Wrong, although the right passage is read: it has {mass} of the weight, but the answer comes from {cited}."
    ),
    MixtureVerdict.STALE: N_(
        "Wrong, although the right passage is read: an outdated passage, {cited}, outweighs it ({mass} of the weight)."
    ),
}


def format_percent(share: float) -> str:
    """Format a share, for example as ``43 %``; a share above 0 and below 0.01 becomes ``< 1 %``."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def show_share(covered: str, mass: float) -> None:
    """Show whether the right passage is read, as ``covered`` says in words, and its share ``mass`` of all weights."""
    left, right = st.columns(2)
    left.metric(_("Is the right passage read?"), covered, help=_("Coverage: it is among the passages that are read."))
    right.metric(
        _("Its share"), format_percent(mass), help=_("Evidence mass: the sum of the weights of right passages.")
    )


def describe_case(evidence: EvidenceMass, k: int, rival: str, against: float) -> str:
    """Describe in one sentence whether an answer would use the right passage.

    ``rival`` names the passage that has more weight than the right one, and ``against`` is the weight of the rival.
    """
    return _(
        _SENTENCES[evidence.case],
        rank=evidence.rank,
        k=k,
        rival=rival,
        against=format_percent(against),
        mass=format_percent(evidence.mass),
    )


def describe_mixture(mixture: EvidenceMixture, cited: str) -> str:
    """Describe in one sentence whether the answer of a mixture is right; empty if no verdict is possible.

    ``cited`` names the passage that the answer is cited from.
    """
    if mixture.verdict is None:
        return ""
    return _(_VERDICTS[mixture.verdict], mass=format_percent(mixture.mass), cited=cited)
