"""Recognize the page, section or other place of a document that a question names, such as "page 6" or "§ 2.3"."""

from __future__ import annotations

import re

from rag_core.text.numbers import parse_numbers
from rag_core.text.words import ALPHANUMERIC, LETTERS, stem, tokenize
from rag_core.types.places import PlaceKind, PlaceRequest

# Regular expressions of the nouns for places in English, German, French, Spanish, Portuguese, Italian and Dutch.
# "Paragraph" and "§" stand for sections. "tableau" must precede "table", with which it begins.
NOUNS: dict[PlaceKind, str] = {
    "page": r"pages?|pp?\.|seiten?|s\.|p[áa]ginas?|p[áa]g\.|pagina['’]s|pagine|bladzijden?|blz\.",
    "section": (
        r"§§?|sections?|sec\.|clauses?|paragraphs?|paras?\.?|abschnitte?s?|absatz|ziffer|paragra(?:f|ph)en|"
        r"paragraphes?|secci[óo]n(?:es)?|apartados?|cl[áa]usulas?|sec?[çc](?:[ãa]o|[õo]es)|sezion[ei]|paragraf[oi]|"
        r"paragra(?:af|fen)|afdeling"
    ),
    "article": r"articles?|artikels?|artikelen|art\.|art[íi]culos?|artigos?|articol[oi]",
    "chapter": r"chapters?|kapitels?|chapitres?|cap[íi]tul?os?|capitol[oi]|hoofdstuk(?:ken)?",
    "part": r"parts?|teil|partie|parte|deel",
    "annex": (
        r"annexes?|annex|appendix|appendices|schedule|exhibit|anhangs?|anlagen?|anexos?|ap[ée]ndice|allegat[oi]|"
        r"appendice|bijlagen?"
    ),
    "item": r"items?|punkt|punto|ponto|punt",
    "note": r"notes?|notas?",
    "table": r"tableaux?|tables?|tabellen?|tablas?|cuadro|tabelas?|quadro|tabell[ae]|tavola|tabel",
    "figure": r"figures?|fig\.|abbildung|abb\.|figuras?|figur[ae]|figuur|afbeelding|図|图",
}
# Ordinals by position, from 0, and -1 for the last; other English ordinals and figures are parsed as numbers.
_POSITIONS = {
    0: r"first|erste[nrs]?|premi[èe]re|prim(?:er|eir)?a|eerste",
    1: r"second|zweite[nrs]?|deuxi[èe]me|second[ea]|segunda|tweede",
    2: r"third|dritte[nrs]?|troisi[èe]me|ter(?:c(?:er|eir)|z)a|derde",
    -1: r"last|final|letzte[nrs]?|derni[èe]re|[úu]ltima|laatste",
}
# Stems of the words that a question contains if it only asks what the text of a place is.
_CONTENT_STEMS = frozenset(
    map(
        stem,
        "a about all an and are at be can content cover contain could deal discuss describe display do does for "
        "found full give given has have in is it list me mention of on or out please print provide quote read "
        "regulate report said say set show shown stand state s t tell text that the there this to up us what whole "
        "which wording would written you summary summarise summarize overview short brief briefly outline sum key "
        "main points your my our am auf aus behandelt bitte das dem den der des die diesem dieser du ein enthält "
        "erwähnt es fasse für geht gib ich hat haben im inhalt ist kannst kurz lautet mir mit regelt sagt sich steht "
        "um und uns vom von was welche welcher wird wovon worum zeig zeigt zu zum zur zusammen zusammenfassung "
        "geregelt besagt wortlaut aux ce cette contient contenu d dans dit donne en est et fait figure il l la le "
        "mentionne mentionné montre moi parle prévoit qu que quel quelle quoi résume résumé résumez sur traite "
        "trouve y al como con contenido contiene cuál del dice el esta establece habla hay tiene tienen lo muestra "
        "prevé qué regula resume resumen se sobre trata una o os as ao da do na no nas nos das dos diz contém descreve "
        "mostra trata resuma está em um há che cosa c cè è una il lo gli alla del della dello nel nella sul di si dice "
        "contiene riassumi trova scritto wat staat er op de het van uit zegt bevat toont over gaat vat samen geef "
        "geschreven à pone".split(),
    )
)
_LABEL = r"\d+(?:\.\d+)*[a-z]?(?![\w%])(?![.,]\d)|(?-i:[IVXLC]{1,7}|[ivx]{2,7}|[A-Z](?:\.\d+)*)(?![\w'’&])"
# One or two words that can be a number, such as "six" or "twenty-one".
SPELLED_NUMBER = rf"{LETTERS.pattern}(?:-{LETTERS.pattern})?"
_RANGE = r"(?:\s*[-–]\s*|\s+(?:to|through|bis|à|al?|at[ée]|t/m|tot(?:\sen\smet)?)\s+)"
_ANY = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in NOUNS.items())
# A second place after the first one. Questions that name several places are searched as a whole.
_FURTHER = re.compile(
    r"\s*(?:,|&|\b(?:and|or|with|und|oder|mit|et|ou|y|o|e|en|of)\b)\s*(?:[^\W\d_]{1,3}\s+){0,2}"
    rf"(?:\d{{1,3}}(?!\d)|§|(?:{'|'.join(NOUNS.values())})\s*(?:{_LABEL}))",
    re.IGNORECASE,
)
# "Which part", "which figure" and "which item" are left out, because they often ask for something else.
_TITLED = "|".join(f"(?P<{kind}>{NOUNS[kind]})" for kind in ("section", "article", "chapter", "annex"))
_ASKED = f"(?P<page>{NOUNS['page']})|{_TITLED}"
_NAMED = re.compile(
    rf"(?<![\w.§-])(?:{_ANY})\s*(?:(?:no|nr|number|nummer)\b\.?\s*|n[º°]\s*)?"
    rf"(?P<label>{_LABEL}|\b(?P<word>{SPELLED_NUMBER}))(?:{_RANGE}(?:(?:{NOUNS['page']}|§)\s*)?(?P<last>{_LABEL}))?",
    re.IGNORECASE,
)
_ORDINAL = (
    rf"(?<![\w-])(?<!second )(?:{'|'.join(f'(?P<p{number % 4}>{words})' for number, words in _POSITIONS.items())}|"
    rf"(?P<ordinal>{SPELLED_NUMBER}|\d+(?:st|nd|rd|th|\.|e|[èe]me|[ªº]|a)))\s+"
)
_ORDERED = re.compile(rf"{_ORDINAL}(?:page|seite|p[áa]gina|bladzijde)(?!\w)", re.IGNORECASE)
_ORDERED_SECTION = re.compile(rf"{_ORDINAL}(?:{_TITLED})(?!\w)", re.IGNORECASE)
# A noun for a section before the section's title, which is in quotation marks or follows a word such as "titled".
_BEFORE_TITLE = re.compile(
    rf"(?<![\w-])(?:{_TITLED})\s*(?:(?=[“„«\"])|\s(?:on|about|regarding|concerning|(?:en)?titled|called|headed|named|"
    r"über|zum?|zur|sur|intitulée?|sobre|titulad[oa])\s+)",
    re.IGNORECASE,
)
# The noun "title" in the same languages.
TITLE = re.compile(r"(?<!\w)(?:title|titel|titre|t[íi]tulo|titolo)(?!\w)", re.IGNORECASE)
_WHICH = re.compile(
    rf"(?<!\w)(?:which|what|welche[mnrs]?|quel(?:le)?s?|qu[ée]|cu[áa]l|quale?|welke?)\s+(?:{_ASKED})(?!\w)",
    re.IGNORECASE,
)
_ONE = frozenset(("one", "eine", "einer", "une", "una", "uma", "een"))
# Maximum number of pages or sections in a range such as "pages 3 to 7".
_MAX_RANGE = 20


