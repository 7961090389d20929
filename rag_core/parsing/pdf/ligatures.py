"""Spell out ligatures that a font maps to another character, as in "organisa:on" or "wriMen".

Such a file does not say what the character stands for, so the words of a dictionary decide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np

from rag_core.parsing.pdf.text_page import Characters
from rag_core.text.dictionaries import load_words
from rag_core.text.languages import detect_language
from rag_core.types.arrays import IntArray

_LIGATURES = ("ti", "tt", "ft", "ff", "fi", "fl", "ffi", "ffl", "tti", "ct", "st", "fj")
# Signs, and capitals or rare letters, that may stand for a ligature.
_SIGNS = ":;<>=#*+&$%\ufffd"
_LETTERS = "A-Z\u014c\u0180-\u019f\u01a2-\u01ae\u01b2-\u01cc"
# Signs between small letters, and capitals after a small letter.
_PLACE = re.compile(rf"(?<=[a-zà-ÿ])[{_SIGNS}]+(?=[a-zà-ÿ])|(?<=[a-zà-ÿ])[{_LETTERS}](?=[a-zà-ÿ]|\b)")
# A cheap test for pages without such signs.
_PERHAPS = re.compile(rf"[{_SIGNS}{_LETTERS}](?<=[a-zà-ÿ].)[a-zà-ÿ{_SIGNS}]")
_WORD = re.compile(rf"[^\W\d_]+(?:[{_SIGNS}]+[^\W\d_]+)*")
# Minimum width of a sign, and maximum width of a capital, that stands for a ligature, as shares of the line height.
_MIN_SIGN_WIDTH = 0.3
_MAX_CAPITAL_WIDTH = 0.56
# Two characters have the same width if they differ by less than this share. If at least ``_SAME_SHARE`` of the places
# of a character have the same width as elsewhere, the character is no ligature.
_SAME_WIDTH = 0.05
_SAME_SHARE = 0.5
# A character stands for a ligature if at least this many words, and this share of the words, are then in the
# dictionary. Shorter words do not count.
_MIN_WORDS = 2
_MIN_KNOWN = 0.7
_MIN_LENGTH = 4


def spell_out_ligatures(characters: Characters, numbers: IntArray) -> tuple[Characters, IntArray]:
    """Return the characters with ligatures spelled out, and their numbers.

    ``numbers`` contains the number of each character in the text layer. All letters of a ligature get the number and
    the box of the character that stood for the ligature.
    """
    text = characters.text
    if len(_PERHAPS.findall(text)) < _MIN_WORDS or not _may_have_ligatures(text, characters):
        return characters, numbers
    words = {match.span(): match[0] for match in _WORD.finditer(text) if _PLACE.search(match[0])}
    known = load_words(detect_language(text))
    spelled = _find_spellings(set(words.values()), known)
    places: list[int] = []
    letters: list[str] = []
    for (start, _), word in words.items():
        found = [(match.start() + at, sign) for match in _PLACE.finditer(word) for at, sign in enumerate(match[0])]
        if not spelled or not all(sign in spelled for _, sign in found):
            continue
        # Between small letters, a sign seldom stands for itself, but a capital may, as in a name.
        if not any(sign.isalpha() for _, sign in found) or _spell(word, spelled).lower() in known:
            places += [start + at for at, _ in found]
            letters += [spelled[sign] for _, sign in found]
    if not places:
        return characters, numbers
    codes = characters.codes.copy()
    codes[places] = [ord(ligature[0]) for ligature in letters]
    further = [
        (place + 1, ord(letter)) for place, ligature in zip(places, letters, strict=True) for letter in ligature[1:]
    ]
    after = np.array([place for place, _ in further])
    codes = np.insert(codes, after, [letter for _, letter in further]).astype(np.int32)
    boxes = np.insert(characters.boxes, after, characters.boxes[after - 1], axis=0)
    return replace(characters, codes=codes, boxes=boxes), np.insert(numbers, after, numbers[after - 1])


def _may_have_ligatures(text: str, characters: Characters) -> bool:
    """Return whether a sign or capital may stand for a ligature inside words.

    Its width there must be possible for a ligature, and differ from the width of the same character elsewhere on the
    page.
    """
    sides = characters.boxes[:, 2:] - characters.boxes[:, :2]
    ratios = sides[:, 0] * characters.width / np.maximum(sides[:, 1] * characters.height, 1e-3)
    inside: defaultdict[str, list[int]] = defaultdict(list)
    for match in _PLACE.finditer(text):
        for place in range(*match.span()):
            inside[text[place]].append(place)
    for sign, places in inside.items():
        usual, around = float(np.median(ratios[places])), {text[place - 3 : place + 4] for place in places}
        if len(around) >= _MIN_WORDS and (usual < _MAX_CAPITAL_WIDTH if sign.isalpha() else usual > _MIN_SIGN_WIDTH):
            others = np.setdiff1d(np.flatnonzero(characters.codes == ord(sign)), places)
            is_same = np.abs(ratios[others, None] - ratios[places]) < _SAME_WIDTH * ratios[places]
            if is_same.any(axis=0).mean() < _SAME_SHARE:
                return True
    return False


def _find_spellings(words: set[str], known: frozenset[str]) -> dict[str, str]:
    """Return the ligature that each sign or capital stands for.

    With this ligature, most words that contain the sign are in the dictionary. A sign is left out if no ligature, or
    more than one, fits.
    """
    of_sign: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        signs = set("".join(_PLACE.findall(word)))
        if len(signs) == 1 and len(word) >= _MIN_LENGTH:
            of_sign[signs.pop()].append(word)
    spelled = {}
    for sign, examples in of_sign.items():
        counts = [sum(_spell(word, {sign: letters}).lower() in known for word in examples) for letters in _LIGATURES]
        most = max(counts)
        if most >= max(_MIN_WORDS, _MIN_KNOWN * len(examples)) and counts.count(most) == 1:
            spelled[sign] = _LIGATURES[counts.index(most)]
    return spelled


def _spell(word: str, spelled: dict[str, str]) -> str:
    return _PLACE.sub(lambda match: "".join(spelled.get(sign, sign) for sign in match[0]), word)
