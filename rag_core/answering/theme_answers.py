"""Answer questions about whole collections from their themes: map over the themes, and reduce what they contribute.

The method follows Edge et al., "From local to global: A graph RAG approach to query-focused summarization", 2024.
Without a language model, each theme contributes sentences that are about the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag_core.answering.answer_building import build_answer
from rag_core.answering.cited_sentences import CitedText, Sentence, SentenceReader
from rag_core.answering.summary import Summarizer
from rag_core.answering.themes import Themes, build_theme_title, load_spans
from rag_core.answering.trace import AnswerTrace
from rag_core.reading.document_words import is_any_document, is_kind_of_document
from rag_core.reading.key_sentences import is_complete_sentence
from rag_core.retrieval.late_interaction import compute_token_weights, max_sim, token_similarities
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.entity_graphs import EntityGraphs
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.text.noun_phrases import find_content_words
from rag_core.text.words import STOP_WORDS, stem, tokenize
from rag_core.types import AskEvent, Delta, Gate, Passage, SearchResult, Stage, format_count
from rag_core.types.searches import Query
from rag_core.types.themes import StatementSource, StoredTheme
from rag_core.verification.verifier import REFUSED

NOT_BUILT = (
    "No themes have been built yet, so a plain search was used. Build them on the page Themes, or with the command "
    "themes build."
)
# Name and threshold of the score of an answer's gate: the share of the question's topics that it mentions.
_SCORE, _THRESHOLD = "topic", 0.5
# The most statements that are compared with the question, and that an answer cites without a model; the most passages
# that a model reads.
_MAX_COMPARED, _MAX_CITED, _MAX_PASSAGES = 500, 12, 48
# Least score of a cited statement relative to the best one, and what a further statement loses for each earlier one of
# its document and of its theme, and for its similarity to an earlier one.
_LEAST_SHARE, _SAME_DOCUMENT, _SAME_THEME, _SIMILAR = 0.75, 0.04, 0.02, 0.15
_UNSPECIFIC = frozenset(
    map(
        stem,
        "main key major most important common general overall big large principal significant different various theme "
        "topic issue subject point thing aspect company firm business year describe discuss mention state say name "
        "list explain give show tell face deal cover collection library text".split(),
    )
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A statement of a theme with its score for the question."""

    theme: int
    sentence: Sentence
    score: float


class ThemeAnswerer:
    """Answers questions that name no entity from the themes.

    Parameters
    ----------
    stores : Stores
    graphs : EntityGraphs
    themes : Themes
    generations : IndexGenerations
    summarizer : Summarizer
        Takes notes on the passages of the themes, and writes the answer, if a language model is set.
    generators : LanguageModels
    """

    def __init__(
        self,
        stores: Stores,
        graphs: EntityGraphs,
        themes: Themes,
        generations: IndexGenerations,
        summarizer: Summarizer,
        generators: LanguageModels,
    ) -> None:
        self._stores = stores
        self._graphs = graphs
        self._themes = themes
        self._generations = generations
        self._summarizer = summarizer
        self._generators = generators
        self._reader = SentenceReader(stores, generations)

    def answer(self, query: Query, trace: AnswerTrace) -> Generator[AskEvent, None, bool]:
        """Yield the events of an answer from all themes; return false if the question asks about single entities.

        The caller then searches around the entities (`NeighbourhoodSearch`).
        """
        state = self._graphs.state()
        if state.built_at is None:
            trace.notices.append(NOT_BUILT)
            return False
        if state.added:
            added = format_count(state.added, "document is", "documents are")
            trace.notices.append(f"{added} not part of the themes yet. Update them on the page Themes.")
        graph = self._graphs.load()
        if any(graph.kind(one) == "name" for one in graph.find_in_question(query.text)):
            return False
        yield Stage("themes", "Reading the themes")
        with trace.timer.measure("themes"):
            themes = self._themes.stored(query.documents)
            topics = find_topics(query.text)
            candidates = self._map_themes(query.text, themes, topics)
        yield Stage("themes", "Reading the themes", done=True)
        used = len({one.theme for one in candidates})
        trace.steps.append(f"Read {format_count(len(themes), 'theme')}; {used:,} contribute to the answer")
        if self._generators.active(query.writer.model) is not None and candidates:
            summary = yield from self._summarizer.summary(query, trace, _build_passages(candidates))
            if summary is not None:
                yield build_answer(query, summary.result, summary.verified, summary.generator, trace)
                return True
        yield from self._reduce(query, themes, candidates, topics, trace)
        return True

    def _map_themes(self, question: str, themes: Sequence[StoredTheme], topics: frozenset[str]) -> list[_Candidate]:
        """Return the statements of the themes that are about the question, best first.

        If the question has no topic, as in "What are the main themes?", these are the statements of the summaries.
        """
        sources = {
            source: number
            for number, theme in reversed(list(enumerate(themes)))
            for source in (theme.statements if topics else theme.statements[: theme.cited])
        }
        rows = self._stores.documents.visible_chunks(sorted({one.chunk_id for one in sources}))
        matched: list[tuple[float, StatementSource]] = []
        for source in sources:
            for row, start, end in load_spans([source], rows):
                text = " ".join(row.text[start:end].split())
                found = topics & _find_stems(text)
                if is_complete_sentence(text) and (found or not topics):
                    matched.append((-len(found), source))
        kept = [source for _, source in sorted(matched)[:_MAX_COMPARED]]
        read = self._reader.read_spans(load_spans(kept, rows))
        pairs = [(source, one) for source, one in zip(kept, read, strict=True) if one is not None]
        scores = self._score(question, [one for _, one in pairs], themes, topics)
        candidates = [
            _Candidate(sources[source], one, score) for (source, one), score in zip(pairs, scores, strict=True)
        ]
        return sorted(candidates, key=lambda one: -one.score)

    def _score(
        self, question: str, sentences: Sequence[Sentence], themes: Sequence[StoredTheme], topics: frozenset[str]
    ) -> list[float]:
        if not topics:
            return [1.0] * len(sentences)
        embedded = self._generations.active().embedder.embed_question(question)
        weights = compute_token_weights(embedded, self._stores.word_index.idf, STOP_WORDS | _UNSPECIFIC)
        return [max_sim(token_similarities(embedded.tokens, one.tokens), weights) for one in sentences]

    def _reduce(
        self,
        query: Query,
        themes: Sequence[StoredTheme],
        candidates: Sequence[_Candidate],
        topics: frozenset[str],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, None]:
        chosen = select_diverse(candidates)
        found = {word for one in chosen for word in _find_stems(one.sentence.text)}
        covered = len(topics & found) / len(topics) if topics else float(bool(chosen))
        gate = Gate(_SCORE, covered, _THRESHOLD, covered >= _THRESHOLD and bool(chosen))
        text = CitedText()
        for number in dict.fromkeys(one.theme for one in chosen):
            text.begin(build_theme_title(themes[number]))
            for one in chosen:
                if one.theme == number:
                    text.add_sentence(one.sentence)
        answer = text.answer if gate.answerable else REFUSED
        result = SearchResult(query.text, tuple(text.passages) if gate.answerable else (), gate, {})
        yield result
        yield Delta(answer.text)
        yield build_answer(query, result, answer, "extractive", trace)


