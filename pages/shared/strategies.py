"""Names and descriptions of the search strategies."""

from __future__ import annotations

from rag_core.engine import Engine
from rag_core.types import MARGINALIZATIONS, Strategy

STRATEGY_NAMES: dict[Strategy, str] = {
    "plain": "Automatic",
    "queries": "Several queries",
    "hyde": "Hypothetical answer",
    "iterative": "Step by step",
    "compare": "Compare",
    "fid": "Passage by passage",
    "long-context": "Long context",
    "summary": "Summarise",
    "themes": "Themes",
    "rag-sequence": "RAG-Sequence",
    "rag-token": "RAG-Token",
}
STRATEGY_DESCRIPTIONS: dict[Strategy, str] = {
    "plain": "One search; a capable model asks for more if something is missing",
    "queries": "The model rephrases the question; results are merged",
    "hyde": "The model drafts an answer; similar passages are searched for",
    "iterative": "The model searches, opens pages and tables, and computes",
    "compare": "The model splits the question; each part is searched for",
    "fid": "The model reads each passage alone, and answers from what it noted",
    "long-context": "The model reads as many passages at once as fit",
    "summary": "The model reads all of the chosen documents",
    "themes": "Answers from the themes of all documents",
    "rag-sequence": "A short answer, each candidate weighed over the passages",
    "rag-token": "A short answer, each word weighed over the passages",
}


def list_strategies(engine: Engine, model: str, as_of: str = "") -> list[Strategy]:
    """Return the strategies that can be used with a model, now or as of a snapshot; an empty model means quotes only.

    Themes must have been built, and some strategies need the probabilities of single tokens, or read the present only.
    """
    has_themes = engine.theme_builder.state().built_at is not None

    def is_usable(strategy: Strategy) -> bool:
        if strategy == "plain":
            return True
        if as_of and strategy in engine.OF_THE_PRESENT:
            return False
        if strategy == "themes":
            return has_themes
        return bool(model) and (engine.models.predicts_tokens or strategy not in MARGINALIZATIONS)

    return [one for one in STRATEGY_NAMES if is_usable(one)]
