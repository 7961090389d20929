"""The names of the stages of a search, as the Lab and Evaluate show them."""

from __future__ import annotations

# Names by the identifiers that settings and the command line use.
STAGE_NAMES = {
    "dense": "meaning",
    "bm25": "words",
    "sparse": "learned terms",
    "rrf": "words and meaning, merged",
    "rerank": "token vectors",
    "statement": "lines of statements",
    "financials": "token vectors and financial statements",
    "named": "documents named in the question first",
    "cross_encoder": "cross-encoder",
}


def format_stage(stage: str) -> str:
    """Return the name and the identifier of a stage, for example ``Token vectors (rerank)``."""
    name = STAGE_NAMES[stage]
    return f"{name[0].upper()}{name[1:]} ({stage})"
