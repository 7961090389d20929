"""The word index: BM25 search with SQLite FTS5, in a file of the data folder.

The tokenizer is ``porter unicode61 remove_diacritics 2``. A token consists of letters and digits, in lower case and
without accents, and is reduced to its English stem. Special cases are:

- A code with punctuation (``10-K``, ``4.2``, ``ISO/IEC``) is stored as several tokens and searched as a phrase.
- Each Chinese, Japanese and Korean character is a token. Pairs of neighbouring characters are searched as phrases.
- Text in languages other than English is followed by the stems of its words.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection, TextClause, text

from rag_core.index.retriever import ChunkBatch, Retriever, build_version_condition
from rag_core.settings import Settings
from rag_core.store.database import Database
from rag_core.text.abbreviations import build_form_key, can_be_counterpart, find_abbreviations, list_form_keys
from rag_core.text.calendar_dates import list_asked_terms, list_date_terms
from rag_core.text.languages import detect_language, is_frequent_word
from rag_core.text.normalize import STROKES, SUPERSCRIPT_DIGITS, normalize
from rag_core.text.spelling import count_typing_errors, list_variants
from rag_core.text.words import (
    ALPHANUMERIC,
    LETTERS,
    STOP_WORDS,
    separate_unspaced,
    split_unspaced,
    stem,
    stem_words,
)
from rag_core.types.arrays import BoolArray, Float64Array, Int64Array
from rag_core.types.chunks import Fingerprint
from rag_core.types.retrieval import CountedAlone, Hit, PassageScore, Question, SearchStage, VersionFilter

# Maximum number of terms of a question.
MAX_TERMS = 64
# Maximum number of rows that FTS5 scores for a question. If the terms of the question occur in more rows, the most
# frequent terms are not searched.
MAX_POSTINGS = 50_000
# Maximum number of other forms of an abbreviation or name in a question.
MAX_FORMS = 3
# Maximum number of cached document frequencies.
MAX_CACHED_WORDS = 20_000
# Maximum number of cached `_Part` objects.
MAX_PARTS = 16
# Condition for the chunks of a `_Part`; `_Part.limits` returns its values.
_IS_WITHIN_LIMITS = "AND rowid BETWEEN :first AND :last"
# Number of letters at the beginning of a word that must be correct if the word contains two typing errors.
_CORRECT_LETTERS = 4
# Maximum number of chunks that are read to find the spelling of a word.
_MAX_CHUNKS_READ = 20
# Superscript digits are replaced by spaces. For the tokenizer, they are part of a word, so "sales" would not find
# "sales²". Letters with a stroke are replaced by plain letters, because the tokenizer removes only accents.
_REPLACED = dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), " ") | STROKES
# Negations are no stop words, but are not searched either, because nearly every chunk contains them.
_NOT_SEARCHED = STOP_WORDS | {"no", "nor", "not"}
# A number with groups of three digits, such as 1,500, but not 1.5. The groups are joined: 1500.
_GROUPED = re.compile(r"(?<![\w.,])(\d{1,3}([ .,'’\u00a0\u2009\u202f])\d{3}(?:\2\d{3})*)((?!\2)[.,]\d+)?(?!\w|[.,]\d)")
_TERM = re.compile(r"[^\W_]+(?:[-./&'’:_][^\W_]+)*")


def find_query_terms(question: str) -> list[str]:
    """Return the distinct search terms of a question, at most `MAX_TERMS`, in this order:

    - terms for dates, and numbers with and without separators of their groups of digits;
    - words and codes, without stop words and other frequent words, or all words if no others remain;
    - if the question is not in English, the stems of these words;
    - the parts of codes.

    >>> find_query_terms("What does the 10-K say of ENOSPC?")
    ['10-k', 'say', 'enospc', '10', 'k']
    >>> find_query_terms("70 555 018")
    ['70555018', '70 555 018']
    >>> find_query_terms("Wo stehen die Häuser?")
    ['stehen', 'häuser', 'steh', 'haus']
    """
    language = detect_language(question)
    dates = list_asked_terms(question)
    # Numbers are also searched as they are written, because version 0.1.0 did not join groups of digits in the index.
    numbers = [term for match in _GROUPED.finditer(question) for term in (_join_groups(match), match[0])]
    question = _GROUPED.sub(" ", question)
    # In NFC, a letter and its accent are one character. A separate accent would end the term.
    composed = unicodedata.normalize("NFC", question.translate(_REPLACED))
    terms = [match.group().lower() for match in _TERM.finditer(composed)]
    content = [
        part
        for term in terms
        if term not in _NOT_SEARCHED and not (language and is_frequent_word(normalize(term)))
        for part in split_unspaced(term)
    ]
    stems = stem_words(content, language)
    parts = [
        part for term in content for part in ALPHANUMERIC.findall(term) if part != term and part not in _NOT_SEARCHED
    ]
    return list(dict.fromkeys([*dates, *numbers, *(content or terms), *stems, *parts]))[:MAX_TERMS]


def _join_groups(number: re.Match[str]) -> str:
    return re.sub(r"\D", "", number[1]) + (number[3] or "")


def _append_search_terms(text: str, prefix: str) -> str:
    """Return the text, followed by terms by which it can also be found.

    The terms are numbers with their groups of digits joined, the dates of text and prefix, and, if the text is not
    English, the stems of its words.
    """
    joined = [_join_groups(number) for number in _GROUPED.finditer(text)]
    words = set(LETTERS.findall(text.lower()))
    stems = sorted(set(stem_words(words, detect_language(text))) - words)
    return " ".join([text, *joined, *list_date_terms(f"{prefix}\n{text}"), *stems])


@dataclass(slots=True)
class _Part:
    """The chunks of some versions, within which words are counted; see `CountedAlone`.

    ``chunk_ids`` are ascending. ``document_frequencies`` caches the number of these chunks that contain a word.
    """

    chunk_ids: Int64Array
    document_frequencies: dict[str, int] = field(default_factory=dict)
    counting: Lock = field(default_factory=Lock)

    def find(self, chunk_ids: Int64Array) -> tuple[Int64Array, BoolArray]:
        """Return the position of each chunk in ``chunk_ids``, and whether the chunk belongs to the part."""
        if not len(self.chunk_ids):
            return np.zeros(len(chunk_ids), np.int64), np.zeros(len(chunk_ids), bool)
        positions = np.searchsorted(self.chunk_ids, chunk_ids).clip(max=len(self.chunk_ids) - 1)
        return positions, np.asarray(self.chunk_ids[positions] == chunk_ids)

    @property
    def limits(self) -> dict[str, int]:
        """The values of `_IS_WITHIN_LIMITS`: the first and the last chunk id."""
        first, last = self.chunk_ids[[0, -1]].tolist() if len(self.chunk_ids) else (0, -1)
        return {"first": first, "last": last}


@dataclass(slots=True)
class _Counts:
    """Cached counts of an index, which a new object replaces when the index changes.

    A thread that is counting at that moment stores an outdated result, but in the old object, which is no longer used.
    """

    total: int | None = None
    has_forms: bool | None = None
    document_frequencies: dict[str, int] = field(default_factory=dict)
    counting: Lock = field(default_factory=Lock)
    parts: dict[tuple[str, ...], _Part] = field(default_factory=dict)


class WordIndex:
    """An index that ranks the chunks of all generations by BM25 over their words."""

    def __init__(self, path: Path) -> None:
        hint = (
            "stop Footnote, delete that file, start again and re-index all documents; everything in it is also stored "
            "elsewhere"
        )
        self._db = Database(path, has_schema=False, restore_hint=hint)
        self._counts = _Counts()
        with self._db.begin() as connection:
            connection.execute(
                text(
                    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5("
                    "prefix, body, version UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2')"
                )
            )
            connection.execute(text("CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab(words, row)"))
            if not connection.execute(text("SELECT 1 FROM sqlite_master WHERE name = 'forms'")).first():
                connection.execute(
                    text(
                        "CREATE TABLE forms(key TEXT, form TEXT, other TEXT, chunk INTEGER, version TEXT, "
                        "PRIMARY KEY (key, other, chunk)) WITHOUT ROWID"
                    )
                )
                connection.execute(text("CREATE INDEX forms_of_chunk ON forms(chunk)"))
                connection.execute(text("CREATE INDEX forms_of_version ON forms(version)"))
                rows = connection.execute(text("SELECT rowid, body, version FROM words"))
                for batch in rows.partitions(1000):
                    _add_forms(connection, [(int(row[0]), str(row[1]), str(row[2])) for row in batch])

    def add(self, chunks: ChunkBatch) -> None:
        """Add chunks, or overwrite chunks with the same ids."""
        values = [
            {
                "id": chunk_id,
                "prefix": separate_unspaced(prefix.translate(_REPLACED)),
                "body": separate_unspaced(_append_search_terms(body.translate(_REPLACED), prefix)),
                "version": version,
            }
            for chunk_id, (prefix, body), version in zip(chunks.chunk_ids, chunks.texts, chunks.versions, strict=True)
        ]
        if values:
            with self._db.begin() as connection:
                connection.execute(
                    text(
                        "INSERT OR REPLACE INTO words(rowid, prefix, body, version) "
                        "VALUES (:id, :prefix, :body, :version)"
                    ),
                    values,
                )
                _delete_forms(connection, chunks.chunk_ids)
                bodies = [body for _, body in chunks.texts]
                _add_forms(connection, zip(chunks.chunk_ids, bodies, chunks.versions, strict=True))
            self._counts = _Counts()

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """Return the ``k`` chunks of some versions with the highest BM25, best first.

        FTS5 computes BM25 (Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009;
        k1 1.2, b 0.75), with equal weights for prefix and text. In a large index, the most frequent terms are not
        searched (see `MAX_POSTINGS`). If all versions are searched, terms that occur in more than half of all chunks
        may be left out as well.
        """
        terms = find_query_terms(question.text)
        if not terms or (versions is not None and not versions):
            return []
        if isinstance(versions, CountedAlone):
            return self._retrieve_alone(terms, k, versions)
        condition, version_values = build_version_condition(versions)
        statement = (
            "SELECT rowid, -bm25(words) AS score FROM words "  # noqa: S608 - constants
            f"WHERE words MATCH :match {condition} ORDER BY score DESC, rowid LIMIT :k"
        )
        with self._db.read() as connection:
            # A restricted search also searches terms in more than half of all chunks, because its versions may contain
            # no rare term of the question.
            enough = k if versions is None else MAX_POSTINGS
            # Count all words of the question together, which is faster. The reranker needs their frequencies too.
            self._count_chunks_with(connection, [*terms, *ALPHANUMERIC.findall(question.text.lower())])
            frequencies = self._count_chunks_with(connection, terms)
            match = _build_query(_select_terms(frequencies, enough, self._count_all(connection) / 2))
            rows = connection.execute(text(statement), {"match": match, "k": k, **version_values}).all()
            return [Hit(chunk_id, float(score)) for chunk_id, score in rows]

    def _retrieve_alone(self, terms: Sequence[str], k: int, versions: CountedAlone) -> list[Hit]:
        """Return the best chunks of versions, with weights of terms that depend only on these versions.

        FTS5 weights a term by its rarity in the whole index. Each score of a term is therefore multiplied by the ratio
        of its weight in these versions to its weight in the whole index. Only the mean length of chunks remains that of
        the whole index.
        """
        terms = list(dict.fromkeys(term.translate(STROKES) for term in terms))
        part = self._get_part(versions)
        query = text(f"SELECT rowid, -bm25(words) FROM words WHERE words MATCH :match {_IS_WITHIN_LIMITS}")  # noqa: S608 - fixed
        scores = np.zeros(len(part.chunk_ids))
        with self._db.read() as connection:
            in_part = self._count_chunks_with(connection, terms, part)
            in_index = self._count_chunks_with(connection, terms)
            total = len(part.chunk_ids)
            for term in _select_terms(in_part, k, total / 2):
                factor = _weight_term(total, in_part[term]) / _weight_term(self._count_all(connection), in_index[term])
                numbers = _fetch_numbers(connection, query, {"match": _build_query([term]), **part.limits})
                chunk_ids, term_scores = numbers.reshape(-1, 2).T
                positions, is_found = part.find(chunk_ids.astype(np.int64))
                scores[positions[is_found]] += term_scores[is_found] * factor
        found = np.flatnonzero(scores)
        best = found[np.lexsort((found, -scores[found]))[:k]]
        return [Hit(int(part.chunk_ids[position]), float(scores[position])) for position in best]

    def find_forms(self, question: str, versions: VersionFilter | None = None) -> dict[str, list[str]]:
        """Return the other forms of abbreviations and names in a question, by the form in the question.

        The forms are those that chunks of ``versions`` define. Each form in the question has at most `MAX_FORMS` other
        forms, the most frequent ones first.
        """
        spans = list_form_keys(question)
        condition, values = build_version_condition(versions)
        query = text(
            "SELECT key, other FROM forms WHERE key IN (SELECT value FROM json_each(:keys)) "  # noqa: S608 - constants
            f"{condition} GROUP BY key, other ORDER BY count(*) DESC"
        )
        counts = self._counts
        with self._db.read() as connection:
            if counts.has_forms is None:
                counts.has_forms = bool(connection.execute(text("SELECT EXISTS (SELECT 1 FROM forms)")).scalar())
            if not counts.has_forms:
                return {}
            found = connection.execute(query, {"keys": json.dumps(list(spans)), **values}).all()
        forms: dict[str, list[str]] = {}
        known, taken = set(spans), set[int]()
        # The longest forms come first: "Local Water Panel" before "Water Panel".
        for key, other in sorted(found, key=lambda row: spans[row.key][0] - spans[row.key][1]):
            form = question[slice(*spans[key])]
            is_free = form in forms or taken.isdisjoint(range(*spans[key]))
            if is_free and build_form_key(other) not in known and can_be_counterpart(form, other, question):
                known.add(build_form_key(other))
                taken.update(range(*spans[key]))
                forms.setdefault(form, []).append(other)
        return {form: others[:MAX_FORMS] for form, others in forms.items()}

    def list_abbreviations(self, versions: Iterable[str]) -> dict[str, str]:
        """Return the long form of each abbreviation that versions define, by abbreviation.

        Abbreviations with several long forms are left out.
        """
        query = text(
            "SELECT form, other FROM forms WHERE version IN (SELECT value FROM json_each(:versions)) "
            "AND length(form) < length(other) GROUP BY form HAVING min(key) = max(key) AND count(DISTINCT other) = 1"
        )
        with self._db.read() as connection:
            rows = connection.execute(query, {"versions": json.dumps(list(versions))})
            return {str(short): str(long) for short, long in rows}

    def find_similar_word(self, word: str, ranges: Mapping[str, tuple[int, int]] | None = None) -> str:
        """Return the word of the index that is most similar to a word with a typing error.

        Return an empty text if no word is similar, or if words with different stems are equally similar. Of words with
        the same stem, the most frequent one is returned. The first letter must be correct, including its case.
        ``ranges`` restricts the search to versions; see `find_words`.
        """
        condition, limits = _build_range_condition(ranges)
        variants = list_variants(word)
        beginning = normalize(word)[:_CORRECT_LETTERS]
        with self._db.read() as connection:
            query = text(
                "SELECT variant.key FROM json_each(:matches) AS variant "
                "WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH variant.value)"
            )
            found = connection.execute(query, {"matches": json.dumps([_build_query([one]) for one in variants])})
            stems = {stem(variants[position]) for position in found.scalars()}
            query = text("SELECT term FROM vocabulary WHERE term >= :first AND term < :last")
            values = {"first": beginning, "last": f"{beginning}{chr(0x10FFFF)}"}
            terms = connection.execute(query, values).scalars()
            stems |= {term for term in terms if count_typing_errors(stem(normalize(word)), term) is not None}
            query = text(
                "SELECT prefix || char(10) || body FROM words "  # noqa: S608 - fixed
                f"WHERE words MATCH :match{condition} LIMIT {_MAX_CHUNKS_READ}"
            )
            spellings = Counter(
                one
                for term in stems
                for chunk in connection.scalars(query, {"match": _build_query([term]), **limits})
                for one in LETTERS.findall(chunk)
                if one[0] == word[0] and count_typing_errors(word, one) is not None and not one.isupper()
            )
        errors = {one: count_typing_errors(word, one) or 0 for one in spellings}
        closest = [one for one, _ in spellings.most_common() if errors[one] == min(errors.values())]
        return closest[0] if len({stem(normalize(one)) for one in closest}) == 1 else ""

    def find_words(
        self, words: Sequence[tuple[str, str]], ranges: Mapping[str, tuple[int, int]]
    ) -> set[tuple[str, str, str]]:
        """Return which versions contain which words, as triples of version id, word and beginning.

        Parameters
        ----------
        words : sequence of (str, str)
            Pairs of a word and a beginning of words. A version contains a pair if it contains an inflected form of the
            word, or a word with this beginning.
        ranges : mapping of str to (int, int)
            First and last chunk id of each version to search. Without these ids, FTS5 would check all chunks that
            contain the word, which is slow for common words.
        """
        # The word itself is also searched, because the index contains stems, which can be shorter than the beginning.
        matches = [f"{_build_query([word])} OR {_build_query([beginning], '*')}" for word, beginning in words]
        versions = [[version, *ids] for version, ids in ranges.items()]
        query = text(
            "SELECT version.key, pair.key FROM json_each(:versions) AS version, json_each(:matches) AS pair "
            "WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH pair.value "
            "AND rowid BETWEEN json_extract(version.value, '$[1]') AND json_extract(version.value, '$[2]') "
            "AND words.version = json_extract(version.value, '$[0]'))"
        )
        with self._db.read() as connection:
            rows = connection.execute(query, {"versions": json.dumps(versions), "matches": json.dumps(matches)})
            return {(str(versions[version][0]), *words[pair]) for version, pair in rows}

    def idf(self, words: Sequence[str], versions: VersionFilter | None = None) -> dict[str, float]:
        """Return the inverse document frequency of each word, ``ln((N + 1) / (n + 0.5))``, at least 0.

        ``N`` is the number of chunks, and ``n`` the number of chunks that contain the word. The chunks of all versions
        are counted, or if ``versions`` is a `CountedAlone`, the chunks of these versions. The formula is that of
        Robertson and Zaragoza (2009), with 1 added to the argument of the logarithm to avoid negative values.
        """
        with self._db.read() as connection:
            if isinstance(versions, CountedAlone):
                part = self._get_part(versions)
                total, frequencies = len(part.chunk_ids), self._count_chunks_with(connection, words, part)
            else:
                total, frequencies = self._count_all(connection), self._count_chunks_with(connection, words)
        return {word: max(0.0, math.log((total + 1) / (frequency + 0.5))) for word, frequency in frequencies.items()}

    def find_missing(self, words: Sequence[str], ranges: Mapping[str, tuple[int, int]] | None = None) -> list[str]:
        """Return the words that no chunk contains. ``ranges`` restricts the search to versions; see `find_words`."""
        condition, limits = _build_range_condition(ranges)
        query = text(f"SELECT 1 FROM words WHERE words MATCH :match{condition} LIMIT 1")  # noqa: S608 - a fixed condition
        with self._db.read() as connection:
            if ranges is None:
                return [word for word, count in self._count_chunks_with(connection, words).items() if not count]
            return [
                word
                for word in words
                if connection.execute(query, {"match": _build_query([word]), **limits}).first() is None
            ]

    def _get_part(self, versions: CountedAlone) -> _Part:
        """Return the part of the index with the chunks of some versions. Parts are cached until the index changes."""
        parts, key = self._counts.parts, tuple(versions)
        if key not in parts:
            if len(parts) >= MAX_PARTS:
                parts.clear()
            parts[key] = _Part(np.sort(np.array(versions.load_chunk_ids(versions), np.int64)))
        return parts[key]

    def _count_all(self, connection: Connection) -> int:
        """Return the number of chunks, which is cached until the index changes."""
        counts = self._counts
        if counts.total is None:
            counts.total = _count_rows(connection)
        return counts.total

    def _count_chunks_with(
        self, connection: Connection, words: Sequence[str], part: _Part | None = None
    ) -> dict[str, int]:
        """Return, by word, the number of chunks in the index, or in ``part``, that contain the word.

        The words are in the order of ``words``. The numbers are cached, because counting common words is slow.
        """
        counts = part or self._counts
        cached = counts.document_frequencies
        frequencies = {word: count for word in words if (count := cached.get(word)) is not None}
        if len(frequencies) == len(set(words)):
            return frequencies
        # The search for a question and its reranking need the same words at the same time: the second one waits.
        with counts.counting:
            frequencies |= {word: count for word in words if (count := cached.get(word)) is not None}
            missing = list(dict.fromkeys(word for word in words if word not in frequencies))
            frequencies |= self._count_missing(connection, missing, part)
            if len(cached) + len(missing) > MAX_CACHED_WORDS:
                cached.clear()
            cached.update((word, frequencies[word]) for word in missing[:MAX_CACHED_WORDS])
        return {word: frequencies[word] for word in words}

    def _count_missing(self, connection: Connection, missing: Sequence[str], part: _Part | None) -> dict[str, int]:
        frequencies: dict[str, int] = {}
        if part is not None:
            query = text(f"SELECT rowid FROM words WHERE words MATCH :match {_IS_WITHIN_LIMITS}")  # noqa: S608 - fixed
            for word in missing:
                rows = _fetch_numbers(connection, query, {"match": _build_query([word]), **part.limits})
                frequencies[word] = int(part.find(rows.astype(np.int64))[1].sum())
        elif missing:
            # One statement for all words is faster than one for each word, and blocks other threads less.
            query = text(
                "SELECT term.key, (SELECT count(*) FROM words WHERE words MATCH term.value) "
                "FROM json_each(:matches) AS term"
            )
            counted = connection.execute(query, {"matches": json.dumps([_build_query([word]) for word in missing])})
            frequencies |= {missing[position]: int(frequency) for position, frequency in counted}
        return frequencies

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete chunks. Unknown ids are ignored."""
        with self._db.begin() as connection:
            connection.execute(
                text("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(:ids))"),
                {"ids": json.dumps(list(chunk_ids))},
            )
            _delete_forms(connection, chunk_ids)
        self._counts = _Counts()

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return the number of chunks in the index; with ``chunk_ids``, only these chunks are counted."""
        if chunk_ids is not None:
            return len(self.ids(chunk_ids))
        with self._db.read() as connection:
            return _count_rows(connection)

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of the chunks in the index; with ``chunk_ids``, only ids that are in both."""
        condition = "" if chunk_ids is None else " WHERE rowid IN (SELECT value FROM json_each(:ids))"
        values = {"ids": json.dumps(list(chunk_ids or ()))}
        with self._db.read() as connection:
            rows = connection.execute(text(f"SELECT rowid FROM words{condition}"), values)  # noqa: S608 - constants
            return {int(row.rowid) for row in rows}

    def measure_bytes(self) -> int:
        """Return the size of the index in bytes."""
        with self._db.read() as connection:
            return self._db.measure_file(connection)

    def close(self) -> None:
        self._db.close()


