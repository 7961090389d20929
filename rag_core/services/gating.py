"""How likely each of the first passages answers the question, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_core.answering.presuppositions import unmet
from rag_core.retrieval import GATED, best_sentence, calibration
from rag_core.services.generations import Generation
from rag_core.types import ChunkVectors, FloatArray, IntArray, Passage, Question, embedded_text

SCORE = "answerable"


def judged(
    question: Question,
    weights: FloatArray,
    passages: Sequence[Passage],
    rows: Mapping[int, Any],
    vectors: Mapping[int, ChunkVectors],
    generation: Generation,
) -> tuple[Passage, ...]:
    """The passages with a score ``answerable``: the calibrated probability that one answers.

    It is made for the first passages alone, and ``None`` for the others and for those without token
    vectors.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        How much each of the question's tokens counts.
    passages : sequence of Passage
        Best first.
    rows : mapping
        Chunks' rows by id; their prefix is needed.
    vectors : mapping
        Token vectors by chunk id.
    generation : Generation
    """
    first = [one for one in passages[:GATED] if int(one.chunk_id) in vectors and one.scores.get("rerank") is not None]
    prefixes = [embedded_text(rows[int(one.chunk_id)].prefix, "") for one in first]
    offsets = generation.embedder.offsets(
        [prefix + passage.text for prefix, passage in zip(prefixes, first, strict=True)]
    )
    found: dict[str, Passage] = {}
    for passage, prefix, spans in zip(first, prefixes, offsets, strict=True):
        chunk = vectors[int(passage.chunk_id)]
        score, sentence = best_sentence(question.tokens, chunk, weights)
        lacking = unmet(question.text, _around(passage.text, spans - len(prefix), chunk.sentences, sentence), prefix)
        probability = calibration().probability(passage.scores["rerank"] or 0.0, score, len(lacking))
        found[passage.chunk_id] = replace(passage, scores={**passage.scores, SCORE: probability}, unmet=lacking)
    return tuple(found.get(one.chunk_id) or replace(one, scores={**one.scores, SCORE: None}) for one in passages)


def _around(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """The sentence whose tokens begin at ``best`` with the one before and the one after it."""
    starts = [int(one) for one in sentences if one < len(spans)] or [0]
    at = max((number for number, start in enumerate(starts) if start <= best), default=0)
    begin = starts[max(0, at - 1)]
    end = starts[at + 2] if at + 2 < len(starts) else len(spans)
    own = spans[begin:end][spans[begin:end, 1] > 0]
    return text[max(0, int(own[0, 0])) : int(own[-1, 1])] if len(own) else text
