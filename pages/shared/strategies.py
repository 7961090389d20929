"""How a question can be searched for, in words."""

from __future__ import annotations

from rag_core.types import Strategy

STRATEGIES: dict[Strategy, str] = {
    "plain": "Plain",
    "queries": "Several queries",
    "hyde": "Made-up answer",
    "iterative": "Step by step",
    "compare": "Compare",
    "summary": "Summarise",
}
WHAT_IT_DOES: dict[Strategy, str] = {
    "plain": "One search for the question",
    "queries": "The model asks in other words; results are merged",
    "hyde": "The model makes up an answer; passages like it are looked for",
    "iterative": "The model reads, and searches for what is missing",
    "compare": "The model takes the question apart; each part is looked up",
    "summary": "The model reads the chosen documents in whole",
}
