"""What is searched for, and what a search finds, as it passes between the services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_core.finance.measures import Financials
from rag_core.retrieval.chunk_tokens import ChunkTokens
from rag_core.runtime.index_generations import Generation
from rag_core.types import Configuration, FloatArray, Passage, Question, SearchResult
from rag_core.types.retrieval import Ranking

# What settings and Admin say.
AS_SET = Configuration()


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, where, and how.

    ``documents`` holds ids, ``None`` for all; ``top_k`` is how many passages are wanted, ``depth`` how many
    are told in their order all the same, for a ranking to be judged by. With ``strict`` an endpoint that
    fails is raised, where else a plain search would take the strategy's place, or quotes the answer's.
    Unless ``gated``, passages are ranked and not judged: nothing would be answered.
    """

    text: str
    documents: tuple[str, ...] | None
    top_k: int
    configuration: Configuration
    strict: bool = False
    depth: int = 0
    gated: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks in their order for a question.

    ``weights`` says how much each token of the question counts; ``ranking`` holds every chunk that a
    stage found, ``rows`` those of them that may be seen. ``financials`` is the search for the statements
    that the question is answered from, if it names any, and ``alone`` whether it is asked of one document.
    """

    question: Question
    weights: FloatArray
    ranking: Ranking
    rows: Mapping[int, Any]
    tokens: ChunkTokens
    generation: Generation
    financials: Financials | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A search's result with what an answer, an explanation or an evaluation needs beyond it.

    ``passages`` begins with the result's and goes on with those below them.
    """

    result: SearchResult
    ranked: Ranked
    passages: tuple[Passage, ...]
