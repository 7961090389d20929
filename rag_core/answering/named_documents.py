"""Find the documents that words of a question mean, by their names and titles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_core.runtime.stores import Stores
from rag_core.text.names import contains_document_name
from rag_core.types.documents import DocumentInfo
from rag_core.types.snapshots import AsOf

# Most documents whose titles are read.
MAX_TITLES = 40
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

    def find_file_names(self, question: str) -> list[DocumentInfo]:
        """Return the documents whose file name a question contains, with or without its ending."""
        text = question.casefold()
        stems = {one.document_id: PurePosixPath(one.name).stem.casefold() for one in self.documents}
        named = {key: stem for key, stem in stems.items() if contains_file_name(text, stem)}
        # "minutes.pdf" is not meant in "board_minutes.pdf", nor "lease" in "lease (2)".
        outer = {key for key, stem in named.items() if any(stem != other and stem in other for other in named.values())}
        return [one for one in self.documents if one.document_id in named.keys() - outer]

    def find(self, name: str) -> list[DocumentInfo]:
        """Return the documents whose name contains a name, without the noun after it, as in "the Acme policy"."""
        name = _LOWER_CASE_END.sub("", name) or name
        return [one for one in self.documents if contains_document_name(one.all_names, name)]

    def find_titled(self, words: Sequence[str]) -> list[DocumentInfo]:
        """Return the documents whose names and titles contain most of some words; none if they contain none."""
        counts = [
            sum(contains_document_name(title, word) for word in words) for title in map(self._title, self.documents)
        ]
        most = max(counts, default=0)
        return [one for one, count in zip(self.documents, counts, strict=True) if most and count == most]

    def _title(self, document: DocumentInfo) -> str:
        """Return the names of a document and, in a small scope, the title that its first page states."""
        rows = self._stores.documents.chunk_rows(document.version_id, 0) if len(self.documents) <= MAX_TITLES else []
        return f"{document.all_names}\n{rows[0].document_label if rows else ''}"


def contains_file_name(text: str, stem: str) -> bool:
    """Return whether a text contains the name of a file; a word or a number needs the ending of the file."""
    if stem.isalnum() and (stem.isalpha() or stem.isdigit()):
        return re.search(rf"(?<![\w.-]){re.escape(stem)}\.\w+", text) is not None
    return re.search(rf"(?<![\w.-]){re.escape(stem)}(?![\w-])", text) is not None
