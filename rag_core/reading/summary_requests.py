"""Recognize requests for a summary of whole documents, and what they name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.text.grammar import split_tokens
from rag_core.text.noun_phrases import find_names
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
# Words of a request that name no topic.
_UNSPECIFIC = frozenset(
    map(
        stem,
        "about article book briefly brief detail essential finding give idea key main most important my overview page "
        "paragraph part point please quick sentence short shortly summary takeaway thing whole entire word write "
        "work".split(),
    )
)

_ANY = frozenset(map(stem, "collection content document everything file library paper pdf source text".split()))
_KINDS = frozenset(
    map(
        stem,
        "agreement bid budget certificate contract filing handbook invoice lease letter licence license loan manual "
        "minutes offer order paper plan policy proposal protocol quotation quote receipt report standard statement "
        "study tender".split(),
    )
)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request for a summary.

    Attributes
    ----------
    names : tuple of str
        Names in the request, which may be those of documents.
    kind : str
        A word for a kind of documents, such as "contract"; it may be empty.
    topics : tuple of str
        Other content words. A request with topics is not for a whole document, unless they are in its name.
    """

    names: tuple[str, ...] = ()
    kind: str = ""
    topics: tuple[str, ...] = ()


def asks_for_summary(question: str) -> bool:
    """Return whether a question asks for a summary of documents.

    >>> asks_for_summary("Give me an overview of the report"), asks_for_summary("Who wrote the summary?")
    (True, False)
    """
    return _REQUEST.search(question) is not None


def parse_summary_request(question: str) -> SummaryRequest | None:
    """Return what a request for a summary names; ``None`` if the question is no such request.

    >>> parse_summary_request("Summarise the lease of Oak Street")
    SummaryRequest(names=('Oak Street',), kind='lease', topics=())
    >>> parse_summary_request("Summarise the penalties").topics
    ('penalties',)
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
    names = [name for name in find_names(rest) if not _is_unspecific(name.text)]
    words = [
        token
        for token in split_tokens(rest)
        if not token.is_function and not any(one.start <= token.start < one.end for one in names)
    ]
    kinds = (
        token.text for token in words if is_kind_of_document(token.word) and not is_generic_document_word(token.word)
    )
    topics = [
        token.text
        for token in words
        if not _is_unspecific(token.word) and not token.text.isdigit() and len(token.text) > 1
    ]
    return SummaryRequest(tuple(re.sub(r"^the\s+", "", one.text) for one in names), next(kinds, ""), tuple(topics))


def _is_unspecific(word: str) -> bool:
    return is_generic_document_word(word) or is_kind_of_document(word) or stem(word.casefold()) in _UNSPECIFIC


def is_generic_document_word(noun: str) -> bool:
    """Return whether a noun is a word for documents of any kind, such as "files"."""
    return stem(noun.casefold()) in _ANY


def is_kind_of_document(noun: str) -> bool:
    """Return whether a noun is a word for a kind of documents, such as "contract"."""
    return stem(noun.casefold()) in _KINDS
