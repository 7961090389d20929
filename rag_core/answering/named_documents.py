"""Find the documents that a question names, by their file names and titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from rapidfuzz.distance import Prefix

from rag_core.runtime.stores import Stores
from rag_core.text.names import contains_document_name
from rag_core.text.words import LETTERS, stem
from rag_core.types.documents import DocumentInfo
from rag_core.types.snapshots import AsOf

# In a scope with more documents, only their names are compared, and not their titles.
MAX_TITLES = 40
# Minimum number of letters that two forms of a word have in common.
_MIN_STEM = 5
# Maximum number of letters of an ending for a case or a plural.
_MAX_ENDING = 2
# Minimum number of letters of the last part of a compound, such as "Satzung" in "Friedhofssatzung".
_MIN_COMPOUND = 6
# A file name with its ending, such as "report.pdf".
FILE_NAME = re.compile(r"[\w.()-]*\w\.[a-z]{2,4}\b", re.IGNORECASE)
# The noun after a name, as in "the Bajaj policy".
_LOWER_CASE_END = re.compile(r"(?<=\w)(?:\s+[^\W\d_A-Z]+)+$")


class NamedDocuments:
    """Finds documents of a scope by their names and titles.

    Parameters
    ----------
    stores : Stores
    scope : sequence of str or None
        Ids of documents; ``None`` for all documents.
    as_of : AsOf, optional
        The snapshots to find documents in; by default, the present library.

    Attributes
    ----------
    documents : list of DocumentInfo
        The searchable documents of the scope, in order of name.
    """

    def __init__(self, stores: Stores, scope: Sequence[str] | None, *, as_of: AsOf | None = None) -> None:
        self._stores = stores
        found = stores.view(as_of).documents(None if scope is None else list(scope))
        if scope is not None and (ids := [one.document_id for one in found if one.aliases]):
            # The aliases include names in other collections, which the asker may not be allowed to see.
            visible = stores.names.list_aliases(ids)
            found = [replace(one, aliases=tuple(visible.get(one.document_id, ()))) for one in found]
        self.documents = sorted((one for one in found if one.chunks), key=lambda one: (one.name.casefold(), one.name))

    def find_by_file_name(self, question: str) -> list[DocumentInfo]:
        """Return the documents whose file name a question contains, with or without its ending."""
        text = question.casefold()
        stems = {one.document_id: PurePosixPath(one.name).stem.casefold() for one in self.documents}
        named = {key: stem for key, stem in stems.items() if contains_file_name(text, stem)}
        # A question with "board_minutes.pdf" does not name "minutes.pdf".
        outer = {key for key, stem in named.items() if any(stem != other and stem in other for other in named.values())}
        return [one for one in self.documents if one.document_id in named.keys() - outer]

    def find(self, name: str) -> list[DocumentInfo]:
        """Return the documents whose names contain a name.

        Words in lower case at the end of ``name`` are ignored, such as "policy" in "Acme policy".
        """
        name = _LOWER_CASE_END.sub("", name) or name
        return [one for one in self.documents if contains_document_name(one.all_names, name)]

    def find_by_title_words(self, words: Sequence[str], least: float = 0) -> list[DocumentInfo]:
        """Return the documents whose names and titles contain the largest number of the given words.

        If several documents contain this number, all of them are returned. Documents that contain no word, or a smaller
        share of the words than ``least``, are not returned.
        """
        counts = [sum(self.is_named(one, word) for word in words) for one in self.documents]
        most = max(counts, default=0)
        if not most or most < least * len(words):
            return []
        return [one for one, count in zip(self.documents, counts, strict=True) if count == most]

    def is_named(self, document: DocumentInfo, word: str) -> bool:
        """Return whether the names or the title of a document contain a word or another form of it."""
        return _contains_form(self._titles[document.document_id], word.casefold())

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The text in which words are looked up, by document id.

        It consists of the names of the document and, in a small scope, its title, first heading and first line.
        """
        titles = {one.document_id: one.all_names for one in self.documents}
        for one in self.documents if len(self.documents) <= MAX_TITLES else ():
            for row in self._stores.documents.chunk_rows(one.version_id, 0)[:1]:
                titles[one.document_id] += "\n".join(["", row.prefix, *row.text.split("\n", 1)[:1]])
        return titles


# Cached, because the words of a question are compared with each title several times.
@lru_cache(maxsize=10_000)
def _contains_form(title: str, word: str) -> bool:
    """Return whether a title contains a word, another form of the word, or a compound that ends with the word."""
    least = max(_MIN_STEM, len(word) - _MAX_ENDING)
    lasts = tuple(word[:end] for end in range(len(word) - _MAX_ENDING, len(word) + 1) if end >= _MIN_COMPOUND)
    return contains_document_name(title, word) or any(
        stem(other) == stem(word)
        or other.endswith(lasts)
        or Prefix.similarity(word, other) >= max(least, len(other) - _MAX_ENDING)
        for other in LETTERS.findall(title.casefold())
    )


def contains_file_name(text: str, stem: str) -> bool:
    """Return whether a text contains the name of a file, given the name without its ending.

    If the name is a plain word or number, the text must contain the ending too.
    """
    if stem.isalnum() and (stem.isalpha() or stem.isdigit()):
        return re.search(rf"(?<![\w.-]){re.escape(stem)}\.\w+", text) is not None
    return re.search(rf"(?<![\w.-]){re.escape(stem)}(?![\w-])", text) is not None
