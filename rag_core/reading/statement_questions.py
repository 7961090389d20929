"""Write questions that statements of a text answer.

A question is made by a syntactic transformation of a statement (Heilman and Smith, "Good question! Statistical ranking
for question generation", NAACL 2010). A statement defines a term, or states a quantity, a date, a period, or who did
something. Its subject must be clear without other sentences. English and German statements are used.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rag_core.text.abbreviations import find_abbreviations
from rag_core.text.calendar_dates import find_dates
from rag_core.text.grammar import (
    ARTICLES,
    DEMONSTRATIVES,
    FUNCTION_WORDS,
    OTHER_PRONOUNS,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SUBORDINATORS,
    WH,
    split_tokens,
)
from rag_core.text.languages import detect_language
from rag_core.text.numbers import parse_numbers
from rag_core.text.sentences import find_sentence_spans

# Minimum and maximum number of words of a statement.
_MIN_WORDS, _MAX_WORDS = 4, 45
# Maximum numbers of words of the subject of a statement, of the words between verb and value, and of the value.
_MAX_SUBJECT, _MAX_BETWEEN, _MAX_VALUE = 10, 12, 7
# Minimum number of words of the meaning of a term.
_MIN_MEANING = 4
# Minimum number of lines such as "Fee: the amount that …" in a list of terms.
_MIN_LIST = 8
# Minimum number of letters of a term without quotation marks.
_MIN_TERM = 4
# Words that refer to other sentences, and words that begin a clause.
_UNCLEAR = (
    DEMONSTRATIVES
    | PERSONAL
    | POSSESSIVES
    | OTHER_PRONOUNS
    | SUBORDINATORS
    | WH
    | frozenset(
        "such said same above below following former latter other another its your our my here however thus therefore "
        "each any no neither either not n't es er sie dies diese dieser dieses diesem diesen dort wir ihr sein seine "
        "ihre".split()
    )
)
_ARTICLES = ARTICLES | frozenset("der die das ein eine".split())
_BE, _SUBJECT = r"is|are|was|were", r"(?P<subject>[A-Z][^,;:]*?)"
_AUXILIARY = rf"{_BE}|will|shall|must|may|can|has|have"
_ABOUT = (
    r"(?:(?:about|approximately|around|roughly|at least|at most|up to|currently|only|over|more than|less than|"
    r"set to|set at|limited to|estimated at)\s)?"
)
_NAME = r"[A-Z]\w*(?:[ -](?:[A-Z]\w*|of|and|the|for)){0,4}"
_DEFINED = re.compile(
    rf"(?:[“\"„«](?P<quoted>[^“”\"„«»]{{2,50}})[”\"“»]|(?P<plain>{_NAME}))\s*:?\s"
    r"(?P<verb>means|shall mean|bedeutet|bezeichnet)\s(?P<meaning>.+)"
)
_LISTED = re.compile(rf"(?P<quoted>{_NAME}):\s(?P<verb>)(?P<meaning>(?:the|an?|any|all|those)\s.+)")
_ELSEWHERE = re.compile(
    r"^(?:the|any)?\s*(?:same )?meaning\b|\bmeaning (?:given|set|ascribed|assigned)|^,", re.IGNORECASE
)
_QUANTITY = re.compile(rf"(?P<subject>The [^,;:]*?) (?P<verb>{_BE}) {_ABOUT}(?P<value>[$€£¥]?\s?\d.*)")
_COUNT = re.compile(
    rf"{_SUBJECT} (?P<verb>has|have) (?P<value>\d+) "
    r"(?P<counted>[^,;:.()\d]*[a-z]s(?: (?:for|of) [^,;:.()\d]*)?)(?=\.| \()"
)
_GERMAN_SUBJECT = r"(?P<subject>(?:Der|Die|Das) [^,;:]*?)"
_GERMAN_QUANTITY = re.compile(
    rf"{_GERMAN_SUBJECT} (?P<verb>beträgt|betragen) (?:(?:etwa|rund|ca\.|maximal|mindestens)\s)?(?P<value>\d.*)"
)
_DATED = re.compile(rf"{_SUBJECT} (?P<verb>{_AUXILIARY}) (?P<rest>[^,;:]*?) ?\b(?:on|in) (?P<value>.+)")
_PERIOD = re.compile(
    rf"{_SUBJECT} (?P<verb>{_AUXILIARY}) (?P<rest>[^,;:]+) (?P<link>within|for|every) (?P<value>(?:[a-z]+ ){{0,2}}\d+ "
    r"(?:[a-z]+ )?(?:minutes|hours|days|weeks|months|years))\."
)
_PERIOD_WORDS = {"within": "Within what time", "for": "For how long", "every": "How often"}
_BEGINNING = re.compile(
    rf"{_SUBJECT} (?P<verb>begins|starts|commences|ends|expires|terminates|opens|closes) on (?P<value>.+)"
)
_GERMAN_BEGINNING = re.compile(
    rf"{_GERMAN_SUBJECT} (?P<verb>beginnt|endet|startet|öffnet|schließt|beginnen|enden) am (?P<value>.+)"
)
_AGENT = re.compile(rf"{_SUBJECT} (?:was|were) (?:\w+ly )?(?P<verb>\w{{3,}}ed) by (?P<value>(?:the )?[A-Z][^,;:]*)")
_IS_A = re.compile(r"(?P<subject>[A-Z][\w-]*) (?P<verb>is|ist) (?P<value>(?:an?|the|ein|eine|der|die|das) [a-zA-Z].+)")
_NEW_STATEMENT = re.compile(r"\n\s*(?=(?:The|Der|Die|Das) )")
_INNER_ARTICLE = re.compile(r"\s(?:The|A|An|Der|Die|Das)\s")
# Kinds of statements, in the order of the questions.
_KINDS = "definition quantity date period agent term abbreviation".split()


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question and the statement that answers it.

    Attributes
    ----------
    text : str
    page_index, start, end : int
        Index of the page, and span of the statement in its text.
    answer : str
        Words of the statement that an answer must contain.
    kind : str
        Kind of the statement, such as ``definition``.
    """

    text: str
    page_index: int
    start: int
    end: int
    answer: str
    kind: str = ""


