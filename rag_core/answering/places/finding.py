"""Find the pages and sections that a question names, or say which ones the documents have instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_core.answering.named_documents import MAX_TITLES, NamedDocuments
from rag_core.reading.summary_requests import asks_for_summary, is_generic_document_word, is_kind_of_document
from rag_core.runtime.stores import Stores
from rag_core.text.grammar import split_tokens
from rag_core.text.names import contains_document_name
from rag_core.text.place_requests import asks_only_for_content, parse_place
from rag_core.text.sections import UNNAMED, Section, find_sections, list_sections
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.documents import DocumentInfo, PageHeading
from rag_core.types.formatting import format_count
from rag_core.types.places import NamedPlaces, Place, PlaceKind, PlaceRequest
from rag_core.types.searches import Query

# Most places whose text is shown, and most documents or numbers that a message lists.
MAX_PLACES, _MAX_LISTED = 3, 5
# Characters between a caption and its table, and of a table that is not recognized as one.
_NEAR_TABLE, _TABLE_CHARS = 400, 1500
# What names the document of a place, as in "page 6 of the lease".
_OF = re.compile(
    r"\s*,?\s+(?:of|in|from|on|der|des|dem|von|vom|im|in|aus|du|de|del|dans|en)\s+"
    r"(?:(?:the|this|my|our|your|der|die|das|dem|den|diesem|dieser|le|la|les|el|los|las|ce|cette|este|esta)\s+|l['’])?"
    r"(?P<name>[\w.&'’/-]+(?:\s+[\w.&'’/-]+){0,5})",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:the|der|die|das|dem|den|la|le|el)\s+$", re.IGNORECASE)
_NEXT_WORD, _WORD_BEFORE = re.compile(r"\s+([\w.'’-]+)"), re.compile(r"([\w.'’-]+)\s+$")
_DO = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What is known of a document: its pages and, if sections are asked for, these."""

    document: DocumentInfo
    pages: Sequence[PageHeading]
    sections: Sequence[Section] = ()


