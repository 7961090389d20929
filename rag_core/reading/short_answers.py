"""Extend short answers, and check that they are what a question asks for."""

from __future__ import annotations

import re
from itertools import takewhile

from rag_core.reading.answer_types import is_date_part
from rag_core.reading.statement_reading import contains_negation
from rag_core.reading.table_questions import parse_table_question
from rag_core.text.dates import find_periods, find_quarters
from rag_core.text.grammar import ARTICLES, AUXILIARIES, split_tokens
from rag_core.text.numbers import parse_numbers
from rag_core.text.words import stem

_ABOUT = (
    r"(?:about|almost|approximately|approx\.|around|c\.|ca\.|circa|nearly|roughly|some|no later than|not later than|"
    r"at (?:the )?(?:latest|earliest))"
)
_BEFORE_A_DATE = re.compile(
    rf"(?:\b(?:(?:not )?(?:after|before|by|since|until|till)|{_ABOUT}|early|late|mid|"
    r"(?:the )?(?:[a-z]+ )?(?:beginning|start|middle|end|spring|summer|autumn|fall|winter|quarter|half) of)[ -])+$",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]\.?m\b", re.IGNORECASE)
_BEFORE_A_COUNT = re.compile(
    rf"(?:\b(?:at least|at most|as (?:many|few) as|(?:not? )?(?:more|less|fewer) than|(?:just )?(?:over|under)|only|"
    rf"up to|{_ABOUT}) |[~≈<>≤≥] ?)+$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r" (?:or (?:more|less|fewer|later|earlier)|at (?:the )?(?:latest|earliest|most|least)|onwards?)\b"
)
_ARTICLE = re.compile(r"\b(?:the|an?) $", re.IGNORECASE)
# Most words of a further item of a list.
MAX_ITEM_WORDS = 4
SEPARATOR = re.compile(r",? (?:and|or) |, ")
CONJUNCTION = re.compile(r"\b(?:and|or)\b")
_ITEM = re.compile(r"[^,;:.!?()]*")
# After the last item of a list: the end of the clause or the verb.
_AFTER_LIST = re.compile(rf"\W*$|[,;:.!?)]|\s+(?:{'|'.join(sorted(AUXILIARIES))})\b")
_DIGIT = re.compile(r"\d")
_ASKS_MEANING = re.compile(
    r"\bwhat (?:does|do) .+ mean\b|\bwhat is (?:an?|meant by)\b|\bhow (?:is|are) .+ defined\b", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"[.;](?=\s|$)")
# Most words of a definition, and of a figure.
MAX_DEFINITION_WORDS, MAX_FIGURE_WORDS = 30, 8
_CHANGES = (
    r"(?:change|grow|grew|grown|rise|rose|risen|increase|improve|fall|fell|fallen|drop(?:ped)?|decline|decrease|shrink|"
    r"shrank|shrunk|reduce)d?"
)
_ASKS_CHANGE = re.compile(rf"\bhow much .*\b{_CHANGES}\b", re.IGNORECASE)
_BEFORE_A_CHANGE = re.compile(
    rf"\b(?:by|(?:{_CHANGES}|growth|reduction|improvement) of)\s+(?:(?:the )?[a-z]+ )?\W*$", re.IGNORECASE
)
_CHANGE_BEFORE = re.compile(rf"\b(?:{_CHANGES}|growth|reduction|improvement) (?:of|by)\b", re.IGNORECASE)
_LEVEL = re.compile(r"\b(?:to|at|was|were|totaled|totalled)\s+(?:[a-z]+ ){0,2}\W*$", re.IGNORECASE)
_AFTER_A_CHANGE = re.compile(r"\W*(?:more|less|higher|lower|above|below)\b", re.IGNORECASE)
# Questions for amounts of money, and words by which a question asks for a change, a rate or a share.
_ASKS_AMOUNT = re.compile(
    r"\b(?:how much|what (?:is|are|was|were))\b.*\b(?:revenues?|sales|income|profits?|loss(?:es)?|earnings|expenses?|"
    r"expenditures?|assets|liabilities|equity|debts?|dividends?|cash flows?|costs?|proceeds)\b"
    r"|\bwhat (?:\w+ )?price\b",
    re.IGNORECASE,
)
_NAMES_CHANGE = re.compile(
    rf"\b{_CHANGES}s?\b|\b(?:growth|reduction|improvement|percent(?:age)?|per cent|rates?|margins?|ratios?|"
    r"(?<!per )share|proportion|yield|difference|by how much|declin(?:e[sd]?|ing)|grow(?:s|ing)?|ris(?:e[ns]?|ing)|"
    r"fall(?:s|ing|en)?)\b|%",
    re.IGNORECASE,
)
_PER = re.compile(r"\bper (share|employee|member|user|customer|store|capita)\b", re.IGNORECASE)
_WHERE = re.compile(r"where\b", re.IGNORECASE)
_CLAUSE_NUMBER = re.compile(r"\d+(?:\.\d+)+\.?")
# Other words in "est" are nouns, verbs, or names, such as "Budapest".
_SUPERLATIVE = re.compile(
    r"\b(?!\w*(?:interest|forest|quest|honest|harvest)\b|(?:arrest|invest|suggest|contest|protest|modest|priest)\b)"
    r"(?:\w{3,}est|(?<!\bat )(?<!\bat the )(?:most|least)|(?<=\bat the )(?:most|least)(?= [a-z]))\b"
)
# A word with a capital letter, such as "Budapest", unless it follows "the".
_NAME = re.compile(r"(?<!^)(?<!\b[Tt]he )\b[A-Z][a-z]+est\b")
# The noun that names the figure in "What was the operating margin in 2024".
_MEASURE = re.compile(
    r"\bwhat (?:is|are|was|were) (?:the |its |their )?(?:[\w'’-]+ ){0,4}?([\w'’-]+)"
    r"(?= (?:in|of|for|at|on|during|per|by|from)\b|\W*$)",
    re.IGNORECASE,
)