def write_questions(pages: Mapping[int, str]) -> list[WrittenQuestion]:
    """Return questions about statements of pages, in which the kinds of statements alternate.

    Questions of a kind are in the order of the pages, but definitions and abbreviations of frequent terms come first.
    Questions that several statements answer are left out.

    Parameters
    ----------
    pages : mapping of int to str
        The texts of pages, by page index.
    """
    whole = "\n".join(pages.values())
    common = frozenset(re.findall(r"\b[a-zäöü]\w*", whole))
    found = [one for page, text in pages.items() for one in _read_page(page, text, common)]
    if sum(one.kind == "listed" for one in found) < _MIN_LIST:
        found = [one for one in found if one.kind != "listed"]
    times = Counter(one.text.casefold() for one in found)
    by_kind: dict[str, list[WrittenQuestion]] = defaultdict(list)
    for one in found:
        if times[one.text.casefold()] == 1:
            by_kind["definition" if one.kind == "listed" else one.kind].append(one)
    by_kind["definition"].sort(key=lambda one: -whole.count(one.answer))
    # The third word of "What does HDB stand for?" is the abbreviation.
    by_kind["abbreviation"].sort(key=lambda one: -whole.count(one.text.split()[2]))
    return [one for row in zip_longest(*(by_kind[kind] for kind in _KINDS)) for one in row if one]


def _read_page(page: int, text: str, common: frozenset[str]) -> Iterator[WrittenQuestion]:
    language = detect_language(text)
    for start, end in find_sentence_spans(text):
        # A heading without a full stop may precede the statement.
        if line := _NEW_STATEMENT.search(text, start, end):
            start = line.end()
        sentence = " ".join(text[start:end].split())
        if written := next(_read_statement(sentence, common, language), None):
            yield replace(written, page_index=page, start=start, end=end)
    for short, long in find_abbreviations(text):
        match = re.search(r"\s+".join(map(re.escape, long.split())), text)
        if match and short.casefold() not in long.casefold() and not short[-1].islower():
            yield WrittenQuestion(f"What does {short} stand for?", page, match.start(), match.end(), long, _KINDS[-1])


def _read_statement(sentence: str, common: frozenset[str], language: str) -> Iterator[WrittenQuestion]:
    """Yield the questions that a sentence answers, without their places.

    Parameters
    ----------
    sentence : str
    common : frozenset of str
        Words that the document also contains in lower case, and which are therefore no names.
    language : str
        Language code of the page. The language of a short sentence would be uncertain.
    """
    if not _MIN_WORDS <= len(sentence.split()) <= _MAX_WORDS:
        return
    if match := _DEFINED.match(sentence) or _LISTED.match(sentence):
        yield from _ask_meaning(match)
    if not sentence.endswith("."):
        return
    for pattern, ask in (*_RULES.get(language, ()), (_IS_A, _ask_what)):
        if (match := pattern.match(sentence)) and _is_clear(match["subject"], common):
            yield from ask(match, _lower_first_word(match["subject"], common))


def _ask_meaning(match: re.Match[str]) -> Iterator[WrittenQuestion]:
    named = match.groupdict()
    term, meaning = (match["quoted"] or named.get("plain") or "").strip(" ,.:"), match["meaning"]
    is_term = match["quoted"] or (len(term) >= _MIN_TERM and term.casefold() not in FUNCTION_WORDS)
    if is_term and len(meaning.split()) >= _MIN_MEANING and not _ELSEWHERE.search(meaning):
        question = f"Was bedeutet „{term}“?" if match["verb"].startswith("be") else f"What does “{term}” mean?"
        yield _create_question(question, term, "definition" if match["verb"] else "listed")


def _create_question(text: str, answer: str, kind: str) -> WrittenQuestion:
    return WrittenQuestion(text, 0, 0, 0, answer, kind)