def find_topics(question: str) -> frozenset[str]:
    """Return the stems of the words of a question that say what it is about.

    >>> sorted(find_topics("What are the main risks over these reports?")), find_topics("What are the main themes?")
    (['risk'], frozenset())
    """
    words = [word.casefold() for word in find_content_words(question)]
    specific = (word for word in words if not is_any_document(word) and not is_kind_of_document(word))
    return frozenset(one for one in map(stem, specific) if one not in _UNSPECIFIC and len(one) > 1)


def select_diverse(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the statements of an answer, from different documents and themes, in the order in which they were chosen.

    The selection is greedy, as in maximal marginal relevance; statements far below the best one are left out.
    """
    if not candidates:
        return []
    left = [one for one in candidates if one.score >= _LEAST_SHARE * candidates[0].score]
    vectors = np.stack([one.sentence.vector for one in left])
    closest = np.zeros(len(left), np.float32)
    documents: Counter[str] = Counter()
    themes: Counter[int] = Counter()
    chosen: dict[int, _Candidate] = {}

    def gain(place: int) -> float:
        one = left[place]
        repeated = _SAME_DOCUMENT * documents[one.sentence.row.document_id] + _SAME_THEME * themes[one.theme]
        return one.score - repeated - _SIMILAR * float(closest[place])

    while len(chosen) < min(_MAX_CITED, len(left)):
        best = max((place for place in range(len(left)) if place not in chosen), key=gain)
        chosen[best] = left[best]
        documents[left[best].sentence.row.document_id] += 1
        themes[left[best].theme] += 1
        closest = np.maximum(closest, vectors @ vectors[best])
    return list(chosen.values())


def _build_passages(candidates: Sequence[_Candidate]) -> list[Passage]:
    """Return the passages of the best statements, those of the same theme together."""
    rows: Mapping[int, Sentence] = {one.sentence.row.id: one.sentence for one in reversed(candidates)}
    best = list(dict.fromkeys((one.theme, one.sentence.row.id) for one in candidates))[:_MAX_PASSAGES]
    ids = list(dict.fromkeys(chunk_id for _, chunk_id in sorted(best)))
    return [replace(build_passage(rank, rows[one].row, {})) for rank, one in enumerate(ids, 1)]


def _find_stems(text: str) -> set[str]:
    return {word.stem for word in tokenize(text)}
