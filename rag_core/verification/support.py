"""Compute how well a sentence supports a claim: the share of the claim's numbers, names and words in the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rag_core.text.aliases import NO_ALIASES, Aliases
from rag_core.text.annotated import AnnotatedText
from rag_core.text.measures import convert_unit, find_unit_after
from rag_core.text.normalize import normalize
from rag_core.text.numbers import Number, contains_number, numbers_equal
from rag_core.text.scales import find_table_scales
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.values import Value, is_same_value
from rag_core.types.arrays import FloatArray, IntArray
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.protocols import QuestionEmbedder, TextEncoder
from rag_core.types.retrieval import Passage

# Weights relative to other words. Numbers and names identify a fact, while other words describe its kind.
_NUMBER_WEIGHT = 2.0
_NAME_WEIGHT = 1.5
# Factor for the weight of a number that is elsewhere in the passage, such as a year above a table.
_NEARBY_NUMBER = 0.5
# Factor for the weight of a word in the document's name or heading, which a sentence need not repeat.
_TITLE_WORD = 0.7
# Minimum cosine of the token vectors of words that have something in common.
_UNRELATED_COSINE = 0.35
# Weight of the support for the question relative to the support for the claim. It decides between sentences that
# contain the same short answer.
_QUESTION_SHARE = 0.2
_BRACKETS = re.compile(r"[(\[]([^()\[\]\s]{1,12})[)\]]")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_NUMBER_AT_END = re.compile(r"\d[\d.,]*\s?(?:%|[A-Z]{3}|[€$£])?\)?\s*\Z")
# Number of sentences before a sentence, and after it, that are near it.
_NEAR = 2
# A table whose unit is stated elsewhere may be in thousands or millions.
POSSIBLE_SCALES = frozenset((3, 6))
_NO_TOKENS: FloatArray = np.empty((0, 0), np.float32)
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "”", '"', ")")


@dataclass(frozen=True)
class EncodedText:
    """A text with its token vectors, shape (n, dimension), and their character spans, shape (n, 2)."""

    reading: AnnotatedText
    tokens: FloatArray
    spans: IntArray


@dataclass(frozen=True)
class SourceSentence:
    """A sentence or table row of a passage.

    ``start`` and ``end`` are offsets in the text of the passage. ``reading`` also contains the rest of a sentence that
    continues on the next page. Only a sentence that `SplitPassage.encode_sentence` returned has ``tokens`` (its token
    vectors) and a ``question_support`` (its support for the question).
    """

    source: SplitPassage
    start: int
    end: int
    reading: AnnotatedText
    tokens: FloatArray
    question_support: float = 0.0

    def states(self, value: Value) -> bool:
        """Return whether the sentence states a value."""
        if any(is_same_value(value, one, self.source.scales) for one in self.reading.values):
            return True
        # Often only the first row of a table of percentages has the sign.
        if self.is_line and value.number and value.number.kind == "percent":
            plain = replace(value.number, kind="")
            return any(one.number and numbers_equal(plain, one.number) for one in self.reading.values)
        return False

    @property
    def is_line(self) -> bool:
        """Whether the text is one line that does not end as a sentence, as in a list or a table."""
        return "\n" not in self.reading.text and self.reading.text[-1] not in ".;:!?"

    @property
    def is_row(self) -> bool:
        """Whether the text is the row of a table: a line with several values."""
        return self.is_line and len(self.reading.values) > 1


class SplitPassage:
    """A passage split into sentences, whose support for the question is computed once for all claims.

    Parameters
    ----------
    passage : Passage
    question : EncodedText
    encode : TextEncoder
    following : SplitPassage, optional
        The next page, on which the last sentence of the passage may continue.
    in_parts : bool
        Whether to encode each sentence separately, when it is first compared. Of many pages, most sentences are never
        compared.
    aliases : Aliases
        The names that the document defines for one thing.

    Attributes
    ----------
    continuation : SourceSentence or None
        The first sentence of the next page, if the last sentence of the passage continues there.
    """

    def __init__(
        self,
        passage: Passage,
        question: EncodedText,
        encode: TextEncoder,
        *,
        following: SplitPassage | None = None,
        in_parts: bool = False,
        aliases: Aliases = NO_ALIASES,
    ) -> None:
        self.passage = passage
        self.aliases = aliases
        self.in_parts = in_parts
        self.continuation: SourceSentence | None = None
        self._question = question
        self._encode = encode
        self._encoded: dict[int, SourceSentence] = {}
        self._contained: dict[Number, bool] = {}
        # A citation refers to one page, so only the text on the passage's first page can be quoted.
        self.text = passage.first_page_text
        self.title = AnnotatedText(re.sub(r"[\W_]+", " ", passage.document) + "\n" + passage.heading)
        self.reading = AnnotatedText(passage.text.replace(PAGE_BREAK, " "))
        self.scales = find_table_scales(f"{self.title.text}\n{passage.text}")
        spans = [part for span in find_sentence_spans(self.text) for part in _split_list(self.text, *span)]
        texts = [self.text[start:end] for start, end in spans]
        if following is not None and following.sentences and texts and not texts[-1].endswith(_SENTENCE_ENDS):
            self.continuation = following.sentences[0]
            texts[-1] += f" {self.continuation.reading.text}"
        self.sentences: list[SourceSentence] = [
            SourceSentence(self, start, end, AnnotatedText(text), _NO_TOKENS)
            for (start, end), text in zip(spans, texts, strict=True)
        ]
        self._positions = {one.start: position for position, one in enumerate(self.sentences)}
        if not in_parts:
            tokens, places = encode(self.text)
            for sentence in self.sentences:
                inside = (places[:, 0] < sentence.end) & (places[:, 1] > sentence.start)
                self._add_encoded(sentence, tokens[inside])

    @cached_property
    def folded(self) -> str:
        """The title and the text, normalized for the comparison of names."""
        return normalize(f"{self.title.text}\n{self.reading.text}")

    @cached_property
    def header_units(self) -> list[tuple[str, Decimal] | None]:
        """The results of `convert_unit` for all texts in brackets, which are units in headers of columns."""
        return [convert_unit(find_unit_after(f"1 {one}", 1)) for one in _BRACKETS.findall(self.reading.text)]

    @cached_property
    def _values(self) -> list[Value]:
        """The values of the title and the text; a blank may separate thousands or columns."""
        return [*self.title.values, *self.reading.values, *self.reading.separate_values]

    def contains_number(self, number: Number) -> bool:
        """Return whether the text contains a number. The result is cached for the other sentences of the passage."""
        if number not in self._contained:
            self._contained[number] = contains_number(self.reading.numbers, number, self.scales)
        return self._contained[number]

    def states(self, value: Value) -> bool:
        """Return whether the title or the text states a value."""
        scales = self.scales or POSSIBLE_SCALES
        if any(is_same_value(value, one, scales) for one in self._values):
            return True
        # In a sequence of times, such as "9 h – 17 h 18 h 15", an hour can be parsed as the minutes of another time.
        if (
            value.kind == "time"
            and not value.text.isdigit()
            and "".join(value.text.split()) in "".join(self.reading.text.split())
        ):
            return True
        return any(one.states(value) for one in self.sentences)

    def title_states(self, value: Value) -> bool:
        """Return whether the name of the document or the heading states a value."""
        return any(is_same_value(value, one) for one in self.title.values)

    def states_near(self, sentence: SourceSentence, value: Value) -> bool:
        """Return whether a sentence, a sentence near it, or the title states a value; see `list_near`."""
        return any(one.states(value) for one in self.list_near(sentence)) or self.title_states(value)

    def list_near(self, sentence: SourceSentence) -> list[SourceSentence]:
        """Return up to two sentences before a sentence, the sentence itself, and up to two sentences after it."""
        position = self._positions[sentence.start]
        return self.sentences[max(0, position - _NEAR) : position + _NEAR + 1]

    def encode_sentence(self, sentence: SourceSentence) -> SourceSentence:
        """Return a sentence of the passage with its token vectors and its support for the question."""
        if sentence.start not in self._encoded:
            self._add_encoded(sentence, self._encode(sentence.reading.text)[0])
        return self._encoded[sentence.start]

    def _add_encoded(self, sentence: SourceSentence, tokens: FloatArray) -> None:
        encoded = replace(sentence, tokens=tokens)
        supported = replace(encoded, question_support=_compute_support(self._question, encoded)[0])
        self._encoded[sentence.start] = supported

    def find_rest(self, sentence: SourceSentence) -> SourceSentence | None:
        """Return the first sentence of the next page if ``sentence`` continues there; otherwise ``None``."""
        return self.continuation if sentence.start == self.sentences[-1].start else None


def _split_list(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of a sentence, or the spans of its lines if several end with a number, as in a price list."""
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    if sum(_NUMBER_AT_END.search(text, *line) is not None for line in lines) > 1:
        yield from lines
    else:
        yield start, end


