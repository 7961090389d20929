"""Answer questions in another language than the documents by what is the same in both: names, numbers and cognates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from rag_core.answering.answer_text import write_quotes
from rag_core.answering.quotes import Quotes
from rag_core.answering.search import Searcher
from rag_core.settings import BUNDLED_EMBEDDER
from rag_core.text.languages import COMMON, identify_language
from rag_core.text.normalize import normalize
from rag_core.text.noun_phrases import find_names
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import STOP_WORDS, Word, tokenize
from rag_core.types import Citation, Passage
from rag_core.types.retrieval import Timer
from rag_core.types.searches import Query

# Least length and least similarity of words that are counted as the same word in two languages.
_COGNATE_LETTERS, _COGNATE_RATIO = 5, 85.0
# Different frequent words that identify the language of a passage, and most passages and sentences that are considered.
_LEAST_WORDS, _MAX_PASSAGES, _MAX_SENTENCES = 3, 5, 2
_SEARCHED = "Only names, numbers and similar words were searched for."
_MULTILINGUAL = (
    "For answers across languages, connect a language model, or set RAG_EMBEDDER to a multilingual embedding model and "
    "re-index."
)


def bridge_languages(query: Query, quotes: Quotes, searcher: Searcher, notices: list[str]) -> Quotes:
    """Return the quotes, adapted to a question in another language than its passages.

    The reading model reads only texts in one language. So quotes get no short answer, and a notice says that they were
    not compared with the question. Without quotes, the documents are searched for the words that may be the same in
    both languages, and the passage with most of them is quoted if they contain a name or a number, or are several.
    """
    language = identify_language(query.text)
    if not language:
        return quotes
    if not quotes.answer.refused:
        cited = {one.passage_rank for one in quotes.answer.citations}
        first = next((one for one in quotes.passages if one.rank in cited), None)
        other = _find_other_language(language, first) if first else ""
        if other:
            notices.append(f"{_describe(language, other)} The quotes were not compared with the question as a whole.")
        return replace(quotes, answer=replace(quotes.answer, short="")) if other else quotes
    terms = _find_terms(query.text, language)
    same = [one for one in quotes.passages if not _find_other_language(language, one)]
    if not terms or len(same) == len(quotes.passages):
        return quotes
    if any(
        _is_strong(word, query.text, language, one.text) for one in same for word in _find_crossing(terms, one.text)
    ):
        # A passage in the language of the question is about the same name or number.
        return quotes
    outcome = searcher.search(replace(query, text=" ".join(word.text for word in terms)), Timer())
    if outcome.ranked.embedder.identity.name != BUNDLED_EMBEDDER:
        # Another embedding model may compare texts in several languages, and its gate decides.
        return quotes
    languages = [(one, _find_other_language(language, one)) for one in outcome.passages[:_MAX_PASSAGES]]
    passages = [one for one, other in languages if other]
    if not passages:
        return quotes
    other = next(other for _, other in languages if other)
    notices.append(f"{_describe(language, other)} {_SEARCHED} {_MULTILINGUAL}")
    found = max(passages, key=lambda one: len(_find_crossing(terms, f"{one.document} {one.text}")))
    crossing = _find_crossing(terms, found.first_page_text)
    if len(crossing) < 2 and not any(_is_strong(word, query.text, language, found.text) for word in crossing):
        return quotes
    return _quote(found, crossing, quotes, len(outcome.result.passages))


def _describe(language: str, other: str) -> str:
    return f"The question is in {language}, and the passages are in {other}."


def _find_other_language(language: str, passage: Passage) -> str:
    """Return the language of a passage if it is not that of the question; empty also if it is unknown."""
    found = identify_language(passage.text, _LEAST_WORDS)
    return found if found != language else ""


def _find_terms(question: str, language: str) -> list[Word]:
    """Return the content words, names and numbers of a question."""
    frequent = frozenset[str]().union(*COMMON.values()) if language != "English" else frozenset[str]()
    return [word for word in tokenize(question) if word.content and word.folded not in frequent | STOP_WORDS]


def _find_crossing(terms: Sequence[Word], text: str) -> list[Word]:
    """Return the words that a text contains, in the same or nearly the same spelling."""
    words = {normalize(word.text) for word in tokenize(text)}
    return [term for term in terms if _find_same(normalize(term.text), words)]


def _find_same(term: str, words: set[str]) -> bool:
    if term in words or len(term) < _COGNATE_LETTERS or any(map(str.isdigit, term)):
        return term in words
    return any(len(word) >= _COGNATE_LETTERS and fuzz.ratio(term, word) >= _COGNATE_RATIO for word in words)


def _is_strong(word: Word, question: str, language: str, text: str) -> bool:
    """Return whether a word is a number of several digits, or a name.

    German capitalizes all nouns, so a name is looked for in the text of the other language.
    """
    if sum(map(str.isdigit, word.text)) > 1:
        return True
    source = text if language == "German" else question
    names = {part for name in find_names(source) for part in normalize(name.text).split()}
    return normalize(word.text) in names


def _quote(passage: Passage, crossing: Sequence[Word], quotes: Quotes, shown: int) -> Quotes:
    """Return the sentences of a passage with most of the crossing words."""
    text = passage.first_page_text
    counts = {(start, end): len(_find_crossing(crossing, text[start:end])) for start, end in find_sentence_spans(text)}
    most = max(counts.values())
    passage = replace(passage, rank=1)
    chosen = [span for span, count in counts.items() if count == most][:_MAX_SENTENCES]
    quoted = [(Citation.of(passage, start, end), False) for start, end in chosen]
    named = ", ".join(f"“{word}”" for word in dict.fromkeys(word.text for word in crossing))
    answer = write_quotes(quoted, f"Closest passage, found by {named}:")
    others = [replace(one, rank=rank) for rank, one in enumerate(
        (one for one in quotes.passages if one.chunk_id != passage.chunk_id), 2)]  # fmt: skip
    gate = quotes.gate.overrule()
    return Quotes(answer, (passage, *others)[:shown], gate)
