"""Rule-based rewriting of a follow-up into a standalone question.

If exactly one antecedent fits, it replaces the pronoun. If several fit, all of them are added as terms, because an
extra term harms a search less than a wrong one. Adding terms of earlier turns is query resolution as in Voskarides et
al., "Query Resolution for Conversational Search with Limited Supervision", SIGIR 2020. The preference of antecedents
follows Grosz, Joshi and Weinstein, "Centering", Computational Linguistics 21(2), 1995: names before other noun
phrases, the last question before earlier ones. The rules are for English; other questions are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_core.followups.anaphora import Reference, ReferenceKind, find_reference
from rag_core.followups.ellipsis import substitute_fragment
from rag_core.text.grammar import AUXILIARIES, PERSONS, PLURAL, PREPOSITIONS, WH, tokens
from rag_core.text.noun_phrases import Phrase, content_words, find_names, find_noun_phrases, find_topics
from rag_core.types import Message

# Turns that are searched for antecedents, and most terms that are added.
MAX_TURNS = 3
MAX_TERMS = 4
_MARKERS = re.compile(r"\s*\[\d+\]")
_PLACE_BEFORE = re.compile(r"\b(?:in|at|from|to|near|of|on|for)\s+(?:the\s+)?$", re.IGNORECASE)
_ADJUNCT = re.compile(r"^(when|where|why|how)\s+(?=\w)", re.IGNORECASE)
_NAMES_A_PERSON = re.compile(r"^(?:by |for |to |with )?(?:who|whom|whose)\b|\b(?:which|what) person\b", re.IGNORECASE)
_ASKS_FOR_A_THING = re.compile(r"^(?:(?:in|on|at|by|for|to) )?(?:which|what)\b", re.IGNORECASE)

_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+(.+)$", re.MULTILINE)
_SERIES = re.compile(r"\s*,\s*(?:and|or)\s+|\s*,\s*|\s+(?:and|or)\s+")
_POSITIONS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "latter": -1}
MAX_ITEM_WORDS = 12


@dataclass(frozen=True, slots=True)
class Turn:
    """A standalone question of the conversation and the text of its answer."""

    question: str
    answer: str = ""


def pair_turns(history: Sequence[Message]) -> list[Turn]:
    """Return the questions of a conversation with their answers, oldest first."""
    turns: list[Turn] = []
    for message in history:
        if message.role == "user":
            turns.append(Turn(message.text))
        elif turns:
            rewritten = message.answer.rewritten if message.answer else ""
            turns[-1] = Turn(rewritten or turns[-1].question, _MARKERS.sub("", message.text))
    return turns


def rewrite_question(question: str, turns: Sequence[Turn]) -> str:
    """Return a standalone form of the question; the question itself if it is standalone.

    >>> rewrite_question("When was it opened?", [Turn("How long is the Harrow Bridge?")])
    'When was the Harrow Bridge opened?'
    >>> rewrite_question("And the Lindow Canal?", [Turn("How long is the Harrow Bridge?")])
    'How long is the Lindow Canal?'
    """
    reference = find_reference(question)
    if reference is None or not turns:
        return question
    if reference.kind is ReferenceKind.BARE:
        return _add_clause(question[reference.start : reference.end], turns[-1].question)
    fragment = question[reference.start : reference.end]
    if reference.kind is ReferenceKind.FRAGMENT:
        inner = find_reference(fragment)
        if inner is None:
            return _apply_fragment(fragment, turns[-1].question)
        return _add_terms(f"What about {_resolve(fragment, inner, turns)}?", find_names(turns[-1].question))
    return _resolve(question, reference, turns)


def _resolve(question: str, reference: Reference, turns: Sequence[Turn]) -> str:
    if reference.kind is ReferenceKind.ORDINAL:
        item = resolve_ordinal(turns[-1].question, turns[-1].answer, reference.word)
        if item:
            return question[: reference.start] + item + question[reference.end :]
        return _add_terms(question, find_topics(turns[-1].question))
    candidates: list[Phrase] = []
    for turn in reversed(turns[-MAX_TURNS:]):
        candidates = _find_antecedents(question, reference, turn)
        if candidates:
            break
    substitute = reference.kind is not ReferenceKind.DEMONSTRATIVE or _has_head_noun(question, reference, candidates)
    if len(candidates) == 1 and substitute:
        return _substitute(question, reference, candidates[0].text)
    if candidates:
        return _add_terms(question, candidates)
    words = content_words(turns[-1].question)
    return f"{question.rstrip(' ?')} ({' '.join(words)})?" if words else question


def _find_antecedents(question: str, reference: Reference, turn: Turn) -> list[Phrase]:
    """Return the possible antecedents of a reference in a turn, best first, without duplicates."""
    question_names = find_names(turn.question)
    known = {name.core.lower() for name in question_names} | {name.core.lower() for name in find_names(question)}
    answer_names = [name for name in find_names(turn.answer) if name.core.lower() not in known]
    if reference.word in PERSONS:
        people = [
            name
            for name in question_names
            if not name.definite and not _PLACE_BEFORE.search(turn.question[: name.start])
        ]
        if _NAMES_A_PERSON.search(turn.question) and answer_names:
            return answer_names[:1]
        return _remove_known(question, people or answer_names[:1] or question_names)
    if reference.kind is ReferenceKind.DEMONSTRATIVE:
        head = question[reference.start : reference.end].split()[-1].lower()
        same = [name for name in [*question_names, *answer_names] if head in name.core.lower().split()]
        return same[:1] or _remove_known(question, question_names or find_noun_phrases(turn.question))
    if reference.word in PLURAL:
        joined = _find_joined_names(turn.question, question_names)
        phrases = [*question_names, *find_noun_phrases(turn.question)]
        return joined or _remove_known(question, [phrase for phrase in phrases if phrase.plural] or phrases)
    if not question_names and _ASKS_FOR_A_THING.search(turn.question) and answer_names:
        return answer_names[:1]
    return _remove_known(question, question_names or find_noun_phrases(turn.question) or answer_names[:1])


def _remove_known(question: str, candidates: Sequence[Phrase]) -> list[Phrase]:
    """Return the candidates without duplicates and without those that are in the question."""
    unique: dict[str, Phrase] = {}
    for phrase in candidates:
        if phrase.core.lower() not in question.lower():
            unique.setdefault(phrase.core.lower(), phrase)
    return list(unique.values())


def _find_joined_names(question: str, names: Sequence[Phrase]) -> list[Phrase]:
    """Return the first two names joined by "and", as one phrase."""
    for first, second in pairwise(names):
        if question[first.end : second.start].strip() == "and":
            return [Phrase(question[first.start : second.end], first.start, second.end)]
    return []


def _has_head_noun(question: str, reference: Reference, candidates: Sequence[Phrase]) -> bool:
    head = question[reference.start : reference.end].split()[-1].lower()
    return bool(candidates) and head in candidates[0].core.lower().split()


def _substitute(question: str, reference: Reference, phrase: str) -> str:
    if reference.kind is ReferenceKind.POSSESSIVE:
        phrase += "’" if phrase.endswith("s") else "’s"
    elif reference.kind is ReferenceKind.PLACE:
        phrase = f"in {phrase}"
    rewritten = question[: reference.start] + phrase + question[reference.end :]
    return _capitalize(rewritten)


def _add_terms(question: str, candidates: Sequence[Phrase]) -> str:
    terms = ", ".join(phrase.core for phrase in _remove_known(question, candidates)[:MAX_TERMS])
    end = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({terms}){end}" if terms else question


def _add_clause(bare: str, earlier: str) -> str:
    """Return a bare question, such as "why", with the clause of the earlier question that it asks about."""
    word = bare.strip().lower()
    adjunct = _ADJUNCT.match(earlier)
    first = tokens(earlier)[0].word if tokens(earlier) else ""
    if word in WH and adjunct and tokens(earlier[adjunct.end() :])[0].word in AUXILIARIES:
        return f"{_capitalize(word)} {earlier[adjunct.end() :]}"
    if word in WH and first in AUXILIARIES:
        return f"{_capitalize(word)} {earlier[0].lower()}{earlier[1:]}"
    return f"{_capitalize(bare.strip())} – {earlier}"


def _apply_fragment(fragment: str, earlier: str) -> str:
    """Return the earlier question with the name of a fragment; see `substitute_fragment`.

    If the substitution is ambiguous, return the fragment with the names of the earlier question.
    """
    if rewritten := substitute_fragment(fragment, earlier):
        return rewritten
    if tokens(fragment)[0].word in PREPOSITIONS:
        return f"{earlier.rstrip(' ?')} {fragment.strip()}?"
    subjects = [phrase.text for phrase in _remove_known(fragment, find_topics(earlier))][:MAX_TERMS]
    return f"{_capitalize(fragment.strip())} ({', '.join(subjects)})?" if subjects else f"{fragment} – {earlier}"


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def resolve_ordinal(question: str, answer: str, ordinal: str) -> str:
    """Return the list item that an ordinal selects; empty if there is no list.

    The list items of the answer are tried first, then enumerated names ("Ada, Ben and Cy") in the question, then
    those in the answer.
    """
    position = _POSITIONS.get(ordinal)
    if position is None:
        return ""
    for names in (
        [_get_item_name(item) for item in _LIST_ITEM.findall(answer)],
        _find_series(question),
        _find_series(answer),
    ):
        if len(names) >= 2 and -len(names) <= position < len(names):
            return names[position]
    return ""


def _get_item_name(item: str) -> str:
    """Return the name of a list item: its words up to a colon, a dash or the end of the sentence."""
    head = re.split(r"\s[–—-]\s|[:;.](?:\s|$)", item.replace("*", ""))[0]
    return " ".join(head.split()[:MAX_ITEM_WORDS])


def _find_series(text: str) -> list[str]:
    """Return the first enumeration of at least two names separated only by commas, "and" or "or"."""
    row: list[str] = []
    end = 0
    for name in find_names(text):
        if row and not _SERIES.fullmatch(text[end : name.start]):
            if len(row) >= 2:
                return row
            row = []
        row.append(name.text)
        end = name.end
    return row if len(row) >= 2 else []
