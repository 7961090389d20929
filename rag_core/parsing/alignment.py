"""Find the characters of a text in another text that contains most of the same words, perhaps in another order."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import Int64Array

# Numbers of letters and digits of sequences that occur once in each text, and so begin a match; longer ones come first.
_SEEDS = (24, 12, 7)
# Factor of the hashes of sequences, an odd number, and the most characters between two matches that belong together.
_FACTOR, _LONGEST_GAP = 0x9E3779B97F4A7C15, 40


def align_texts(text: str, other: str) -> Int64Array:
    """Return the place in ``other`` of each character of ``text``; -1 for those that are not found.

    Only letters and digits are compared, so that line ends, hyphens and bullets may differ. Sequences that occur once
    in each text are matched first, and matches grow as far as the texts agree. A short rest between two matches, such
    as punctuation or a number in another format, takes the place of what is between them in the other text. Time and
    memory are about linear in the lengths, and blocks of a text may have another order in the other one.
    """
    places, letters = _keep_letters(text)
    other_places, other_letters = _keep_letters(other)
    found = _match_letters(letters, other_letters)
    # Cells of a column that is printed on another page follow each other only in what is left of both texts.
    rest, other_rest = np.flatnonzero(found < 0), np.setdiff1d(np.arange(len(other_letters)), found)
    matched = _match_letters(letters[rest], other_letters[other_rest])
    found[rest[matched >= 0]] = other_rest[matched[matched >= 0]]
    aligned = np.full(len(text), -1, np.int64)
    known = found >= 0
    aligned[places[known]] = other_places[found[known]]
    _fill_gaps(aligned, text, other)
    return aligned


def _keep_letters(text: str) -> tuple[Int64Array, Int64Array]:
    """Return the places of the letters and digits of a text, and their codes without case and ligatures."""
    kept = [
        (place, ord(letter))
        for place, character in enumerate(text)
        for letter in (character if character < "\x80" else unicodedata.normalize("NFKD", character)).casefold()
        if letter.isalnum()
    ]
    places, codes = np.array(kept, np.int64).reshape(-1, 2).T
    return places, codes


def _match_letters(letters: Int64Array, other: Int64Array) -> Int64Array:
    """Return the place in ``other`` of each letter; -1 for those that are not found."""
    found = np.full(len(letters), -1, np.int64)
    for length in _SEEDS:
        first, second = _find_common(letters, other, length)
        for shift in range(length):
            at = first + shift
            is_new = found[at] < 0
            found[at[is_new]] = second[is_new] + shift
        for step in (1, -1):
            _extend(found, letters, other, step)
    return found


def _find_common(first: Int64Array, second: Int64Array, length: int) -> tuple[Int64Array, Int64Array]:
    """Return where the sequences of ``length`` that occur once in each text begin in both."""
    unique = [_find_unique(one, length) for one in (first, second)]
    _, at, other = np.intersect1d(unique[0][0], unique[1][0], assume_unique=True, return_indices=True)
    return unique[0][1][at], unique[1][1][other]


def _find_unique(letters: Int64Array, length: int) -> tuple[npt.NDArray[np.uint64], Int64Array]:
    """Return the hashes of the sequences of ``length`` that occur once, and where they begin."""
    hashes = np.zeros(max(len(letters) - length + 1, 0), np.uint64)
    for shift in range(length):
        hashes = hashes * np.uint64(_FACTOR) + letters[shift : shift + len(hashes)].astype(np.uint64)
    values, places, counts = np.unique(hashes, return_index=True, return_counts=True)
    return values[counts == 1], places[counts == 1]


def _extend(found: Int64Array, letters: Int64Array, other: Int64Array, step: int) -> None:
    """Match the letters after (step 1) or before (step -1) each match while both texts agree."""
    ends = np.flatnonzero(found >= 0)
    while len(ends):
        ends = ends[(ends + step >= 0) & (ends + step < len(found))]
        place = found[ends] + step
        is_free = (found[ends + step] < 0) & (place >= 0) & (place < len(other))
        ends, place = ends[is_free] + step, place[is_free]
        agrees = letters[ends] == other[place]
        ends = ends[agrees]
        found[ends] = place[agrees]


def _fill_gaps(aligned: Int64Array, text: str, other: str) -> None:
    """Let a short rest between two matches take the place of what is between them in the other text.

    A rest with letters is left out if the other text has far fewer or far more letters there.
    """
    known = np.flatnonzero(aligned >= 0)
    after = np.flatnonzero(np.diff(known) > 1)
    for left, right in zip(known[after].tolist(), known[after + 1].tolist(), strict=True):
        start, end = int(aligned[left]) + 1, int(aligned[right])
        if right - left > _LONGEST_GAP or not 0 < end - start <= _LONGEST_GAP:
            continue
        letters, others = (sum(map(str.isalnum, rest)) for rest in (text[left + 1 : right], other[start:end]))
        if letters <= 2 * others <= 4 * letters or not letters:
            count = right - left - 1
            aligned[left + 1 : right] = start + np.arange(count) * (end - start) // count
