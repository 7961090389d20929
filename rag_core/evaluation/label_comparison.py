"""Compare the ranking and the answer of one question with its label."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rag_core.evaluation.answer_metrics import compute_exact_match, compute_token_f1, contains_answer
from rag_core.evaluation.ranking_metrics import find_first_rank
from rag_core.types.answers import Answer, AnswerState, strip_markers
from rag_core.types.documents import PageKey
from rag_core.types.evaluation import Label, LabelKind, QuestionResult
from rag_core.types.formatting import count_decimals

# A relevant page after this rank counts as not found, because a reader does not look that far down the list.
MAX_RANK = 5


def compare_with_label(
    label: Label,
    relevant: Mapping[PageKey, str],
    ranking: Sequence[PageKey],
    values: Mapping[str, float],
    answer: Answer | None,
    threshold: float,
) -> QuestionResult:
    """Return the result of a question, with the metrics of the answer in addition to ``values``.

    If the documents answer the question, an answer is right if it contains one of the expected answers or, if the label
    has none, cites a relevant page. If the documents do not answer the question, every answer is wrong.

    Parameters
    ----------
    label : Label
    relevant : mapping of PageKey to str
        The pages that answer the question, with their names for display.
    ranking : sequence of PageKey
        The ranked pages, best first.
    values : mapping of str to float
        The other metrics of the question: those of the ranking, the pages in the prompt and the judge.
    answer : Answer or None
        The answer, even if the gate's score is below the threshold; ``None`` if only rankings are measured.
    threshold : float
        The threshold of the gate. A question whose score is lower counts as refused.
    """
    rank = find_first_rank(ranking, relevant)
    result = QuestionResult(label.label_id, label.question, label.kind, tuple(relevant.values()), rank, dict(values))
    result = replace(result, is_pseudo=label.is_pseudo)
    if answer is None:
        near = not relevant or (rank is not None and rank <= MAX_RANK)
        return replace(result, problem="" if near else f"No page with the answer is among the first {MAX_RANK}.")
    score = None
    if answer.state is AnswerState.ANSWERED:
        score = 1.0 if answer.gate.overruled else answer.gate.score
    answered = is_answered(answer, threshold)
    text = strip_markers(answer.text)
    wrong = _describe_mistake(label, relevant, answer, text)
    problem = wrong if answered else ""
    if label.kind is LabelKind.ANSWERABLE:
        answer_values = _compute_answer_metrics(label, relevant, answer, text, answered)
        problem = problem if answered else _describe_refusal(score, threshold)
    else:
        answer_values = {"refused": float(not answered), f"refused {label.kind.value}": float(not answered)}
    return replace(
        result,
        values={**values, **answer_values},
        text=answer.text if answered else "",
        gate_score=score,
        answered=answered,
        wrong=bool(wrong),
        problem=problem,
    )


def is_answered(answer: Answer, threshold: float) -> bool:
    """Return whether the question is answered, rather than refused, if the gate has this threshold."""
    gate = answer.gate
    return answer.state is AnswerState.ANSWERED and (gate.overruled or gate.score >= threshold)


def _describe_mistake(label: Label, relevant: Collection[PageKey], answer: Answer, text: str) -> str:
    """Return what is wrong with an answer; empty if nothing is wrong."""
    if label.kind is not LabelKind.ANSWERABLE:
        return "Answered, but the documents do not contain the answer."
    if label.answers:
        return "" if contains_answer(text, label.answers) else "The answer does not contain the expected answer."
    return "" if _compute_cited_share(relevant, answer) else "The answer cites no page with the expected answer."


def _compute_answer_metrics(
    label: Label, relevant: Collection[PageKey], answer: Answer, text: str, answered: bool
) -> dict[str, float]:
    values = {"answered": float(answered)}
    if label.answers:
        # A refusal counts as an empty answer.
        values["contains_answer"] = contains_answer(text if answered else "", label.answers)
        # Compare the value at the beginning of the answer: a quoted sentence rarely equals an expected value.
        short_text = (answer.short or text) if answered else ""
        values["exact_match"] = compute_exact_match(short_text, label.answers)
        values["token_f1"] = compute_token_f1(short_text, label.answers)
    if relevant and answered:
        values["cited_page"] = _compute_cited_share(relevant, answer)
    return values


def _compute_cited_share(relevant: Collection[PageKey], answer: Answer) -> float:
    """Return the share of an answer's citations that are on a relevant page or have a near duplicate on such a page.

    Return 0 if the answer has no citations.
    """
    copies = {one.chunk_id: {place.key for place in one.duplicates} for one in answer.passages}
    places = [{(one.document_id, one.page_index)} | copies.get(one.chunk_id, set()) for one in answer.citations]
    return sum(not found.isdisjoint(relevant) for found in places) / len(places) if places else 0.0


def _describe_refusal(score: float | None, threshold: float) -> str:
    """Return why an answerable question was refused; ``score`` is ``None`` if no threshold would give an answer."""
    if score is None:
        return "Refused, but the documents contain the answer: none of the passages could be quoted."
    best, needed = (f"{one:.{count_decimals(threshold)}f}" for one in (score, threshold))
    return f"Refused, but the documents contain the answer: the best score is {best}, the threshold is {needed}."
