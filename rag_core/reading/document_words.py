"""Words for documents, such as "file" and "contract"."""

from __future__ import annotations

from rag_core.text.words import stem

_ANY = frozenset(map(stem, "collection content document everything file library paper pdf source text".split()))
_KINDS = frozenset(
    map(
        stem,
        "agreement bid budget certificate contract filing handbook invoice lease letter licence license loan manual "
        "minutes offer order paper plan policy proposal protocol quotation quote receipt report standard statement "
        "study tender".split(),
    )
)


def is_generic_document_word(noun: str) -> bool:
    """Return whether a noun is a word for documents of any kind, such as "files"."""
    return stem(noun.casefold()) in _ANY


def is_kind_of_document(noun: str) -> bool:
    """Return whether a noun is a word for a kind of documents, such as "contract"."""
    return stem(noun.casefold()) in _KINDS