def parse_place(question: str) -> PlaceRequest | None:
    """Return the place or range of places that a question names by a number, or else a page by an ordinal.

    Return ``None`` if the question names none, or if another place follows, as in "pages 3 and 4".

    >>> parse_place("What does page 6 say?").labels, parse_place("Was steht in § 2.3?").labels
    (('6',), ('2.3',))
    >>> parse_place("How many pages may the report have?") is None
    True
    """
    for match in _NAMED.finditer(question):
        kind, label = _get_kind(match), match["label"]
        if match["word"]:
            label = str(parse_whole_number(label) or "")
        if label and _FURTHER.match(question, match.end()):
            return None
        # The letter in "a page I like" is not a number.
        if label and (kind != "page" or len(label) > 1 or label.isdecimal()):
            return PlaceRequest(kind, _expand_labels(label, match["last"]), None, match[kind], *match.span())
    for match in _ORDERED.finditer(question):
        if (position := _parse_position(match)) is not None:
            return PlaceRequest("page", (), position, "page", *match.span())
    return None


def parse_ordered_section(question: str) -> PlaceRequest | None:
    """Return the section that a question names by an ordinal; ``None`` if it names none.

    >>> parse_ordered_section("What does the third chapter say?").position
    2
    """
    for match in _ORDERED_SECTION.finditer(question):
        if (position := _parse_position(match)) is not None:
            return PlaceRequest(_get_kind(match), (), position, _get_kind(match), *match.span())
    return None