class ScoredSentence(NamedTuple):
    """A sentence and its support for a claim.

    ``with_question`` also includes a part of the support for the question. ``words`` is the support by words and names
    only, without numbers.
    """

    sentence: SourceSentence
    support: float
    with_question: float
    words: float


def create_text_encoder(embedder: QuestionEmbedder) -> TextEncoder:
    """Return a function that maps a text to its token vectors and the character spans of the tokens."""

    def encode(text: str) -> tuple[FloatArray, IntArray]:
        embedded = embedder.embed_question(text)
        return embedded.tokens, embedded.offsets

    return encode


def encode_text(text: str, encode: TextEncoder) -> EncodedText:
    """Return a text with its token vectors."""
    tokens, spans = encode(text)
    return EncodedText(AnnotatedText(text), tokens, spans)


def score_sentence(said: EncodedText, sentence: SourceSentence, foreign: bool) -> ScoredSentence:
    """Return a sentence with its support for a claim. ``foreign`` says whether their languages differ."""
    support, words = _compute_support(said, sentence, words=not foreign)
    return ScoredSentence(sentence, support, support + _QUESTION_SHARE * sentence.question_support, words)


def rank_by_words(said: EncodedText, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return sentences ordered by the share of a text's numbers, names and words in them, the highest share first.

    The sentences have no token vectors yet, so only equal words are counted.
    """
    return sorted(sentences, key=lambda sentence: -_compute_support(said, sentence)[0])


def _compute_support(said: EncodedText, sentence: SourceSentence, *, words: bool = True) -> tuple[float, float]:
    """Return the share of a text's numbers, names and words in a sentence, and the same share without numbers.

    Both are from 0 to 1. Numbers elsewhere in the passage, words of its title and, by token vectors, similar words
    count in part. If ``words`` is false, as for a text in another language, only numbers and names count.
    """
    reading, source = said.reading, sentence.source
    numeric_total = numeric = total = matched = 0.0
    inside = []
    for number in reading.numbers:
        inside += [(number.start, number.end)]
        numeric_total += _NUMBER_WEIGHT
        if contains_number(sentence.reading.numbers, number, source.scales):
            numeric += _NUMBER_WEIGHT
        elif source.contains_number(number):
            numeric += _NUMBER_WEIGHT * _NEARBY_NUMBER
    names = {word.start for word in reading.names}
    closest = (said.tokens @ sentence.tokens.T).max(axis=1) if len(said.tokens) and len(sentence.tokens) else None
    for word in reading.content:
        is_name = word.start in names
        if any(start <= word.start < end for start, end in inside):
            continue
        if not words and (not is_name or (inside and word.stem not in sentence.reading.stems)):
            continue
        weight = _NAME_WEIGHT if is_name else 1.0
        total += weight
        if word.stem in sentence.reading.stems or (
            is_name and source.aliases.mentions(word.text, sentence.reading.text)
        ):
            matched += weight
        elif word.stem in source.title.stems:
            matched += weight * _TITLE_WORD
        elif closest is not None:
            cosines = closest[(said.spans[:, 0] < word.end) & (said.spans[:, 1] > word.start)]
            if len(cosines):
                matched += weight * max(0.0, (float(np.mean(cosines)) - _UNRELATED_COSINE) / (1.0 - _UNRELATED_COSINE))
    everything = total + numeric_total
    return (matched + numeric) / everything if everything else 0.0, matched / total if total else 0.0
