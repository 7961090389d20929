"""The checked text of a language model, its short answer, and the quotes that follow or replace the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.answering.trace import AnswerTrace
from rag_core.answering.verifier import Verifier
from rag_core.llm.generator import LanguageModel
from rag_core.text.annotated import AnnotatedText
from rag_core.text.numbers import contains_number
from rag_core.text.scales import find_table_scales
from rag_core.text.struck import remove_struck
from rag_core.types.answers import strip_markers
from rag_core.types.chunks import PAGE_BREAK
from rag_core.types.protocols import TextEncoder
from rag_core.types.retrieval import Passage, ReadTexts
from rag_core.verification.attribution import NOT_CHECKED, SourceComparison, verify_text
from rag_core.verification.verified_answer import VerifiedAnswer, append_quotes

NOTHING_FOUND = "Nothing in this answer was found in the sources."
CLOSEST_BELOW = "The closest passages are quoted below it."
QUOTES_BELOW = "Quotes from the documents follow the text."
QUOTED_INSTEAD = "Quoted from the documents instead."
# The reading model must find the short answer with at least this probability, and its span with these log-odds.
SHORT_PROBABILITY, SHORT_SPAN = 0.5, 0.0
# Signs for bold, italic and code in Markdown.
_EMPHASIS = re.compile(r"\*+|__+|`+")
# Words directly before and after a value that belong to its meaning.
_LIMIT = re.compile(
    r"\b(?:up to|at (?:least|most)|(?:more|less|fewer|later) than|over|under|about|around|approx\.|approximately|"
    r"nearly|almost|first|second|third|fourth|last|mindestens|höchstens|bis zu|über|unter|rund|etwa|ca\.|"
    r"au (?:moins|plus)|(?:plus|moins) de|jusqu['’]à|environ|ersten|zweiten|dritten|letzten|premier|dernier) \Z",
    re.IGNORECASE,
)
_PERIOD = re.compile(r" (?:(?:(?:of|for|in) )?(?:each|every)|per|pro|par|im|de chaque) \w+")
# A first statement with at most this many words is the value that the question asks for, which the prompt demands at
# the beginning. The reading model finds no answer in such a statement, because it is no sentence.
MAX_VALUE_WORDS = 6


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """A language model's answer.

    ``problem`` describes a failure, after which quotes follow or replace the answer; empty if there was none.
    """

    answer: VerifiedAnswer
    problem: str = ""

    @property
    def nothing_found(self) -> bool:
        """Whether the answer has statements, and the sources contain none of them."""
        statements = self.answer.statements
        return bool(statements) and all(one.mark == "not_found" for one in statements)


def join_quotes(generated: GeneratedAnswer, quotes: VerifiedAnswer, trace: AnswerTrace) -> VerifiedAnswer:
    """Return the generated text, followed by the quotes; add the reason for the quotes to the notices of the trace.

    If there is no generated text, return only the quotes. If the quotes are a refusal, return only the generated text.
    """
    written = generated.answer
    if generated.problem:
        place = QUOTES_BELOW if written.text else QUOTED_INSTEAD
        trace.notices.append(generated.problem if quotes.refused else f"{generated.problem} {place}")
    elif generated.nothing_found:
        trace.notices.append(NOTHING_FOUND if quotes.refused else f"{NOTHING_FOUND} {CLOSEST_BELOW}")
    if not written.text:
        return quotes
    if quotes.refused:
        return written
    return append_quotes(written, quotes)


def compare_with(passages: Sequence[Passage], question: str, encode: TextEncoder) -> SourceComparison:
    """Return a comparison that checks generated texts against passages, without the struck words of the passages."""
    return SourceComparison([replace(one, text=remove_struck(one.text)) for one in passages], question, encode)


def check_text(
    text: str,
    comparison: SourceComparison,
    read: ReadTexts,
    verifier: Verifier,
    writer: LanguageModel | None,
    trace: AnswerTrace,
) -> VerifiedAnswer:
    """Return a generated text, checked against its sources and by the verifier, with its short answer.

    If the text is in another language than its sources, and the verifier did not check it, a notice says so.
    """
    compared = verify_text(text, comparison)
    [answer] = verifier.verify([(compared, comparison.passages)], comparison.question, writer, trace)
    if answer.unchecked:
        trace.notices.append(NOT_CHECKED)
    return replace(answer, short=find_short_answer(comparison.question, answer, comparison.passages, read))


def find_short_answer(question: str, answer: VerifiedAnswer, passages: Sequence[Passage], read: ReadTexts) -> str:
    """Return the short answer: the words of a language model's text that give what the question asks for.

    The short answer is part of a supported statement, and a cited passage contains its numbers and words. It is empty
    if no words meet these conditions, or if the reading model is not certain enough.

    Parameters
    ----------
    question : str
    answer : VerifiedAnswer
    passages : sequence of Passage
        The passages that the answer may cite.
    read : callable
        See `ReadTexts`.
    """
    if answer.refused or answer.unchecked:
        return ""
    written = [answer.text[one.start : one.end] for one in answer.statements if one.supported]
    statements = [" ".join(_EMPHASIS.sub("", strip_markers(text)).split()) for text in written]
    if not statements:
        return ""
    if answer.statements[0].supported and len(statements[0].split()) <= MAX_VALUE_WORDS:
        short = statements[0].rstrip(".:;, ")
    else:
        readings = zip(read([(question, one) for one in statements]), statements, strict=True)
        reading, statement = max(readings, key=lambda pair: pair[0].probability)
        if reading.probability < SHORT_PROBABILITY or reading.span_score < SHORT_SPAN:
            return ""
        short = _complete_words(statement, reading.start, reading.end)
    cited = {citation.marker for citation in answer.citations}
    return short if any(_contains(one, short) for one in passages if one.rank in cited) else ""


def _complete_words(text: str, start: int, end: int) -> str:
    """Return the text of a span, extended to whole words and to the words that limit its value.

    The reading model marks only "eleven" in "at least eleven", and "Monday" in "the first Monday of each month".
    Punctuation around the text is removed.
    """
    first = text.rfind(" ", 0, start + 1) + 1
    last = text.find(" ", end)
    last = last if last >= 0 else len(text)
    if after := _PERIOD.match(text, last):
        last = after.end()
    if before := _LIMIT.search(text, 0, first):
        first = before.start()
    return text[first:last].strip(" .,;:!?()“”\"'")


def _contains(passage: Passage, short: str) -> bool:
    """Return whether a passage, with its heading and document name, contains all numbers and content words of a text.

    Return false for a text without numbers and content words.
    """
    source = AnnotatedText(f"{passage.document}\n{passage.heading}\n{passage.text.replace(PAGE_BREAK, ' ')}")
    wanted = AnnotatedText(short)
    if not wanted.numbers and not wanted.content:
        return False
    scales = find_table_scales(source.text)
    has_numbers = all(contains_number(source.possible_numbers, one, scales) for one in wanted.numbers)
    return has_numbers and all(word.stem in source.stems or wanted.find_number_at(word) for word in wanted.content)