def parse_titled_section(question: str) -> PlaceRequest | None:
    """Return a request for the section that a question names by words of its title; ``None`` if it names none.

    The words of the title follow the end of the request's span in the question.

    >>> question = "What does the section on winter storms say?"
    >>> question[parse_titled_section(question).end :]
    'winter storms say?'
    """
    match = _BEFORE_TITLE.search(question)
    return PlaceRequest(_get_kind(match), (), None, match[_get_kind(match)], *match.span()) if match else None


def _parse_position(match: re.Match[str]) -> int | None:
    """Return the position that an ordinal means, from 0, and -1 for the last; ``None`` if the words are no ordinal."""
    if match["ordinal"] is None:
        return next(position for position in _POSITIONS if match[f"p{position % 4}"])
    position = parse_whole_number(re.sub(r"(?<=\d)\D+$", "", match["ordinal"])) - 1
    # "in one page" states the length of a summary.
    return position if position != -1 and match["ordinal"].casefold() not in _ONE else None


def find_asked_kind(question: str) -> PlaceKind | None:
    """Return the kind of place that a question asks for; ``None`` if it does not ask for a place.

    >>> find_asked_kind("In which section are guests mentioned?")
    'section'
    """
    match = _WHICH.search(question)
    return _get_kind(match) if match else None


def asks_only_for_content(rest: str) -> bool:
    """Return whether a question about a place asks only what the text of the place is.

    ``rest`` is the question without the words that name the place.
    """
    return all(
        stem(word.casefold()) in _CONTENT_STEMS or word.isdigit() or _is_place_noun(word)
        for word in ALPHANUMERIC.findall(rest)
    )


def find_place_topic(question: str) -> frozenset[str]:
    """Return the stems of the content words of a question such as "In which section …?".

    Words that only ask for the place are left out.

    >>> sorted(find_place_topic("In which section are guests mentioned?"))
    ['guest']
    """
    words = [word for word in tokenize(question) if word.content and not asks_only_for_content(word.text)]
    return frozenset(word.stem for word in words)


def _get_kind(match: re.Match[str]) -> PlaceKind:
    groups = match.groupdict()
    return next(kind for kind in NOUNS if groups.get(kind))


def _is_place_noun(word: str) -> bool:
    return any(re.fullmatch(pattern, word, re.IGNORECASE) for pattern in NOUNS.values())


def parse_whole_number(text: str) -> int:
    """Return the value of a text that is a whole number, such as "six" or "12"; 0 for any other text."""
    numbers = parse_numbers(text)
    if len(numbers) != 1 or (numbers[0].start, numbers[0].end) != (0, len(text)):
        return 0
    [value, *others] = numbers[0].values
    return int(value) if not others and value == int(value) else 0


def _expand_labels(first: str, last: str | None) -> tuple[str, ...]:
    """Return all labels of a range; only the first and the last if they are not numbers or the range is too long."""
    if not last:
        return (first,)
    if first.isdecimal() and last.isdecimal() and int(first) < int(last) <= int(first) + _MAX_RANGE:
        return tuple(map(str, range(int(first), int(last) + 1)))
    return (first, last)
