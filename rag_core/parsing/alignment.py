"""Find the characters of a text in another text that contains most of the same words, perhaps in another order."""

from __future__ import annotations

import unicodedata
from itertools import chain

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import Int64Array

# Numbers of letters and digits of sequences that occur once in each text, and so begin a match; longer ones come first.
_SEEDS = (24, 12, 7)
# Factor of the hashes of sequences, an odd number, and the most characters between two matches that belong together.
_FACTOR, _MAX_GAP = 0x9E3779B97F4A7C15, 40


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
    is_left = np.ones(len(other_letters), bool)
    is_left[found[found >= 0]] = False
    rest, other_rest = np.flatnonzero(found < 0), np.flatnonzero(is_left)
    matched = _match_letters(letters[rest], other_letters[other_rest])
    found[rest[matched >= 0]] = other_rest[matched[matched >= 0]]
    _keep_words_together(found, places)
    for step in (1, -1):
        _extend(found, letters, other_letters, step)
    aligned = np.full(len(text), -1, np.int64)
    is_found = found >= 0
    aligned[places[is_found]] = other_places[found[is_found]]
    _fill_gaps(aligned, places, other_places)
    return aligned


def _keep_letters(text: str) -> tuple[Int64Array, Int64Array]:
    """Return the places of the letters and digits of a text, and their codes without case and ligatures."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    values, kinds = np.unique(codes, return_inverse=True)
    folded = [unicodedata.normalize("NFKD", chr(value)).casefold() for value in values.tolist()]
    kept = [[ord(letter) for letter in one if letter.isalnum()] for one in folded]
    counts, flat = np.array([len(one) for one in kept], np.int64), np.array(list(chain(*kept)), np.int64)
    first = np.cumsum(counts) - counts
    places, numbers = _enumerate(counts[kinds])
    return places, flat[first[kinds[places]] + numbers]


def _enumerate(counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return each index as often as its count says, and the numbers from 0 to the count of each."""
    ends = np.cumsum(counts)
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) - np.repeat(ends - counts, counts)


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


def _keep_words_together(found: Int64Array, places: Int64Array) -> None:
    """Undo the match of the letters of a word that are far from where most of its letters are.

    A match may end a letter too late if the next word begins or ends alike.
    """
    words = np.cumsum(np.diff(places, prepend=-1) > 1)
    starts = np.searchsorted(words, np.arange(words.max(initial=0) + 2))
    is_apart = (np.diff(words) == 0) & (found[:-1] >= 0) & (found[1:] >= 0) & (np.diff(found) != 1)
    for word in np.unique(words[:-1][is_apart]).tolist():
        part = found[starts[word] : starts[word + 1]]
        shifts, counts = np.unique(part - np.arange(len(part)), return_counts=True)
        part[part - np.arange(len(part)) != shifts[counts.argmax()]] = -1


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


def _fill_gaps(aligned: Int64Array, letters: Int64Array, other_letters: Int64Array) -> None:
    """Let a short rest between two matches take the place of what is between them in the other text.

    ``letters`` and ``other_letters`` are the places of the letters of both texts. A rest is left out if the other text
    has far fewer or far more letters there.
    """
    known = np.flatnonzero(aligned >= 0)
    left, right = known[:-1], known[1:]
    start, end = aligned[left] + 1, aligned[right]
    gaps, rooms = right - left - 1, end - start
    count, other_count = (
        np.searchsorted(places, last) - np.searchsorted(places, first)
        for places, first, last in ((letters, left + 1, right), (other_letters, start, end))
    )
    is_short = (gaps > 0) & (gaps < _MAX_GAP) & (rooms > 0) & (rooms < _MAX_GAP)
    is_filled = is_short & (count <= 2 * other_count) & (other_count <= 2 * count)
    rows, numbers = _enumerate(gaps * is_filled)
    aligned[left[rows] + 1 + numbers] = start[rows] + numbers * rooms[rows] // gaps[rows]
