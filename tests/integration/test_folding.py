"""Duplicates: equal texts of several documents are shown as one passage with all its places."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.engine import Engine
from rag_core.types.evaluation import Evaluation, Label, LabelKind, LabelledPage
from tests.support.engines import ASK_BUDGET, BUDGET, COPPER, PENGUINS, open_library, store_answer


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Three facts; the first is also in a second document and, with another value, in a third."""
    documents = {
        "bridge.pdf": [BUDGET],
        "copy.pdf": [COPPER, BUDGET.replace("Building", "building")],
        "draft.pdf": [BUDGET.replace("42", "41")],
        "birds.pdf": [PENGUINS],
    }
    with open_library(tmp_path_factory.mktemp("folding") / "data", documents) as engine:
        yield engine


def test_duplicates_take_one_rank_and_list_their_places(library: Engine) -> None:
    result = library.search(ASK_BUDGET, top_k=4)
    assert [passage.rank for passage in result.passages] == [1, 2, 3, 4]
    (folded,) = (passage for passage in result.passages if passage.duplicates)
    pages = {"bridge.pdf": "1", "copy.pdf": "2"}
    (other,) = pages.keys() - {folded.document}
    assert [(duplicate.document, duplicate.page_label) for duplicate in folded.duplicates] == [(other, pages[other])]
    assert {" ".join(passage.text.split()) for passage in result.passages if passage is not folded} == {
        BUDGET.replace("42", "41"),
        PENGUINS,
        COPPER,
    }


def test_duplicates_are_stored_with_the_answer(library: Engine) -> None:
    answer = library.answer(ASK_BUDGET)
    assert any(passage.duplicates for passage in answer.passages)
    assert store_answer(library, answer) == answer


@pytest.mark.parametrize("name", ["bridge.pdf", "copy.pdf"])
def test_label_on_either_copy_counts_as_found_and_cited(library: Engine, name: str) -> None:
    label = Label("one", ASK_BUDGET, LabelKind.ANSWERABLE, (LabelledPage(name, quote="42 million euros"),))
    *_, evaluation = library.evaluations.run([label])
    assert isinstance(evaluation, Evaluation)
    values = {figure.metric: figure.interval.value for figure in evaluation.figures}
    assert values["recall@1"] == 1.0
    # Without a model, the answer has two further excerpts from other places.
    assert values["cited_page"] == pytest.approx(1 / 3)


def test_explanation_shows_duplicates_separately(library: Engine) -> None:
    assert len(library.explain(ASK_BUDGET).passages) == 5
