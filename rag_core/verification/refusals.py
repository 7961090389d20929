"""Detect refusals: sentences in which a model says that its sources do not contain the answer."""

from __future__ import annotations

import re

from rag_core.text.dates import YEAR
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.answers import REFUSAL, strip_markers

_SOURCES = (
    r"(?:passages?|documents?|sources?|texts?|excerpts?|context|materials?|pages?|"
    r"(?:provided|given|available) information)"
)
_SAY = (
    r"(?:say|mention|state|give|tell|contain|specify|provide|answer|include|explain|describe|name|indicate|disclose|"
    r"reveal|report|list)"
)
_SAID = r"(?:mentioned|stated|specified|disclosed|indicated|reported|named|told)"
_FOUND = r"(?:given|provided|included|available|found|described|contained|explained|listed|answered|present)"
_NOT = r"(?:\s+not|n['’]t)"
_KNOW = r"(?:know|answer|find|determine|say|tell|see)"
# Patterns of refusals in words other than `REFUSAL`, in the languages in which statements are checked.
_WAYS = (
    rf"\b{_SOURCES}\s+(?:\w+\s+){{0,2}}?(?:do|does|did){_NOT}\s+(?:\w+ly\s+)?{_SAY}\b",
    rf"\b(?:is|are|was|were|has|have){_NOT}\s+(?:been\s+)?(?:\w+ly\s+)?{_SAID}\b",
    rf"\b(?:(?:is|are|was|were){_NOT}|(?:can|could){_NOT}\s+be|cannot\s+be)\s+(?:\w+ly\s+)?{_FOUND}\b.{{0,30}}"
    rf"\b(?:in|by|from)\s+(?:\w+\s+){{0,3}}?{_SOURCES}\b",
    r"\b(?:there\s+(?:is|are)|contains?|gives?|provides?|with)\s+no\s+(?:\w+\s+){0,2}?"
    r"(?:information|mention|indication|details?|data|answer)\b",
    r"\bno\s+(?:\w+\s+)?(?:information|mention|indication|details?|data|answer)\b.{0,40}"
    r"\b(?:is|are|was|were)\s+(?:given|provided|available|found|made)\b",
    rf"\bI\s+(?:do|can|could|did|am|was){_NOT}\s+(?:able\s+to\s+)?{_KNOW}\b",
    rf"\bI\s*(?:cannot|(?:['’]m|am|was)\s+unable\s+to)\s+{_KNOW}\b",
    r"\b(?:it|this|that)\s+(?:is|remains)\s+(?:unclear|unknown|not\s+(?:clear|known))\b",
    rf"\bnot\s+possible\s+to\s+{_KNOW}\b",
    rf"^\W*(?:not\s+(?:{_SAID}|{_FOUND}|known)|unknown|n/a)\W*$",
    r"\bich\s+weiß\s+(?:es\s+|das\s+)?nicht\b|\bnicht\s+hervor\b",
    r"\b(?:dokumente?|passagen?|unterlagen|quellen?|texte?)\b.{0,40}\b(?:nicht|keine?n?)\b",
    r"\bje\s+ne\s+sais\s+pas\b|\b(?:documents?|passages?|textes?)\s+(?:fournis\s+)?n(?:e\s+|['’])"
    r"(?:(?:le|la|les|en|l['’])\s*)?(?:disent|dit|mentionne|indique|précise|contien|répond|donne)\w*\s+pas\b",
    r"\bno\s+lo\s+sé\b|\b(?:documentos?|pasajes?|textos?)\s+no\s+(?:lo\s+)?"
    r"(?:dice|menciona|contiene|indica|especifica|responde)n?\b",
    r"\bnon\s+lo\s+so\b|\b(?:documenti|passaggi|testi)\s+non\s+(?:lo\s+)?"
    r"(?:dicono|menzionano|contengono|indicano|specificano|rispondono)\b",
)
# A sentence with a figure other than a year is not only a refusal, because it makes another statement.
FIGURE = rf"(?<!\d)(?!{YEAR}(?!\d))\d"
_FIGURE = re.compile(FIGURE)
_NO_ANSWER = re.compile("|".join(f"(?:{way})" for way in _WAYS), re.IGNORECASE)
# Characters that models put around a sentence.
_EDGES = " \t\r\n\"'`*_.\u201c\u201d\u2018\u2019\u00ab\u00bb"


def contains_refusal(text: str) -> bool:
    """Return whether a text says that the sources lack a fact or that the model does not know it.

    A text with a figure other than a year makes another statement as well; the result is then false.

    >>> contains_refusal("The founder is not mentioned."), contains_refusal("Damage by water is not included.")
    (True, False)
    """
    return _NO_ANSWER.search(text) is not None and not _FIGURE.search(text)


def has_leading_refusal(text: str) -> bool:
    """Return whether the first sentence of an answer says that the sources or the model lack the answer.

    Unlike in `contains_refusal`, the sentence may contain figures.
    """
    start, end = next(iter(find_sentence_spans(text)), (0, 0))
    return _NO_ANSWER.search(text, start, end) is not None


def is_refusal(text: str) -> bool:
    """Return whether a text consists of `REFUSAL` alone.

    Letter case, white space, the kind of apostrophe, surrounding quotation marks or emphasis, citation markers and the
    final full stop are ignored.
    """
    return _normalize(text) == _normalize(REFUSAL)


def _normalize(text: str) -> str:
    straight = strip_markers(text).translate({0x2018: "'", 0x2019: "'", 0x02BC: "'"})
    return " ".join(straight.split()).strip(_EDGES).casefold()
