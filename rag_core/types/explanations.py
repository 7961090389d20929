"""Why a search found what it found, and how much each passage would count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from rag_core.types.retrieval import Gate, Hit, Passage


@dataclass(frozen=True, slots=True)
class StageRanking:
    """The chunks that one stage ranked, best first; ``name`` is that of its score."""

    name: str
    hits: tuple[Hit, ...]

    @property
    def ranks(self) -> dict[int, int]:
        """Each chunk's rank, counted from 1."""
        return {hit.chunk_id: rank for rank, hit in enumerate(self.hits, 1)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that each stage of a search found, for people who want to see why.

    ``passages`` holds every chunk of any stage in the final order; ``stages`` are in the order in
    which they ran, without those that did not. ``added_at`` is by document id.
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
    """A token of a question, and the token of a chunk that is most like it.

    ``start`` and ``end`` are offsets into the question, ``chunk_start`` and ``chunk_end`` into
    `TokenMatches.text`. ``weight`` is the token's share of all weights, ``similarity`` how like
    each other the two are, with the tokens beside them.
    """

    start: int
    end: int
    weight: float
    similarity: float
    chunk_start: int
    chunk_end: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """How the reranker's score of a chunk came about.

    ``text`` is what was embedded: the chunk's prefix, then its own text.
    ``matches`` has an entry for each token of the question that is looked for; their sum of weight times similarity is
    ``whole``. ``score`` also counts the best sentence alone.
    """

    question: str
    text: str
    matches: tuple[TokenMatch, ...]
    whole: float
    score: float


@dataclass(frozen=True, slots=True)
class WeightingConfig:
    """How a reader weighs passages: a softmax at a temperature over the ``k`` highest scores.

    Before that, ``decay`` times its freshness (0..1) is added to each score, and Gaussian noise with
    the standard deviation ``noise``, drawn from ``seed``.
    """

    k: int = 5
    temperature: float = 0.05
    decay: float = 0.0
    noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage to be weighed: its score, and how long ago its document was added, in days."""

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
    """What becomes of the right passage on its way into an answer."""

    ABSENT = "absent"
    TOO_LOW = "too low"
    IGNORED = "ignored"
    STALE = "stale"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class EvidenceMass:
    """Whether the right passage is among the ``k`` that are weighed, and its share of the weights.

    ``rank`` is ``None`` where no stage found it; ``rival`` is the chunk that outweighs it, if any.
    """

    case: EvidenceCase
    rank: int | None
    covered: bool
    mass: float
    rival: str | None
