"""A search that was begun before gives what it found, or what went wrong, when it is asked for it."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
import pytest

from rag_core.errors import StoreUnavailable
from rag_core.retrieval.begun import Begun
from rag_core.types import Hit, Question

QUESTION = Question("q", np.ones(2, np.float32), np.ones((1, 2), np.float32), np.array([[0, 1]], np.int32))


def test_what_was_found_is_given_best_first_and_no_more_than_wanted() -> None:
    found: Future[list[Hit]] = Future()
    begun = Begun("bm25", found)
    found.set_result([Hit(3, 2.0), Hit(1, 1.0), Hit(2, 0.5)])
    assert begun.name == "bm25"
    assert [hit.chunk_id for hit in begun.retrieve(QUESTION, 2)] == [3, 1]
    assert [hit.chunk_id for hit in begun.retrieve(QUESTION, 10)] == [3, 1, 2]


def test_what_went_wrong_is_raised_where_it_is_asked_for() -> None:
    found: Future[list[Hit]] = Future()
    found.set_exception(StoreUnavailable("The word index does not answer."))
    with pytest.raises(StoreUnavailable, match="The word index does not answer"):
        Begun("bm25", found).retrieve(QUESTION, 2)