class PlaceFinder:
    """Finds the places that questions name.

    Parameters
    ----------
    stores : Stores
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def resolve(self, query: Query) -> tuple[Query, str]:
        """Return the query with the places that it names, and a refusal if it asks only for a place that is missing.

        If it asks for something in the places, its text asks it of "the text", and ``asked`` is the whole question. If
        no document has a place in which something is asked for, the query does not change.
        """
        request = parse_place(query.text)
        if request is None:
            return query, ""
        known = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        documents, named = _select_documents(query.text, request, known)
        if not documents or (len(documents) > MAX_TITLES and request.kind != "page"):
            return query, ""
        is_whole = _asks_for_text(query.text, request, named)
        if len(documents) > MAX_TITLES:
            return query, _ask_for_name(request, documents) if is_whole else ""
        contents = [self._read(one, request.kind) for one in documents]
        choices = [self._find(one, request) for one in contents]
        nearest = min((distance for distance, found in choices if found), default=0)
        places = [place for distance, found in choices if distance == nearest for place in found]
        if not named and _belongs_to_name(query.text, request, places):
            return query, ""
        if not places:
            return query, _describe_missing(request, contents) if is_whole else ""
        ids = tuple(dict.fromkeys(one.document_id for one in places))
        restricted = replace(query, documents=ids, places=NamedPlaces(tuple(places), is_whole))
        return (restricted if is_whole else _ask_of_text(restricted, request, named)), ""

    def _read(self, document: DocumentInfo, kind: PlaceKind) -> _Contents:
        pages = self._stores.documents.page_headings(document.version_id)
        if kind == "page":
            return _Contents(document, pages)
        texts = self._stores.documents.page_texts([(document.version_id, one.page_index) for one in pages])
        by_page = {page: content for (_, page), content in texts.items()}
        sections = list_sections(
            {page: text for page, (text, _) in by_page.items()}, {page: spans for page, (_, spans) in by_page.items()}
        )
        return _Contents(document, pages, sections)

    def _find(self, contents: _Contents, request: PlaceRequest) -> tuple[int, list[Place]]:
        """Return the places of a document, and the distance of `find_sections`."""
        if request.kind == "page":
            return 0, self._find_pages(contents, request)
        distance = 0
        if request.title:
            found = _find_titled(contents, request.title)
        else:
            choices = [find_sections(contents.sections, request.kind, label) for label in request.labels]
            distance = max(one for one, _ in choices)
            found = [one for _, sections in choices for one in _prefer_headings(sections, contents.pages)]
        # "Schedule 3" is not "Annex 3" of the same document.
        found = [one for one in found if one.heading.casefold().startswith(request.noun.casefold())] or found
        labels = {one.page_index: one.page_label for one in contents.pages}
        info = contents.document
        places = (Place(one.name, info.name, info.document_id, info.version_id, one.spans, labels) for one in found)
        if request.kind != "table":
            return distance, [one for one in places if one.spans]
        with_table = [self._add_table(one, contents.sections) for one in places]
        return 0, [place for place, is_found in with_table if is_found] or [place for place, _ in with_table]

    def _find_pages(self, contents: _Contents, request: PlaceRequest) -> list[Place]:
        pages = contents.pages
        if request.position is not None:
            found = pages[request.position :][:1] if request.position < len(pages) else []
        else:
            wanted = [label.casefold() for label in request.labels]
            found = [one for one in pages if one.page_label.casefold() in wanted]
        info = contents.document
        keys = [(info.version_id, one.page_index) for one in found]
        texts = self._stores.documents.page_texts(keys)
        return [
            Place(
                f"page {one.page_label}",
                *(info.name, info.document_id, info.version_id),
                {one.page_index: (0, len(texts[key][0]))},
                {one.page_index: one.page_label},
            )
            for key, one in zip(keys, found, strict=True)
        ]

    def _add_table(self, place: Place, sections: Sequence[Section]) -> tuple[Place, bool]:
        """Return the place of a caption with its table, which is below it or else above it, and whether it is found.

        If it is not, the text below the caption may contain it.
        """
        [(page, (start, end))] = place.spans.items()
        tables = self._stores.documents.tables([(place.version_id, page)]).get((place.version_id, page), ())
        below = [one for one in tables if start <= one.start <= end + _NEAR_TABLE]
        above = [one for one in tables if start - _NEAR_TABLE <= one.end <= start]
        if below or above:
            span = (start, max(end, below[0].end)) if below else (above[-1].start, end)
            return replace(place, spans={page: span}), True
        following = (one.spans[page][0] for one in sections if page in one.spans and one.spans[page][0] > start)
        return replace(place, spans={page: (start, min(following, default=end + _TABLE_CHARS))}), False


def _select_documents(question: str, request: PlaceRequest, known: NamedDocuments) -> tuple[list[DocumentInfo], bool]:
    """Return the documents that may have a place, and whether the question names them.

    There are none if the question names another text, as in "article 5 of the GDPR".
    """
    if named := known.find_file_names(question):
        return named, True
    match = _OF.match(question, request.end)
    if match is not None:
        words = []
        for token in split_tokens(match["name"]):
            if token.is_function or (token.text.isalpha() and asks_only_for_content(token.text)):
                break
            words.append(token.text)
        topic = [one for one in words if not is_generic_document_word(one)]
        titled = known.find_titled(topic) if topic else []
        if titled:
            return titled, True
        if not all(map(is_kind_of_document, topic)):
            return [], False
    rest = f"{question[: request.start]} {question[request.end :]}"
    words = [one.text for one in split_tokens(rest) if not one.is_function and not asks_only_for_content(one.text)]
    if len(known.documents) <= MAX_TITLES and len(words) > 1:
        titled = [one for one in known.documents if sum(_names(one, word) for word in words) > 1]
        if titled:
            return titled, True
    return known.documents, False


def _names(document: DocumentInfo, word: str) -> bool:
    return contains_document_name(document.all_names, word)


def _asks_for_text(question: str, request: PlaceRequest, named: bool) -> bool:
    """Return whether a question asks only for the text of a place, or for its summary."""
    before, after = question[: request.start], question[request.end :]
    if asks_for_summary(question):
        return True
    if named and (match := _OF.match(question, request.end)):
        after = question[match.end() :] if len(match["name"].split()) < 3 else _skip_name(match["name"])
    rest = re.sub(r"[\w().-]*\w\.[a-z]{2,4}\b", " ", f"{before} {after}", flags=re.IGNORECASE)
    return asks_only_for_content(rest)


def _ask_of_text(query: Query, request: PlaceRequest, named: bool) -> Query:
    """Return a query for what "the text" states, because the text of a place does not contain the name of the place."""
    question = query.text
    after = question[request.end :]
    if named and (match := _OF.match(question, request.end)):
        after = f"{_skip_name(match['name'])}{question[match.end() :]}"
    before = _ARTICLE.sub("", question[: request.start])
    text = re.sub(r"\s+(?=[,?.!])", "", " ".join(f"{before} the text {after}".split()))
    return replace(query, text=text, asked=query.asked or question)


def _skip_name(name: str) -> str:
    """Return the words after the name of a document, which end the question."""
    tokens = split_tokens(name)
    first = next(
        (one.start for one in tokens if one.is_function or (one.text.isalpha() and asks_only_for_content(one.text))),
        len(name),
    )
    return name[first:]


def _belongs_to_name(question: str, request: PlaceRequest, places: Sequence[Place]) -> bool:
    """Return whether a name beside the place says that it is in another text, as in "Article 5 GDPR"."""
    after = _NEXT_WORD.match(question, request.end)
    before = _WORD_BEFORE.search(question[: request.start])
    headings = " ".join(place.name for place in places).casefold()
    if after and not asks_only_for_content(after[1]) and after[1].casefold() not in headings:
        is_name = not any(one.is_function for one in split_tokens(after[1]))
        if is_name and (after[1][0].isupper() or not _DO.search(question[: request.start])):
            return bool(re.match(r"[^\W\d_]", after[1]))
    if before and before.start() and before[1][0].isupper():
        return not asks_only_for_content(before[1]) and not any(one.is_function for one in split_tokens(before[1]))
    return False


def _find_titled(contents: _Contents, title: str) -> list[Section]:
    """Return the pages, or the numbered section, with a heading."""
    wanted = title.casefold()
    numbered = [one for one in contents.sections if one.heading.casefold().endswith(wanted)]
    if numbered:
        return numbered[:MAX_PLACES]
    found = [one for one in contents.pages if wanted in map(str.casefold, one.heading.split(HEADING_SEPARATOR))]
    return [Section(None, "", title, title, {one.page_index: (0, 1 << 30) for one in found})] if found else []


def _prefer_headings(sections: Sequence[Section], pages: Sequence[PageHeading]) -> list[Section]:
    """Return the sections whose first line is the heading of their page, if there are any; otherwise all."""
    headings = {
        (one.page_index, _normalize(part)) for one in pages for part in one.heading.split(HEADING_SEPARATOR) if part
    }
    titled = [one for one in sections if one.spans and (min(one.spans), _normalize(one.heading)) in headings]
    return titled or list(sections)


def _normalize(heading: str) -> str:
    return " ".join(heading.split()).rstrip("…").casefold()


def _ask_for_name(request: PlaceRequest, documents: Sequence[DocumentInfo]) -> str:
    return (
        f"{len(documents):,} documents are in scope. Choose the document beside the input, or name it, as in "
        f"“What does {_name_request(request)} of {documents[0].name} say?”."
    )


def _describe_missing(request: PlaceRequest, contents: Sequence[_Contents]) -> str:
    name = _name_request(request)
    if len(contents) == 1:
        return f"{contents[0].document.name} has no {name}; {_list_places(request.kind, contents[0], 'its ')}."
    lines = [f"{one.document.name}: {_list_places(request.kind, one, '')}" for one in contents[:_MAX_LISTED]]
    more = [f"and {format_count(len(contents) - len(lines), 'more document')}"] if len(contents) > len(lines) else []
    return f"None of the {len(contents)} documents has {_add_article(name)}. {'; '.join([*lines, *more])}."


def _name_request(request: PlaceRequest) -> str:
    if request.title:
        return f"{request.kind} “{request.title}”"
    if request.position is not None:
        return f"page {request.position + 1}"
    return f"{'page' if request.kind == 'page' else request.noun} {' or '.join(request.labels)}"


def _add_article(name: str) -> str:
    return f"{'an' if name[0] in 'ai' else 'a'} {name}"


def _list_places(kind: PlaceKind, contents: _Contents, owner: str) -> str:
    if kind == "page":
        return f"{owner}pages are {_list_labels([one.page_label for one in contents.pages])}"
    # Of "2.1" and "2.2", only the section that contains both is listed.
    found = [one for one in contents.sections if one.kind == kind]
    if kind in UNNAMED:
        found = found or [one for one in contents.sections if one.kind is None or one.kind == "section"]
    labels = list(dict.fromkeys(one.label.partition(".")[0] for one in _prefer_headings(found, contents.pages)))
    if all(map(str.isdecimal, labels)):
        labels.sort(key=int)
    return (
        f"{owner}{'annexes' if kind == 'annex' else kind + 's'} are {_list_labels(labels)}"
        if labels
        else f"no numbered {kind} was found in it"
    )


def _list_labels(labels: Sequence[str]) -> str:
    """Return labels in words, with consecutive numbers as ranges.

    >>> _list_labels(["i", "ii", "1", "2", "3"])
    'i, ii and 1 to 3'
    """
    runs: list[list[str]] = []
    for label in labels:
        if runs and label.isdecimal() and runs[-1][-1].isdecimal() and int(label) == int(runs[-1][-1]) + 1:
            runs[-1].append(label)
        else:
            runs.append([label])
    parts = list(_write_runs(runs))
    if len(parts) > _MAX_LISTED:
        parts = [*parts[:_MAX_LISTED], "others"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else "none"


def _write_runs(runs: Iterable[Sequence[str]]) -> Iterable[str]:
    for run in runs:
        if len(run) > 2:
            yield f"{run[0]} to {run[-1]}"
        else:
            yield from run
