"""The stages of an answer, and the scores of passages. Each retriever adds a stage and a score."""

from __future__ import annotations

from rag_core.index import RETRIEVERS
from rag_core.types.retrieval import PassageScore, SearchStage

# The stages of an answer, in the order in which their durations are listed.
STAGES = (
    SearchStage("rewrite", ended="Read the conversation"),
    SearchStage("plan", ended="Asked the model"),
    SearchStage("notes", ended="Took notes"),
    SearchStage("embed", "Reading the question", "Read the question", "reading the question"),
    *(one.stage for one in RETRIEVERS),
    SearchStage("financials", ended="Looked for financial statements", short="financial statements"),
    SearchStage("rerank", "Comparing passages", "Compared passages", "token vectors"),
    SearchStage("cross_encoder", "Reading the best passages", "Read the best passages", "cross-encoder"),
    SearchStage("gate", "Checking whether they answer", "Decided whether to answer", "gate"),
    SearchStage("generate", ended="Wrote the answer"),
    SearchStage("total", short="total"),
)
# The scores of a passage, in the order in which they are listed.
SCORES = (
    PassageScore("answerable"),
    PassageScore("on_topic"),
    PassageScore("rerank", "compared word by word"),
    PassageScore("statement", "lines of statements"),
    PassageScore("financials", "word by word, and financial statements", is_bounded=False),
    PassageScore("named", "documents named in the question first"),
    PassageScore("cross_encoder", "read with the question"),
    PassageScore("sentence"),
    PassageScore("topic"),
    PassageScore("reading"),
    *(one.score for one in RETRIEVERS),
    PassageScore("rrf", "all searches, merged", is_bounded=False),
)
SCORE_LABELS = {one.name: one.label for one in SCORES}
# The scores by which passages can be ordered, from the last stage to the first.
RANKINGS = ("cross_encoder", "named", "financials", "rerank", "rrf", *(one.score.name for one in RETRIEVERS))
