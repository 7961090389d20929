"""Find the characters of a text in another text with mostly the same words, possibly in another order."""

from __future__ import annotations

import unicodedata
from itertools import chain

import numpy as np
import numpy.typing as npt

from rag_core.types.arrays import Int64Array

# A match begins with a sequence of letters and digits that occurs once in each text. These lengths are tried in order.
_SEED_LENGTHS = (24, 12, 7)
# Odd factor for the hashes of sequences.
_HASH_FACTOR = 0x9E3779B97F4A7C15
# Gaps between two matches are aligned with each other if both have fewer characters.
_MAX_GAP = 40


def align_texts(text: str, other: str) -> Int64Array:
    """Return the offset in ``other`` of each character of ``text``; -1 for a character that is not found.

    Only letters and digits are compared, so that line ends, hyphens and bullets may differ. Sequences that occur once
    in each text are matched first, and matches grow as far as the texts agree. A short gap between two matches, such as
    punctuation or a number in another format, is aligned with the gap in the other text. Time and memory are about
    linear in the lengths. Blocks of the texts may be in a different order.
    """
    places, letters = _keep_letters(text)
    other_places, other_letters = _keep_letters(other)
    found = _match_letters(letters, other_letters)
    # The cells of a column that is printed on another page follow each other only in the unmatched parts of both texts.
    is_unmatched = np.ones(len(other_letters), bool)
    is_unmatched[found[found >= 0]] = False
    rest, other_rest = np.flatnonzero(found < 0), np.flatnonzero(is_unmatched)
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
    """Return the offsets of the letters and digits of a text, and their codes without case, accents and ligatures.

    A ligature gives several letters with the same offset.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    values, kinds = np.unique(codes, return_inverse=True)
    folded = [unicodedata.normalize("NFKD", chr(value)).casefold() for value in values.tolist()]
    kept = [[ord(letter) for letter in one if letter.isalnum()] for one in folded]
    counts, flat = np.array([len(one) for one in kept], np.int64), np.array(list(chain(*kept)), np.int64)
    first = np.cumsum(counts) - counts
    places, numbers = _enumerate(counts[kinds])
    return places, flat[first[kinds[places]] + numbers]


def _enumerate(counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return each index repeated by its count, and the number of each repetition.

    The counts 2, 0, 1 give the indices 0, 0, 2 and the numbers 0, 1, 0.
    """
    ends = np.cumsum(counts)
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) - np.repeat(ends - counts, counts)


def _match_letters(letters: Int64Array, other: Int64Array) -> Int64Array:
    """Return the index in ``other`` of each letter; -1 for a letter that is not found."""
    found = np.full(len(letters), -1, np.int64)
    for length in _SEED_LENGTHS:
        starts, other_starts = _find_common(letters, other, length)
        for shift in range(length):
            places = starts + shift
            is_new = found[places] < 0
            found[places[is_new]] = other_starts[is_new] + shift
        for step in (1, -1):
            _extend(found, letters, other, step)
    return found


def _keep_words_together(found: Int64Array, places: Int64Array) -> None:
    """Undo the matches of letters that are not where most letters of their word are.

    A match may end a letter too late if the next word begins with the same letter.
    """
    words = np.cumsum(np.diff(places, prepend=-1) > 1)
    starts = np.searchsorted(words, np.arange(words.max(initial=0) + 2))
    is_apart = (np.diff(words) == 0) & (found[:-1] >= 0) & (found[1:] >= 0) & (np.diff(found) != 1)
    for word in np.unique(words[:-1][is_apart]).tolist():
        part = found[starts[word] : starts[word + 1]]
        shifts, counts = np.unique(part - np.arange(len(part)), return_counts=True)
        part[part - np.arange(len(part)) != shifts[counts.argmax()]] = -1


def _find_common(first: Int64Array, second: Int64Array, length: int) -> tuple[Int64Array, Int64Array]:
    """Return the starts in both texts of the sequences of ``length`` letters that occur once in each text."""
    hashes, starts = _find_unique(first, length)
    other_hashes, other_starts = _find_unique(second, length)
    _, places, other_places = np.intersect1d(hashes, other_hashes, assume_unique=True, return_indices=True)
    return starts[places], other_starts[other_places]


def _find_unique(letters: Int64Array, length: int) -> tuple[npt.NDArray[np.uint64], Int64Array]:
    """Return the hashes and the starts of the sequences of ``length`` letters that occur once."""
    hashes = np.zeros(max(len(letters) - length + 1, 0), np.uint64)
    for shift in range(length):
        hashes = hashes * np.uint64(_HASH_FACTOR) + letters[shift : shift + len(hashes)].astype(np.uint64)
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
    """Align each short gap between two matches with the gap between the same matches in the other text.

    ``letters`` and ``other_letters`` are the offsets of the letters of both texts. A gap stays unaligned if one text
    has more than twice as many letters there as the other text.
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
