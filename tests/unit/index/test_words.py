"""The word index: codes, accents, stems, and questions without query syntax."""

from __future__ import annotations

import math
import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag_core.index import words
from rag_core.index.retriever import ChunkBatch
from rag_core.index.words import MAX_TERMS, WordIndex, find_query_terms
from rag_core.text.normalize import normalize_characters
from rag_core.types.retrieval import CountedAlone, Hit, Question, build_unembedded_question

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
    index = WordIndex(tmp_path_factory.mktemp("words") / "words.sqlite")
    index.add(ChunkBatch(list(TEXTS), [("annual › Item 7", text) for text in TEXTS.values()], ["v"] * len(TEXTS)))
    yield index
    index.close()


@pytest.fixture
def empty_index(tmp_path: Path) -> Iterator[WordIndex]:
    """Return an index without texts."""
    index = WordIndex(tmp_path / "words.sqlite")
    yield index
    index.close()


def add(index: WordIndex, *texts: str) -> None:
    """Add texts to an empty index with the ids 1, 2 and so on."""
    index.add(ChunkBatch(range(1, len(texts) + 1), [("", text) for text in texts], ["v"] * len(texts)))


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
        ("auditor", 10),
        ("the auditor's letter", 10),
        ("What is the code of the ENOSYS?", 8),
    ],
)
def test_best_match_has_the_code_or_word(index: WordIndex, question: str, chunk_id: int) -> None:
    assert ask(index, question)[0] == chunk_id


def test_code_does_not_match_a_similar_code(index: WordIndex) -> None:
    assert 8 not in ask(index, "ENOSPC")


