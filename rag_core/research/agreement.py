"""Count how often the verifier and the labels agree with the verdicts of a judge over an evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_core.evaluation.judging import JudgedAnswer
from rag_core.evaluation.ranking_metrics import find_relevant_pages
from rag_core.types.judgements import Agreement, Judgement, JudgeReport
from rag_core.types.usage import Usage

STATEMENTS = "judge and verifier: statements"
PASSAGES = "judge and labels: passages"
ANSWERS = "judge and labels: answers"


def count_agreement(raters: str, pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Count the pairs in which both verdicts are positive, only the first, only the second, and neither."""
    counts = Counter(pairs)
    return Agreement(raters, counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def report_judgements(judged: Sequence[JudgedAnswer], writer: str) -> JudgeReport:
    """Return the report over all judged answers of an evaluation, at least one; leave out agreements without pairs."""
    judgements = [one.judgement for one in judged]
    statements = tuple(one for judgement in judgements for one in judgement.statements)
    answers = [(is_faithful(one.judgement), one.is_right) for one in judged]
    agreements = (
        count_agreement(STATEMENTS, [(one.judge, one.verifier) for one in statements if one.judge is not None]),
        count_agreement(PASSAGES, [pair for one in judged if one.pages for pair in _pair_passages(one)]),
        count_agreement(ANSWERS, [(one, other) for one, other in answers if one is not None and other is not None]),
    )
    return JudgeReport(
        judge=judgements[0].judge,
        writer=writer,
        answers=len(judgements),
        not_judged=dict(Counter(metric for one in judgements for metric in one.not_judged)),
        agreements=tuple(one for one in agreements if one.n),
        statements=statements,
        usage=sum((one.usage for one in judgements), Usage()),
        seconds=sum(one.seconds for one in judgements),
        problems=tuple(dict.fromkeys(problem for one in judgements for problem in one.problems)),
    )


def _pair_passages(judged: JudgedAnswer) -> list[tuple[bool, bool]]:
    """Return, for each judged passage, whether the judge finds it useful and whether a labelled page contains it."""
    useful = judged.judgement.passages
    return [
        (useful[one.rank], bool(find_relevant_pages(one, judged.pages)))
        for one in judged.answer.passages
        if one.rank in useful
    ]


def is_faithful(judgement: Judgement) -> bool | None:
    """Return whether the judge finds all statements of an answer supported.

    Return ``None`` if the answer has no statements, or if a verdict is missing.
    """
    verdicts = [one.judge for one in judgement.statements]
    return None if not verdicts or None in verdicts else all(verdicts)
