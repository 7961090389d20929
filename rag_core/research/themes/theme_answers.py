"""Answer questions about whole collections from their themes.

The method follows Edge et al., "From local to global: A graph RAG approach to query-focused summarization", 2024: each
theme contributes statements about the question (map), from which the answer is made (reduce). Without a language model,
the statements are sentences of the documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.answering.answer_builder import build_answer
from rag_core.answering.cited_sentences import CitedText, Sentence, SentenceReader
from rag_core.answering.summary import Summarizer
from rag_core.answering.trace import AnswerTrace
from rag_core.reading.key_sentences import is_complete_sentence, is_cross_reference, rank_sentences
from rag_core.research.themes.entity_graphs import EntityGraphs
from rag_core.research.themes.theme_selection import (
    ThemeStatement,
    find_stems,
    find_topic_words,
    find_topics,
    select_diverse,
)
from rag_core.research.themes.themes import Themes, build_theme_title, load_spans
from rag_core.retrieval.late_interaction import compute_max_sim, compute_token_similarities, compute_token_weights
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.stores import Stores
from rag_core.text.words import STOP_WORDS
from rag_core.types.answers import AskEvent, Delta, Stage
from rag_core.types.formatting import format_count
from rag_core.types.retrieval import Gate, Passage, SearchResult, build_unembedded_question
from rag_core.types.searches import Query
from rag_core.types.themes import StatementSource, StoredTheme
from rag_core.verification.verified_answer import REFUSED

# Name and threshold of the gate's score: the share of the question's topics that a single statement mentions.
_SCORE, _THRESHOLD = "topic", 0.5
# Most chunks that a word search adds, most statements that are compared with the question, and most passages that a
# model reads.
_MAX_CHUNKS, _MAX_COMPARED, _MAX_PASSAGES = 300, 500, 48
# The title above the statements that belong to no theme.
_NO_THEME = "Further statements"
# Weights in the score of a statement: for its centrality among all candidates, and for topics in its heading.
_CENTRALITY, _HEADING = 0.1, 0.1


@dataclass(frozen=True, eq=False)
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
    models : LanguageModels
    """

    stores: Stores
    graphs: EntityGraphs
    themes: Themes
    generations: IndexGenerations
    summarizer: Summarizer
    models: LanguageModels

    def answer(self, query: Query, trace: AnswerTrace) -> Generator[AskEvent, None, bool]:
        """Yield the events of an answer from all themes, and return true.

        Yield nothing and return false if the question names an entity, or if no themes were built;
        `NeighbourhoodSearch` searches for such questions.
        """
        state = self.graphs.state()
        if state.built_at is None:
            return False
        if state.added:
            added = format_count(state.added, "document is", "documents are")
            trace.notices.append(f"{added} not part of the themes yet. Update them on the Themes page.")
        if self.graphs.load().find_in_question(query.text, names_only=True):
            return False
        yield Stage("themes", "Reading the themes")
        with trace.timer.measure("themes"):
            themes = self.themes.stored(query.documents)
            topics = find_topics(query.text)
            candidates = self._map_themes(query.text, themes, topics)
        yield Stage("themes", "Reading the themes", done=True)
        used = len({one.theme for one in candidates})
        trace.steps.append(f"Read {format_count(len(themes), 'theme')}; {used:,} contribute to the answer")
        if self.models.active(query.writer.model) is not None and candidates:
            summary = yield from self.summarizer.summarize(query, trace, _build_passages(candidates))
            if summary is not None:
                yield build_answer(query, summary.result, summary.verified, summary.generator, trace)
                return True
        yield from self._reduce(query, themes, candidates, trace)
        return True

    def _map_themes(self, question: str, themes: Sequence[StoredTheme], topics: frozenset[str]) -> list[ThemeStatement]:
        """Return the statements of the themes that are about the question, best first.

        If the question has no topic, as in "What are the main themes?", return the statements of the summaries.
        """
        sources = self._collect_sources(question, themes) if topics else {}
        if not topics:
            sources = {one: number for number, theme in enumerate(themes) for one in theme.statements[: theme.cited]}
        rows = self.stores.documents.visible_chunks(sorted({one.chunk_id for one in sources}))
        # A quick test before `find_stems`: a word begins with its stem, except for the last letter of some stems.
        begins = re.compile("|".join(rf"\b{re.escape(one[: max(3, len(one) - 1)])}" for one in topics), re.IGNORECASE)
        headings = {prefix: topics & find_stems(prefix) for prefix in {row.prefix for row in rows.values()}}
        in_heading = {row.id: headings[row.prefix] for row in rows.values()}
        matched: dict[StatementSource, float] = {}
        for source in (one for one in sources if one.chunk_id in rows):
            text = " ".join(rows[source.chunk_id].text[source.start : source.end].split())
            found = topics & find_stems(text) if topics and begins.search(text) else frozenset()
            found |= in_heading[source.chunk_id]
            if (found or not topics) and is_complete_sentence(text) and not is_cross_reference(text):
                matched[source] = len(found) / len(topics) if topics else 1.0
        best = max(matched.values(), default=0.0)
        # The sort is stable: of equal statements, those that come first in the sources come first here.
        kept = [source for source in sorted(matched, key=lambda one: -matched[one]) if matched[source] >= best / 2]
        kept = kept[:_MAX_COMPARED]
        read = SentenceReader(self.stores, self.generations).read_spans(load_spans(kept, rows))
        pairs = [(source, one) for source, one in zip(kept, read, strict=True) if one is not None]
        if not pairs:
            return []
        scores = _CENTRALITY * rank_sentences(np.stack([one.vector for _, one in pairs]))
        if topics:
            embedded = self.generations.active().embedder.embed_question(" ".join(find_topic_words(question)))
            weights = compute_token_weights(embedded, self.stores.word_index.idf, STOP_WORDS)
            similar = [
                compute_max_sim(compute_token_similarities(embedded.tokens, one.tokens), weights) for _, one in pairs
            ]
            headed = [len(in_heading[source.chunk_id]) / len(topics) for source, _ in pairs]
            scores = scores + np.array(similar, np.float32) + _HEADING * np.array(headed, np.float32)
        candidates = [
            ThemeStatement(sources[source], one, float(score), matched[source])
            for (source, one), score in zip(pairs, scores, strict=True)
        ]
        return sorted(candidates, key=lambda one: -one.score)

    def _collect_sources(self, question: str, themes: Sequence[StoredTheme]) -> dict[StatementSource, int]:
        """Return the statements that may be about the question, each with the number of its theme.

        First come the statements in the chunks that a word search finds for the topics of the question, best first, and
        then the statements that represent each theme. A statement belongs to the theme that contains most of its
        entities; a statement that belongs to no theme has the number ``len(themes)``.
        """
        graph = self.graphs.load()
        versions = sorted({one.version_id for theme in themes for one in theme.statements})
        theme_of = {one.key: number for number, theme in reversed(list(enumerate(themes))) for one in theme.entities}
        topics = build_unembedded_question(" ".join(find_topic_words(question)))
        found = self.stores.word_index.retrieve(topics, _MAX_CHUNKS, versions)
        rank = {hit.chunk_id: place for place, hit in enumerate(found)}
        sources: dict[StatementSource, int] = {}
        in_chunks = [one for one in graph.statements if one.source.chunk_id in rank and one.kind != "row"]
        for statement in sorted(in_chunks, key=lambda one: rank[one.source.chunk_id]):
            numbers = Counter(theme_of.get(graph.keys[one], len(themes)) for one in statement.entities)
            sources[statement.source] = min(numbers, key=lambda one: (one == len(themes), -numbers[one], one))
        for place in range(max((len(theme.statements) for theme in themes), default=0)):
            for number, theme in enumerate(themes):
                if place < len(theme.statements):
                    sources.setdefault(theme.statements[place], number)
        return sources

    def _reduce(
        self,
        query: Query,
        themes: Sequence[StoredTheme],
        candidates: Sequence[ThemeStatement],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, None]:
        """Yield the events of an answer that quotes the best candidates, or of a refusal; no model is called."""
        chosen = select_diverse(candidates)
        covered = max((one.topic_share for one in chosen), default=0.0)
        gate = Gate(_SCORE, covered, _THRESHOLD, covered >= _THRESHOLD)
        text = CitedText()
        for number in dict.fromkeys(one.theme for one in chosen):
            text.begin(build_theme_title(themes[number]) if number < len(themes) else _NO_THEME)
            for one in chosen:
                if one.theme == number:
                    text.add(one.sentence.row, one.sentence.start, one.sentence.end)
        answer = text.build() if gate.answerable else REFUSED
        result = SearchResult(
            query.text, tuple(text.passages) if gate.answerable else (), gate, {}, as_of=query.as_of_label
        )
        yield result
        yield Delta(answer.text)
        yield build_answer(query, result, answer, "extractive", trace)


def _build_passages(candidates: Sequence[ThemeStatement]) -> list[Passage]:
    """Return the passages of the best statements, ordered by the number of the theme; at most `_MAX_PASSAGES`."""
    rows: Mapping[int, Sentence] = {one.sentence.row.id: one.sentence for one in reversed(candidates)}
    best = list(dict.fromkeys((one.theme, one.sentence.row.id) for one in candidates))[:_MAX_PASSAGES]
    ids = list(dict.fromkeys(chunk_id for _, chunk_id in sorted(best)))
    return [build_passage(rank, rows[one].row, {}) for rank, one in enumerate(ids, 1)]