def has_limit(sentence: str, start: int, end: int) -> bool:
    """Return whether words such as "about" or "at least" limit a value, given its span in the sentence.

    >>> has_limit("It holds up to 500 guests.", 15, 18)
    True
    """
    return bool(_BEFORE_A_COUNT.search(sentence, 0, start) or _BOUND_AFTER.match(sentence, end))


def extend_answer(sentence: str, start: int, end: int) -> str:
    """Return an answer with the words that limit a figure, or with the article of a name and the rest of its list.

    Return an empty string if the answer is in a list whose end is not certain.

    >>> extend_answer("It holds up to 500 guests.", 15, 18)
    'up to 500'
    >>> extend_answer("It holds not less than 500 guests.", 23, 26)
    'not less than 500'
    >>> extend_answer("It was built by the mayor.", 20, 25)
    'the mayor'
    >>> extend_answer("It covers floods, wear and pets.", 10, 16)
    'floods, wear and pets'
    >>> extend_answer("The rate is 0.38 euros per kilometre.", 12, 16)
    '0.38 euros'
    """
    if not _DIGIT.search(sentence, start, end):
        before = _ARTICLE.search(sentence, 0, start)
        last = _find_list_end(sentence, end)
        return sentence[before.start() if before else start : last] if last is not None else ""
    end = max([end, *(one.end for one in parse_numbers(sentence) if one.start < end < one.end)])
    before = _BEFORE_A_COUNT.search(sentence, 0, start)
    if before is None and _is_moment(sentence, start, end):
        before = _BEFORE_A_DATE.search(sentence, 0, start)
    after = _BOUND_AFTER.match(sentence, end)
    return sentence[before.start() if before else start : after.end() if after else end].strip()


def _is_moment(sentence: str, start: int, end: int) -> bool:
    """Return whether a span contains a part of a date or a time of day."""
    within = (one for one in parse_numbers(sentence) if start <= one.start < end)
    return _CLOCK.search(sentence, start, end) is not None or any(is_date_part(one, sentence) for one in within)


def extend_definition(question: str, answer: str, sentence: str) -> str:
    """Return the answer up to the end of its clause if a question asks what something means.

    The words after it may limit the definition, as in "a day other than a holiday in England".
    """
    start = sentence.find(answer)
    if not answer or start < 0 or not _ASKS_MEANING.search(question):
        return answer
    clause_end = _CLAUSE_END.search(sentence, start + len(answer))
    whole = sentence[start : clause_end.start() if clause_end else len(sentence)].strip()
    return whole if len(whole.split()) <= MAX_DEFINITION_WORDS else ""


def matches_plural(question: str, answer: str) -> bool:
    """Return whether an answer is a list or a plural if a question asks for several things.

    >>> matches_plural("Which brands does it own?", "a Delaware corporation")
    False
    """
    asked = parse_table_question(question)
    is_several = SEPARATOR.search(answer) or answer.rstrip(".").endswith("s") or _DIGIT.search(answer)
    return asked is None or not asked.is_plural_list or bool(is_several)


def is_whole(answer: str, sentence: str) -> bool:
    """Return whether an answer has both ends of its brackets and quotes, and is not the number of a clause.

    >>> is_whole("Inc. (the “Company”", "Acme, Inc. (the “Company”)"), is_whole("5.2", "5.2 The parties agree.")
    (False, False)
    """
    is_clause = sentence.startswith(answer) and _CLAUSE_NUMBER.fullmatch(answer) is not None
    return not is_clause and all(answer.count(one) == answer.count(other) for one, other in ("()", "[]", "“”"))


