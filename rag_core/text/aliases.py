"""Names for one thing in a document: defined terms, abbreviations, ticker symbols, and “we” for its author."""

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
# What may stand between a name and its brackets, such as an address or other brackets.
_ADDRESS = rf"(?:\s(?:plc|e\.V\.))?(?:,[^(){_QUOTES}–—;]{{0,80}})?(?:\s*\([^(){_QUOTES}]{{2,60}}\))?"
# Brackets, or a term in quotes between dashes, behind a name, as in: Acme Corp. (the “Company”).
_BRACKETS = re.compile(rf"{_NAME}{_ADDRESS}\s*\((?P<content>[^()]{{2,120}})\)")
_DASHES = re.compile(rf"{_NAME}{_ADDRESS}\s*[–—-](?P<content>[^()–—\n]{{2,60}}[{_QUOTES}])\s*[–—-]")
# A term in quotes before its meaning, as in: “Lessee” means Acme Corp.
_MEANING = re.compile(rf"(?P<content>[{_QUOTES}][^{_QUOTES}\n()]{{2,41}}[{_QUOTES}])\s+\w+\s+(?:\w{{1,3}}\s)?{_NAME}")
_QUOTED = re.compile(rf"[{_QUOTES}]([^\W\d_][^{_QUOTES}]{{1,40}}?),?[{_QUOTES}]")
# The symbol of an exchange, as in (NASDAQ: ACME).
_TICKER = re.compile(r"[^:\n]{2,30}:\s?([A-Z][A-Z.]{0,5})")
# Articles at the beginning of a term, by their length.
_ARTICLE = re.compile(r"^[a-z]{2,3}\s")
# The pronouns with which an author means itself.
_AUTHOR = frozenset(
    "we our us ours wir uns unser unsere unserer unseren nous notre nos nosotros nuestro nuestra nuestros nuestras noi "
    "nostro nostra nostri nostre wij ons onze nós nosso nossa nossos nossas".split()
)
# A word of a name that stands for the whole name has at least so many letters.
_MIN_LETTERS = 3


@dataclass(frozen=True)
class Aliases:
    """Names of a document, as `build_form_key` writes them.

    ``groups`` contains the names that stand for one thing, and ``title`` the title, which names the author.
    """

    groups: tuple[frozenset[str], ...] = ()
    title: str = ""

    def mentions(self, name: str, text: str) -> bool:
        """Return whether a text mentions what a name stands for: under a name of its group or, for the author, as "we".

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
        written = f" {_build_key(text)} "
        return any(f" {form} " in written for form in forms)


NO_ALIASES = Aliases()


def find_aliases(text: str, title: str = "") -> Aliases:
    """Return the names that a text defines for one thing; the title names the author.

    Definitions are those of the text: a term in quotes behind a name or before its meaning, a symbol of an exchange,
    and abbreviations.
    """
    groups: list[frozenset[str]] = []
    for pair in _list_pairs(text):
        forms = frozenset(build_form_key(one) for one in pair) - {""}
        joined = [one for one in groups if one & forms]
        groups = [one for one in groups if not one & forms] + [forms.union(*joined)]
    return Aliases(tuple(groups), title)


def _list_pairs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that one definition gives to a thing; a term counts if the text also uses it elsewhere."""
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
    """Return whether a name is equal to a form, or has at least `_MIN_LETTERS` letters and is part of the form."""
    return key == form or (len(key) >= _MIN_LETTERS and f" {key} " in f" {form} ")


_build_key = lru_cache(maxsize=2000)(build_form_key)
