"""Expansion of a fragment: a name in it replaces a name of the same kind in the earlier question.

A role replaces a role, a figure a figure, a date a date, and any other name a name: after "Who is the CEO of Acme?",
both "And the CFO?" and "And Bexley?" are expanded. Of several candidates, one with the same article is preferred, then
the subject, which is most likely to stay the topic (Grosz, Joshi and Weinstein, "Centering", Computational Linguistics
21(2), 1995).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from rag_core.text.dates import MONTHS
from rag_core.text.grammar import AUXILIARIES, DETERMINERS, PREPOSITIONS, WH, Token, tokens
from rag_core.text.noun_phrases import Phrase, find_names

_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    r"(?:\b(?P<before>as of|as at|on|in|of|for|by|before|after|since|until|during)\s+(?:the\s+)?)?"
    rf"\b(?P<date>(?:(?P<day>\d{{1,2}}(?:st|nd|rd|th)?)\s+(?:of\s+)?)?(?:{_MONTH})\b"
    r"(?:\s+(?P<day_behind>\d{1,2}(?:st|nd|rd|th)?)\b)?(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"
    r"|(?P<year_alone>(?:19|20)\d\d)\b)",
    re.IGNORECASE,
)
# Last words of officers' titles; the words before them are open, except for titles that begin with "chief".
_ROLES = frozenset(
    "auditor ceo cfo chair chairman chairperson chairwoman chancellor chief cio comptroller controller coo counsel cto "
    "dean deputy director executive founder governor head leader manager mayor minister officer president principal "
    "provost rector secretary treasurer trustee".split()
)
_ROLE_MODIFIERS = frozenset(
    "acting assistant commercial deputy executive finance financial first former general independent interim joint "
    "lead legal managing marketing non-executive operating operations prime sales senior technical technology "
    "vice".split()
)
_ROLE_SHORT = re.compile(r"C[A-Z]{1,2}O|[SE]?VP|MD|GM|PM")
# "And at Acme?" asks for the CEO of Acme.
_OWNER_PREPOSITIONS = frozenset("of at for".split())
_OF = re.compile(r"\s+of\s+")
_GENITIVE = re.compile(r"['’]s?\s+$")
_PLACE_PREPOSITIONS = frozenset("in at from to near for".split())


@dataclass(frozen=True, slots=True)
class RoleMention:
    """A role in a text, ``text[start:end]`` without its article, and the organisation that it belongs to."""

    start: int
    end: int
    owner: Phrase | None


def substitute_fragment(fragment: str, earlier: str) -> str:
    """Return the earlier question with the name of a fragment in it; empty if the substitution is ambiguous.

    >>> substitute_fragment("the CFO", "Who is the CEO of Acme Robotics?")
    'Who is the CFO of Acme Robotics?'
    >>> substitute_fragment("on 18 April", "Who attended the meeting on 16 May 2024?")
    'Who attended the meeting on 18 April 2024?'
    """
    rewritten, rest = _replace_date(earlier, fragment)
    named, roles, number = find_names(rest), find_roles(rest), _NUMBER.search(rest)
    spans = [*((name.start, name.end) for name in named), *((role.start, role.end) for role in roles)]
    if _has_other_words(rest, earlier, spans, number, dated=rewritten != earlier) or len(named) > 1 or len(roles) > 1:
        return ""
    if roles and not roles[0].owner and all(phrase.end <= roles[0].end for phrase in named):
        rewritten = _replace_role(rewritten, rest, *min(spans))
    elif named:
        rewritten = _replace_name(rewritten, rest, named[0], next((role.owner for role in roles), None))
    if not (rewritten and number):
        return rewritten
    old = _NUMBER.findall(rewritten)
    return rewritten.replace(old[0], number[0]) if len(old) == 1 else ""


def find_roles(text: str) -> list[RoleMention]:
    """Return the roles in a text, such as "chief executive officer" or "CFO", in order."""
    words, names = tokens(text), find_names(text)
    spans: list[tuple[int, int]] = []
    for at, token in enumerate(words):
        short = _ROLE_SHORT.fullmatch(text, token.start, token.stem_end)
        if not short and token.word.rsplit("-")[-1].removesuffix("s") not in _ROLES:
            continue
        run = [] if short else _find_words_before(text, words, at)
        chief = [word for word in run if word.word == "chief"]
        known = list(takewhile(lambda word: word.word in _ROLE_MODIFIERS | _ROLES, run))
        start = (chief or known or [token])[-1].start
        # "Chief" and "executive" are roles, but also parts of longer ones.
        spans = [*(span for span in spans if span[0] < start), (start, token.stem_end)]
    return [RoleMention(start, end, _find_owner(text, start, end, names)) for start, end in spans]


def _find_words_before(text: str, words: Sequence[Token], at: int) -> list[Token]:
    """Return the content words directly before a word, nearest first."""
    run: list[Token] = []
    for token, following in zip(words[at - 1 :: -1], words[at:0:-1], strict=False):
        if token.is_function or token.stem_end < token.end or text[token.end : following.start].strip():
            break
        run.append(token)
    return run


def _find_owner(text: str, start: int, end: int, names: Sequence[Phrase]) -> Phrase | None:
    """Return the name that a role belongs to, as in "the CEO of Acme" and "Acme's CEO"."""
    if link := _OF.match(text, end):
        spans = [(link.end(), name.end) for name in names if name.start <= link.end() < name.end]
    elif genitive := _GENITIVE.search(text[:start]):
        spans = [(name.start, genitive.start()) for name in names if name.start < genitive.start() <= name.end]
    else:
        spans = []
    return Phrase(text[spans[0][0] : spans[0][1]], *spans[0]) if spans else None


def _has_other_words(
    rest: str, earlier: str, inside: Sequence[tuple[int, int]], number: re.Match[str] | None, *, dated: bool
) -> bool:
    """Return whether a fragment has words that are neither substituted nor in the earlier question."""
    beside = [token for token in tokens(rest) if not any(start <= token.start < end for start, end in inside)]
    words = {token.word for token in beside if not token.is_function and not (number and token.text == number[0])}
    if inside or number or dated:
        words -= {token.word for token in tokens(earlier)}
    return bool(words)


def _replace_date(earlier: str, fragment: str) -> tuple[str, str]:
    """Return the earlier question with the date of a fragment, and the rest of the fragment.

    Nothing changes unless both have exactly one date. A date without a year keeps the year of the earlier question.
    """
    new, old = _find_dates(fragment), [match for match in _find_dates(earlier) if not match["year_alone"]]
    if len(new) != 1 or len(old) != 1:
        return earlier, fragment
    (new_match,), (old_match,) = new, old
    date = new_match["date"]
    if old_match["year"] and not (new_match["year"] or new_match["year_alone"]):
        date += f", {old_match['year']}" if new_match["day_behind"] else f" {old_match['year']}"
    start = old_match.start("date")
    if new_match["before"] and old_match["before"]:
        date, start = f"{new_match['before'].lower()} {date}", old_match.start()
    rest = f"{fragment[: new_match.start()]} {fragment[new_match.end() :]}".strip()
    return earlier[:start] + date + earlier[old_match.end() :], rest


def _find_dates(text: str) -> list[re.Match[str]]:
    """Return the dates in a text; a month alone, which may be a verb, counts only after a preposition or on its own."""
    return [
        match
        for match in _DATE.finditer(text)
        if match["before"] or any(map(str.isdigit, match["date"])) or match[0] == text.strip(" ?.")
    ]


def _replace_role(earlier: str, fragment: str, start: int, end: int) -> str:
    """Return the earlier question with its role replaced by ``fragment[start:end]``; empty if ambiguous."""
    roles = find_roles(earlier)
    # A plural role does not replace a singular one.
    if len(roles) != 1 or (earlier[roles[0].end - 1] == "s") != (fragment[end - 1] == "s"):
        return ""
    before = [token for token in tokens(earlier) if token.end <= roles[0].start]
    determined = bool(before) and before[-1].word in DETERMINERS | WH
    first = tokens(fragment)[0].word
    opener = before[-2:-1] if determined else before[-1:]
    titled = re.match(r"\s+[A-Z]", earlier[roles[0].end :])
    if titled or (first in PREPOSITIONS and not any(token.word in PREPOSITIONS for token in opener)):
        return ""
    role = Phrase(fragment[start:end], start, end).core
    if not determined and not _GENITIVE.search(earlier[: roles[0].start]):
        role = f"the {role}"
    return earlier[: roles[0].start] + role + earlier[roles[0].end :]


def _replace_name(earlier: str, fragment: str, name: Phrase, owner: Phrase | None) -> str:
    """Return the earlier question with a name replaced by one of the same kind; empty if ambiguous.

    An officer with an ``owner`` replaces an officer together with that officer's owner.
    """
    roles = find_roles(earlier)
    candidates = (_find_officers(earlier, roles) if owner else []) or _find_candidates(earlier, roles, name)
    stems = set(_get_content_words(name.core))
    close = [candidate for candidate in candidates if stems & set(_get_content_words(candidate.core))]
    alike = close or candidates
    owners = [role.owner for role in roles if role.owner]
    first = tokens(fragment)[0].word
    if first in PREPOSITIONS:
        alike = [
            phrase
            for phrase in alike
            if _get_word_before(earlier, phrase) == first or (phrase in owners and first in _OWNER_PREPOSITIONS)
        ]
    elif not close and _can_be_owned(name) and any(phrase in owners and not phrase.definite for phrase in alike):
        return ""
    if owner and _can_be_owned(owner) and any(not phrase.definite for phrase in owners):
        return ""
    if len(alike) > 1:
        alike = _filter_by_role(earlier, name, alike)
    if len(alike) > 1 and first not in PREPOSITIONS:
        return f"{fragment[:1].upper()}{fragment[1:].strip()} – {earlier}"
    return earlier[: alike[0].start] + name.text + earlier[alike[0].end :] if len(alike) == 1 else ""


def _can_be_owned(name: Phrase) -> bool:
    """Return whether a name may be part of a company: "the Audit Committee" may, "the BBC" and "Acme" may not."""
    return name.definite and not name.core.isupper()


def _find_officers(earlier: str, roles: Sequence[RoleMention]) -> list[Phrase]:
    """Return the officers in a question with their articles and owners."""
    officers = []
    for role in roles:
        if role.owner:
            article = re.search(r"\bthe\s+$", earlier[: role.start], re.IGNORECASE)
            start = min(article.start() if article else role.start, role.owner.start)
            end = max(role.end, role.owner.end)
            officers.append(Phrase(earlier[start:end], start, end))
    return officers


def _find_candidates(earlier: str, roles: Sequence[RoleMention], name: Phrase) -> list[Phrase]:
    """Return the names in a question that a name other than a role may replace; for an officer, the owner's name."""
    candidates = []
    for phrase in find_names(earlier):
        inside = [officer for officer in roles if phrase.start <= officer.start and officer.end <= phrase.end]
        whose = [officer.owner for officer in inside if officer.owner and officer.owner.end <= phrase.end]
        ends_with_role = any(officer.end == phrase.end for officer in inside)
        if whose or not ends_with_role:
            candidates.append(whose[0] if whose else phrase)
    distinct = list(dict.fromkeys(candidates))
    return [phrase for phrase in distinct if phrase.core.lower() not in MONTHS or name.core.lower() in MONTHS]


def _filter_by_role(earlier: str, name: Phrase, alike: Sequence[Phrase]) -> list[Phrase]:
    """Return the names with the same article; of several the subjects, unless a candidate follows "in" or the like."""
    same = [phrase for phrase in alike if phrase.definite == name.definite] or list(alike)
    before = [_get_word_before(earlier, phrase) for phrase in same]
    if len(same) == 1 or not _PLACE_PREPOSITIONS.isdisjoint(before):
        return same
    subjects = [phrase for phrase, word in zip(same, before, strict=True) if word in AUXILIARIES]
    joined = any(re.match(r"\s+(?:and|or)\b", earlier[phrase.end :]) for phrase in subjects)
    return same if joined or not subjects else subjects


def _get_word_before(text: str, phrase: Phrase) -> str:
    words = tokens(text[: phrase.start])
    return words[-1].word if words else ""


def _get_content_words(phrase: str) -> list[str]:
    return [token.word for token in tokens(phrase) if not token.is_function]
