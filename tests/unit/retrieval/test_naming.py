"""Documents named in a question rank before others."""

from __future__ import annotations

import pytest

from rag_core.retrieval.reordering import prefer_identified_chunks, prefer_named_documents
from rag_core.text.names import find_document_names, find_lowercase_names
from rag_core.types.retrieval import NAMED_SCORE, Ranking

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
def test_chunks_of_named_documents_are_first_in_their_order(names: list[str], expected: tuple[int, ...]) -> None:
    assert order(*names) == expected


@pytest.mark.parametrize(
    "names",
    [[], ["walmart"], ["eric"], ["cvs", "american", "pepsico", "minutes"]],
    ids=["none", "absent", "within", "all"],
)
def test_names_that_match_no_or_every_document_are_ignored(names: list[str]) -> None:
    ranking = prefer_named_documents(RANKING, names, DOCUMENTS, TEXTS)
    assert ranking.order == RANKING.order
    assert ranking.scores == {**SCORES, NAMED_SCORE: {}}


def test_score_marks_moved_chunks() -> None:
    ranking = prefer_named_documents(RANKING, ["cvs", "american"], DOCUMENTS, TEXTS)
    assert ranking.scores == {**SCORES, NAMED_SCORE: {}}
    ranking = prefer_named_documents(RANKING, ["american"], DOCUMENTS, TEXTS)
    assert ranking.scores == {**SCORES, NAMED_SCORE: {2: 1.0, 1: 0.0, 3: 0.0, 4: 0.0}}


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
def test_names_of_a_question(question: str, names: list[str]) -> None:
    assert find_document_names(question) == names


def test_possible_names_of_a_lower_case_question() -> None:
    assert find_lowercase_names("what did pepsico’s auditors say in fy22, and the it?") == [
        "pepsico",
        "auditors",
        "say",
    ]
    assert find_lowercase_names("What did pepsico say?") == []


def test_first_chunks_are_kept_for_uncertain_names() -> None:
    assert prefer_named_documents(RANKING, ["pep"], DOCUMENTS, TEXTS, kept=1).order == (1, 3, 4, 2)
    assert prefer_named_documents(RANKING, ["american"], DOCUMENTS, TEXTS, kept=2).order == RANKING.order


def test_accents_are_ignored() -> None:
    documents = DOCUMENTS | {2: "Nestle\u0301 2022", 3: "MÜLLER Vertrag"}
    assert prefer_named_documents(RANKING, ["nestle"], documents, TEXTS).order == (2, 1, 3, 4)
    assert prefer_named_documents(RANKING, ["muller"], documents, TEXTS | {4: "Herr Müller"}).order == (3, 4, 1, 2)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does part VX-7331-A cost?", (3, 1, 2, 4)),
        ("Where is asset 27 480 119?", (4, 1, 2, 3)),
        ("What does part VX-7331-B cost?", (1, 2, 3, 4)),
        ("What does a gate valve cost?", (1, 2, 3, 4)),
    ],
    ids=["a code", "a number with groups", "a code that no chunk contains", "no code"],
)
def test_chunks_with_a_code_of_the_question_are_first(question: str, expected: tuple[int, ...]) -> None:
    texts = {1: "VX-7331 gate valve", 2: "VX-7330-A shaft seal", 3: "VX-7331-A ball bearing", 4: "27480119 hex bolt"}
    found = prefer_identified_chunks(RANKING, question, DOCUMENTS, texts)
    assert found.order == expected
    if expected != RANKING.order:
        assert found.scores[NAMED_SCORE] == {one: float(one == expected[0]) for one in expected}


def test_code_in_many_chunks_does_not_change_the_ranking() -> None:
    ranking = Ranking(tuple(range(7)), {"rerank": {}})
    texts = dict.fromkeys(range(1, 7), "Manual of the RX-4000")
    assert prefer_identified_chunks(ranking, "How is the RX-4000 cleaned?", {}, texts) is ranking


def test_code_in_the_name_of_a_document_does_not_change_the_ranking() -> None:
    documents, texts = {**DOCUMENTS, 2: "hybrid-protocol-v1.0.23"}, {**TEXTS, 3: "Changes in V1.0.23"}
    question = "Which register stores the mode in V1.0.23?"
    assert prefer_identified_chunks(RANKING, question, documents, texts) is RANKING
    assert prefer_identified_chunks(RANKING, question, DOCUMENTS, texts).order == (3, 1, 2, 4)
