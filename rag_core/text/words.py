"""Words of a text, and which of them say the same: what statements are compared with sources by."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from rag_core.text.normalize import PLAIN_MARKS, plain

# Chinese, Japanese and Korean are written without blanks: there each character counts as a word.
CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{CJK}]|[^\W\d_{CJK}]+(?:\.[^\W\d_{CJK}]\b)*(?:[-'’][^\W\d_{CJK}]+)*", re.UNICODE)
# How a model sets words off in Markdown; quoted text is shown without.
_EMPHASIS = "*`"

FUNCTION_WORDS = frozenset(
    "a about above across after again against all along also although am among an and another any are as at be "
    "because been before being below between both but by can could did do does doing down during each either else "
    "even ever every few for from further had has have having he her here hers herself him himself his how however "
    "i if in indeed instead into is it its itself just later less many may me might more moreover most much must my "
    "of off on once only onto or other others our ours out over own per quite rather same shall she should since so "
    "some still such than that the their theirs them themselves then there therefore these they this those though "
    "through thus to too toward towards under until up upon us very was we were what when where whereas whether "
    "which while who whom whose why will with within would yet you your".split()
)
# Those that stand for something named before; "that" and "which" mostly stand for their own sentence's.
PRONOUNS = frozenset("he him his she her hers it its they them their theirs this these those we us our i my".split())
# Those of several forms of a word are cut alike: "covered" and "cover" to "cov", "mentioned" and "mention" to "ment".
_SUFFIXES = tuple("isations izations isation ization alling ations erings erring ioning alled aling ation ering "
                  "erred ingly ioned ities ments aled ally ered ment ings ness ions als ing ion ity ies ied edly ers "
                  "ed es er ly al s e y".split())  # fmt: skip
_LEAST_STEM = 3

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just me more most my no nor not now of off on once only or other our
    ours out over own same she should so some such than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom whose why will
    with would you your yours s t d ll m re ve
    """.split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: where it stands, its folded form, and its stem."""

    start: int
    end: int
    text: str
    folded: str
    stem: str

    @property
    def content(self) -> bool:
        """Whether it says something by itself, as "the" and "of" do not."""
        return self.folded not in FUNCTION_WORDS and (len(self.folded) > 1 or not self.folded.isascii())


def words(text: str) -> list[Word]:
    """The words and numbers of a text, in order; hyphenated words are taken apart."""
    found = []
    for match in _WORD.finditer(text):
        position = match.start()
        for part in re.split(r"(-)", match[0]) if "-" in match[0] else (match[0],):
            if part and part != "-":
                folded = plain(part).removesuffix("'s").replace("'", "").replace(".", "") or part
                if part[0].isdigit():
                    folded = part
                found.append(Word(position, position + len(part), part, folded, stem(folded)))
            position += len(part)
    return found


@lru_cache(maxsize=50_000)
def stem(folded: str) -> str:
    """A word without its commonest English endings, so that "explored" and "exploring" agree."""
    if not folded.isascii() or not folded.isalpha():
        return folded
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= _LEAST_STEM:
            bare = folded.removesuffix(suffix)
            doubled = len(bare) > _LEAST_STEM and bare[-1] == bare[-2] and bare[-1] not in "ls"
            return bare[:-1] if doubled else bare
    return folded


def squeezed(text: str) -> tuple[str, list[int]]:
    """A text made comparable character by character, with each character's offset in the original.

    White space is folded into single blanks, invisible characters and Markdown's emphasis go,
    quotation marks, dashes and ligatures become their plain forms; letter case stays.
    """
    made: list[str] = []
    offsets: list[int] = []
    for offset, char in enumerate(text):
        if char.isspace():
            if made and made[-1] != " ":
                made.append(" ")
                offsets.append(offset)
            continue
        if char in _EMPHASIS or unicodedata.category(char) == "Cf":
            continue
        for simple in unicodedata.normalize("NFKC", char.translate(PLAIN_MARKS)):
            made.append(simple)
            offsets.append(offset)
    return "".join(made), offsets
