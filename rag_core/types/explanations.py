"""Explanations of search results, and weights of passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from rag_core.types.retrieval import Gate, Hit, Passage


@dataclass(frozen=True, slots=True)
class StageRanking:
    """The chunks that one stage of a search ranked, best first. ``name`` is the name of the score of this stage."""

    name: str
    hits: tuple[Hit, ...]

    @property
    def ranks(self) -> dict[int, int]:
        """The rank of each chunk by chunk id, counted from 1."""
        return {hit.chunk_id: rank for rank, hit in enumerate(self.hits, 1)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The results of all stages of a search.

    ``passages`` contains all chunks that at least one stage found, in the final order. ``stages`` contains the ranking
    of each stage that ran. ``added_at`` maps the ids of the documents to the times at which their content was
    added.
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

    ``start`` and ``end`` are offsets in the question, ``chunk_start`` and ``chunk_end`` are offsets in
    `TokenMatches.text`. ``weight`` is the weight of the token of the question; all weights sum to 1. ``similarity``
    also depends on the similarities of the tokens before and after the two tokens.
    """

    start: int
    end: int
    weight: float
    similarity: float
    chunk_start: int
    chunk_end: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """How the score that the reranker gives a chunk is composed.

    ``text`` is the input of the embedder: the prefix of the chunk, then its text. ``matches`` has an entry for each
    token of the question that is compared with the chunk. ``whole`` is the sum of weight times similarity over all
    matches. ``score`` is the score of the reranker, which combines ``whole`` with the score of the chunk's best
    sentence.
    """

    question: str
    text: str
    matches: tuple[TokenMatch, ...]
    whole: float
    score: float


@dataclass(frozen=True, slots=True)
class WeightingConfig:
    """Parameters of the weights of passages, which are a softmax over the ``k`` highest adjusted scores.

    The adjusted score is the score, plus ``freshness_weight`` times the freshness of the document (from 0 to 1), plus
    Gaussian noise with the standard deviation ``noise``. ``seed`` initializes the random number generator, and
    ``temperature`` is the temperature of the softmax.
    """

    k: int = 5
    temperature: float = 0.05
    freshness_weight: float = 0.0
    noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage that is to get a weight, with its score and the number of days since its document was added."""

    chunk_id: str
    score: float
    age_days: float


@dataclass(frozen=True, slots=True)
class WeightedPassage:
    """A passage with its weight from 0 to 1, and its rank by adjusted score, counted from 1; see `WeightingConfig`."""

    candidate: ScoredPassage
    freshness: float
    adjusted: float
    rank: int
    weight: float


class EvidenceCase(str, Enum):
    """How the right passage ranks among the weighted passages.

    - ``absent``: no stage of the search found the right passage.
    - ``too low``: its rank is below the first ``k``, so that its weight is 0.
    - ``ignored``: a passage has a higher rank, and none of the passages above is from an older document.
    - ``stale``: a passage from an older document has a higher rank.
    - ``leads``: the right passage has the highest rank.
    """

    ABSENT = "absent"
    TOO_LOW = "too low"
    IGNORED = "ignored"
    STALE = "stale"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class EvidenceMass:
    """Whether the right passage is among the ``k`` passages that have a weight, and how large its weight is.

    ``covered`` is true if the right passage has a weight, which is ``mass``. ``rank`` is ``None`` if no stage of the
    search found the right passage. ``rival`` is the chunk id of a passage that has a higher rank than the right
    passage; ``None`` if there is no such passage.
    """

    case: EvidenceCase
    rank: int | None
    covered: bool
    mass: float
    rival: str | None
