"""The contract of all sources of answers without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from rag_core.answering.sources import SOURCES
from rag_core.answering.sources.candidates import AnswerSource, Candidate
from rag_core.engine import Engine
from rag_core.reading.answer_finding import FoundAnswer
from rag_core.types.answers import AnswerState
from rag_core.types.documents import PageKey
from tests.support.engines import ASK_BUDGET, add_document, assert_cited, open_library

# A new kind of answer may need another document and question, for which it proposes something.
SALES = b"Region,Sales in 2022,Sales in 2023\nNorthern coast,1204,1519\nSouthern coast,804,819\n"
QUESTIONS = {ASK_BUDGET: "42 million", "What were the sales of the Northern coast in 2023?": "1519"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A library with sentences and with a table."""
    with open_library(tmp_path_factory.mktemp("sources") / "data") as engine:
        add_document(engine, "sales.csv", SALES)
        yield engine


@dataclass
class RecordedSource:
    """A source, with the page texts and the candidates of its last call."""

    source: AnswerSource
    page_texts: Mapping[PageKey, str] = field(default_factory=dict)
    candidates: Sequence[Candidate] = ()

    def propose(self, answers: Sequence[FoundAnswer], page_texts: Mapping[PageKey, str]) -> Sequence[Candidate]:
        self.page_texts = page_texts
        self.candidates = list(self.source.propose(answers, page_texts))
        return self.candidates


def assert_valid(candidate: Candidate, page_texts: Mapping[PageKey, str]) -> None:
    """Check that a candidate is on a page that was read, and that its marks are in its quotes."""
    page = page_texts[candidate.page]
    assert candidate.quotes
    assert 0 <= candidate.probability <= 1
    for quote in candidate.quotes:
        assert 0 <= quote.start < quote.end <= len(page)
        assert all(quote.start <= start < end <= quote.end for start, end in quote.marks)
    assert bool(candidate.rows) == (candidate.table is not None)
    assert len(candidate.quotes) >= len(candidate.rows)


@pytest.mark.parametrize("source", SOURCES, ids=lambda one: type(one).__name__)
def test_candidates_are_on_their_pages_and_answer(
    library: Engine, source: AnswerSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = [RecordedSource(one) for one in SOURCES]
    monkeypatch.setattr("rag_core.answering.excerpt_answers.SOURCES", recorded)
    own, proposed = recorded[SOURCES.index(source)], 0
    for question, words in QUESTIONS.items():
        answer = library.answer(question)
        assert answer.state is AnswerState.ANSWERED
        assert words in answer.text
        assert_cited(library, answer)
        for candidate in own.candidates:
            assert_valid(candidate, own.page_texts)
        proposed += len(own.candidates)
    assert proposed


@pytest.mark.parametrize("source", SOURCES, ids=lambda one: type(one).__name__)
def test_nothing_is_proposed_without_answers_of_the_reading_model(source: AnswerSource) -> None:
    assert list(source.propose([], {("v1", 0): "The budget is 42 million euros."})) == []
