"""Names and descriptions of the search strategies."""

from __future__ import annotations

from rag_core.types import Strategy

STRATEGY_NAMES: dict[Strategy, str] = {
    "plain": "Plain",
    "queries": "Several queries",
    "hyde": "Hypothetical answer",
    "iterative": "Step by step",
    "compare": "Compare",
    "summary": "Summarise",
    "themes": "Themes",
}
STRATEGY_DESCRIPTIONS: dict[Strategy, str] = {
    "plain": "One search for the question",
    "queries": "The model rephrases the question; results are merged",
    "hyde": "The model drafts an answer; similar passages are searched for",
    "iterative": "The model reads passages and searches for what is missing",
    "compare": "The model splits the question; each part is searched for",
    "summary": "The model reads all of the chosen documents",
    "themes": "Answers from the themes of all documents",
}
