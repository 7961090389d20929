"""Find different names of the same thing in a document: defined terms, abbreviations, ticker symbols and “we”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag_core.text.abbreviations import build_form_key, find_abbreviations
from rag_core.text.names import contains_document_name
from rag_core.text.words import LETTERS

_QUOTES = '“”„"«»‘’'
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w&.'’-]*"
# Up to eight words, of which the first and the last are capitalized, as in "Bank of Ireland".
_NAME = rf"(?P<name>{_CAPITAL}(?:,?\s(?:[a-z]{{1,3}}\s){{0,2}}(?:&\s)?{_CAPITAL}){{0,7}})"
# Text between a name and the brackets that define a term for it, such as a legal form, an address or other brackets.
_BETWEEN = rf"(?:\s(?:plc|e\.V\.))?(?:,[^(){_QUOTES}–—;]{{0,80}})?(?:\s*\([^(){_QUOTES}]{{2,60}}\))?"
# A term after a name, in brackets or between dashes, as in: Acme Corp. (the “Company”).
_BRACKETS = re.compile(rf"{_NAME}{_BETWEEN}\s*\((?P<content>[^()]{{2,120}})\)")
_DASHES = re.compile(rf"{_NAME}{_BETWEEN}\s*[–—-](?P<content>[^()–—\n]{{2,60}}[{_QUOTES}])\s*[–—-]")
# A term before the name for which the term stands, as in: “Lessee” means Acme Corp.
_MEANING = re.compile(rf"(?P<content>[{_QUOTES}][^{_QUOTES}\n()]{{2,41}}[{_QUOTES}])\s+\w+\s+(?:\w{{1,3}}\s)?{_NAME}")
_QUOTED = re.compile(rf"[{_QUOTES}]([^\W\d_][^{_QUOTES}]{{1,40}}?),?[{_QUOTES}]")
# A ticker symbol with its exchange, as in (NASDAQ: ACME).
_TICKER = re.compile(r"[^:\n]{2,30}:\s?([A-Z][A-Z.]{0,5})")
# An article at the beginning of a term: a word of two or three small letters.
_ARTICLE = re.compile(r"^[a-z]{2,3}\s")
# Pronouns that mean the author of a text.
_AUTHOR = frozenset(
    "we our us ours wir uns unser unsere unserer unseren nous notre nos nosotros nuestro nuestra nuestros nuestras noi "
    "nostro nostra nostri nostre wij ons onze nós nosso nossa nossos nossas".split()
)
# Minimum number of letters of a part of a name that can stand for the whole name.
_MIN_LETTERS = 3


@dataclass(frozen=True)
class Aliases:
    """The names that a document defines as names of the same thing.

    Each group contains the names of one thing, as keys of `build_form_key`. A name in ``title``, the title of the
    document, is taken as the name of the document's author.
    """

    groups: tuple[frozenset[str], ...] = ()
    title: str = ""

    def mentions(self, name: str, text: str) -> bool:
        """Return whether a text contains any name in the groups with ``name``, or "we" if ``name`` is the author.

        If ``name`` is neither in a group nor in the title, return false, even if the text contains ``name``. Other
        pronouns of the author, in several languages, count as "we".

        >>> aliases = find_aliases('Acme Widgets Ltd ("Lessee") rents it. The Lessee pays.', "Borealis")
        >>> aliases.mentions("Acme", "The Lessee pays monthly."), aliases.mentions("Borealis", "We sold the mill.")
        (True, True)
        """
        key = build_form_key(name)
        forms = {form for group in self.groups if any(_stands_for(key, one) for one in group) for form in group}
        is_author = contains_document_name(self.title, name)
        if not forms and not is_author:
            return False
        if is_author and any(one[0].casefold() in _AUTHOR for one in LETTERS.finditer(text)):
            return True
        text_key = f" {_build_key(text)} "
        return any(f" {form} " in text_key for form in forms)


NO_ALIASES = Aliases()


def find_aliases(text: str, title: str = "") -> Aliases:
    """Return the names that a text defines by terms in quotation marks, ticker symbols and abbreviations.

    Groups with a name in common are merged. ``title`` is the title of the document.
    """
    groups: list[frozenset[str]] = []
    for names in _find_definitions(text):
        forms = frozenset(map(build_form_key, names)) - {""}
        joined = [one for one in groups if one & forms]
        groups = [one for one in groups if not one & forms] + [forms.union(*joined)]
    return Aliases(tuple(groups), title)


def _find_definitions(text: str) -> Iterator[tuple[str, ...]]:
    """Yield, for each definition in a text, the names of the same thing.

    A term in quotes is left out if it occurs only in its definition.
    """
    for pattern in (_BRACKETS, _DASHES, _MEANING):
        for match in pattern.finditer(text):
            terms = [_ARTICLE.sub("", one) for one in _QUOTED.findall(match["content"])]
            terms = [one for one in terms if text.count(one) > 1]
            if symbol := _TICKER.fullmatch(match["content"]):
                terms.append(symbol[1])
            if terms:
                yield match["name"], *terms
    yield from find_abbreviations(text)


def _stands_for(key: str, form: str) -> bool:
    """Return whether the key of a name equals a form, or is a part of at least `_MIN_LETTERS` letters.

    The part consists of whole words of the form.
    """
    return key == form or (len(key) >= _MIN_LETTERS and f" {key} " in f" {form} ")


_build_key = lru_cache(maxsize=2000)(build_form_key)
