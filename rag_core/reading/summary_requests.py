"""Recognize requests for a summary of documents, and the words in them that name documents."""

from __future__ import annotations

import re

from rag_core.text.grammar import split_tokens
from rag_core.text.words import stem

_POLITE = r"^\W*(?:(?:please|kindly|can you|could you|would you|will you|i would like you to)\W+)*"
_REQUEST = re.compile(
    rf"{_POLITE}(?:"
    r"summari[sz]e|sum up|outline|tl;?dr|what (?:are|were) the (?:main|key) (?:points|takeaways|findings)|"
    r"(?:give|show|write|provide|make)(?: me| us)? (?:an?|the)(?: \w+)? (?:summary|overview)|"
    r"what(?: is|['’]s| are) (?:this|these|it|they|the|my)(?: \w+)?"
    r"(?: documents?| files?| papers?| reports?| books?| pdfs?)? about|"
    r"fasse?\b.*\bzusammen|résumez?|riassumi)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(rf"{_POLITE}what(?: is|['’]s| are)\s+(?P<subject>.{{1,100}}?)\s+about\W*$", re.IGNORECASE)
_NOUN = re.compile(r"^\W*(?:an? |the )?(?:\w+ )?(?:summary|overview)\b", re.IGNORECASE)
# Stems of words in a request that do not name a document.
_UNSPECIFIC = frozenset(
    map(
        stem,
        "about article book briefly brief detail essential finding give idea key main most important my overview page "
        "paragraph part point please quick sentence short shortly summary takeaway thing whole entire word write "
        "work".split(),
    )
)
# Stems of words for documents of any kind, and of words for kinds of documents.
_ANY = frozenset(map(stem, "collection content document everything file library paper pdf source text".split()))
_KINDS = frozenset(
    map(
        stem,
        "agreement bid budget certificate contract filing handbook invoice lease letter licence license loan manual "
        "minutes offer order paper plan policy proposal protocol quotation quote receipt report standard statement "
        "study tender".split(),
    )
)


def asks_for_summary(question: str) -> bool:
    """Return whether a question asks for a summary of documents.

    >>> asks_for_summary("Give me an overview of the report"), asks_for_summary("Who wrote the summary?")
    (True, False)
    """
    return _REQUEST.search(question) is not None


def parse_summary_request(question: str) -> list[str] | None:
    """Return the words of a summary request that may name documents; ``None`` if the question is no such request.

    >>> parse_summary_request("Summarise the lease of Oak Street"), parse_summary_request("What is the file about?")
    (['lease', 'Oak', 'Street'], [])
    """
    about, request = _ABOUT.match(question), _REQUEST.search(question)
    if about is not None:
        rest = about["subject"]
    elif request is not None:
        rest = question[request.end() :]
    elif _NOUN.match(question):
        rest = _NOUN.sub("", question)
    else:
        return None
    words = [token.text for token in split_tokens(rest) if not token.is_function_word and len(token.text) > 1]
    return [one for one in words if not is_generic_document_word(one) and stem(one.casefold()) not in _UNSPECIFIC]


def is_generic_document_word(noun: str) -> bool:
    """Return whether a noun is a word for documents of any kind, such as "files"."""
    return stem(noun.casefold()) in _ANY


def is_kind_of_document(noun: str) -> bool:
    """Return whether a noun is a word for a kind of document, such as "contract"."""
    return stem(noun.casefold()) in _KINDS
