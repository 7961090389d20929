"""Write questions whose answers are statements of a text.

A question is a syntactic transformation of one statement (Heilman and Smith, "Good question! Statistical ranking for
question generation", NAACL 2010): a definition, a quantity, a date, or what somebody did. Only statements whose subject
is clear without the sentences before are used. English and German statements are read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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

# Numbers of words of a statement, and most words of its subject and of the words between the verb and its end.
_LEAST_WORDS, _MOST_WORDS, _MOST_OF_SUBJECT, _MOST_BETWEEN, _MOST_OF_VALUE = 4, 45, 10, 12, 7
# Least numbers of words that say what a term means, and of lines such as "Fee: the amount that …" in a list of terms.
_LEAST_OF_MEANING, _LEAST_OF_LIST = 4, 8
# Letters of a word that is taken for a term without quotation marks.
_SHORTEST_TERM = 3
# Words that refer to what other sentences say, and words that begin a clause.
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
# Kinds of statements in the order in which questions are offered.
_KINDS = "definition quantity date period agent term abbreviation".split()


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question and the statement that answers it.

    Attributes
    ----------
    text : str
    page_index, start, end : int
        The page, and where its text contains the statement.
    answer : str
        Words of the statement that an answer must contain.
    kind : str
    """

    text: str
    page_index: int
    start: int
    end: int
    answer: str
    kind: str = ""


def write_questions(pages: Mapping[int, str]) -> list[WrittenQuestion]:
    """Return questions about the statements of pages, the kinds in turn, each kind in the order of the pages.

    Of the definitions, those of the most frequent terms come first. Questions that several statements answer are left
    out.

    Parameters
    ----------
    pages : mapping of int to str
        The texts of pages, by the index of the page.
    """
    whole = "\n".join(pages.values())
    common = frozenset(re.findall(r"\b[a-zäöü]\w*", whole))
    found = [one for page, text in pages.items() for one in _read_page(page, text, common)]
    if sum(one.kind == "listed" for one in found) < _LEAST_OF_LIST:
        found = [one for one in found if one.kind != "listed"]
    times = Counter(one.text.casefold() for one in found)
    by_kind: dict[str, list[WrittenQuestion]] = defaultdict(list)
    for one in found:
        if times[one.text.casefold()] == 1:
            by_kind["definition" if one.kind == "listed" else one.kind].append(one)
    for kind, term in (("definition", 1), ("abbreviation", 0)):
        by_kind[kind].sort(key=lambda one: -whole.count(one.answer if term else one.text.split()[2]))
    lists = [by_kind[kind] for kind in _KINDS]
    return [one[place] for place in range(max(map(len, lists))) for one in lists if place < len(one)]


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
    """Yield questions that a sentence answers.

    ``common`` are words that the document has in lower case. ``language`` is that of the page, because a short sentence
    leaves its language in doubt.
    """
    if not _LEAST_WORDS <= len(sentence.split()) <= _MOST_WORDS:
        return
    if match := _DEFINED.match(sentence) or _LISTED.match(sentence):
        yield from _ask_meaning(match)
    if not sentence.endswith("."):
        return
    for pattern, ask in (*_RULES.get(language, ()), (_IS_A, _ask_what)):
        if (match := pattern.match(sentence)) and _is_clear(match["subject"], common):
            yield from ask(match, _begin_within(match["subject"], common))


def _ask_meaning(match: re.Match[str]) -> Iterator[WrittenQuestion]:
    named = match.groupdict()
    term, meaning = (match["quoted"] or named.get("plain") or "").strip(" ,.:"), match["meaning"]
    is_term = match["quoted"] or (len(term) > _SHORTEST_TERM and term.casefold() not in FUNCTION_WORDS)
    if is_term and len(meaning.split()) >= _LEAST_OF_MEANING and not _ELSEWHERE.search(meaning):
        question = f"Was bedeutet „{term}“?" if match["verb"].startswith("be") else f"What does “{term}” mean?"
        yield _write(question, term, "definition" if match["verb"] else "listed")


def _write(text: str, answer: str, kind: str) -> WrittenQuestion:
    return WrittenQuestion(text, 0, 0, 0, answer, kind)


