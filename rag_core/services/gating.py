"""How likely each of the first passages answers the question, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_core.answering.presuppositions import unmet
from rag_core.retrieval import GATED, best_sentence, calibration, topic_similarity
from rag_core.services.chunktokens import ChunkTokens
from rag_core.types import FloatArray, IntArray, Passage, Question, embedded_text

SCORE = "answerable"
# What the probability is made of beside the reranker's score.
SENTENCE, TOPIC = "sentence", "topic"


def judged(
    question: Question,
    weights: FloatArray,
    passages: Sequence[Passage],
    rows: Mapping[int, Any],
    tokens: ChunkTokens,
) -> tuple[Passage, ...]:
    """The passages with a score ``answerable``: the calibrated probability that one answers.

    It is made for the first passages alone, and ``None`` for the others and for those without token
    vectors; so are ``sentence``, the late-interaction score of the passage's best sentence, and ``topic``,
    its `topic_similarity`.

    Parameters
    ----------
    question : Question
    weights : FloatArray, shape (m,)
        How much each of the question's tokens counts.
    passages : sequence of Passage
        Best first.
    rows : mapping
        Chunks' rows by id.
    tokens : ChunkTokens
    """
    vectors = tokens.vectors([int(one.chunk_id) for one in passages[:GATED]])
    first = [one for one in passages[:GATED] if int(one.chunk_id) in vectors and one.scores.get("rerank") is not None]
    its_rows = [rows[int(one.chunk_id)] for one in first]
    found: dict[str, Passage] = {}
    for passage, row, spans in zip(first, its_rows, tokens.spans(its_rows), strict=True):
        chunk = vectors[row.id]
        score, sentence = best_sentence(question.tokens, chunk, weights)
        around = _around(passage.text, spans, chunk.sentences, sentence)
        lacking = unmet(question.text, around, embedded_text(row.prefix, ""))
        topic = topic_similarity(question.tokens, chunk)
        probability = calibration().probability(passage.scores["rerank"] or 0.0, score, topic, len(lacking))
        made = {SENTENCE: score, TOPIC: topic, SCORE: probability}
        found[passage.chunk_id] = replace(passage, scores={**passage.scores, **made}, unmet=lacking)
    unmade = dict.fromkeys((SENTENCE, TOPIC, SCORE))
    return tuple(found.get(one.chunk_id) or replace(one, scores={**one.scores, **unmade}) for one in passages)


def _around(text: str, spans: IntArray, sentences: IntArray, best: int) -> str:
    """The sentence whose tokens begin at ``best`` with the one before and the one after it."""
    starts = [int(one) for one in sentences if one < len(spans)] or [0]
    at = max((number for number, start in enumerate(starts) if start <= best), default=0)
    begin = starts[max(0, at - 1)]
    end = starts[at + 2] if at + 2 < len(starts) else len(spans)
    own = spans[begin:end][spans[begin:end, 1] > 0]
    return text[max(0, int(own[0, 0])) : int(own[-1, 1])] if len(own) else text
