"""A value of a claim that the sources lack or contradict."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.text.annotated import AnnotatedText
from rag_core.text.dates import is_year
from rag_core.text.values import Value
from rag_core.verification.support import SourceSentence


@dataclass(frozen=True, slots=True)
class ValueMark:
    """A value of a claim that the sources lack or contradict.

    Attributes
    ----------
    value : str
        The value as the claim writes it.
    sentence : SourceSentence
        The sentence that contradicts the value; if the sources lack the value, the sentence with most words of the
        claim.
    source_value : str
        The contradicting value as the sentence writes it; empty if the sources lack the value.
    """

    value: str
    sentence: SourceSentence
    source_value: str = ""


def find_kind(value: Value) -> str:
    """Return the kind of a value for comparisons, such as ``date``, ``year`` or ``number percent``."""
    if value.number is None:
        return value.kind
    return "year" if is_year(value.text) else f"number {value.number.kind}"


def write_value(text: AnnotatedText, value: Value) -> str:
    """Return a value as a text writes it, with the word after it if this word is its unit."""
    end = value.end
    if value.number and text.find_unit(value.number):
        end = next(word.end for word in text.words if word.start >= value.end)
    return " ".join(text.text[value.start : end].split()).rstrip(".,;:")
