"""Find the documents that a name in a question means, by their names, titles and first pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_core.runtime.stores import Stores
from rag_core.text.dates import find_years
from rag_core.text.grammar import split_tokens
from rag_core.text.names import contains_document_name
from rag_core.text.normalize import normalize
from rag_core.text.words import ALPHANUMERIC, stem
from rag_core.types import AsOf, DocumentInfo

# Most documents whose title and first page are read, and most characters of a first page.
MAX_COVERS, COVER_CHARACTERS = 40, 1000
# The noun after a name, as in "the Bajaj policy".
_LOWER_CASE_END = re.compile(r"(?<=\w)(?:\s+[^\W\d_A-Z]+)+$")


class NamedDocuments:
    """The documents of a scope, and which of them a name means.

    Parameters
    ----------
    stores : Stores
    scope : sequence of str, optional
        Ids of documents; by default all.
    as_of : AsOf, optional
        The snapshots that contain the documents; by default the present library.

    Attributes
    ----------
    documents : list of DocumentInfo
        The searchable documents of the scope, in order of name.
    """

    def __init__(self, stores: Stores, scope: Sequence[str] | None, *, as_of: AsOf | None = None) -> None:
        self._stores = stores
        found = stores.view(as_of).documents(None if scope is None else list(scope))
        self.documents = sorted((one for one in found if one.chunks), key=lambda one: (one.name.casefold(), one.name))
        self._covers: dict[str, str] = {}

    def find_mentions(self, question: str) -> list[str]:
        """Return the runs of words in a question that are in the names of some documents, but not of all."""
        names = [set(ALPHANUMERIC.findall(normalize(one.all_names))) for one in self.documents]
        found: list[str] = []
        end = 0
        for token in split_tokens(question):
            parts = set(ALPHANUMERIC.findall(normalize(token.word)))
            number = 0 if token.is_function else sum(parts <= words for words in names)
            if not 0 < number < len(names):
                continue
            if found and question[end : token.start].isspace():
                found[-1] += question[end : token.end]
            else:
                found.append(token.text)
            end = token.end
        return found

    def find_file_names(self, question: str) -> list[DocumentInfo]:
        """Return the documents whose file name a question contains, with or without its ending."""
        text = question.casefold()
        stems = {one.document_id: PurePosixPath(one.name).stem.casefold() for one in self.documents}
        named = {key: stem for key, stem in stems.items() if contains_file_name(text, stem)}
        # "minutes.pdf" is not meant in "board_minutes.pdf", nor "lease" in "lease (2)".
        outer = {key for key, stem in named.items() if any(stem != other and stem in other for other in named.values())}
        return [one for one in self.documents if one.document_id in named.keys() - outer]

    def find(self, name: str, question: str = "", *, by_cover: bool = False) -> list[DocumentInfo]:
        """Return the documents whose name, or with ``by_cover`` whose title or first page, contains a name.

        If several documents match, those with a year of the question in their name are preferred.
        """
        name = _LOWER_CASE_END.sub("", name) or name
        matched = [one for one in self.documents if contains_document_name(one.all_names, name)]
        if not matched and by_cover:
            matched = [
                one for one in self.documents[:MAX_COVERS] if contains_document_name(self._read_cover(one), name)
            ]
        years = set(find_years(question))
        dated = [one for one in matched if years & set(find_years(one.name))]
        return dated or matched

    def find_kind(self, noun: str, *, by_cover: bool) -> list[DocumentInfo]:
        """Return the documents whose name contains a noun.

        With ``by_cover``, titles and first pages are searched instead if fewer than two names contain it.
        """
        wanted = stem(normalize(noun))
        named = [one for one in self.documents if wanted in _stems(one.name)]
        if len(named) < 2 and by_cover:
            named = [one for one in self.documents[:MAX_COVERS] if wanted in _stems(self._read_cover(one))]
        return named

    def _read_cover(self, document: DocumentInfo) -> str:
        version = document.version_id
        if version not in self._covers:
            rows = self._stores.documents.chunk_rows(version, 0)
            page = self._stores.documents.page(version, 0)
            label = rows[0].document_label if rows else document.name
            self._covers[version] = f"{label}\n{page.text[:COVER_CHARACTERS] if page else ''}"
        return self._covers[version]


def contains_file_name(text: str, stem: str) -> bool:
    """Return whether a text contains the name of a file; a word or a number needs the ending of the file."""
    if stem.isalnum() and (stem.isalpha() or stem.isdigit()):
        return re.search(rf"(?<![\w.-]){re.escape(stem)}\.\w+", text) is not None
    return re.search(rf"(?<![\w.-]){re.escape(stem)}(?![\w-])", text) is not None


def _stems(text: str) -> set[str]:
    return {stem(word) for word in ALPHANUMERIC.findall(normalize(text))}
