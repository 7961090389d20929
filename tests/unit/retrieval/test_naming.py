"""A question that names a document is answered from it before others."""

from __future__ import annotations

import pytest

from rag_core.retrieval.reordering import prefer_named_documents
from rag_core.text.names import document_name_terms, lowercase_name_terms
from rag_core.types.retrieval import NAMED, Ranking

SCORES = {"rerank": {1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6}}
RANKING = Ranking((1, 2, 3, 4), SCORES)
DOCUMENTS = {1: "CVSHEALTH 2022 10K", 2: "AMERICANEXPRESS 2022 10K", 3: "report-03 · PepsiCo, Inc. PEP", 4: "minutes"}
TEXTS = {
    1: "Geographies hit by the pandemic.",
    2: "Where we operate.",
    3: "It operates abroad.",
    4: "Pepsico and others.",
}


def order(*names: str) -> tuple[int, ...]:
    return prefer_named_documents(RANKING, names, DOCUMENTS, TEXTS).order


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["american", "express"], (2, 1, 3, 4)),
        (["pep"], (3, 4, 1, 2)),
        (["cvs", "pepsico"], (1, 3, 4, 2)),
    ],
    ids=["run together", "a symbol, and a text that has it", "two of them"],
)
def test_chunks_of_what_is_named_come_first_in_their_order(names: list[str], expected: tuple[int, ...]) -> None:
    assert order(*names) == expected


@pytest.mark.parametrize(
    "names",
    [[], ["walmart"], ["eric"], ["health", "minutes", "express", "inc"]],
    ids=["none", "absent", "within", "all"],
)
def test_names_that_tell_no_document_from_another_change_nothing(names: list[str]) -> None:
    found = prefer_named_documents(RANKING, names, DOCUMENTS, TEXTS)
    assert found.order == RANKING.order
    assert found.scores == {**SCORES, NAMED: {}}


def test_a_name_of_every_document_changes_nothing() -> None:
    documents = dict.fromkeys(DOCUMENTS, "PepsiCo 2022") | {4: "PepsiCo 2021"}
    assert prefer_named_documents(RANKING, ["pepsico"], documents, TEXTS).order == RANKING.order


def test_the_score_tells_what_was_moved_and_leaves_the_others_alone() -> None:
    found = prefer_named_documents(RANKING, ["cvs", "express"], DOCUMENTS, TEXTS)
    assert found.scores == {**SCORES, NAMED: {}}, "both come first as they are"
    found = prefer_named_documents(RANKING, ["express"], DOCUMENTS, TEXTS)
    assert found.scores == {**SCORES, NAMED: {2: 1.0, 1: 0.0, 3: 0.0, 4: 0.0}}


def test_chunks_that_are_gone_come_last() -> None:
    known = {one: DOCUMENTS[one] for one in (2, 3, 4)}
    assert prefer_named_documents(RANKING, ["express"], known, TEXTS).order == (2, 1, 3, 4)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does American Express operate as of FY2022?", ["american", "express"]),
        ("What did PepsiCo's auditors say?", ["pepsico"]),
        ("How many decimals does the report give? Answer in USD.", []),
        ("Is 3M liable? Does GE pay?", []),
        ("who is it?", []),
        ("what did pepsico’s auditors say in 2022?", []),
        ("Did Ann tell JnJ of the Müller case, or Nestlé?", ["jnj", "muller", "nestle"]),
    ],
)
def test_what_a_question_names(question: str, names: list[str]) -> None:
    assert document_name_terms(question) == names


def test_what_a_question_without_capitals_may_name() -> None:
    assert lowercase_name_terms("what did pepsico’s auditors say in fy22, and the it?") == [
        "pepsico",
        "auditors",
        "say",
    ]
    assert lowercase_name_terms("What did pepsico say?") == []


def test_the_first_stay_where_a_name_may_be_none() -> None:
    assert prefer_named_documents(RANKING, ["pep"], DOCUMENTS, TEXTS, kept=1).order == (1, 3, 4, 2)
    assert prefer_named_documents(RANKING, ["express"], DOCUMENTS, TEXTS, kept=2).order == RANKING.order


def test_accents_make_no_difference() -> None:
    documents = DOCUMENTS | {2: "Nestle\u0301 2022", 3: "MÜLLER Vertrag"}
    assert prefer_named_documents(RANKING, ["nestle"], documents, TEXTS).order == (2, 1, 3, 4)
    assert prefer_named_documents(RANKING, ["muller"], documents, TEXTS | {4: "Herr Müller"}).order == (3, 4, 1, 2)
