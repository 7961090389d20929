"""The word index: BM25 search with SQLite FTS5, in a file of the data folder that is separate from the database.

The tokenizer is ``porter unicode61 remove_diacritics 2``. A token is a run of letters and digits, in lower case,
without accents, and reduced to its English stem. A code with punctuation (``10-K``, ``4.2``, ``ISO/IEC``) becomes
several tokens, so it is searched as a phrase. Each Chinese, Japanese and Korean character is a token, and a question is
searched by its pairs of neighbouring characters. Text in other languages is followed by the stems of its words.
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
from typing import Any

import numpy as np
from sqlalchemy import Connection, TextClause, text

from rag_core.index.retriever import ChunkBatch, Retriever
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
from rag_core.types.retrieval import CountedAlone, Excluding, Hit, PassageScore, Question, SearchStage, VersionFilter

MAX_TERMS = 64
# Maximum number of rows that FTS5 scores for one question. If the terms of the question occur in more rows, the most
# frequent terms are not searched. The reranker still uses them.
MAX_POSTINGS = 50_000
# Maximum number of long forms of one abbreviation, or of short forms of one name, that a question gets.
MAX_FORMS = 3
# Maximum number of cached document frequencies.
MAX_CACHED_WORDS = 20_000
# Maximum number of sets of versions whose words are counted alone, and the condition for their rows.
MAX_PARTS = 16
_BETWEEN = "AND rowid BETWEEN :first AND :last"
# Letters at the beginning of a word that a second typing error leaves as they are, and rows that are read to find how a
# word is written.
_BEGINNING, _ROWS_READ = 4, 20
# Superscript digits are replaced by spaces, because the tokenizer treats them as part of a word, so "sales" would not
# find "sales²". Letters with a stroke are replaced by plain ones, because the tokenizer removes only accents.
_REPLACED = dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), " ") | STROKES
# Negations are no stop words, but they are not searched either, because they are in nearly every chunk.
_NOT_SEARCHED = STOP_WORDS | {"no", "nor", "not"}
# A number with groups of exactly three digits, such as 1,500. Its groups are joined to 1500. The number 1.5 does not
# match, so it does not become 15.
_GROUPED = re.compile(r"(?<![\w.,])(\d{1,3}([ .,'’\u00a0\u2009\u202f])\d{3}(?:\2\d{3})*)((?!\2)[.,]\d+)?(?!\w|[.,]\d)")
_TERM = re.compile(r"[^\W_]+(?:[-./&'’:_][^\W_]+)*")


def query_terms(question: str) -> list[str]:
    """Return the unique search terms of a question: words that are not stop words, codes, and the parts of codes.

    >>> query_terms("What does the 10-K say of ENOSPC?")
    ['10-k', 'say', 'enospc', '10', 'k']
    >>> query_terms("70 555 018")
    ['70555018', '70 555 018']
    >>> query_terms("Wo stehen die Häuser?")
    ['stehen', 'häuser', 'steh', 'haus']
    """
    language = detect_language(question)
    dates = list_asked_terms(question)
    # The number as it is written is searched too: a phrase of its groups, as in documents of earlier versions.
    numbers = [term for match in _GROUPED.finditer(question) for term in (_join_groups(match), match[0])]
    question = _GROUPED.sub(" ", question)
    # In NFC, a letter and its accent are one character. A separate accent would divide the word into two terms.
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


def _add_forms_of_words(text: str, prefix: str) -> str:
    """Return the text, followed by further forms of its words by which they are found.

    1. Numbers with digit groups, as one run of digits each.
    2. Dates, as terms; those of the prefix, such as that of a heading, too.
    3. The stems of words, if the text is not English.
    """
    joined = [_join_groups(number) for number in _GROUPED.finditer(text)]
    words = set(LETTERS.findall(text.lower()))
    stems = sorted(set(stem_words(words, detect_language(text))) - words)
    return " ".join([text, *joined, *list_date_terms(f"{prefix}\n{text}"), *stems])


@dataclass(slots=True)
class _Part:
    """The chunks of versions that are counted alone: their ids, ascending, and how many contain each word."""

    chunk_ids: Int64Array
    document_frequencies: dict[str, int] = field(default_factory=dict)

    def find(self, chunk_ids: Int64Array) -> tuple[Int64Array, BoolArray]:
        """Return the places of these chunks in ``chunk_ids``, and which of these chunks belong to the versions."""
        if not len(self.chunk_ids):
            return np.zeros(len(chunk_ids), np.int64), np.zeros(len(chunk_ids), bool)
        places = np.searchsorted(self.chunk_ids, chunk_ids).clip(max=len(self.chunk_ids) - 1)
        return places, np.asarray(self.chunk_ids[places] == chunk_ids)


@dataclass(slots=True)
class _Counts:
    """Cached counts, which are valid until the index changes.

    When the index changes, a new object replaces this object. If a count is running at that moment, its outdated result
    is stored in the old object, which is not used any more.
    """

    total: int | None = None
    has_forms: bool | None = None
    document_frequencies: dict[str, int] = field(default_factory=dict)
    parts: dict[tuple[str, ...], _Part] = field(default_factory=dict)


class WordIndex:
    """An index that ranks chunks by BM25 over their words.

    It contains the chunks of all generations, so callers pass the versions that a search may find.
    """

    def __init__(self, path: Path) -> None:
        restore = (
            "stop Footnote, delete that file, start again and re-index all documents; everything in it is also stored "
            "elsewhere"
        )
        self._db = Database(path, has_schema=False, restore=restore)
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
                "body": separate_unspaced(_add_forms_of_words(body.translate(_REPLACED), prefix)),
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
        """Return the ``k`` chunks with the highest BM25, best first; ``versions`` restricts the search.

        FTS5 computes BM25 (Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009;
        k1 1.2, b 0.75) for the terms of the question, with equal weights for prefix and text. In a large index, the
        most frequent terms are not searched (see `MAX_POSTINGS`). If all versions are searched, terms that occur in
        more than half of all chunks may be left out as well.
        """
        terms = query_terms(question.text)
        if not terms or (versions is not None and not versions):
            return []
        if isinstance(versions, CountedAlone):
            return self._retrieve_alone(terms, k, versions)
        scope, restriction = _restrict(versions)
        statement = (
            "SELECT rowid, -bm25(words) AS score FROM words "  # noqa: S608 - constants
            f"WHERE words MATCH :match {scope} ORDER BY score DESC, rowid LIMIT :k"
        )
        with self._db.read() as connection:
            # If only some versions are searched, terms in more than half of all chunks are searched as well, because
            # these versions may contain no rarer term of the question.
            enough = k if versions is None else MAX_POSTINGS
            # The words of the question are counted in the same statement, because the reranker needs the counts.
            self._document_frequencies(connection, [*terms, *ALPHANUMERIC.findall(question.text.lower())])
            known = self._document_frequencies(connection, terms)
            frequencies = {term: known[term] for term in terms}
            match = _fts_query(_select_terms(frequencies, enough, self._total(connection) / 2))
            values = {"match": match, "k": k, **restriction}
            return [
                Hit(chunk_id, float(score)) for chunk_id, score in connection.execute(text(statement), values).all()
            ]

    def _retrieve_alone(self, terms: Sequence[str], k: int, versions: CountedAlone) -> list[Hit]:
        """Return the best chunks of versions; the weight of each term depends on these versions alone.

        FTS5 weights a term by its rarity in the whole index, so its score of each term is replaced by the one that it
        would have in an index of these versions, except for the mean length of all chunks.
        """
        terms = list(dict.fromkeys(term.translate(STROKES) for term in terms))
        part = self._part(versions)
        query = text(f"SELECT rowid, -bm25(words) FROM words WHERE words MATCH :match {_BETWEEN}")  # noqa: S608 - fixed
        scores = np.zeros(len(part.chunk_ids))
        with self._db.read() as connection:
            known = self._document_frequencies(connection, terms, part)
            counted = {term: known[term] for term in terms}
            everywhere = self._document_frequencies(connection, terms)
            total = len(part.chunk_ids)
            for term in _select_terms(counted, k, total / 2):
                factor = _weight_term(total, counted[term]) / _weight_term(self._total(connection), everywhere[term])
                pairs = _fetch_numbers(connection, query, {"match": _fts_query([term]), **_limit_ids(part)}).reshape(
                    -1, 2
                )
                places, is_found = part.find(pairs[:, 0].astype(np.int64))
                scores[places[is_found]] += pairs[is_found, 1] * factor
        found = np.flatnonzero(scores)
        best = found[np.lexsort((found, -scores[found]))[:k]]
        return [Hit(int(part.chunk_ids[place]), float(scores[place])) for place in best]

    def find_forms(self, question: str, versions: VersionFilter | None = None) -> dict[str, list[str]]:
        """Return the other forms of the abbreviations in a question, by the form in the question.

        Only definitions in these ``versions`` are read.
        """
        spans = list_form_keys(question)
        scope, values = _restrict(versions)
        query = text(
            "SELECT key, other FROM forms WHERE key IN (SELECT value FROM json_each(:keys)) "  # noqa: S608 - constants
            f"{scope} GROUP BY key, other ORDER BY count(*) DESC"
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
        # Of "Local Water Panel" and "Water Panel", the longer one is meant.
        for key, other in sorted(found, key=lambda row: spans[row.key][0] - spans[row.key][1]):
            form = question[slice(*spans[key])]
            is_free = form in forms or taken.isdisjoint(range(*spans[key]))
            if is_free and build_form_key(other) not in known and can_be_counterpart(form, other, question):
                known.add(build_form_key(other))
                taken.update(range(*spans[key]))
                forms.setdefault(form, []).append(other)
        return {form: others[:MAX_FORMS] for form, others in forms.items()}

    def list_abbreviations(self, versions: Iterable[str]) -> dict[str, str]:
        """Return the long form of each abbreviation that only has one in these versions."""
        query = text(
            "SELECT form, other FROM forms WHERE version IN (SELECT value FROM json_each(:versions)) "
            "AND length(form) < length(other) GROUP BY form HAVING min(key) = max(key) AND count(DISTINCT other) = 1"
        )
        with self._db.read() as connection:
            rows = connection.execute(query, {"versions": json.dumps(list(versions))})
            return {str(short): str(long) for short, long in rows}

    def find_similar_word(self, word: str, ranges: Mapping[str, tuple[int, int]] | None = None) -> str:
        """Return the only word of the index that a typing error turns into this one; empty if there is none.

        Its first letter is the same, in the same case. With ``ranges``, only these versions are read; see `find_words`.
        """
        scope, limits = _limit_to(ranges)
        variants = list_variants(word)
        beginning = normalize(word)[:_BEGINNING]
        with self._db.read() as connection:
            query = text(
                "SELECT variant.key FROM json_each(:matches) AS variant "
                "WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH variant.value)"
            )
            found = connection.execute(query, {"matches": json.dumps([_fts_query([one]) for one in variants])})
            stems = {stem(variants[place]) for place in found.scalars()}
            query = text("SELECT term FROM vocabulary WHERE term >= :first AND term < :last")
            values = {"first": beginning, "last": f"{beginning}{chr(0x10FFFF)}"}
            terms = connection.execute(query, values).scalars()
            stems |= {term for term in terms if count_typing_errors(stem(normalize(word)), term) is not None}
            query = text(f"SELECT prefix || char(10) || body FROM words WHERE words MATCH :match{scope} LIMIT :rows")  # noqa: S608 - fixed
            written = Counter(
                one
                for term in stems
                for row in connection.execute(
                    query, {"match": _fts_query([term]), "rows": _ROWS_READ, **limits}
                ).scalars()
                for one in LETTERS.findall(row)
                if one[0] == word[0] and count_typing_errors(word, one) is not None and not one.isupper()
            )
        errors = {one: count_typing_errors(word, one) or 0 for one in written}
        closest = [one for one, _ in written.most_common() if errors[one] == min(errors.values())]
        return closest[0] if len({stem(normalize(one)) for one in closest}) == 1 else ""

    def find_words(
        self, words: Sequence[tuple[str, str]], ranges: Mapping[str, tuple[int, int]]
    ) -> set[tuple[str, str, str]]:
        """Return which versions contain which words, as triples of version id, word and prefix.

        A version contains a pair of word and prefix if it contains the word in any inflected form, or a word that
        starts with the prefix.

        Parameters
        ----------
        words : sequence of (word, prefix)
        ranges : mapping of str to (int, int)
            First and last id of the chunks of each version. Without these limits, FTS5 would check every chunk of the
            index that contains the word, which is slow for common words.
        """
        # Search for the word itself as well: the index contains stems, and a stem shorter than the prefix does not
        # match it.
        matches = [f"{_fts_query([word])} OR {_fts_query([beginning], '*')}" for word, beginning in words]
        versions = [[version, *ids] for version, ids in ranges.items()]
        query = text(
            "SELECT version.key, pair.key FROM json_each(:versions) AS version, json_each(:matches) AS pair "
            "WHERE EXISTS (SELECT 1 FROM words WHERE words MATCH pair.value "
            "AND rowid BETWEEN json_extract(version.value, '$[1]') AND json_extract(version.value, '$[2]') "
            "AND words.version = json_extract(version.value, '$[0]'))"
        )
        with self._db.read() as connection:
            rows = connection.execute(query, {"versions": json.dumps(versions), "matches": json.dumps(matches)})
            return {(str(versions[place][0]), *words[pair]) for place, pair in rows}

    def idf(self, words: Sequence[str], versions: VersionFilter | None = None) -> dict[str, float]:
        """Return the inverse document frequency of each word, ``ln((N + 1) / (n + 0.5))``, at least 0.

        ``N`` is the number of chunks, and ``n`` the number of chunks that contain the word; of all versions, unless
        ``versions`` are counted alone. The formula is that of Robertson and Zaragoza (2009), with 1 added to the
        argument of the logarithm to avoid negative values.
        """
        with self._db.read() as connection:
            if isinstance(versions, CountedAlone):
                part = self._part(versions)
                total, frequencies = len(part.chunk_ids), self._document_frequencies(connection, words, part)
            else:
                total, frequencies = self._total(connection), self._document_frequencies(connection, words)
        return {word: max(0.0, math.log((total + 1) / (frequency + 0.5))) for word, frequency in frequencies.items()}

    def find_missing(self, words: Sequence[str], ranges: Mapping[str, tuple[int, int]] | None = None) -> list[str]:
        """Return the words that no chunk contains; with ``ranges``, no chunk of these versions, see `find_words`."""
        scope, limits = _limit_to(ranges)
        query = text(f"SELECT 1 FROM words WHERE words MATCH :match{scope} LIMIT 1")  # noqa: S608 - a fixed condition
        with self._db.read() as connection:
            if ranges is None:
                return [word for word, count in self._document_frequencies(connection, words).items() if not count]
            return [
                word
                for word in words
                if connection.execute(query, {"match": _fts_query([word]), **limits}).first() is None
            ]

    def _part(self, versions: CountedAlone) -> _Part:
        """Return the chunks of versions that are counted alone, which are cached until the index changes."""
        parts, key = self._counts.parts, tuple(versions)
        if key not in parts:
            if len(parts) >= MAX_PARTS:
                parts.clear()
            parts[key] = _Part(np.sort(np.array(versions.load_chunk_ids(versions), np.int64)))
        return parts[key]

    def _total(self, connection: Connection) -> int:
        """Return the number of chunks, which is cached until the index changes."""
        counts = self._counts
        if counts.total is None:
            counts.total = _count_rows(connection)
        return counts.total

    def _document_frequencies(
        self, connection: Connection, words: Sequence[str], part: _Part | None = None
    ) -> dict[str, int]:
        """Return the number of chunks, or of chunks of a part, with each word.

        The numbers are cached: counting common words is slow.
        """
        cached = (part or self._counts).document_frequencies
        frequencies = {word: cached[word] for word in words if word in cached}
        missing = list(dict.fromkeys(word for word in words if word not in frequencies))
        if part is not None:
            query = text(f"SELECT rowid FROM words WHERE words MATCH :match {_BETWEEN}")  # noqa: S608 - fixed
            for word in missing:
                rows = _fetch_numbers(connection, query, {"match": _fts_query([word]), **_limit_ids(part)})
                frequencies[word] = int(part.find(rows.astype(np.int64))[1].sum())
        elif missing:
            # One statement for all words is faster than one per word, and threads compete less for Python's global
            # interpreter lock.
            query = text(
                "SELECT term.key AS place, (SELECT count(*) FROM words WHERE words MATCH term.value) AS frequency "
                "FROM json_each(:matches) AS term"
            )
            counted = connection.execute(query, {"matches": json.dumps([_fts_query([word]) for word in missing])})
            frequencies |= {missing[row.place]: int(row.frequency) for row in counted}
        for word in missing[: max(0, MAX_CACHED_WORDS - len(cached))]:
            cached[word] = frequencies[word]
        return frequencies

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Delete these chunks; ignore unknown ids."""
        with self._db.begin() as connection:
            connection.execute(
                text("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(:ids))"),
                {"ids": json.dumps(list(chunk_ids))},
            )
            _delete_forms(connection, chunk_ids)
        self._counts = _Counts()

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """Return how many of these chunks are stored, or the number of all stored chunks."""
        if chunk_ids is not None:
            return len(self.ids(chunk_ids))
        with self._db.read() as connection:
            return _count_rows(connection)

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Return the ids of those of these chunks that are stored, or of all stored chunks."""
        among = "" if chunk_ids is None else " WHERE rowid IN (SELECT value FROM json_each(:ids))"
        values = {"ids": json.dumps(list(chunk_ids or ()))}
        with self._db.read() as connection:
            rows = connection.execute(text(f"SELECT rowid FROM words{among}"), values)  # noqa: S608 - constants
            return {int(row.rowid) for row in rows}

    def size(self) -> int:
        """Return the size of the index in bytes."""
        with self._db.read() as connection:
            return self._db.file_size(connection)

    def close(self) -> None:
        self._db.close()


def _select_terms(frequencies: Mapping[str, int], enough: float, half: float = math.inf) -> list[str]:
    """Return the rarest of some terms, so that they occur in at most `MAX_POSTINGS` rows in total.

    The rarest term that occurs at all is always returned. If rarer terms already occur in ``enough`` rows, terms in
    more than ``half`` of all rows are left out as well: FTS5 gives these terms almost no weight, and searching them
    takes the longest.
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
    """Return the numbers of all rows one after the other; SQLAlchemy's rows would take several times as long."""
    result = connection.execute(query, values)
    cursor: Any = result.cursor
    return np.fromiter(chain.from_iterable(cursor), np.float64)