@pytest.mark.parametrize("question", ["Zurich", "ZÜRICH", "zürich", "cafe", "naive", "maitre"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_and_case_are_ignored(index: WordIndex, question: str, form: str) -> None:
    assert ask(index, unicodedata.normalize(form, question)) == [5]


@pytest.mark.parametrize("question", ["sales", "5.2", "2021", "sales²"])
def test_footnote_marks_are_ignored(empty_index: WordIndex, question: str) -> None:
    add(empty_index, "Net sales² were $5.2¹ million in 2021³.", "Nothing was sold.")
    assert ask(empty_index, question) == [1]


def test_text_with_combining_accents_is_found(empty_index: WordIndex) -> None:
    add(empty_index, unicodedata.normalize("NFD", "Rückstellung für Altlasten"))
    assert ask(empty_index, "Rückstellung") == [1]


@pytest.mark.parametrize("question", ["acquired companies", "a company acquires", "subsidiary", "filing"])
def test_english_endings_are_ignored(index: WordIndex, question: str) -> None:
    assert 6 in ask(index, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Die Häuser am Hang wurden verkauft, die Gärten nicht.", "Wem gehörte das verkaufte Haus am Hang?"),
        ("Les chevaux sont nourris deux fois par jour avec du foin.", "Combien de fois faut-il nourrir un cheval ?"),
        ("游泳馆每周二至周日开放，周一闭馆。", "游泳馆什么时候闭馆？"),
        ("本は一人十冊まで借りることができます。", "一人何冊借りられますか？"),
        ("도서관은 매주 월요일에 휴관합니다.", "도서관 휴관일은 언제입니까?"),
        ("يبلغ رسم الاشتراك السنوي ستين دينارا.", "ما رسوم اشتراك السنة؟"),
    ],
)
def test_words_of_other_languages_are_found(empty_index: WordIndex, text: str, question: str) -> None:
    add(empty_index, text, "第二条 收费标准", "The harbour is closed.", "Das Boot liegt im Hafen.")
    assert ask(empty_index, question)[:1] == [1]
    assert ask(empty_index, "What does the harbour charge?") == [3]


def test_prefix_is_searched(index: WordIndex) -> None:
    assert len(ask(index, "Item 7", k=100)) == len(TEXTS)


def test_question_of_stop_words_is_searched(index: WordIndex) -> None:
    assert find_query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert ask(index, "was the") != []


@pytest.mark.parametrize("question", ["", "   ", "?!", "…—", "\x00", "🙂", '"', "'--"])
def test_question_without_words_has_no_hits(index: WordIndex, question: str) -> None:
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
def test_query_operators_are_plain_text(index: WordIndex, question: str) -> None:
    assert ask(index, question)[0] == 1


@given(st.text(max_size=200))
@example("AND OR NOT NEAR")
@example("\ufdfa\u0345ᾳ 𞤀 ǅ ß İ")
@example("a" * 5000)
@example("x " * 3000)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_question_can_be_searched(index: WordIndex, question: str) -> None:
    ask(index, question)
    terms = find_query_terms(question)
    index.idf(terms)
    assert len(terms) == len(set(terms)) <= MAX_TERMS


def test_rarer_words_have_higher_idf(index: WordIndex) -> None:
    weights = index.idf(["enospc", "report", "annual", "zebra"])
    assert weights["enospc"] == pytest.approx(math.log((10 + 1) / 1.5))
    assert weights["report"] == pytest.approx(math.log((10 + 1) / 2.5))
    assert weights["zebra"] == pytest.approx(math.log((10 + 1) / 0.5))
    assert weights["annual"] == pytest.approx(math.log((10 + 1) / 10.5))


def test_idf_is_never_negative(empty_index: WordIndex) -> None:
    assert empty_index.idf(["word"]) == {"word": pytest.approx(math.log(1 / 0.5))}
    empty_index.add(ChunkBatch([1], [("word", "word")], ["v"]))
    assert empty_index.idf(["word"])["word"] >= 0


def test_idf_follows_changes_of_the_index(empty_index: WordIndex) -> None:
    def check(total: int, matching: int) -> None:
        idf = max(0.0, math.log((total + 1) / (matching + 0.5)))
        assert empty_index.idf(["lease"]) == {"lease": pytest.approx(idf)}
        assert (empty_index.count(), len(empty_index.ids())) == (total, total)

    check(0, 0)
    add(empty_index, "a lease", "a loan")
    check(2, 1)
    empty_index.add(ChunkBatch([2], [("", "another lease")], ["w"]))
    check(2, 2)
    empty_index.delete([1])
    check(1, 1)


def test_only_the_rarest_words_are_searched_beyond_a_limit(index: WordIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(ask(index, "annual ENOSPC report")) == set(TEXTS)
    monkeypatch.setattr(words, "MAX_POSTINGS", 3)
    assert set(ask(index, "annual ENOSPC report")) == {1, 2, 7}
    # The only indexed word of the question.
    assert set(ask(index, "annual zebra")) == set(TEXTS)


def test_smaller_k_does_not_change_the_order(index: WordIndex) -> None:
    all_hits = ask(index, "annual ENOSPC report", k=100)
    assert [ask(index, "annual ENOSPC report", k=k) for k in (1, 2, 3)] == [all_hits[:k] for k in (1, 2, 3)]


def test_idf_cache_is_limited(empty_index: WordIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_CACHED_WORDS", 1)
    add(empty_index, "lease loan")
    first = empty_index.idf(["lease", "loan", "lien"])
    assert empty_index.idf(["lien", "loan", "lease"]) == first
    assert first["loan"] < first["lien"]


@pytest.mark.parametrize(
    ("word", "beginning", "version", "expected"),
    [
        ("boeing", "boei", "v1", True),
        ("italian", "ital", "v1", True),
        ("italian", "ital", "v2", False),
        ("walmart", "walm", "v1", False),
        ('a"b OR c', 'a"b', "v1", False),
    ],
    ids=["with a shorter stem", "by its beginning", "of another version", "absent", "query syntax"],
)
def test_find_words_searches_a_version(
    empty_index: WordIndex, word: str, beginning: str, version: str, expected: bool
) -> None:
    empty_index.add(ChunkBatch([1, 2], [("", "Boeing sells to Italy."), ("", "Nothing of it.")], ["v1", "v2"]))
    found = empty_index.find_words([(word, beginning)], {version: (1, 2)})
    assert found == ({(version, word, beginning)} if expected else set())


def test_find_words_searches_a_range_of_chunks(empty_index: WordIndex) -> None:
    empty_index.add(ChunkBatch([1, 2, 3], [("", "Boeing"), ("", "Airbus"), ("", "Embraer")], ["v1", "v2", "v1"]))
    pairs = [("embraer", "embr"), ("airbus", "airb")]
    assert empty_index.find_words(pairs, {"v1": (1, 3), "v2": (2, 2)}) == {("v1", *pairs[0]), ("v2", *pairs[1])}
    assert empty_index.find_words(pairs, {"v1": (1, 2)}) == set()
    assert empty_index.find_words([], {}) == set()


@pytest.mark.parametrize("written", ["70 555 018", "70,555,018", "70.555.018", "70\u00a0555\u202f018", "70555018"])
@pytest.mark.parametrize("asked", ["70555018", "70 555 018", "70,555,018"])
def test_digit_groups_are_one_number(empty_index: WordIndex, written: str, asked: str) -> None:
    written = normalize_characters(written)
    add(empty_index, f"No. {written}.", "No. 70 555 019.", "No. 555 018 70.")
    assert ask(empty_index, asked) == [1]


@pytest.mark.parametrize("text", ["1.5", "12,34", "1.2345", "3.14.159", "1,234.5", "version 1.234.5", "v1.234"])
def test_decimals_and_versions_are_no_digit_groups(text: str) -> None:
    digits = re.sub(r"\D", "", text)
    assert digits not in find_query_terms(text)


def test_abbreviations_are_found_in_both_forms_until_their_chunk_is_deleted(empty_index: WordIndex) -> None:
    index = empty_index
    add(
        index, "The Lighthouse Keepers Guild (LKG) met.", "The Guild of Local Keepers (GLK) and the Keepers Guild (KG)."
    )
    assert index.find_forms("Who leads the LKG?", ["v"]) == {"LKG": ["Lighthouse Keepers Guild"]}
    assert index.find_forms("who leads the lighthouse keepers guild?") == {"lighthouse keepers guild": ["LKG"]}
    assert index.find_forms("Who leads the LKG?", ["other"]) == index.find_forms("Who leads it?") == {}
    index.delete([1])
    assert index.find_forms("Who leads the LKG?") == {}


def test_index_of_an_earlier_version_gets_its_abbreviations(tmp_path: Path) -> None:
    index = WordIndex(tmp_path / "words.sqlite")
    add(index, "The Lighthouse Keepers Guild (LKG) met.")
    index.close()
    with sqlite3.connect(tmp_path / "words.sqlite") as connection:
        connection.execute("DROP TABLE forms")
    connection.close()
    index = WordIndex(tmp_path / "words.sqlite")
    assert index.find_forms("Who leads the LKG?") == {"LKG": ["Lighthouse Keepers Guild"]}
    index.close()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Orsolay", "Orsolya"),
        ("Orsoya", "Orsolya"),
        ("Vanderbusk", "Vandenbosk"),
        ("orsolay", ""),  # a word in lower case is no name
        ("Marrin", ""),  # both names differ from it by one letter
        ("Ursolya", ""),
        ("Orsal", ""),
    ],
)
def test_similar_word_is_found_if_it_is_the_only_one(empty_index: WordIndex, written: str, meant: str) -> None:
    add(empty_index, "Orsolya Vandenbosk met Martin and Marvin.", "Orsolya left.")
    assert empty_index.find_similar_word(written) == meant


def test_words_counted_alone_rank_as_in_an_index_of_their_own(tmp_path: Path) -> None:
    own = [f"The canal lock {number} has a gate of oak and {'iron ' * number}." for number in range(1, 9)]
    others = [f"The canal gate of {'quay ' * number}iron." for number in range(1, 40)]
    alone, shared = WordIndex(tmp_path / "alone.sqlite"), WordIndex(tmp_path / "shared.sqlite")
    # In the shared index, other chunks lie between the own ones, and make their common words rare or frequent.
    places = [7 * number + 1 for number in range(len(own))]
    alone.add(ChunkBatch(places, [("", text) for text in own], ["own"] * len(own)))
    shared.add(ChunkBatch(places, [("", text) for text in own], ["own"] * len(own)))
    between = [place for place in range(60) if place not in places][: len(others)]
    shared.add(ChunkBatch(between, [("", text) for text in others], ["other"] * len(others)))
    versions = CountedAlone(["own"], lambda _: places)
    for asked in ("Which canal gate is of iron?", "oak lock 3", "quay", "Is the 10-K of oak?"):
        question = build_unembedded_question(asked)
        expected, found = (index.retrieve(question, 20, versions) for index in (alone, shared))
        assert [one.chunk_id for one in found] == [one.chunk_id for one in expected], asked
        assert alone.idf(asked.split(), versions) == shared.idf(asked.split(), versions)
    # Within an index of their own, they rank as any chunks do.
    usual = alone.retrieve(build_unembedded_question("oak lock 3"), 20)
    assert alone.retrieve(build_unembedded_question("oak lock 3"), 20, versions) == [
        Hit(one.chunk_id, pytest.approx(one.score)) for one in usual
    ]
    alone.close()
    shared.close()
