"""Explanations of search results, and weights of passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from rag_core.types.retrieval import Gate, Hit, Passage


@dataclass(frozen=True, slots=True)
class StageRanking:
    """The chunks that one stage of a search ranked, best first. ``name`` is the name of the stage's score."""

    name: str
    hits: tuple[Hit, ...]

    @property
    def ranks(self) -> dict[int, int]:
        """The ranks of the chunks, from 1, by chunk id."""
        return {hit.chunk_id: rank for rank, hit in enumerate(self.hits, 1)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The results of all stages of a search.

    ``passages`` contains each chunk that any stage found, in the final order. ``stages`` contains the rankings of the
    stages that ran. ``added_at`` maps document ids to the times at which the documents' present versions were added.
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

    Attributes
    ----------
    start, end : int
        Span of the question's token in the question.
    weight : float
        Weight of the question's token. The weights of all tokens of the question sum to 1.
    similarity : float
        Similarity of the two tokens, which takes their neighbouring tokens into account.
    chunk_start, chunk_end : int
        Span of the chunk's token in `TokenMatches.text`.
    """

    start: int
    end: int
    weight: float
    similarity: float
    chunk_start: int
    chunk_end: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """How the reranker's score of a chunk is composed.

    Attributes
    ----------
    text : str
        The embedded text: the prefix of the chunk, then its text.
    matches : tuple of TokenMatch
        One for each token of the question that the reranker compares with the chunk.
    whole : float
        Score of the whole chunk: the sum of weight times similarity over all matches.
    score : float
        The reranker's score, which combines ``whole`` with the score of the chunk's best sentence.
    """

    question: str
    text: str
    matches: tuple[TokenMatch, ...]
    whole: float
    score: float


@dataclass(frozen=True, slots=True)
class WeightingConfig:
    """Parameters of the weights of passages: a softmax over the ``k`` highest adjusted scores.

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
    """A passage to be weighted: its score, and the number of days since its document was added."""

    chunk_id: str
    score: float
    age_days: float


@dataclass(frozen=True, slots=True)
class WeightedPassage:
    """A passage with its weight from 0 to 1, and its rank by adjusted score, from 1; see `WeightingConfig`."""

    candidate: ScoredPassage
    freshness: float
    adjusted: float
    rank: int
    weight: float


class EvidenceCase(str, Enum):
    """How the right passage ranks among the weighted passages.

    - ``absent``: no stage of the search found the right passage.
    - ``too low``: the right passage is not among the first ``k`` passages, so that its weight is 0.
    - ``stale``: a passage of an older document ranks higher.
    - ``ignored``: passages rank higher, all of them from documents of the same age or newer ones.
    - ``leads``: the right passage ranks first.
    """

    ABSENT = "absent"
    TOO_LOW = "too low"
    IGNORED = "ignored"
    STALE = "stale"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class EvidenceMass:
    """The rank and the weight of the right passage among the weighted passages.

    Attributes
    ----------
    case : EvidenceCase
    rank : int or None
        Rank of the right passage; ``None`` if no stage of the search found it.
    covered : bool
        Whether the right passage is among the ``k`` passages with a weight.
    mass : float
        Weight of the right passage.
    rival : str or None
        Chunk id of a passage that ranks higher; ``None`` if there is none.
    """

    case: EvidenceCase
    rank: int | None
    covered: bool
    mass: float
    rival: str | None
