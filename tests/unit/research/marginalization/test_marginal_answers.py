"""The weights of the passages over which a short answer is generated."""

from __future__ import annotations

import math

import pytest

from rag_core.answering.trace import AnswerTrace
from rag_core.research.marginalization.marginal_answers import NO_SCORES, weigh_by_rerank
from tests.support.passages import passage


def test_weights_are_the_softmax_of_the_rerank_scores() -> None:
    trace = AnswerTrace()
    passages = [passage(1, scores={"rerank": 0.65}), passage(2, scores={"rerank": 0.6})]
    assert weigh_by_rerank(passages, trace) == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
    assert trace.notices == []


def test_passages_without_scores_have_equal_weights() -> None:
    trace = AnswerTrace()
    assert weigh_by_rerank([passage(1), passage(2, scores={"rerank": 0.6})], trace) == [0.5, 0.5]
    assert trace.notices == [NO_SCORES]