def _select_terms(frequencies: Mapping[str, int], enough: float, half: float = math.inf) -> list[str]:
    """Return the rarest terms, which together occur in at most `MAX_POSTINGS` rows.

    The rarest term that occurs is always returned. If rarer terms already occur in ``enough`` rows, terms in more than
    ``half`` rows are left out as well, because searching them takes longest and FTS5 gives them almost no weight.
    """
    kept: list[str] = []
    postings = 0
    for term in sorted(frequencies, key=frequencies.__getitem__):
        frequency = frequencies[term]
        if (postings and postings + frequency > MAX_POSTINGS) or (postings >= enough and frequency > half):
            break
        kept.append(term)
        postings += frequency
    return kept


def _fetch_numbers(connection: Connection, query: TextClause, values: Mapping[str, Any]) -> Float64Array:
    """Return the numbers of all rows, row by row. Rows of SQLAlchemy would take several times as long to read."""
    result = connection.execute(query, values)
    cursor: Any = result.cursor
    return np.fromiter(chain.from_iterable(cursor), np.float64)


def _weight_term(total: int, frequency: int) -> float:
    """Return the inverse document frequency as the function ``bm25`` of FTS5 computes it."""
    return max(math.log((total - frequency + 0.5) / (frequency + 0.5)), 1e-6)


