"""Find the pages and sections that a question names, or describe the pages and sections that exist instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby

from rag_core.answering.named_documents import FILE_NAME, MAX_TITLES, NamedDocuments
from rag_core.answering.places.cells import (
    CellRequest,
    asks_for_value,
    describe_missing_cells,
    find_cell_places,
    find_named_sheets,
    list_sheets,
    parse_cells,
    select_sheets,
)
from rag_core.reading.summary_requests import asks_for_summary, is_generic_document_word, is_kind_of_document
from rag_core.runtime.stores import Stores
from rag_core.text.grammar import Token, split_tokens
from rag_core.text.place_requests import (
    asks_only_for_content,
    parse_ordered_section,
    parse_place,
    parse_titled_section,
)
from rag_core.text.sections import UNNAMED, DocumentSections, PageText, Section
from rag_core.text.words import find_content_stems
from rag_core.types.documents import DocumentInfo, PageHeading
from rag_core.types.places import NamedPlaces, Place, PlaceKind, PlaceRequest
from rag_core.types.searches import Query
from rag_core.types.tables import Span

# Maximum number of places, and of labels of places, that a message lists.
MAX_PLACES, _MAX_LISTED = 3, 5
# A span that contains the text of any page.
_WHOLE_PAGE = (0, 1 << 30)
# Maximum number of characters between a caption and its table, and number of characters after a caption that may be a
# table if no table was recognized there.
_NEAR_TABLE, _TABLE_CHARS = 400, 1500
# Articles, and the words before and in the name of a document, as in "page 6 of the rules for guests of the inn".
_ARTICLE = (
    r"(?:the|this|my|our|your|an?|de[rmns]?|die|das|diese[rms]?|l[aeo]s?|el|il|gli|os?|ce|cette|est[ea]|het|dit|deze)"
)
_OF = re.compile(
    r"(?:(?:of|in|from|on|von|vom|im|in|aus|du|des?|del|d[ao]s?|n[ao]s?|dans|en|di|van|uit|"
    rf"{_ARTICLE})\s|(?:[dl]|(?:de|ne)ll)['’]|(?:de|ne)ll[ao]\s)",
    re.IGNORECASE,
)
_CONNECTOR = re.compile(
    rf"{_OF.pattern}|(?:for|to|and|zur?|zum|für|über|und|et|pour|y|e|para|per|voor|over)\s", re.IGNORECASE
)
_FINAL_ARTICLE = re.compile(rf"\b{_ARTICLE}\s+$", re.IGNORECASE)
_NEXT_WORD, _WORD_BEFORE = re.compile(r"\s+([^\W\d_][\w.'’-]*)"), re.compile(r"[^\s]\s+([\w.'’-]+)\s+$")
# A title in quotation marks, and the maximum number of words of a title without them.
_QUOTED, _MAX_WORDS = re.compile(r"[“„«\"]\s*([^“”„»\"]+?)\s*[“”»\"]"), 6
_DO = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Contents:
    """The pages of a document and, if the question names a section, its sections."""

    document: DocumentInfo
    pages: Sequence[PageHeading]
    sections: DocumentSections | None = None

    @property
    def listed(self) -> Sequence[Section]:
        return self.sections.listed if self.sections else ()


@dataclass(frozen=True, slots=True)
class _Scope:
    """The documents that may have a place, and the question before and after the names of the place and documents.

    ``is_named`` says whether the question names the documents.
    """

    documents: Sequence[DocumentInfo]
    before: str
    after: str
    is_named: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the question asks only for the text of the place."""
        return asks_only_for_content(FILE_NAME.sub(" ", f"{self.before} {self.after}"))


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

        If the query asks for something in the places, "the text" replaces their name in the question, and ``asked`` is
        the whole question. Such a query does not change if no document has the place.
        """
        if (requested := parse_cells(query.text)) and (resolved := self._resolve_cells(query, requested)):
            return resolved
        request = parse_place(query.text)
        if request is None:
            return self._resolve_section(query), ""
        scope = _select_documents(query.text, request, NamedDocuments(self._stores, query.documents, as_of=query.as_of))
        is_whole = asks_for_summary(query.text) or scope.is_whole
        if len(scope.documents) > MAX_TITLES:
            asks = is_whole and request.kind == "page"
            return query, _ask_for_document(_name_request(request), scope.documents) if asks else ""
        contents = [self._load_contents(one, request.kind) for one in scope.documents]
        choices = [self._find_requested(one, request) for one in contents]
        nearest = min((distance for distance, found in choices if found), default=0)
        places = [place for distance, found in choices if distance == nearest for place in found]
        if not contents or (not scope.is_named and _belongs_to_name(query.text, request, places)):
            return query, ""
        if not places:
            return query, _describe_missing(request, contents) if is_whole else ""
        return _restrict(query, scope, places, is_whole=is_whole), ""

    def _resolve_cells(self, query: Query, request: CellRequest) -> tuple[Query, str] | None:
        """Return what `resolve` returns for cells of sheets; ``None`` if the question may mean something else."""
        known = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        files = known.find_by_file_name(query.text)
        documents = files or known.documents
        if len(documents) > MAX_TITLES:
            if not asks_for_value(request, (), is_named=request.is_marked):
                return None
            example = next((one for one in documents if list_sheets([one], self._stores)), None)
            return (query, _ask_for_document(f"cell {request.named[0].cells}", documents, example)) if example else None
        sheets = list_sheets(documents, self._stores)
        chosen = select_sheets(request, sheets)
        is_named = bool(files or request.is_marked or find_named_sheets(sheets, request.rest))
        if not sheets or not asks_for_value(request, sheets, is_named=is_named):
            return None
        if all(found for _, found in chosen) and (places := find_cell_places(chosen, self._stores)):
            ids = tuple(dict.fromkeys(one.document_id for one in places))
            # The text of a page does not contain the numbers of rows, so a model cannot find a cell in it.
            writer = replace(query.writer, model="")
            return replace(query, documents=ids, places=NamedPlaces(tuple(places), is_whole=True), writer=writer), ""
        return query, describe_missing_cells(request, [found for _, found in chosen], sheets)

    def _resolve_section(self, query: Query) -> Query:
        """Return the query with the sections that it names by words of their titles, or by an ordinal, if any."""
        titled, ordered = parse_titled_section(query.text), parse_ordered_section(query.text)
        if not titled and not ordered:
            return query
        known = NamedDocuments(self._stores, query.documents, as_of=query.as_of)
        read = lru_cache(None)(partial(self._load_contents, kind="section"))
        for request, words in _list_titles(query.text, titled) if titled else ():
            scope = _select_documents(query.text, request, known)
            if places := _find_places(scope, read, partial(DocumentSections.find_by_title_words, stems=words)):
                is_whole = asks_for_summary(query.text) or scope.is_whole
                return _restrict(query, scope, places, is_whole=is_whole)
        if ordered and not titled:
            scope = _select_documents(query.text, ordered, known)
            find = partial(DocumentSections.find_ordered, kind=ordered.kind, position=ordered.position or 0)
            # Other questions may not be about the text of the section, as in "Who wrote the last chapter?".
            if (scope.is_whole or asks_for_summary(query.text)) and (places := _find_places(scope, read, find)):
                return _restrict(query, scope, places, is_whole=True)
        return query

    def _load_contents(self, document: DocumentInfo, kind: PlaceKind) -> _Contents:
        pages = self._stores.documents.page_headings(document.version_id)
        if kind == "page":
            return _Contents(document, pages)
        texts = self._stores.documents.page_texts([(document.version_id, one.page_index) for one in pages])
        headings = {one.page_index: one.headings or () for one in pages}
        contents = {page: PageText(text, spans, headings[page]) for (_, page), (text, spans) in texts.items()}

        def find_tables(numbers: Collection[int]) -> dict[int, list[Span]]:
            tables = self._stores.documents.tables([(document.version_id, one) for one in numbers])
            return {page: [(one.start, one.end) for one in found] for (_, page), found in tables.items()}

        return _Contents(document, pages, DocumentSections(contents, find_tables))

    def _find_requested(self, contents: _Contents, request: PlaceRequest) -> tuple[int, list[Place]]:
        """Return the distance between the request and its matches in a document, and the places of the matches.

        `DocumentSections.find` defines the distance. It is 0 for pages and tables.
        """
        sections = contents.sections
        if sections is None:
            return 0, _find_pages(contents, request)
        choices = [sections.find(request.kind, label) for label in request.labels]
        distance = max(one for one, _ in choices)
        found = [one for _, some in choices for one in some]
        # "Schedule 3" is not "Annex 3" of the same document.
        found = [one for one in found if one.title.casefold().startswith(request.noun.casefold())] or found
        places = _build_places(contents, sections, found)
        if request.kind != "table":
            return distance, places
        with_table = [self._add_table(one, sections.listed) for one in places]
        return 0, [place for place, is_found in with_table if is_found] or [place for place, _ in with_table]

    def _add_table(self, place: Place, sections: Sequence[Section]) -> tuple[Place, bool]:
        """Return the place of a caption with the table below or above it, and whether a table was found.

        If no table was found, the place contains the text below the caption, which may be the table.
        """
        [(page, (start, end))] = place.spans.items()
        tables = self._stores.documents.tables([(place.version_id, page)]).get((place.version_id, page), ())
        below = [(start, max(end, one.end)) for one in tables if start <= one.start <= end + _NEAR_TABLE]
        above = [(one.start, end) for one in tables if start - _NEAR_TABLE <= one.end <= start]
        if nearest := [*below[:1], *above[-1:]]:
            return replace(place, spans={page: nearest[0]}), True
        following = (one.start for one in sections if one.page == page and one.start > start)
        return replace(place, spans={page: (start, min(following, default=end + _TABLE_CHARS))}), False


def _build_places(contents: _Contents, sections: DocumentSections, found: Sequence[Section]) -> list[Place]:
    labels = {one.page_index: one.page_label for one in contents.pages}
    info = contents.document
    ids = (info.name, info.document_id, info.version_id)
    places = (Place(one.name, *ids, sections.find_spans(one), labels) for one in found)
    return [one for one in places if one.spans]


def _find_places(
    scope: _Scope, read: Callable[[DocumentInfo], _Contents], find: Callable[[DocumentSections], list[Section]]
) -> list[Place]:
    """Return the sections that ``find`` returns for the documents of a scope, as places.

    The list is empty for more than `MAX_TITLES` documents, or if more than `MAX_PLACES` places are found.
    """
    places: list[Place] = []
    for one in scope.documents if len(scope.documents) <= MAX_TITLES else ():
        contents = read(one)
        if contents.sections:
            places += _build_places(contents, contents.sections, find(contents.sections))
    return places if len(places) <= MAX_PLACES else []


def _list_titles(question: str, request: PlaceRequest) -> Iterator[tuple[PlaceRequest, frozenset[str]]]:
    """Yield possible titles after a request: the request with its end after the title, and the stems of the title.

    A title in quotation marks is the only one. Otherwise, the longest title comes first.
    """
    rest = question[request.end :]
    if quoted := _QUOTED.match(rest):
        yield replace(request, end=request.end + quoted.end()), frozenset(find_content_stems(quoted[1]))
        return
    words = _list_described(rest)
    for count in range(min(len(words), _MAX_WORDS), 0, -1):
        stems = frozenset(find_content_stems(" ".join(one.text for one in words[:count])))
        yield replace(request, end=request.end + words[count - 1].end), stems


def _restrict(query: Query, scope: _Scope, places: Sequence[Place], *, is_whole: bool) -> Query:
    ids = tuple(dict.fromkeys(one.document_id for one in places))
    restricted = replace(query, documents=ids, places=NamedPlaces(tuple(places), is_whole))
    if is_whole:
        return restricted
    # The text of a place does not contain the name of the place.
    text = " ".join(f"{_FINAL_ARTICLE.sub('', scope.before)} the text {scope.after}".split())
    return replace(restricted, text=re.sub(r"\s+(?=[,?.!])", "", text), asked=query.asked or query.text)


def _select_documents(question: str, request: PlaceRequest, known: NamedDocuments) -> _Scope:
    """Return the documents that a question names by file name, or by words of their title, or else all documents.

    No documents are returned if the question names another text, as in "article 5 of the GDPR".
    """
    before, after = question[: request.start], question[request.end :]
    files = known.find_by_file_name(question)
    rest = after.lstrip(" ,")
    if _OF.match(rest):
        words = _list_described(rest)
        for count in range(len(words), 0, -1):
            described = known.find_by_title_words([one.text for one in words[:count]])
            if described and _is_described(described[0], words[:count], known):
                return _Scope(files or described, before, rest[words[count - 1].end :], is_named=True)
        if not files and not all(is_kind_of_document(one.text) for one in words):
            return _Scope([], before, after)
    named = [one.text for one in _list_described(before)]
    described = known.find_by_title_words([one for one in named if not is_kind_of_document(one)] or named, least=1)
    if files or described:
        return _Scope(files or described, "" if described else before, after, is_named=True)
    return _Scope(known.documents, before, after)


def _is_described(document: DocumentInfo, words: Sequence[Token], known: NamedDocuments) -> bool:
    """Return whether words mean a document and no other text: "the Companies Act" is not "companies.pdf".

    The names or the title of the document must contain the last word. Of all words, they must contain at least as many
    as they lack, and more than they lack with a capital letter. Lacking words for a kind of document do not count.
    """
    named = [known.is_named(document, one.text) for one in words]
    other = [
        one.text for one, is_in in zip(words, named, strict=True) if not is_in and not is_kind_of_document(one.text)
    ]
    return named[-1] and len(other) <= sum(named) and sum(one[0].isupper() for one in other) < sum(named)


def _belongs_to_name(question: str, request: PlaceRequest, places: Sequence[Place]) -> bool:
    """Return whether a name beside the place shows that the place is in another text, as in "Article 5 GDPR"."""
    after, before = _NEXT_WORD.match(question, request.end), _WORD_BEFORE.search(question[: request.start])
    headings = " ".join(place.name for place in places).casefold()
    if after and _may_be_name(after[1]) and after[1].casefold() not in headings:
        return after[1][0].isupper() or not _DO.search(question[: request.start])
    return before is not None and before[1][0].isupper() and _may_be_name(before[1])


def _may_be_name(word: str) -> bool:
    return not asks_only_for_content(word) and not any(one.is_function_word for one in split_tokens(word))


def _find_pages(contents: _Contents, request: PlaceRequest) -> list[Place]:
    if request.position is not None:
        found = contents.pages[request.position :][:1]
    else:
        wanted = [label.casefold() for label in request.labels]
        found = [one for one in contents.pages if one.page_label.casefold() in wanted]
    info = contents.document
    ids = (info.name, info.document_id, info.version_id)
    return [
        Place(f"page {one.page_label}", *ids, {one.page_index: _WHOLE_PAGE}, {one.page_index: one.page_label})
        for one in found
    ]


def _ask_for_document(place: str, documents: Sequence[DocumentInfo], example: DocumentInfo | None = None) -> str:
    return (
        f"{len(documents):,} documents are in scope. Choose the document beside the input, or name it, as in "
        f"“What does {place} of {(example or documents[0]).name} say?”."
    )


def _describe_missing(request: PlaceRequest, contents: Sequence[_Contents]) -> str:
    name = _name_request(request)
    if len(contents) == 1:
        return f"{contents[0].document.name} has no {name}; {_list_places(request.kind, contents[0])}."
    return f"None of the {len(contents)} documents has {'an' if name[0].casefold() in 'aei' else 'a'} {name}."


def _name_request(request: PlaceRequest) -> str:
    if request.position is not None:
        return f"page {request.position + 1}"
    return f"{'page' if request.kind == 'page' else request.noun} {' or '.join(request.labels)}"


def _list_places(kind: PlaceKind, contents: _Contents) -> str:
    if kind == "page":
        return f"its pages are {_join_labels([one.page_label for one in contents.pages])}"
    # Of "2.1" and "2.2", only the section that contains both is listed.
    found = [one for one in contents.listed if one.kind == kind]
    if kind in UNNAMED:
        found = found or [one for one in contents.listed if one.label and one.kind in (None, "section")]
    titled = [one for one in found if one.level is not None] or found
    labels = list(dict.fromkeys(one.label.partition(".")[0] for one in titled))
    if not labels:
        return f"no numbered {kind} was found in it"
    if all(map(str.isdecimal, labels)):
        labels.sort(key=int)
    return f"its {'annexes' if kind == 'annex' else kind + 's'} are {_join_labels(labels)}"


def _join_labels(labels: Sequence[str]) -> str:
    """Return labels in words, with consecutive numbers as ranges.

    >>> _join_labels(["i", "ii", "1", "2", "3"])
    'i, ii and 1 to 3'
    """
    grouped = groupby(enumerate(labels), key=lambda one: int(one[1]) - one[0] if one[1].isdecimal() else one[1])
    runs = [[label for _, label in run] for _, run in grouped]
    parts = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else run)]
    if len(parts) > _MAX_LISTED:
        parts = [*parts[:_MAX_LISTED], "others"]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _list_described(text: str) -> list[Token]:
    """Return the words of a text that may describe a document, up to a word that asks for the content of a place."""
    words: list[Token] = []
    for token in split_tokens(text):
        if _CONNECTOR.fullmatch(f"{token.text} "):
            continue
        asks = token.is_function_word or (token.text.isalpha() and asks_only_for_content(token.text))
        if is_kind_of_document(token.text) or not asks:
            words.append(token)
        elif words:
            break
    return [one for one in words if not is_generic_document_word(one.text)]