def ends_before_noun(question: str, answer: str, sentence: str) -> bool:
    """Return whether an answer to "where" stops before a noun of the question, as an adjective does.

    >>> ends_before_noun("Where is the headquarters?", "the European", "It left the European headquarters.")
    True
    """
    if not _WHERE.match(question):
        return False
    rest = sentence[sentence.find(answer) + len(answer) :]
    following = next(iter(split_tokens(rest)), None)
    if following is None or rest[: following.start] != " ":
        return False
    return stem(following.word) in {stem(token.word) for token in split_tokens(question) if not token.is_function}


def is_figure_asked_for(question: str, answer: str, sentence: str) -> bool:
    """Return whether a figure in a sentence is of the kind asked for: a change, or an amount.

    A question for an amount per unit needs a sentence with this unit, and a question for several periods several
    figures.

    >>> sentence = "Sales rose by 4% to 120 million euros."
    >>> asked = "By how much did sales rise?"
    >>> is_figure_asked_for(asked, "4%", sentence), is_figure_asked_for(asked, "120 million euros", sentence)
    (True, False)
    """
    numbers = parse_numbers(answer)
    if len(numbers) > 1 and len(answer.split()) > MAX_FIGURE_WORDS:
        return False
    if not numbers:
        return True
    per = _PER.search(question)
    if per and not re.search(rf"\b(?:per|an?|each)\s+{per[1]}|/\s?{per[1]}", sentence, re.IGNORECASE):
        return False
    start = sentence.find(answer)
    before = sentence[: max(start, 0)]
    is_change = bool(_BEFORE_A_CHANGE.search(before) or _AFTER_A_CHANGE.match(sentence, start + len(answer)))
    is_percent = numbers[0].kind == "percent"
    if _ASKS_CHANGE.search(question):
        return is_change or is_percent
    if _ASKS_AMOUNT.search(question) and not _NAMES_CHANGE.search(question):
        is_single = len(numbers) < 2 <= len(find_periods(question))
        # The figures of a list after "a reduction of" are changes, but not the level after "rose by 4% to".
        is_listed = _CHANGE_BEFORE.search(before) is not None and _LEVEL.search(before) is None
        return not (is_change or is_percent or is_single or is_listed)
    return True


def names_measure(question: str, text: str) -> bool:
    """Return whether a text contains the noun for the figure that a question asks for, or the question has none.

    >>> names_measure("What was the operating margin in 2024?", "Revenue rose by 4%.")
    False
    """
    measure = _MEASURE.search(question)
    return measure is None or stem(measure[1].casefold()) in {stem(token.word) for token in split_tokens(text)}


def has_superlative(question: str, text: str) -> bool:
    """Return whether a text contains a superlative of the question, or the question has none.

    >>> has_superlative("Which mill had the largest output?", "The table shows output by mill.")
    False
    """
    asked = set(_SUPERLATIVE.findall(_NAME.sub("", question).casefold()))
    return not asked or bool(asked & set(_SUPERLATIVE.findall(text.casefold())))


def is_of_other_period(question: str, text: str) -> bool:
    """Return whether a question names a year or quarter, and a text names none of them.

    >>> is_of_other_period("What were sales in 2019?", "Sales were 4 million euros in 2020.")
    True
    """
    years, quarters = _find_years(question), find_quarters(question)
    return bool(years and not years & _find_years(text)) or bool(quarters and not quarters & find_quarters(text))


def is_of_other_year(question: str, statement: str, title: str) -> bool:
    """Return whether a question names a year, and a statement or the title of its document only others.

    A statement without a year is of the year in the title.

    >>> is_of_other_year("How many mills did it have in 2018?", "It has 112 mills.", "report_2019.pdf")
    True
    """
    asked, known = _find_years(question), _find_years(f"{statement} {title}")
    return bool(asked and known) and not asked & known


def _find_years(text: str) -> set[int]:
    return {period.year for period in find_periods(text) if period.year}


def is_denied_elsewhere(following: str) -> bool:
    """Return whether the negation after an answer belongs to another verb than that of the answer.

    Of "The post in mathematics has been filled, that in music has not", "mathematics" is not what is denied.
    """
    verbs = 0
    for token in split_tokens(following):
        verbs += token.word in AUXILIARIES - {"be", "been"}
        if contains_negation(following[: token.end]):
            return verbs > 1
    return False


def _find_list_end(sentence: str, end: int) -> int | None:
    """Return the end of the list of which an answer is the first item.

    Return ``end`` if the answer is in no list, and ``None`` if words follow the last item that may belong to it, as in
    "panels and goods made to order".
    """
    at = end
    while separator := SEPARATOR.match(sentence, at):
        words = split_tokens(_ITEM.match(sentence, separator.end())[0])  # type: ignore[index]
        item = list(takewhile(lambda word: not word.is_function or word.word in ARTICLES, words))
        if not item or len(item) > MAX_ITEM_WORDS:
            break
        at = separator.end() + item[-1].end
        if CONJUNCTION.search(separator[0]):
            return at if _AFTER_LIST.match(sentence, at) else None
    return end
