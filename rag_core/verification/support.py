"""Scoring of how well a sentence supports a claim: the share of the claim's numbers, names and words it has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rag_core.text.annotated import AnnotatedText
from rag_core.text.numbers import find_table_scales
from rag_core.text.sentences import find_sentence_spans
from rag_core.types import PAGE_BREAK, FloatArray, IntArray, Passage
from rag_core.types.protocols import QuestionEmbedder, TextEncoder
from rag_core.verification.marks import is_same_number

# Weights relative to other words. Numbers and names identify a fact, while other words describe its kind.
_NUMBER_WEIGHT = 2.0
_NAME_WEIGHT = 1.5
# Share of its weight that a number counts if it is elsewhere in the passage, such as a year above a table.
_NEARBY_NUMBER = 0.5
# Share of its weight that a word counts if it is in the document's name or heading, which a sentence need not repeat.
_TITLE_WORD = 0.7
# Cosine of two token vectors below which the words have nothing in common.
_UNRELATED_COSINE = 0.35
# Weight of the support for the question relative to the support for the claim. It decides between sentences that
# contain the same short answer.
_QUESTION_SHARE = 0.2


@dataclass(frozen=True)
class EncodedText:
    """A text with its token vectors, shape (n, dimension), and their character spans, shape (n, 2)."""

    reading: AnnotatedText
    tokens: FloatArray
    spans: IntArray


@dataclass(frozen=True)
class SourceSentence:
    """A sentence or table row of a passage, as offsets into the passage's text."""

    source: SplitPassage
    start: int
    end: int
    reading: AnnotatedText
    tokens: FloatArray
    question_support: float = 0.0


class SplitPassage:
    """A passage that is split into sentences and compared with the question once, for all claims."""

    def __init__(self, passage: Passage, question: EncodedText, encode: TextEncoder) -> None:
        self.passage = passage
        # A citation refers to one page, so only the text on the passage's first page can be quoted.
        self.text = passage.first_page_text
        self.title = AnnotatedText(re.sub(r"[\W_]+", " ", passage.document) + "\n" + passage.heading)
        self.reading = AnnotatedText(passage.text.replace(PAGE_BREAK, " "))
        self.scales = find_table_scales(f"{self.title.text}\n{passage.text}")
        tokens, spans = encode(self.text)
        self.sentences = []
        for start, end in find_sentence_spans(self.text):
            inside = (spans[:, 0] < end) & (spans[:, 1] > start)
            sentence = SourceSentence(self, start, end, AnnotatedText(self.text[start:end]), tokens[inside])
            self.sentences.append(replace(sentence, question_support=_compute_support(question, sentence)))

    def context(self, sentence: SourceSentence) -> AnnotatedText:
        """Return the passage's title and the previous sentence, which may name the subject of a sentence."""
        before = [other.reading.text for other in self.sentences if other.end <= sentence.start][-1:]
        return AnnotatedText("\n".join([self.title.text, *before]))


class ScoredSentence(NamedTuple):
    """A sentence, its support for a claim, and its combined support for the claim and the question."""

    sentence: SourceSentence
    support: float
    with_question: float


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
    """Return how well a sentence supports a claim; ``foreign`` is true if the claim is in another language."""
    support = _compute_support(said, sentence, words=not foreign)
    return ScoredSentence(sentence, support, support + _QUESTION_SHARE * sentence.question_support)


def _compute_support(said: EncodedText, sentence: SourceSentence, *, words: bool = True) -> float:
    """Return the share of a text's numbers, names and words that a sentence contains, 0..1.

    Without ``words``, as for a text in another language, only numbers and names count.
    """
    reading, source = said.reading, sentence.source
    total = matched = 0.0
    inside = []
    for number in reading.numbers:
        inside += [(number.start, number.end)]
        total += _NUMBER_WEIGHT
        if any(is_same_number(number, other, source.scales) for other in sentence.reading.numbers):
            matched += _NUMBER_WEIGHT
        elif any(is_same_number(number, other, source.scales) for other in source.reading.numbers):
            matched += _NUMBER_WEIGHT * _NEARBY_NUMBER
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
        if word.stem in sentence.reading.stems:
            matched += weight
        elif word.stem in source.title.stems:
            matched += weight * _TITLE_WORD
        elif closest is not None:
            cosines = closest[(said.spans[:, 0] < word.end) & (said.spans[:, 1] > word.start)]
            if len(cosines):
                matched += weight * max(0.0, (float(np.mean(cosines)) - _UNRELATED_COSINE) / (1.0 - _UNRELATED_COSINE))
    return matched / total if total else 0.0
