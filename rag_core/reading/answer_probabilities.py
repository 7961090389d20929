"""Compute the probabilities of answers given a passage, from the readings of its excerpts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_core.reading.answer_finding import FoundAnswer
from rag_core.text.normalize import normalize_answer
from rag_core.types.mixtures import UNKNOWN
from rag_core.types.retrieval import Passage

# Maximum number of distinct answers given a passage.
MAX_ANSWERS = 4


def compute_probabilities_by_passage(
    passages: Sequence[Passage], find_answers: Callable[[Passage], Sequence[FoundAnswer]]
) -> dict[str, dict[str, float]]:
    """Return ``p(y|x, d)``, the probabilities of the answers given each passage, by chunk id.

    The probabilities are not likelihoods of the texts of answers. They are computed from the answerability model's
    probabilities that excerpts answer the question; see `compute_answer_probabilities`. ``find_answers`` returns the
    answers in a passage.
    """
    found = [compute_answer_probabilities(find_answers(one)) for one in passages]
    return dict(zip([one.chunk_id for one in passages], unify_answers(found), strict=True))


def compute_answer_probabilities(found: Sequence[FoundAnswer]) -> dict[str, float]:
    """Return ``p(y|x, d)`` over the answers in one passage and `UNKNOWN`; the probabilities sum to 1.

    The passage has the highest probability of its excerpts. This probability is divided among the `MAX_ANSWERS` most
    probable answers, in proportion to the probabilities of their excerpts. `UNKNOWN` has the rest. Answers with the
    same normal form are one answer, and answers without text are left out.
    """
    texts: dict[str, str] = {}
    best: dict[str, float] = {}
    for one in found:
        form = normalize_answer(one.text)
        if form:
            texts.setdefault(form, one.text)
            best[form] = max(best.get(form, 0.0), one.probability)
    kept = sorted(best.items(), key=lambda pair: -pair[1])[:MAX_ANSWERS]
    total = sum(probability for _, probability in kept)
    answerable = max((probability for _, probability in kept), default=0.0)
    shares = {texts[form]: answerable * probability / total for form, probability in kept if total}
    return {**shares, UNKNOWN: 1.0 - answerable}


def unify_answers(distributions: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """Return the distributions with one text, the first, for all answers that have the same normal form."""
    texts: dict[str, str] = {}
    return [
        {texts.setdefault(normalize_answer(text), text): value for text, value in one.items()} for one in distributions
    ]