def _add_forms(connection: Connection, chunks: Iterable[tuple[int, str, str]]) -> None:
    """Store the abbreviations that chunks (id, text, version) define: a row for the short and one for the long form."""
    values = [
        {"key": build_form_key(form), "form": form, "other": other, "chunk": chunk_id, "version": version}
        for chunk_id, body, version in chunks
        for short, long in find_abbreviations(body)
        for form, other in ((short, long), (long, short))
    ]
    if values:
        connection.execute(text("INSERT OR IGNORE INTO forms VALUES (:key, :form, :other, :chunk, :version)"), values)


def _delete_forms(connection: Connection, chunk_ids: Sequence[int]) -> None:
    query = text("DELETE FROM forms WHERE chunk IN (SELECT value FROM json_each(:ids))")
    connection.execute(query, {"ids": json.dumps(list(chunk_ids))})


class WordRetriever(Retriever):
    """Finds chunks by their words, in one index for all generations."""

    score = PassageScore("bm25", "words", is_bounded=False)
    stage = SearchStage("lexical", "Searching by words", "Waited for the search by words", "words (in parallel)")
    store = "words"
    place = "in the word index"
    reads = "text"
    failure = "Words were not searched."
    is_shared = True

    def __init__(self, settings: Settings, database: Database) -> None:
        self.index = WordIndex(settings.data_dir / "words.sqlite")

    def open(self, generation_id: int) -> WordIndex:
        return self.index

    def drop(self, generation_id: int) -> None:
        """Do nothing, because the chunks of a generation are deleted with their versions."""

    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        return self.index.measure_bytes()

    def close(self) -> None:
        self.index.close()


