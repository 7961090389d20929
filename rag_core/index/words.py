"""Words in SQLite FTS5, in a file of its own beside whatever database holds the truth.

Tokenizer: ``porter unicode61 remove_diacritics 2``, that is, runs of letters and digits, lower case,
accents off, English stems. A code with marks inside (``10-K``, ``4.2``, ``ISO/IEC``) becomes several
tokens and is searched as a phrase, so that it is found as it is written.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, text

from rag_core.store.database import Database
from rag_core.text.normalize import SUPERSCRIPT_DIGITS
from rag_core.text.words import STOP_WORDS
from rag_core.types import Excluding, Hit, Question, VersionFilter

MAX_TERMS = 64
# Rows that the terms of one question may have scored, about 1 µs each. Where they stand in more, the
# commonest are left to the reranker, which weighs every word.
MAX_POSTINGS = 50_000
# Words whose document frequency is remembered between two changes of the index.
MAX_REMEMBERED = 20_000
# To the tokenizer they are figures like others: "sales²" would not be found by "sales".
_RAISED = dict.fromkeys(map(ord, SUPERSCRIPT_DIGITS), " ")
_TERM = re.compile(r"[^\W_]+(?:[-./&'’:_][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")


def query_terms(question: str) -> list[str]:
    """What of a question is looked up, in order and once each: words that are not stop words, codes whole.

    >>> terms("What does the 10-K say of ENOSPC?")
    ['10-k', 'say', 'enospc', '10', 'k']
    """
    # Composed: an accent typed as a character of its own would cut its word in two.
    composed = unicodedata.normalize("NFC", question.translate(_RAISED))
    whole = [match.group().lower() for match in _TERM.finditer(composed)]
    content = [term for term in whole if term not in STOP_WORDS]
    parts = [part for term in content for part in _PART.findall(term) if part != term and part not in STOP_WORDS]
    return list(dict.fromkeys([*(content or whole), *parts]))[:MAX_TERMS]


@dataclass(slots=True)
class _Counts:
    """What was counted since the index changed last.

    Whoever changes it puts new ones in place: what is counted before goes into the old ones.
    """

    total: int | None = None
    holding: dict[str, int] = field(default_factory=dict)


class WordIndex:
    """BM25 over the words of chunks; a retriever named ``bm25``.

    Entries of every generation lie side by side; a caller names the versions it may see.
    """

    name = "bm25"

    def __init__(self, path: Path) -> None:
        restore = (
            "stop Footnote, remove that file, start again and re-index all documents; it holds nothing that is not "
            "stored elsewhere as well"
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

    def add(self, chunk_ids: Sequence[int], rows: Sequence[tuple[str, str, str]]) -> None:
        """Add or overwrite chunks, each as ``(prefix, text, version)``."""
        values = [
            {"id": chunk_id, "prefix": prefix.translate(_RAISED), "body": body.translate(_RAISED), "version": version}
            for chunk_id, (prefix, body, version) in zip(chunk_ids, rows, strict=True)
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
            self._counts = _Counts()

    def retrieve(self, question: Question, k: int, versions: VersionFilter | None = None) -> list[Hit]:
        """The ``k`` chunks with the highest BM25, best first, within these versions, or all but these, if given.

        Robertson and Zaragoza, "The probabilistic relevance framework: BM25 and beyond", 2009, as FTS5 computes it
        (k1 1.2, b 0.75), over the question's terms, words of prefix and text counting alike. In a large index it is
        without the commonest of them (see `MAX_POSTINGS`) and, where all versions are searched, without those that
        stand in more than half of all chunks.
        """
        wanted = query_terms(question.text)
        if not wanted or (versions is not None and not versions):
            return []
        named, among = (versions.versions, False) if isinstance(versions, Excluding) else (versions or (), True)
        scope = "" if versions is None else "AND (version IN (SELECT value FROM json_each(:versions))) = :among "
        statement = (
            "SELECT rowid, -bm25(words) AS score FROM words "  # noqa: S608 - constants
            f"WHERE words MATCH :match {scope}ORDER BY score DESC, rowid LIMIT :k"
        )
        with self._db.read() as connection:
            # In some versions alone, a word of nearly all chunks may be the only one there is.
            enough = k if versions is None else MAX_POSTINGS
            match = _match(self._selective(connection, wanted, enough))
            values = {"match": match, "k": k, "versions": json.dumps(list(named)), "among": among}
            return [
                Hit(chunk_id, float(score)) for chunk_id, score in connection.execute(text(statement), values).all()
            ]

    def contains_word(self, version: str, word: str, beginning: str, within: tuple[int, int]) -> bool:
        """Whether a version has the word, in whatever form, or any that begins with the letters ``beginning``.

        All of the version's chunks lie ``within`` these ids, both included: without them each chunk with the word is
        looked at, 180 to 530 ms in a million chunks for a common one in place of 6 to 15.
        """
        # The word as well: its stem may be shorter than its beginning.
        match = f"{_match([word])} OR {_match([beginning])}*"
        query = text(
            "SELECT EXISTS (SELECT 1 FROM words WHERE words MATCH :match AND rowid BETWEEN :first AND :last "
            "AND version = :version)"
        )
        first, last = within
        values = {"match": match, "first": first, "last": last, "version": version}
        with self._db.read() as connection:
            return bool(connection.execute(query, values).scalar_one())

    def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of each word, ``ln((N + 1) / (n + 0.5))``, at least 0.

        Robertson and Zaragoza (2009) with the numerator's ``n`` left out, so that it never is
        negative.
        """
        with self._db.read() as connection:
            total = self._total(connection)
            frequencies = self._document_frequencies(connection, words)
        return {word: max(0.0, math.log((total + 1) / (held + 0.5))) for word, held in frequencies.items()}

    def _selective(self, connection: Connection, wanted: Sequence[str], enough: int) -> list[str]:
        """The rarest of these terms that `MAX_POSTINGS` rows have room for; at least one that occurs.

        Once there are ``enough`` rows, those in more than half of all rows are left out as well: to FTS5
        each is worth a millionth, and costs the most.
        """
        frequencies = self._document_frequencies(connection, wanted)
        half = self._total(connection) / 2
        kept: list[str] = []
        postings = 0
        for term in sorted(wanted, key=frequencies.__getitem__):
            held = frequencies[term]
            if (postings and postings + held > MAX_POSTINGS) or (postings >= enough and held > half):
                break
            kept.append(term)
            postings += held
        return kept

    def _total(self, connection: Connection) -> int:
        """How many chunks are held; remembered."""
        known = self._counts
        if known.total is None:
            known.total = _count(connection)
        return known.total

    def _document_frequencies(self, connection: Connection, words: Sequence[str]) -> dict[str, int]:
        """How many chunks hold each word; remembered, since counting a common word walks all its rows."""
        known = self._counts.holding
        found = {word: known[word] for word in words if word in known}
        lacking = list(dict.fromkeys(word for word in words if word not in found))
        if lacking:
            # All in one statement: one a word took twice as long, and gave Python's lock to and fro for each, in the
            # way of what runs beside it (2 ms a question, which brings 42 words that were not met before).
            query = text(
                "SELECT one.key AS place, (SELECT count(*) FROM words WHERE words MATCH one.value) AS held "
                "FROM json_each(:matches) AS one"
            )
            counted = connection.execute(query, {"matches": json.dumps([_match([word]) for word in lacking])})
            found |= {lacking[row.place]: int(row.held) for row in counted}
        for word in lacking[: max(0, MAX_REMEMBERED - len(known))]:
            known[word] = found[word]
        return found

    def delete(self, chunk_ids: Sequence[int]) -> None:
        """Remove these chunks; ids that are not held are passed over."""
        with self._db.begin() as connection:
            connection.execute(
                text("DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(:ids))"),
                {"ids": json.dumps(list(chunk_ids))},
            )
        self._counts = _Counts()

    def count(self, chunk_ids: Sequence[int] | None = None) -> int:
        """How many chunks are held, of these or in all."""
        if chunk_ids is not None:
            return len(self.ids(chunk_ids))
        with self._db.read() as connection:
            return _count(connection)

    def ids(self, chunk_ids: Sequence[int] | None = None) -> set[int]:
        """Ids of the chunks that are held, of these or in all."""
        among = "" if chunk_ids is None else " WHERE rowid IN (SELECT value FROM json_each(:ids))"
        values = {"ids": json.dumps(list(chunk_ids or ()))}
        with self._db.read() as connection:
            rows = connection.execute(text(f"SELECT rowid FROM words{among}"), values)  # noqa: S608 - as above
            return {int(row.rowid) for row in rows}

    def close(self) -> None:
        self._db.close()


def _count(connection: Connection) -> int:
    # FTS5's own table of lengths has a row an entry; to count the rows of ``words`` it reads every text.
    return int(connection.execute(text("SELECT count(*) FROM words_docsize")).scalar_one())


def _match(wanted: Sequence[str]) -> str:
    # Each term is an FTS5 string, in which only the quote has a meaning: no operator of the query
    # language can come in from a question.
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in wanted)
