"""From a question to ranked chunks."""

from rag_core.retrieval.begun import Begun
from rag_core.retrieval.cross_encoder import CrossEncoderReranker
from rag_core.retrieval.financials import LOOKED_UP, Financials, Lookup, lookup
from rag_core.retrieval.folding import fold
from rag_core.retrieval.freshness import fresher_first
from rag_core.retrieval.fusion import reciprocal_rank_fusion
from rag_core.retrieval.gate import GATED, READ, calibration, decide, log_odds
from rag_core.retrieval.late_interaction import (
    LateInteractionReranker,
    best_sentence,
    looked_for,
    max_sim,
    similarities,
    token_weights,
    topic_similarity,
)
from rag_core.retrieval.naming import NAMED, called, named_first
from rag_core.retrieval.pipeline import Pipeline, Ranking, Timer
from rag_core.retrieval.protocols import Reranker, Retriever, Texts
from rag_core.retrieval.weights import evidence_mass, weigh

__all__ = [
    "GATED",
    "LOOKED_UP",
    "NAMED",
    "READ",
    "Begun",
    "CrossEncoderReranker",
    "Financials",
    "LateInteractionReranker",
    "Lookup",
    "Pipeline",
    "Ranking",
    "Reranker",
    "Retriever",
    "Texts",
    "Timer",
    "best_sentence",
    "calibration",
    "called",
    "decide",
    "evidence_mass",
    "fold",
    "fresher_first",
    "log_odds",
    "looked_for",
    "lookup",
    "max_sim",
    "named_first",
    "reciprocal_rank_fusion",
    "similarities",
    "token_weights",
    "topic_similarity",
    "weigh",
]
