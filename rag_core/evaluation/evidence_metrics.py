"""Coverage, evidence mass, correctness and source support of the answer to a labelled question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.evaluation.answer_metrics import contains_answer
from rag_core.evaluation.ranking_metrics import find_relevant_pages
from rag_core.retrieval.passage_weights import weight_passages
from rag_core.types.answers import Answer
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import Label, LabelKind, QuestionResult
from rag_core.types.explanations import ScoredPassage, WeightingConfig
from rag_core.types.mixtures import AnswerProbabilities
from rag_core.types.retrieval import Passage


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """The weights of the passages that are read for a question.

    Attributes
    ----------
    mass : float or None
        Total weight of the passages on pages that answer the question; ``None`` if there is no such passage.
    stale_mass : float
        Total weight of the passages on pages that are labelled as stale or inadmissible.
    stale_name : str
        Name of the stale or inadmissible page whose passage has the largest weight; empty if there is no such page.
    answer_probability : float or None
        Probability of the expected answers in the weighted mixture of the passages' answers; ``None`` if the label has
        no expected answers.
    """

    mass: float | None
    stale_mass: float
    stale_name: str
    answer_probability: float | None


def weigh_evidence(
    label: Label,
    passages: Sequence[Passage],
    relevant: Collection[PageKey],
    stale: Mapping[PageKey, str],
    probabilities: AnswerProbabilities,
    ages: Mapping[str, float],
    freshness: float,
) -> EvidenceWeights | None:
    """Return the weights of the passages, with the default temperature.

    Return ``None`` if there are no passages, or if a passage has no rerank score.

    Parameters
    ----------
    label : Label
    passages : sequence of Passage
        The passages that are read, best first.
    relevant : collection of PageKey
        The pages that answer the question.
    stale : mapping of PageKey to str
        The names of the pages that are labelled as stale or inadmissible.
    probabilities : AnswerProbabilities
        The probabilities of the answers that each passage gives, by chunk id.
    ages : mapping of str to float
        Ages in days by version id. An unknown age counts as 0.
    freshness : float
        Weight of the freshness of a passage, as in the setting.
    """
    scored = [
        ScoredPassage(one.chunk_id, score, ages.get(one.version_id, 0.0))
        for one in passages
        if (score := one.scores.get("rerank")) is not None
    ]
    if not passages or len(scored) < len(passages):
        return None
    weighted = weight_passages(scored, WeightingConfig(k=len(scored), freshness_weight=freshness))
    weights = {one.candidate.chunk_id: one.weight for one in weighted}
    good = [one.chunk_id for one in passages if find_relevant_pages(one, relevant)]
    others = [one for one in passages if one.chunk_id not in good]
    outdated = {one.chunk_id: stale[page] for one in others for page in find_relevant_pages(one, stale)}
    answer_probability = None
    if label.answers:
        answer_probability = sum(
            weights[chunk_id] * probability
            for chunk_id, given in probabilities.items()
            for answer, probability in given.items()
            if contains_answer(answer, label.answers)
        )
    heaviest = max(outdated, key=weights.__getitem__, default="")
    return EvidenceWeights(
        mass=sum(weights[one] for one in good) if good else None,
        stale_mass=sum(weights[one] for one in outdated),
        stale_name=outdated.get(heaviest, ""),
        answer_probability=answer_probability,
    )


def add_evidence(
    result: QuestionResult, label: Label, answer: Answer, evidence: EvidenceWeights | None, stale: Mapping[PageKey, str]
) -> QuestionResult:
    """Return a result with the metrics of its evidence.

    If the answer is wrong although a passage is on a page that answers the question, ``problem`` says

    - that stale passages outweigh the passages on these pages, or
    - that the answer cites a stale page.

    Return the result unchanged if the documents do not answer the question, if no page is labelled, or if the passages
    have no weights (``evidence`` is ``None``).
    """
    if label.kind is not LabelKind.ANSWERABLE or not result.evidence or evidence is None:
        return result
    is_covered, mass = evidence.mass is not None, evidence.mass or 0.0
    is_correct = result.answered and not result.wrong
    values = {
        "coverage": float(is_covered),
        "evidence_mass": mass,
        "correct": float(is_correct),
        "covered_but_wrong": float(is_covered and not is_correct),
    }
    if evidence.answer_probability is not None:
        values["answer_probability"] = evidence.answer_probability
    if result.answered and answer.statements:
        values["source_support"] = sum(one.supported for one in answer.statements) / len(answer.statements)
    problem = result.problem
    if stale:
        outweighs = is_covered and evidence.stale_mass > mass
        values["stale_outweighs"] = float(outweighs)
        pages = ((one.document_id, one.page_index) for one in answer.citations)
        cited = next((stale[page] for page in pages if page in stale), "")
        is_wrong = is_covered and result.answered and result.wrong
        if is_wrong and outweighs:
            problem = (
                f"Covered but wrong: a stale chunk outweighs it ({evidence.stale_name}: {evidence.stale_mass:.0%} of "
                f"the weight against {mass:.0%})."
            )
        elif is_wrong and cited:
            problem = f"Covered but wrong: the answer cites a stale page ({cited})."
    return replace(result, values={**result.values, **values}, problem=problem)
