"""One labelled question and what was found and answered, judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from rag_core.evaluation.answer_metrics import contains_answer, exact_match, token_f1
from rag_core.evaluation.ranking_metrics import first_rank
from rag_core.types import Answer, AnswerState, Label, LabelKind, PageKey, QuestionResult, decimals
from rag_core.types.answers import strip_markers

# A page further down than this is not found, as far as a reader is concerned.
NEAR = 5


def judge(
    label: Label,
    relevant: Mapping[PageKey, str],
    ranking: Sequence[PageKey],
    values: Mapping[str, float],
    answer: Answer | None,
    threshold: float,
) -> QuestionResult:
    """What became of a question.

    A given answer is right when the documents answer the question and it holds one of the expected
    answers or, where none is given, cites a page that answers.

    Parameters
    ----------
    label : Label
    relevant : mapping of page to words
        The pages that answer.
    ranking : sequence of PageKey
    values : mapping of str to float
        The ranking's own, by metric.
    answer : Answer or None
        As given whatever its score, so that every threshold can be judged; ``None`` where only
        rankings are compared.
    threshold : float
        The one in use.
    """
    rank = first_rank(ranking, relevant)
    found = QuestionResult(label.label_id, label.question, label.kind, tuple(relevant.values()), rank, dict(values))
    if answer is None:
        near = not relevant or (rank is not None and rank <= NEAR)
        return replace(found, problem="" if near else f"No page that answers is among the first {NEAR}.")
    score = answer.gate.score if answer.state is AnswerState.ANSWERED else None
    answered = score is not None and score >= threshold
    text = strip_markers(answer.text)
    wrong = _wrong(label, relevant, answer, text)
    problem = wrong if answered else ""
    if label.kind is LabelKind.ANSWERABLE:
        own = _answer_values(label, relevant, answer, text, answered)
        problem = problem if answered else _refused(score, threshold)
    else:
        own = {"refused": float(not answered), f"refused {label.kind.value}": float(not answered)}
    return replace(
        found,
        values={**values, **own},
        text=answer.text if answered else "",
        gate_score=score,
        answered=answered,
        wrong=bool(wrong),
        problem=problem,
    )


def _wrong(label: Label, relevant: Collection[PageKey], answer: Answer, text: str) -> str:
    """What is wrong with an answer, in words; empty when nothing is."""
    if label.kind is not LabelKind.ANSWERABLE:
        return "Answered, though the documents do not say."
    if label.answers:
        return "" if contains_answer(text, label.answers) else "The answer does not hold the expected one."
    return "" if _on_page(relevant, answer) else "The answer cites no page that answers."


def _answer_values(
    label: Label, relevant: Collection[PageKey], answer: Answer, text: str, answered: bool
) -> dict[str, float]:
    values = {"answered": float(answered)}
    if label.answers:
        # A refusal holds nothing of the expected answer.
        said = text if answered else ""
        values["contains_answer"] = contains_answer(said, label.answers)
        values["exact_match"] = exact_match(said, label.answers)
        values["token_f1"] = token_f1(said, label.answers)
    if relevant and answered:
        values["cited_page"] = _on_page(relevant, answer)
    return values


def _on_page(relevant: Collection[PageKey], answer: Answer) -> float:
    """The share of an answer's citations that lie on a page that answers, or that a copy of lies on one."""
    copies = {one.chunk_id: {place.key for place in one.duplicates} for one in answer.passages}
    places = [{(one.document_id, one.page_index)} | copies.get(one.chunk_id, set()) for one in answer.citations]
    return sum(not found.isdisjoint(relevant) for found in places) / len(places) if places else 0.0


def _refused(score: float | None, threshold: float) -> str:
    if score is None:
        return "Refused, though the documents answer it: nothing that was found could be quoted."
    best, needed = (f"{one:.{decimals(threshold)}f}" for one in (score, threshold))
    return f"Refused, though the documents answer it: the best score is {best}, {needed} is needed."
