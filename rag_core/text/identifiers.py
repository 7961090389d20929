"""Find and compare identifiers in texts, such as part numbers and file numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from rag_core.text.normalize import normalize_characters

# Minimum number of letters and digits of a code. Shorter ones, such as "Q3" and "10-K", are words.
_MIN_CHARACTERS = 5
# Minimum number of digits of a number that is an identifier. Shorter numbers are mostly years and quantities.
_MIN_DIGITS = 6
_HYPHENS = r"\-\u2010-\u2015\u2212"
_CODE = re.compile(rf"(?<!\w)[^\W_]+(?:[{_HYPHENS}./_][^\W_]+)*(?!\w)")
# A number with digit groups, or with at least six digits, that is neither an amount of money nor a decimal number.
_NUMBER = re.compile(
    r"(?<![\w$€£¥.,])(?<![$€£¥] )(?<!\b[A-Z]{3} )"
    r"(?:\d{1,3}(?:([ .,'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*|\d{6,})(?![\w%]|[.,]\d)"
)
# Words with letters and digits that are no codes: names with an "x" for any digit, compounds with a lower-case word of
# four or more letters, fiscal years and other periods, and ordinals.
_NO_CODE = re.compile(r"\dx+$|(?:^|\W)[a-z]{4,}(?:\W|$)|^(?i:fy|cy|[qh][1-4])\W?\d+(?:/\d\d)?$|^\d+(?:th|st|nd|rd)\b")
# Consecutive digits or consecutive letters of an identifier.
_RUN = re.compile(r"\d+|[^\W\d_]+")
_SEPARATORS = re.compile(r"[\W_]")
_BETWEEN = rf"(?:[{_HYPHENS}/] |[\W_])?"


def find_identifiers(text: str) -> frozenset[str]:
    """Return the identifiers in a text, in lower case and without separators: codes and long numbers.

    A code contains letters and digits. If a code begins with a digit, its letters are capitals. Compounds such as
    "mp3-player", fiscal years, and names with an "x" for any digit, such as "SHT2x", are no codes.

    >>> sorted(find_identifiers("Valve FT-204-19 and licence 27 480 119, as of 2024"))
    ['27480119', 'ft20419']
    >>> sorted(find_identifiers("HOSE-4411 beside a 60-minute mp3-player of FY2023 or FY22/23"))
    ['hose4411']
    """
    plain = normalize_characters(text)
    numbers = [_remove_separators(match[0]) for match in _NUMBER.finditer(plain)]
    long_numbers = [one for one in numbers if len(one) >= _MIN_DIGITS]
    return frozenset([*(code for _, _, code in find_codes(plain)), *long_numbers])


def find_codes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the form without separators of each code in a text; see `find_identifiers`.

    >>> list(find_codes("Valve FT-204-19"))
    [(6, 15, 'ft20419')]
    """
    for match in _CODE.finditer(text):
        if _is_code(match[0]) and len(code := _remove_separators(match[0])) >= _MIN_CHARACTERS:
            yield *match.span(), code


def find_asked_identifiers(question: str) -> frozenset[str]:
    """Return the identifiers in a question, without numbers that the question writes as quantities, such as 500,000.

    >>> sorted(find_asked_identifiers("Which town of more than 500,000 people has licence 27480119?"))
    ['27480119']
    """
    found = find_identifiers(question)
    return frozenset(one for one in found if not one.isdecimal() or f"{int(one):,}" not in question)


def contains_identifier(text: str, wanted: Collection[str]) -> bool:
    """Return whether a text contains one of the identifiers, with any separators, as in "RFC 2119".

    The text may divide an identifier at a line end after a hyphen.

    >>> contains_identifier("as RFC 2119 defines", ["rfc2119"]), contains_identifier("RFC 21190", ["rfc2119"])
    (True, False)
    """
    plain = " ".join(normalize_characters(text).split())
    # A quick check: most texts do not contain the characters of the identifiers at all.
    characters = "|".join(_BETWEEN.join(map(re.escape, one)) for one in wanted)
    if not wanted or not re.search(characters, plain, re.IGNORECASE):
        return False
    if find_identifiers(plain) & set(wanted):
        return True
    divided = (_BETWEEN.join(map(re.escape, _RUN.findall(one))) for one in wanted)
    return any(re.search(rf"(?<![^\W_]){one}(?![^\W_])", plain, re.IGNORECASE) for one in divided)


def contains_only_similar_identifier(text: str, wanted: Collection[str]) -> bool:
    """Return whether a text contains an identifier similar to one of ``wanted``, but none of ``wanted``.

    Two identifiers are similar if both are numbers, if they begin with the same letters, or if they begin with the same
    number of digits.

    >>> contains_only_similar_identifier("Valve FT-204-91 is in bay 12.", find_identifiers("Where is valve FT-204-19?"))
    True
    """
    if not wanted or contains_identifier(text, wanted):
        return False
    return any(_are_similar(one, other) for one in wanted for other in find_identifiers(text))


def _are_similar(one: str, other: str) -> bool:
    first, second = (match[0] if (match := _RUN.match(identifier)) else "" for identifier in (one, other))
    if first[:1].isdigit() and second[:1].isdigit():
        return (one.isdecimal() and other.isdecimal()) or len(first) == len(second)
    return first == second


def _is_code(text: str) -> bool:
    """Return whether a word is a code; see `find_identifiers`."""
    has_letters, has_digits = any(map(str.isalpha, text)), any(map(str.isdigit, text))
    return has_letters and has_digits and (text[0].isalpha() or text.isupper()) and not _NO_CODE.search(text)


def _remove_separators(text: str) -> str:
    return _SEPARATORS.sub("", text).casefold()