def _count_rows(connection: Connection) -> int:
    # FTS5's table ``words_docsize`` has a small row for each chunk. Counting rows of ``words`` would read all texts.
    return int(connection.execute(text("SELECT count(*) FROM words_docsize")).scalar_one())


def _build_range_condition(ranges: Mapping[str, tuple[int, int]] | None) -> tuple[str, dict[str, Any]]:
    """Return the condition for rows of some versions, and the values of its parameters.

    The condition begins with AND. Both are empty if ``ranges`` is ``None``. See `WordIndex.find_words` for ``ranges``.
    """
    if ranges is None:
        return "", {}
    ends = [end for one in ranges.values() for end in one] or [0]
    condition = " AND rowid BETWEEN :first AND :last AND words.version IN (SELECT value FROM json_each(:versions))"
    return condition, {"first": min(ends), "last": max(ends), "versions": json.dumps(list(ranges))}


def _build_query(terms: Sequence[str], suffix: str = "") -> str:
    """Return an FTS5 query for any of the terms; with the suffix "*", for words that begin with any of the terms."""
    # Terms are quoted, so that FTS5 takes no character as an operator. Letters with strokes are searched as well,
    # because an index of version 0.1.0 contains them.
    forms = (form for term in terms for form in dict.fromkeys((term, term.translate(STROKES))))
    forms = (separate_unspaced(form) for form in forms)
    return " OR ".join('"' + form.replace('"', '""') + f'"{suffix}' for form in forms)
