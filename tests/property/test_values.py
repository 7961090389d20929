"""Round trips of stored values, fusion of rankings, and file names."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rag_core.embedding.projection import LARGEST, Projection, quantize
from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.store import serialization
from rag_core.store.file_names import clean_name
from rag_core.types.answers import Answer, AnswerState, Citation, Claim
from rag_core.types.chunks import ChunkSpan, Embedding
from rag_core.types.documents import Page, PageReference, PageState, WordBoxes
from rag_core.types.retrieval import Gate, Passage

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NUMBER = st.integers(0, 2**31 - 1)
SCORE = st.floats(-1, 1)
MATRIX = st.integers(0, 12).flatmap(
    lambda n: arrays.arrays(np.float32, (n, 16), elements=st.floats(-4, 4, width=32, allow_subnormal=False))
)


@given(MATRIX)
def test_quantization_error_is_at_most_half_a_step(vectors: np.ndarray) -> None:
    values, scales = quantize(vectors)
    assert values.dtype == np.int8
    assert values.shape == vectors.shape
    assert np.abs(values).max(initial=0) <= LARGEST
    steps = vectors / scales[:, None]
    whole = np.abs(values) < LARGEST
    assert (np.abs(values - steps)[whole] <= 0.5 + 1e-3).all()
    assert (np.abs(steps)[~whole] >= LARGEST - 0.5 - 1e-3).all()
    assert (values * vectors >= 0).all()


@given(MATRIX)
def test_token_vectors_round_trip(vectors: np.ndarray) -> None:
    values, scales = quantize(vectors)
    row = serialization.pack_embedding(Embedding(np.ones(4, np.float32), values, scales))
    [(tokens, back)] = serialization.unpack_tokens([(row["tokens"], row["scales"])])
    assert len(row["tokens"]) == values.size // 2
    assert len(tokens) == len(back) == len(vectors)
    if not len(vectors):
        return
    assert np.allclose(tokens * back[:, None], values * scales[:, None], rtol=1e-3, atol=1e-6)


def test_token_vectors_of_several_texts_are_unpacked_separately() -> None:
    random = np.random.default_rng(2)
    quantized = [quantize(random.standard_normal((n, 8)).astype(np.float32)) for n in (3, 1, 5)]
    packed = [serialization.pack_embedding(Embedding(np.ones(4, np.float32), *vectors)) for vectors in quantized]
    rows = [(row["tokens"], row["scales"]) for row in packed]
    unpacked = serialization.unpack_tokens(rows)
    assert [tokens.shape for tokens, _ in unpacked] == [(3, 8), (1, 8), (5, 8)]
    for row, (tokens, scales) in zip(rows, unpacked, strict=True):
        [(expected_tokens, expected_scales)] = serialization.unpack_tokens([row])
        assert np.array_equal(tokens, expected_tokens)
        assert np.array_equal(scales, expected_scales)
    assert serialization.unpack_tokens([]) == []


@pytest.mark.parametrize("dimension", [1, 2, 15, 384])
def test_rotation_keeps_inner_products_and_has_even_dimension(dimension: int) -> None:
    vectors = np.random.default_rng(1).standard_normal((9, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rotation = Projection.rotation(dimension)
    rotated = rotation.apply(vectors)
    assert rotated.shape == (9, rotation.token_dimension)
    assert rotation.token_dimension == dimension + dimension % 2
    assert np.allclose(rotated @ rotated.T, vectors @ vectors.T, atol=1e-5)


def test_quantization_of_rotated_vector_loses_under_one_percent() -> None:
    # A single large value is the worst case for levels of equal size.
    vectors = np.full((1, 256), 0.01, np.float32)
    vectors[0, 3] = 1.0
    rotated = Projection.rotation(256).apply(vectors)
    values, scales = quantize(rotated)
    restored = values * scales[:, None]
    assert float((restored @ rotated.T)[0, 0]) / np.linalg.norm(restored) > 0.99


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 40)), max_size=30), st.randoms())
def test_word_boxes_round_trip(words: list[tuple[int, int]], random: object) -> None:
    starts = np.array(sorted(start for start, _ in words), np.int32)
    ends = starts + np.array([length for _, length in words], np.int32)
    rects = np.linspace(0, 1, 4 * len(words), dtype=np.float32).reshape(-1, 4)
    restored = serialization.unpack_boxes(serialization.pack_boxes(WordBoxes(starts, ends, rects)))
    assert np.array_equal(restored.starts, starts)
    assert np.array_equal(restored.ends, ends)
    assert np.array_equal(restored.rects, rects)


class Row:
    def __init__(self, values: dict[str, object]) -> None:
        self.__dict__ |= values


PAGES = st.builds(
    Page,
    page_index=NUMBER,
    page_label=TEXT,
    text=TEXT,
    state=st.sampled_from(PageState),
    width=st.floats(0, 5000),
    height=st.floats(0, 5000),
    heading=TEXT,
    reason=TEXT,
    confidence=st.none() | st.floats(0, 1),
    skip=st.lists(st.tuples(NUMBER, NUMBER), max_size=3).map(tuple),
    hidden=TEXT,
)


@given(PAGES)
def test_pages_round_trip(page: Page) -> None:
    row = serialization.page_to_row(page)
    row["skip"] = json.loads(json.dumps(row["skip"]))
    restored = serialization.page_from_row(Row(row | {"hidden": page.hidden or None, "tables": None}))
    names = ("page_index", "page_label", "text", "state", "width", "heading", "reason", "confidence", "skip", "hidden")
    for name in names:
        assert getattr(restored, name) == getattr(page, name)


SPANS = st.builds(
    ChunkSpan,
    **dict.fromkeys(("ordinal", "page_index", "start", "page_index_end", "end", "tokens"), NUMBER),
    **dict.fromkeys(("text", "prefix", "heading"), TEXT),
    sentences=st.lists(st.integers(0, 8192), max_size=6).map(tuple),
)


@given(SPANS)
def test_chunks_round_trip(span: ChunkSpan) -> None:
    assert serialization.chunk_from_row(Row(serialization.chunk_to_row(span))) == span


@given(TEXT, TEXT, TEXT)
def test_text_hash_identifies_prefix_and_text(prefix: str, text: str, other: str) -> None:
    first, second = (prefix, text), (prefix + other, text)
    assert (serialization.hash_text(*first) == serialization.hash_text(*second)) == (first == second)


PASSAGES = st.builds(
    Passage,
    **dict.fromkeys(("rank", "page_index", "page_index_end", "start", "end"), NUMBER),
    **dict.fromkeys(("chunk_id", "document_id", "version_id", "document", "page_label", "text", "heading"), TEXT),
    scores=st.dictionaries(st.sampled_from(["dense", "bm25", "rrf", "rerank"]), st.none() | SCORE),
    instructions=st.booleans(),
    duplicates=st.lists(st.builds(PageReference, TEXT, TEXT, NUMBER, TEXT), max_size=2).map(tuple),
    hidden=TEXT,
)
CITATIONS = st.builds(
    Citation,
    **dict.fromkeys(("marker", "passage_rank", "page_index", "start", "end"), NUMBER),
    **dict.fromkeys(("document_id", "version_id", "document", "chunk_id", "page_label", "quote"), TEXT),
)
ANSWERS = st.builds(
    Answer,
    question=TEXT,
    state=st.sampled_from(AnswerState),
    text=TEXT,
    citations=st.lists(CITATIONS, max_size=2).map(tuple),
    passages=st.lists(PASSAGES, max_size=2).map(tuple),
    gate=st.builds(Gate, TEXT, SCORE, SCORE, st.booleans()),
    generator=TEXT,
    timings_ms=st.dictionaries(TEXT, SCORE, max_size=3),
    notices=st.lists(TEXT, max_size=2).map(tuple),
    stopped=st.booleans(),
    statements=st.lists(st.builds(Claim, NUMBER, NUMBER, st.booleans(), TEXT), max_size=2).map(tuple),
)


@given(ANSWERS)
def test_answers_round_trip(answer: Answer) -> None:
    assert serialization.answer_from_json(json.loads(json.dumps(serialization.answer_to_json(answer)))) == answer


@given(ANSWERS)
def test_answers_without_statements_load(answer: Answer) -> None:
    data = json.loads(json.dumps(serialization.answer_to_json(answer)))
    del data["statements"]
    for passage in data["passages"]:
        del passage["instructions"], passage["hidden"]
    loaded = serialization.answer_from_json(data)
    assert (loaded.text, loaded.citations, loaded.statements) == (answer.text, answer.citations, ())
    assert not any(passage.instructions for passage in loaded.passages)


RANKINGS = st.lists(st.lists(st.integers(1, 12), unique=True, max_size=8), max_size=5)


@given(RANKINGS, st.integers(1, 100), st.randoms(use_true_random=False))
def test_fusion_does_not_depend_on_order_of_rankings(rankings: list[list[int]], k: int, random: object) -> None:
    shuffled = list(rankings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    expected = [hit.chunk_id for hit in reciprocal_rank_fusion(rankings, k)]
    assert [hit.chunk_id for hit in reciprocal_rank_fusion(shuffled, k)] == expected


@given(RANKINGS, st.integers(1, 100))
def test_fusion_has_every_chunk_once_by_falling_score(rankings: list[list[int]], k: int) -> None:
    fused = reciprocal_rank_fusion(rankings, k)
    ids = [hit.chunk_id for hit in fused]
    assert sorted(ids) == sorted({chunk_id for ranking in rankings for chunk_id in ranking})
    scores = [round(hit.score, 12) for hit in fused]
    assert scores == sorted(scores, reverse=True)


NAMES = st.one_of(
    st.text(max_size=300),
    st.text("./\\ \t\n\x00\x7f\u200b\u202e\u2028\ufeff\u00ad\ud800ab…" + "e\u0301", max_size=40),
    st.text(min_size=190, max_size=260).map(lambda stem: stem + ".pdf"),
)


@given(NAMES)
def test_clean_name_is_valid_and_cleaning_is_idempotent(name: str) -> None:
    clean = clean_name(name)
    assert clean
    assert clean == clean.strip()
    assert not set(clean) & set("/\\")
    assert not [character for character in clean if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert clean not in (".", "..")
    assert len(clean) <= 200
    clean.encode()
    assert clean_name(clean) == clean
