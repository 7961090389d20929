"""English words that are the same though their endings, or more than those, differ."""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.text.words import stem

# The forms of irregular verbs, and verbs that say the same of a time.
_FORMS = (
    "bear bore born borne, become became, begin began begun start commence, bind bound, break broke broken, "
    "bring brought, build built, burn burnt, buy bought, catch caught, choose chose chosen, come came, deal dealt, "
    "die died dead death, draw drew drawn, drive drove driven, eat ate eaten, end finish expire, fall fell fallen, "
    "feed fed, fight fought, find found, fly flew flown, get got gotten, give gave given, go went gone, "
    "grow grew grown, hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, leave left, "
    "lend lent, lose lost, make made, meet met, pay paid, rise rose risen, run ran, say said, see saw seen, "
    "sell sold, send sent, shoot shot, show shown, sing sang sung, sink sank sunk, sleep slept, "
    "speak spoke spoken, spend spent, stand stood, steal stole stolen, strike struck, swim swam swum, "
    "take took taken, teach taught, tell told, think thought, throw threw thrown, understand understood, "
    "use used using, wear wore worn, win won, write wrote written"
)
_BASES = {stem(form): group.split()[0] for group in _FORMS.split(", ") for form in group.split()}


def base(word: str) -> str:
    """What all forms of a word in lower case have in common.

    >>> base("left") == base("leaving"), base("began") == base("starts"), base("open") == base("operated")
    (True, True, False)
    """
    return _BASES.get(stem(word), stem(word))


def lacks(text: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a text, given by its words in lower case, has any of some words in no form."""
    return not {base(word) for word in words} <= {base(word) for word in text}