def _ask_quantity(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    dates, numbers = find_dates(match["value"]), parse_numbers(match["value"])
    words = len(match["value"].split())
    if match["verb"] in ("is", "was") and _is_plural(subject):
        return
    if dates and not dates[0].start:
        yield _write(f"When {match['verb']} {subject}?", dates[0].text, "date")
        return
    # A number with many words after it may be an example or count something else.
    has_unit = words > 1 or any(one.kind or one.currency for one in numbers[:1])
    if numbers and not numbers[0].start and has_unit and words <= _MOST_OF_VALUE:
        yield _write(f"What {match['verb']} {subject}?", numbers[0].text, "quantity")


def _ask_count(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    do = "does" if match["verb"] == "has" else "do"
    if len(match["counted"].split()) <= _MOST_BETWEEN:
        yield _write(f"How many {match['counted']} {do} {subject} have?", match["value"], "quantity")


def _ask_date(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    date, rest = _find_final_date(match["value"]), match["rest"]
    if date and len(rest.split()) <= _MOST_BETWEEN and _refers_to_nothing(rest):
        yield _write(f"When {' '.join(filter(None, (match['verb'], subject, rest)))}?", date, "date")


def _ask_period(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if len(match["rest"].split()) <= _MOST_BETWEEN and _refers_to_nothing(match["rest"]):
        words = _PERIOD_WORDS[match["link"]]
        yield _write(f"{words} {match['verb']} {subject} {match['rest']}?", match["value"], "period")


def _ask_beginning(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if date := _find_final_date(match["value"]):
        yield _write(f"When does {subject} {match['verb'].removesuffix('s')}?", date, "date")


def _ask_agent(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    name = match["value"].rstrip(" .")
    if len(name.split()) <= _MOST_BETWEEN and _refers_to_nothing(name):
        yield _write(f"Who {match['verb']} {subject}?", name, "agent")


def _ask_german_quantity(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if (numbers := parse_numbers(match["value"])) and not numbers[0].start:
        yield _write(f"Wie viel {match['verb']} {subject}?", numbers[0].text, "quantity")


def _ask_german_beginning(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    if date := _find_final_date(match["value"]):
        yield _write(f"Wann {match['verb']} {subject}?", date, "date")


def _ask_what(match: re.Match[str], subject: str) -> Iterator[WrittenQuestion]:
    # A term with several capitals, such as "OpenCL", is not the name of a person.
    if sum(map(str.isupper, subject)) > 1 and any(map(str.islower, match["value"])):
        yield _write(f"{'Was' if match['verb'] == 'ist' else 'What'} {match['verb']} {subject}?", subject, "term")


# The rules for the statements of a language; the code of English is empty.
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


def _find_final_date(text: str) -> str:
    """Return the date with a year of which a text consists, without its last full stop; empty if it is another text."""
    date = next(iter(find_dates(text)), None)
    is_whole = date is not None and not date.start and not text[date.end :].strip(" .")
    return date.text if date and is_whole and date.readings[0].year else ""


def _is_clear(subject: str, common: frozenset[str]) -> bool:
    """Return whether a subject says what it is about without other sentences, and contains no clause.

    It has two words or more, or is a name, which the document never writes in lower case.
    """
    words = subject.split()
    first = words[0].casefold()
    if first not in _ARTICLES and first in FUNCTION_WORDS:
        return False
    is_name = first not in common and first not in FUNCTION_WORDS
    return (is_name or len(words) > 1) and len(words) <= _MOST_OF_SUBJECT and _refers_to_nothing(subject)


def _is_plural(subject: str) -> bool:
    """Return whether the noun of a subject seems to be a plural, so that a singular verb belongs to something else."""
    words = [one.word for one in split_tokens(subject)]
    head = words[next((at for at, word in enumerate(words) if word in PREPOSITIONS), len(words)) - 1]
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _refers_to_nothing(text: str) -> bool:
    words = [one.word for one in split_tokens(text)]
    if any(word in _UNCLEAR for word in words) or _INNER_ARTICLE.search(text):
        return False
    return text.count("(") == text.count(")")


def _begin_within(subject: str, common: frozenset[str]) -> str:
    """Return a subject as it is written within a sentence: a word that the document has in lower case begins so."""
    lower = subject[0].lower() + subject[1:]
    is_common = lower.split()[0] in common or lower.split()[0] in _ARTICLES
    return lower if is_common and not (len(lower.split()[0]) > 1 and subject.split()[0].isupper()) else subject
