"""Collect the verdicts of a judge over an evaluation, and count how often others agree with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from rag_core.types import Agreement, Answer, Judgement, JudgeReport, PageKey, Usage

STATEMENTS = "judge and verifier: statements"
PASSAGES = "judge and labels: passages"
ANSWERS = "judge and labels: answers"


def count_agreement(raters: str, pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Return how often two raters agree, given their pairs of verdicts."""
    counts = Counter(pairs)
    return Agreement(raters, counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def report_judgements(judgements: Sequence[Judgement], writer: str, agreements: Sequence[Agreement]) -> JudgeReport:
    """Return the report over all judgements of an evaluation.

    ``agreements`` are those with labels; the agreement with the verifier is added, and agreements without pairs are
    left out.
    """
    statements = tuple(one for judgement in judgements for one in judgement.statements)
    judged = [(one.judge, one.verifier) for one in statements if one.judge is not None]
    both = [count_agreement(STATEMENTS, judged), *agreements]
    return JudgeReport(
        judge=judgements[0].judge,
        writer=writer,
        answers=len(judgements),
        not_judged=dict(Counter(metric for one in judgements for metric in one.not_judged)),
        agreements=tuple(one for one in both if one.n),
        statements=statements,
        usage=sum((one.usage for one in judgements), Usage()),
        seconds=sum(one.seconds for one in judgements),
        problems=tuple(dict.fromkeys(problem for one in judgements for problem in one.problems)),
    )


def pair_passages(
    answer: Answer, judgement: Judgement, relevant: Collection[PageKey] | Mapping[PageKey, str]
) -> list[tuple[bool, bool]]:
    """Return for each judged passage whether the judge finds it useful, and whether it is on a labelled page.

    A passage with a near duplicate on a labelled page counts as on this page.
    """
    pairs = []
    for passage in answer.passages:
        if passage.rank in judgement.passages:
            pages = {(passage.document_id, page) for page in passage.page_indices}
            pages |= {place.key for place in passage.duplicates}
            pairs.append((judgement.passages[passage.rank], not pages.isdisjoint(relevant)))
    return pairs


def is_faithful(judgement: Judgement) -> bool | None:
    """Return whether the judge supports all statements of an answer; ``None`` if it did not judge them all."""
    verdicts = [one.judge for one in judgement.statements]
    return None if not verdicts or None in verdicts else all(verdicts)
