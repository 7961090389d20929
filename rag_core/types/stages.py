"""The names of the stages of a search, and of the scores that they give to passages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchStage:
    """A stage whose time is measured.

    ``running`` is its label when a plain search reports its stages, ``ended`` the one among the times of an answer, and
    ``short`` the one among those that the Lab lists. A stage without a label is not listed there.
    """

    name: str
    running: str = ""
    ended: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class PassageScore:
    """A score of a passage; ``label`` says what it compares. ``is_bounded`` says whether it is from 0 to 1."""

    name: str
    label: str = ""
    is_bounded: bool = True


# In the order in which the stages end.
STAGES = (
    SearchStage("rewrite", ended="Read the conversation"),
    SearchStage("plan", ended="Asked the model"),
    SearchStage("notes", ended="Took notes"),
    SearchStage("embed", "Reading the question", "Read the question", "reading the question"),
    SearchStage("lexical", "Searching by words", "Waited for the search by words", "words (in parallel)"),
    SearchStage("dense", "Searching by meaning", "Waited for the search by meaning", "meaning (in parallel)"),
    SearchStage(
        "sparse", "Searching by learned terms", "Waited for the search by learned terms", "learned terms (in parallel)"
    ),
    SearchStage("financials", ended="Looked for financial statements", short="financial statements"),
    SearchStage("rerank", "Comparing passages", "Compared passages", "token vectors"),
    SearchStage("cross_encoder", "Reading the best passages", "Read the best passages", "cross-encoder"),
    SearchStage("gate", "Checking whether they answer", "Decided whether to answer", "gate"),
    SearchStage("generate", ended="Wrote the answer"),
    SearchStage("read", ended="Wrote the answer"),  # in answers of earlier versions
    SearchStage("total", short="total"),
)
# In the order in which a passage lists its scores.
SCORES = (
    PassageScore("answerable"),
    PassageScore("on_topic"),
    PassageScore("rerank", "token vectors"),
    PassageScore("statement", "lines of statements"),
    PassageScore("financials", "token vectors and financial statements", is_bounded=False),
    PassageScore("named", "documents named in the question first"),
    PassageScore("cross_encoder", "cross-encoder"),
    PassageScore("sentence"),
    PassageScore("topic"),
    PassageScore("reading"),
    PassageScore("dense", "meaning"),
    PassageScore("bm25", "words", is_bounded=False),
    PassageScore("sparse", "learned terms", is_bounded=False),
    PassageScore("rrf", "words and meaning, merged", is_bounded=False),
)
SCORE_LABELS = {one.name: one.label for one in SCORES}
