"""Stale evidence behind a wrong answer."""

from __future__ import annotations

import pytest

from rag_core.evaluation.evidence_metrics import add_evidence, weigh_evidence
from rag_core.types.answers import Answer, AnswerState, Citation
from rag_core.types.evaluation import Label, LabelKind, QuestionResult
from rag_core.types.retrieval import Gate
from tests.support.passages import passage

RIGHT, STALE = ("new", 3), ("old", 3)
LABEL = Label("terms", "How long is the cover?", LabelKind.ANSWERABLE, answers=("36 months",))
NEW = passage(1, "The cover is 36 months.", document_id="new", version_id="new", scores={"rerank": 0.5})
ANSWERS = {"c1": {"36 months": 1.0}, "c2": {"24 months": 1.0}}
OLD = passage(2, "The cover is 24 months.", document_id="old", version_id="old", scores={"rerank": 0.4})


def describe_problem(ages: dict[str, float], freshness: float) -> str:
    """Return the problem of a wrong answer that cites the old page."""
    answer = Answer(
        LABEL.question,
        AnswerState.ANSWERED,
        OLD.text,
        (Citation.of(OLD, 0, len(OLD.text)),),
        (NEW, OLD),
        Gate("answerable", 0.9, 0.8, True),
        "extractive",
        {},
    )
    wrong = QuestionResult(
        LABEL.label_id, LABEL.question, LABEL.kind, ("new.pdf, page iv",), 1, {}, answered=True, wrong=True
    )
    stale = {STALE: "old.pdf, page iv"}
    evidence = weigh_evidence(LABEL, [NEW, OLD], {RIGHT}, stale, ANSWERS, ages, freshness)
    return add_evidence(wrong, LABEL, answer, evidence, stale).problem


CITES = "Covered but wrong: the answer cites a stale page (old.pdf, page iv)."
OUTWEIGHS = "Covered but wrong: a stale chunk outweighs it (old.pdf, page iv: "
OLDER = {"new": 3650.0, "old": 0.0}


@pytest.mark.parametrize(
    ("ages", "freshness", "problem"), [({}, 0.0, CITES), (OLDER, 0.0, CITES), (OLDER, 0.3, OUTWEIGHS)]
)
def test_cited_stale_page_outweighs_only_with_more_weight(
    ages: dict[str, float], freshness: float, problem: str
) -> None:
    assert describe_problem(ages, freshness).startswith(problem)


def test_weights_need_the_scores_of_the_reranker() -> None:
    unscored = passage(1)
    assert weigh_evidence(LABEL, [unscored], {RIGHT}, {}, {}, {}, 0.0) is None
    weighed = weigh_evidence(LABEL, [NEW, OLD], {RIGHT}, {}, ANSWERS, {}, 0.0)
    assert weighed is not None
    assert weighed.mass == pytest.approx(0.88, abs=0.01)
