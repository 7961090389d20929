"""Mix the answers that single passages give, and compare the mixture with the right answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from rag_core.retrieval.passage_weights import STALE_DAYS
from rag_core.types.explanations import WeightedPassage
from rag_core.types.mixtures import AnswerProbabilities, EvidenceMixture, MixtureVerdict


def mix_answers(
    weighted: Sequence[WeightedPassage],
    probabilities: AnswerProbabilities,
    *,
    right: Collection[str] = (),
    expected: Collection[str] = (),
    stale: Collection[str] = (),
) -> EvidenceMixture:
    """Return the mixture ``p(y|x) = Σ_d p(d|x) p(y|x, d)`` of the answers, and compare it with the right answer.

    The result contains the coverage, the evidence mass, the correctness and the source support of the mixture.

    Parameters
    ----------
    weighted : sequence of WeightedPassage
        The passages with their weights, best first. Passages with the weight 0 are ignored.
    probabilities : AnswerProbabilities
        The probabilities of the answers given each passage, by chunk id.
    right : collection of str
        Chunk ids of the passages that state the right answer.
    expected : collection of str
        The right answers, written as in ``probabilities``.
    stale : collection of str
        Chunk ids of passages that are stale or not admissible as evidence.

    Raises
    ------
    ValueError
        No passage has a weight.
    """
    read = [one for one in weighted if one.weight > 0]
    if not read:
        raise ValueError("No passage has a weight, so there is no answer.")
    total: dict[str, float] = defaultdict(float)
    for one in read:
        for answer, probability in probabilities[one.candidate.chunk_id].items():
            total[answer] += one.weight * probability
    answers = tuple(sorted(total.items(), key=lambda pair: -pair[1]))
    best = answers[0][0]
    cited = max(read, key=lambda one: one.weight * probabilities[one.candidate.chunk_id].get(best, 0.0))
    given = probabilities[cited.candidate.chunk_id]
    good = [one for one in read if one.candidate.chunk_id in right]
    is_correct = best in expected if expected else cited in good if right else None
    return EvidenceMixture(
        answers=answers,
        cited=cited.candidate.chunk_id,
        covered=bool(good),
        mass=sum(one.weight for one in good),
        correct_probability=sum(total.get(one, 0.0) for one in set(expected)) if expected else None,
        is_correct=is_correct,
        is_supported=given.get(best, 0.0) == max(given.values()),
        verdict=None if is_correct is None else _find_verdict(is_correct, good, cited, stale),
    )


def _find_verdict(
    is_correct: bool, good: Sequence[WeightedPassage], cited: WeightedPassage, stale: Collection[str]
) -> MixtureVerdict:
    if is_correct:
        return MixtureVerdict.RIGHT if good else MixtureVerdict.WITHOUT_EVIDENCE
    if not good:
        return MixtureVerdict.NOT_COVERED
    is_older = cited not in good and cited.candidate.age_days >= good[0].candidate.age_days + STALE_DAYS
    outweighs = cited.weight > sum(one.weight for one in good)
    if outweighs and (is_older or cited.candidate.chunk_id in stale):
        return MixtureVerdict.STALE
    return MixtureVerdict.COVERED_BUT_WRONG
