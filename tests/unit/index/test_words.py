"""Words as people write them: codes, accents, stems, and nothing of a query language."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag_core.index import words
from rag_core.index.words import MAX_TERMS, WordIndex, query_terms
from rag_core.text.words import STOP_WORDS
from rag_core.types import Question

TEXTS = {
    1: "The write failed with ENOSPC on the third disk.",
    2: "The annual report on Form 10-K was filed in March.",
    3: "Duties of the tenant follow from § 4.2 of the lease.",
    4: "The centre is certified to ISO/IEC 27001 since 2019.",
    5: "Der Umsatz in Zürich stieg; le café naïve du maître.",
    6: "Companies were acquiring subsidiaries and filings grew.",
    7: "The report has 10 chapters on K-theory and 4 on 2-forms.",
    8: "Error code ENOSYS means that a call is not implemented.",
    9: "ISO images of the IEC standard 27002 are kept elsewhere.",
    10: "The company's results, the auditor’s letter and AT&T.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordIndex]:
    made = WordIndex(tmp_path_factory.mktemp("words") / "words.sqlite")
    made.add(list(TEXTS), [("annual › Item 7", text, "v") for text in TEXTS.values()])
    yield made
    made.close()


def ask(index: WordIndex, text: str, k: int = 10) -> list[int]:
    vectors = np.zeros((0, 2), np.float32)
    return [hit.chunk_id for hit in index.retrieve(Question(text, np.zeros(2, np.float32), vectors, vectors), k)]


@pytest.mark.parametrize(
    ("question", "chunk_id"),
    [
        ("ENOSPC", 1),
        ("What does enospc mean?", 1),
        ("10-K", 2),
        ("Where is the 10-K?", 2),
        ("§ 4.2", 3),
        ("What follows from §4.2?", 3),
        ("ISO/IEC 27001", 4),
        ("Is it ISO/IEC 27001 certified?", 4),
        ("AT&T", 10),
    ],
)
def test_codes_are_found_as_they_are_written(index: WordIndex, question: str, chunk_id: int) -> None:
    assert ask(index, question)[0] == chunk_id


def test_a_code_is_not_found_in_another(index: WordIndex) -> None:
    assert 8 not in ask(index, "ENOSPC")


@pytest.mark.parametrize("question", ["Zurich", "ZÜRICH", "zürich", "cafe", "naive", "maitre"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_and_case_make_no_difference(index: WordIndex, question: str, form: str) -> None:
    assert ask(index, unicodedata.normalize(form, question)) == [5]


def test_footnote_marks_make_no_difference(tmp_path: Path) -> None:
    marked = WordIndex(tmp_path / "words.sqlite")
    marked.add([1, 2], [("", "Net sales² were $5.2¹ million in 2021³.", "v"), ("", "Nothing was sold.", "v")])
    for question in ("sales", "5.2", "2021", "sales²"):
        assert ask(marked, question) == [1]
    marked.close()


def test_a_text_with_combining_accents_is_found_by_whole_letters(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    index.add([1], [("", unicodedata.normalize("NFD", "Rückstellung für Altlasten"), "v")])
    assert ask(index, "Rückstellung") == [1]
    index.close()


@pytest.mark.parametrize("question", ["acquired companies", "a company acquires", "subsidiary", "filing"])
def test_english_endings_make_no_difference(index: WordIndex, question: str) -> None:
    assert 6 in ask(index, question)


def test_the_prefix_is_searched_as_well(index: WordIndex) -> None:
    assert len(ask(index, "Item 7", k=100)) == len(TEXTS)


def test_possessives_are_found_by_their_owner(index: WordIndex) -> None:
    assert 10 in ask(index, "auditor")
    assert 10 in ask(index, "the auditor's letter")


def test_words_that_all_texts_hold_do_not_decide(index: WordIndex) -> None:
    assert ask(index, "What is the code of the ENOSYS?")[0] == 8


def test_a_question_of_stop_words_alone_is_still_asked(index: WordIndex) -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert ask(index, "was the") != []


@pytest.mark.parametrize("question", ["", "   ", "?!", "…—", "\x00", "🙂", '"', "'--"])
def test_a_question_without_words_finds_nothing(index: WordIndex, question: str) -> None:
    assert ask(index, question) == []


@pytest.mark.parametrize(
    "question",
    [
        'ENOSPC" OR "zebra',
        "ENOSPC AND zebra",
        "ENOSPC NOT disk",
        "NEAR(ENOSPC zebra, 2)",
        "body : ENOSPC",
        "version:v ENOSPC",
        "^ENOSPC",
        "ENOSPC*",
        "(ENOSPC",
        "{prefix body} : ENOSPC + zebra",
        "-ENOSPC",
        "ENOSPC\x00; DROP TABLE words",
        "'ENOSPC' || '",
    ],
)
def test_operators_are_plain_text(index: WordIndex, question: str) -> None:
    assert ask(index, question)[0] == 1


@given(st.text(max_size=60))
@example("AND OR NOT NEAR")
@example("\ufdfa\u0345ᾳ 𞤀 ǅ ß İ")
@example("a" * 5000)
@example("x " * 3000)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_text_breaks_the_search(index: WordIndex, question: str) -> None:
    ask(index, question)
    index.idf(query_terms(question))


@given(st.text(max_size=200))
@settings(deadline=None)
def test_terms_are_few_and_each_is_asked_once(question: str) -> None:
    found = query_terms(question)
    assert len(found) == len(set(found)) <= MAX_TERMS


def test_rarer_words_have_the_higher_frequency_weight(index: WordIndex) -> None:
    found = index.idf(["enospc", "report", "annual", "zebra"])
    assert found["enospc"] == pytest.approx(math.log((10 + 1) / 1.5))
    assert found["report"] == pytest.approx(math.log((10 + 1) / 2.5))
    assert found["zebra"] == pytest.approx(math.log((10 + 1) / 0.5))
    assert found["annual"] == pytest.approx(math.log((10 + 1) / 10.5))


def test_frequency_weights_are_never_negative(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    assert index.idf(["word"]) == {"word": pytest.approx(math.log(1 / 0.5))}
    index.add([1], [("word", "word", "v")])
    assert index.idf(["word"])["word"] >= 0
    index.close()


def test_frequency_weights_follow_every_change(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    expected = [(0, 0), (2, 1), (2, 2), (1, 1)]
    index_changes = [
        lambda: None,
        lambda: index.add([1, 2], [("", "a lease", "v"), ("", "a loan", "v")]),
        lambda: index.add([2], [("", "another lease", "w")]),
        lambda: index.delete([1]),
    ]
    for (total, held), change in zip(expected, index_changes, strict=True):
        change()
        assert index.idf(["lease"]) == {"lease": pytest.approx(max(0.0, math.log((total + 1) / (held + 0.5))))}
        assert (index.count(), len(index.ids())) == (total, total)
    index.close()


def test_where_words_stand_in_too_many_chunks_the_rarest_decide(
    index: WordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(ask(index, "annual ENOSPC report")) == set(TEXTS)
    monkeypatch.setattr(words, "MAX_POSTINGS", 3)
    assert set(ask(index, "annual ENOSPC report")) == {1, 2, 7}
    # The only one there is, however common it be.
    assert set(ask(index, "annual zebra")) == set(TEXTS)


def test_what_is_left_out_where_enough_is_found_changes_no_order(index: WordIndex) -> None:
    everything = ask(index, "annual ENOSPC report", k=100)
    assert [ask(index, "annual ENOSPC report", k=k) for k in (1, 2, 3)] == [everything[:k] for k in (1, 2, 3)]


def test_no_more_frequencies_are_remembered_than_agreed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_REMEMBERED", 1)
    index = WordIndex(tmp_path / "words.sqlite")
    index.add([1], [("", "lease loan", "v")])
    first = index.idf(["lease", "loan", "lien"])
    assert index.idf(["lien", "loan", "lease"]) == first
    assert first["loan"] < first["lien"]
    index.close()


def test_stop_words_are_lower_case_words() -> None:
    assert {"what", "the", "is"} <= STOP_WORDS
    assert not {word for word in STOP_WORDS if not word.isalpha() or word != word.lower()}


@pytest.mark.parametrize(
    ("word", "beginning", "version", "held"),
    [
        ("boeing", "boei", "v1", True),
        ("italian", "ital", "v1", True),
        ("italian", "ital", "v2", False),
        ("walmart", "walm", "v1", False),
        ("a\"b OR c", "a\"b", "v1", False),
    ],
    ids=["whose stem is shorter", "by its beginning", "another version's", "absent", "no query"],
)  # fmt: skip
def test_whether_a_version_holds_a_word(tmp_path: Path, word: str, beginning: str, version: str, held: bool) -> None:
    words = WordIndex(tmp_path / "words.sqlite")
    words.add([1, 2], [("", "Boeing sells to Italy.", "v1"), ("", "Nothing of it.", "v2")])
    assert words.contains_word(version, word, beginning, (1, 2)) is held
    words.close()


def test_a_word_is_looked_for_within_the_ids_of_a_versions_chunks(tmp_path: Path) -> None:
    words = WordIndex(tmp_path / "words.sqlite")
    words.add([1, 2, 3], [("", "Boeing", "v1"), ("", "Airbus", "v2"), ("", "Embraer", "v1")])
    assert words.contains_word("v1", "embraer", "embr", (1, 3))
    assert not words.contains_word("v1", "embraer", "embr", (1, 2))
    assert not words.contains_word("v1", "airbus", "airb", (1, 3))
    words.close()
