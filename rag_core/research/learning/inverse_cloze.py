"""Make pseudo-questions from the sentences of documents that have no labelled questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rag_core.text.dates import is_year
from rag_core.text.numbers import parse_numbers
from rag_core.text.proper_names import find_names
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.chunks import PAGE_BREAK, ChunkRow

# Fewest and most words of a sentence that can become a question.
MIN_WORDS, MAX_WORDS = 8, 40
# Fewest names and numbers, together, of such a sentence: one is the answer, and another makes the question specific.
MIN_VALUES = 2
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class PseudoQuestion:
    """A question that was made from a sentence.

    Attributes
    ----------
    question, answer : str
    sentence : str
        The sentence as in the text of the chunk.
    row : ChunkRow
        The chunk that contains the sentence.
    """

    question: str
    answer: str
    sentence: str
    row: ChunkRow

    @property
    def passage_without_sentence(self) -> str:
        """The text of the chunk without the sentence."""
        return self.row.text.replace(self.sentence, "", 1).strip()


def write_pseudo_questions(rows: Iterable[ChunkRow], count: int) -> list[PseudoQuestion]:
    """Return at most ``count`` pseudo-questions from the sentences of chunks.

    A sentence of a passage is the question, and a search should find the rest of the passage (the inverse cloze task;
    Lee, Chang and Toutanova, "Latent retrieval for weakly supervised open domain question answering", ACL 2019). A
    question word replaces one name or number of the sentence, which is the answer, as in Lewis, Denoyer and Riedel,
    "Unsupervised question answering by cloze translation", ACL 2019.

    The chunks are shuffled with a fixed seed. Each chunk gives at most one question.
    """
    chunks = list(rows)
    written: list[PseudoQuestion] = []
    sentences: set[str] = set()
    random = np.random.default_rng(0)
    for position in random.permutation(len(chunks)):
        if len(written) == count:
            break
        found = [one for one in _write_questions(chunks[position]) if one.sentence not in sentences]
        if found:
            written.append(found[random.integers(len(found))])
            sentences.update(one.sentence for one in found)
    return written


def write_cloze_question(sentence: str) -> tuple[str, str] | None:
    """Return a question and its answer, which is the last name or number of the sentence.

    Return ``None`` if the sentence has fewer than `MIN_VALUES` names and numbers, or if the answer also occurs in the
    rest of the sentence.

    >>> write_cloze_question("The Harrow Bridge was opened to the public in 1931.")
    ('The Harrow Bridge was opened to the public in which year?', '1931')
    """
    names = [(one.start, one.end, "what") for one in find_names(sentence)]
    numbers = [
        (one.start, one.end, _find_question_word(one.text))
        for one in parse_numbers(sentence)
        if any(map(str.isdigit, one.text)) and sentence[one.start - 1 : one.start] in ("", " ", "(")
    ]
    values = sorted(
        [*numbers, *(one for one in names if not any(one[0] < end and start < one[1] for start, end, _ in numbers))]
    )
    if len(values) < MIN_VALUES:
        return None
    start, end, word = values[-1]
    answer = sentence[start:end].rstrip()
    question = f"{sentence[:start]}{word}{sentence[start + len(answer) :]}".rstrip(" .;:!") + "?"
    return None if answer.casefold() in question.casefold() else (question, answer)


def _find_question_word(number: str) -> str:
    return "which year" if is_year(number) else "how much" if not number.isdigit() else "how many"


def _write_questions(row: ChunkRow) -> Iterator[PseudoQuestion]:
    for start, end in find_sentence_spans(row.text):
        sentence = row.text[start:end]
        flowing = " ".join(sentence.split())
        words = len(_WORD.findall(flowing))
        is_whole = flowing[:1].isupper() and flowing.endswith(".") and PAGE_BREAK not in sentence
        if is_whole and MIN_WORDS <= words <= MAX_WORDS and (cloze := write_cloze_question(flowing)):
            yield PseudoQuestion(*cloze, sentence, row)
