"""Summarize themes: with sentences from the documents, or with a language model whose statements are checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rag_core.answering.cited_sentences import Sentence, SentenceReader
from rag_core.answering.summary_notes import NoteChecker, parse_distinct_markers
from rag_core.llm.context_budget import count_available_summary_tokens, count_prompt_tokens
from rag_core.llm.generator import LanguageModel
from rag_core.llm.prompts import build_map_messages
from rag_core.reading.key_sentences import is_complete_sentence, is_cross_reference, rank_sentences, select_sentences
from rag_core.retrieval.passages import build_passage
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.stores import Stores
from rag_core.store.database import create_id
from rag_core.types.answers import strip_markers
from rag_core.types.retrieval import Passage
from rag_core.types.themes import StatementSource, StoredTheme, SummarySentence, ThemeEntity
from rag_core.verification.support import create_text_encoder

# Most words of an extractive summary, and most statements of one document if the theme has more than two documents.
_SUMMARY_WORDS, _MOST_OF_DOCUMENT = 90, 2
# Most statements that a language model reads for a summary.
_MOST_READ = 12
_REQUEST = "What do the passages say about: {}?"


class ThemeSummarizer:
    """Summarizes themes.

    Parameters
    ----------
    stores : Stores
    generations : IndexGenerations
    """

    def __init__(self, stores: Stores, generations: IndexGenerations) -> None:
        self._stores = stores
        self._generations = generations
        self._reader = SentenceReader(stores, generations)

    def write_theme(
        self,
        title: str,
        entities: Sequence[ThemeEntity],
        sources: Sequence[StatementSource],
        model: LanguageModel | None,
    ) -> StoredTheme:
        """Return a theme with a summary by a language model or, without ``model``, from sentences of the sources.

        A stored summary of the same model from the same sentences is used again. May raise `GeneratorError`.
        """
        sentences = self._read_sentences(sources)
        kept = [source for source, one in zip(sources, sentences, strict=True) if one is not None]
        first = self._select_sentences(
            [one for one in sentences if one is not None], _MOST_READ * 30 if model else _SUMMARY_WORDS
        )
        first = first[:_MOST_READ] if model else first
        ordered = [*(kept[place] for place in first), *(one for place, one in enumerate(kept) if place not in first)]
        name = model.name if model is not None else "extractive"
        digest = hashlib.sha256(repr((name, ordered[: len(first)])).encode()).hexdigest()
        theme = StoredTheme(create_id(), digest, name, (), len(first), tuple(entities), tuple(ordered))
        if model is None or not first:
            return theme
        written = self._stores.themes.find_summary(digest)
        return replace(theme, summary=written or self._write_summary(model, title, ordered[: len(first)]))

    def _read_sentences(self, sources: Sequence[StatementSource]) -> list[Sentence | None]:
        """Return the sentence of each source; ``None`` if it cannot be read, for example from a removed document."""
        rows = self._stores.documents.visible_chunks([one.chunk_id for one in sources])
        visible = [one for one in sources if one.chunk_id in rows]
        read = self._reader.read_spans((rows[one.chunk_id], one.start, one.end) for one in visible)
        found = dict(zip(visible, read, strict=True))
        return [found.get(one) for one in sources]

    def _select_sentences(self, sentences: Sequence[Sentence], max_words: int) -> list[int]:
        """Return the positions of the sentences of the summary, in ascending order."""
        whole = [place for place, one in enumerate(sentences) if is_complete_sentence(one.text)]
        whole = [place for place in whole if not is_cross_reference(sentences[place].text)] or whole
        among = whole or list(range(len(sentences)))
        if not among:
            return []
        vectors = np.stack([one.vector for one in sentences])
        ranks = rank_sentences(vectors)
        documents = {sentences[place].row.document_id for place in among}
        if len(documents) > _MOST_OF_DOCUMENT:
            taken = dict.fromkeys(documents, 0)
            best = sorted(among, key=lambda place: -ranks[place])
            among = []
            for place in best:
                document = sentences[place].row.document_id
                if taken[document] < _MOST_OF_DOCUMENT:
                    taken[document] += 1
                    among.append(place)
        words = [len(one.text.split()) for one in sentences]
        return select_sentences(vectors, ranks, words, max_words, among)

    def _write_summary(
        self, model: LanguageModel, title: str, sources: Sequence[StatementSource]
    ) -> tuple[SummarySentence, ...]:
        """Let a model summarize passages; return its statements that the passages support, which may be none."""
        rows = self._stores.documents.visible_chunks([one.chunk_id for one in sources])
        request = _REQUEST.format(title)
        room = count_available_summary_tokens(request, model.profile.filled_tokens, model.answer_tokens)
        passages: list[Passage] = []
        for chunk_id in dict.fromkeys(one.chunk_id for one in sources if one.chunk_id in rows):
            passage = build_passage(len(passages) + 1, rows[chunk_id], {})
            room -= count_prompt_tokens(passage)
            if room < 0:
                break
            passages.append(passage)
        checker = NoteChecker(request, passages, create_text_encoder(self._generations.active().embedder))
        notes = checker.check_notes(model.complete(build_map_messages(request, passages)).text)
        chunk_ids = {one.rank: int(one.chunk_id) for one in passages}
        written = []
        for note in notes:
            cited = {chunk_ids[rank] for rank in parse_distinct_markers([note]) if rank in chunk_ids}
            places = tuple(place for place, one in enumerate(sources) if one.chunk_id in cited)
            written.append(SummarySentence(strip_markers(note.removeprefix("- ")).strip(), places))
        return tuple(written)