def _ask_quantity(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    dates, numbers = find_dates(match["value"]), parse_numbers(match["value"])
    words = len(match["value"].split())
    if match["verb"] in ("is", "was") and _is_plural(subject):
        return
    if dates and not dates[0].start:
        yield _create_question(f"When {match['verb']} {subject}?", dates[0].text, "date")
        return
    # A number before many words can be an example, or count something else.
    has_unit = words > 1 or any(one.kind or one.currency for one in numbers[:1])
    if numbers and not numbers[0].start and has_unit and words <= _MAX_VALUE:
        yield _create_question(f"What {match['verb']} {subject}?", numbers[0].text, "quantity")


def _ask_count(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    do = "does" if match["verb"] == "has" else "do"
    if len(match["counted"].split()) <= _MAX_BETWEEN:
        yield _create_question(f"How many {match['counted']} {do} {subject} have?", match["value"], "quantity")


def _ask_date(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    date, rest = _read_single_date(match["value"]), match["rest"]
    if date and len(rest.split()) <= _MAX_BETWEEN and _is_self_contained(rest):
        yield _create_question(f"When {' '.join(filter(None, (match['verb'], subject, rest)))}?", date, "date")


def _ask_period(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if len(match["rest"].split()) <= _MAX_BETWEEN and _is_self_contained(match["rest"]):
        words = _PERIOD_WORDS[match["link"]]
        yield _create_question(f"{words} {match['verb']} {subject} {match['rest']}?", match["value"], "period")


def _ask_beginning(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if date := _read_single_date(match["value"]):
        yield _create_question(f"When does {subject} {match['verb'].removesuffix('s')}?", date, "date")


def _ask_agent(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    name = match["value"].rstrip(" .")
    if len(name.split()) <= _MAX_BETWEEN and _is_self_contained(name):
        yield _create_question(f"Who {match['verb']} {subject}?", name, "agent")


def _ask_german_quantity(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if (numbers := parse_numbers(match["value"])) and not numbers[0].start:
        yield _create_question(f"Wie viel {match['verb']} {subject}?", numbers[0].text, "quantity")


def _ask_german_beginning(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if date := _read_single_date(match["value"]):
        yield _create_question(f"Wann {match['verb']} {subject}?", date, "date")


def _ask_what(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    # A term with several capitals, such as "OpenCL", is not the name of a person.
    if sum(map(str.isupper, subject)) > 1 and any(map(str.islower, match["value"])):
        yield _create_question(
            f"{'Was' if match['verb'] == 'ist' else 'What'} {match['verb']} {subject}?", subject, "term"
        )


# Patterns of statements, with functions that ask for them, by language code. The code of English is empty.
_RULES: Mapping[str, Sequence[tuple[re.Pattern[str], Callable[[re.Match[str], str], Iterator[WrittenQuestion]]]]] = {
    "": (
        (_QUANTITY, _ask_quantity),
        (_COUNT, _ask_count),
        (_BEGINNING, _ask_beginning),
        (_PERIOD, _ask_period),
        (_DATED, _ask_date),
        (_AGENT, _ask_agent),
    ),
    "de": ((_GERMAN_QUANTITY, _ask_german_quantity), (_GERMAN_BEGINNING, _ask_german_beginning)),
}


def _read_single_date(text: str) -> str:
    """Return the date of which a text consists, without a final full stop.

    The result is empty if the text contains anything else, or if the date has no year.
    """
    date = next(iter(find_dates(text)), None)
    is_whole = date is not None and not date.start and not text[date.end :].strip(" .")
    return date.text if date and is_whole and date.readings[0].year else ""


def _is_clear(subject: str, common: frozenset[str]) -> bool:
    """Return whether a subject can be understood without other sentences.

    Such a subject consists of several words, or is a name, which the document never contains in lower case.
    """
    words = subject.split()
    first = words[0].casefold()
    if first not in _ARTICLES and first in FUNCTION_WORDS:
        return False
    is_name = first not in common and first not in FUNCTION_WORDS
    return (is_name or len(words) > 1) and len(words) <= _MAX_SUBJECT and _is_self_contained(subject)


def _is_plural(subject: str) -> bool:
    """Return whether the noun of a subject seems to be a plural, which does not agree with a singular verb."""
    words = [one.word for one in split_tokens(subject)]
    # The noun is the last word before a preposition.
    head = words[next((index for index, word in enumerate(words) if word in PREPOSITIONS), len(words)) - 1]
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _is_self_contained(text: str) -> bool:
    """Return whether a part of a statement has no reference to other sentences, no clause and no open bracket."""
    words = [one.word for one in split_tokens(text)]
    if any(word in _UNCLEAR for word in words) or _INNER_ARTICLE.search(text):
        return False
    return text.count("(") == text.count(")")


def _lower_first_word(subject: str, common: frozenset[str]) -> str:
    """Return a subject as it is written within a sentence: its first word begins in lower case if it is no name."""
    lower = subject[0].lower() + subject[1:]
    is_common = lower.split()[0] in common or lower.split()[0] in _ARTICLES
    return lower if is_common and not (len(lower.split()[0]) > 1 and subject.split()[0].isupper()) else subject
