"""Explanations of a search's results, and weights of passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from rag_core.types.retrieval import Gate, Hit, Passage


@dataclass(frozen=True, slots=True)
class StageRanking:
    """The chunks that one stage ranked, best first; ``name`` is the name of its score."""

    name: str
    hits: tuple[Hit, ...]

    @property
    def ranks(self) -> dict[int, int]:
        """Each chunk's rank, counted from 1."""
        return {hit.chunk_id: rank for rank, hit in enumerate(self.hits, 1)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The results of all stages of a search.

    ``passages`` contains every chunk of any stage in the final order; ``stages`` contains the stages that ran, in
    their order. ``added_at`` maps document ids to times.
    """

    question: str
    passages: tuple[Passage, ...]
    stages: tuple[StageRanking, ...]
    gate: Gate
    timings_ms: Mapping[str, float]
    notices: tuple[str, ...]
    added_at: Mapping[str, datetime]


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """A token of a question and the most similar token of a chunk.

    ``start`` and ``end`` are offsets into the question, ``chunk_start`` and ``chunk_end`` into
    `TokenMatches.text`. ``weight`` is the token's share of all weights; ``similarity`` includes neighbouring tokens.
    """

    start: int
    end: int
    weight: float
    similarity: float
    chunk_start: int
    chunk_end: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """The parts of the reranker's score of a chunk.

    ``text`` is the embedder's input: the chunk's prefix, then its text. ``matches`` has an entry for each compared
    token of the question; ``whole`` is the sum of weight times similarity over them. ``score`` also includes the best
    sentence's score.
    """

    question: str
    text: str
    matches: tuple[TokenMatch, ...]
    whole: float
    score: float


@dataclass(frozen=True, slots=True)
class WeightingConfig:
    """Parameters of passage weights: a softmax with a temperature over the ``k`` highest scores.

    Each score first gets ``decay`` times the freshness (0..1) and Gaussian noise with the standard deviation
    ``noise``, drawn with ``seed``.
    """

    k: int = 5
    temperature: float = 0.05
    decay: float = 0.0
    noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage to be weighted, with its score and the days since its document was added."""

    chunk_id: str
    score: float
    age_days: float


@dataclass(frozen=True, slots=True)
class WeightedPassage:
    """A candidate with its rank by adjusted score, counted from 1, and its weight in 0..1."""

    candidate: ScoredPassage
    freshness: float
    adjusted: float
    rank: int
    weight: float


class EvidenceCase(str, Enum):
    """How the right passage ranks among the weighted passages."""

    ABSENT = "absent"
    TOO_LOW = "too low"
    IGNORED = "ignored"
    STALE = "stale"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class EvidenceMass:
    """Whether the right passage is among the ``k`` weighted passages, and its weight.

    ``rank`` is ``None`` if no stage finds it; ``rival`` is the chunk that outweighs it, if any.
    """

    case: EvidenceCase
    rank: int | None
    covered: bool
    mass: float
    rival: str | None