def _weight_term(total: int, frequency: int) -> float:
    """Return the inverse document frequency as the function bm25 of FTS5 computes it."""
    return max(math.log((total - frequency + 0.5) / (frequency + 0.5)), 1e-6)


def _limit_ids(part: _Part) -> dict[str, int]:
    ends = (int(part.chunk_ids[0]), int(part.chunk_ids[-1])) if len(part.chunk_ids) else (0, -1)
    return dict(zip(("first", "last"), ends, strict=True))


def _restrict(versions: VersionFilter | None) -> tuple[str, dict[str, str | bool]]:
    """Return a condition that restricts a statement to versions, and its values."""
    if versions is None:
        return "", {}
    ids, among = (versions.versions, False) if isinstance(versions, Excluding) else (versions, True)
    condition = "AND (version IN (SELECT value FROM json_each(:versions))) = :among"
    return condition, {"versions": json.dumps(list(ids)), "among": among}


def _add_forms(connection: Connection, chunks: Iterable[tuple[int, str, str]]) -> None:
    """Store the abbreviations that chunks define, each under both of its forms; a chunk is (id, text, version)."""
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
        """Do nothing: the chunks of a generation are deleted with their versions."""

    def measure_bytes(self, generation_id: int, fingerprint: Fingerprint) -> int:
        return self.index.size()

    def close(self) -> None:
        self.index.close()


def _count_rows(connection: Connection) -> int:
    # FTS5's table ``words_docsize`` has one small row per chunk. Counting the rows of ``words`` would read every text.
    return int(connection.execute(text("SELECT count(*) FROM words_docsize")).scalar_one())


def _limit_to(ranges: Mapping[str, tuple[int, int]] | None) -> tuple[str, dict[str, Any]]:
    """Return the condition for rows of some versions and its values; without ``ranges``, an empty one."""
    if ranges is None:
        return "", {}
    ends = [end for one in ranges.values() for end in one] or [0]
    condition = " AND rowid BETWEEN :first AND :last AND words.version IN (SELECT value FROM json_each(:versions))"
    return condition, {"first": min(ends), "last": max(ends), "versions": json.dumps(list(ranges))}


def _fts_query(terms: Sequence[str], suffix: str = "") -> str:
    # Each term is a quoted FTS5 string, so that a question cannot contain operators of the query language.
    # An index of an earlier version contains letters with strokes.
    forms = (form for term in terms for form in dict.fromkeys((term, term.translate(STROKES))))
    forms = (separate_unspaced(form) for form in forms)
    return " OR ".join('"' + form.replace('"', '""') + f'"{suffix}' for form in forms)
